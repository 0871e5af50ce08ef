#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Manifolds that a step is asked for: all of the support, and together with everything else."""

import numpy as np
import pymc as pm
import pytest

from pymc.distributions.transforms import Interval, ordered

import pymc_geodesic as pmg

STEP = {"step_size": 0.1, "friction": 1.0}


def step_for(make, manifold, **options):
    with pm.Model() as model:
        make()
    return pmg.SGGMC(model=model, manifolds={"x": manifold}, **STEP | options)


ACCEPTED = {
    "uniform": (lambda: pm.Uniform("x", -1, 3), pmg.Box(-1, 3)),
    "for each entry": (lambda: pm.Uniform("x", [0, 1], [2, 5]), pmg.Box([0, 1], [2, 5])),
    "data": (lambda: pm.Uniform("x", 0, pm.Data("top", 2.0)), pmg.Box(0, 2)),
    "positive": (lambda: pm.HalfNormal("x", pm.HalfNormal("tau")), pmg.Box()),
    "unit": (lambda: pm.Beta("x", 2, 2), pmg.Box(0, 1)),
    "from": (lambda: pm.Pareto("x", 3.0, 0.5), pmg.Box(0.5)),
    "truncated": (lambda: pm.Truncated("x", pm.Normal.dist(), lower=1), pmg.Box(1)),
    "transformed": (lambda: pm.Normal("x", default_transform=Interval(0, 1)), pmg.Box(0, 1)),
    "no transform": (lambda: pm.HalfNormal("x", default_transform=None), pmg.Box()),
    "angle": (lambda: pm.VonMises("x", 0, 1), pmg.Circle()),
    "ball": (lambda: pmg.UniformBall("x", 2), pmg.Ball()),
    "flat": (lambda: pm.Dirichlet("x", [1, 1, 1]), pmg.Euclidean()),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_the_support_of_a_variable(name):
    make, manifold = ACCEPTED[name]
    step = step_for(make, manifold)
    [variable] = [v for v in step.sampler.problem.variables if v.name == "x"]
    assert variable.manifold is manifold


REFUSED = {
    "narrower": (lambda: pm.Uniform("x", 0, 2), pmg.Box(0, 1), "from 0 to 2; got Box.0.0, 1.0"),
    "wider": (lambda: pm.Uniform("x", 0, 2), pmg.Box(), "from 0 to 2; got Box.0.0, inf"),
    "a number": (lambda: pm.Normal("x"), pmg.Box(), "a manifold of its distribution, got Box"),
    "ordered": (
        lambda: pm.Normal("x", shape=2, default_transform=ordered, initval=[0, 1]),
        pmg.Box(),
        "a manifold of its distribution",
    ),
    "another": (lambda: pm.Normal("x", shape=3), pmg.Sphere(), "register_manifold"),
    "moving": (
        lambda: pm.Uniform("x", 0, pm.HalfNormal("top")),
        pmg.Box(0, 1),
        "constant bounds.*`top`",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_sets_are_refused(name):
    make, manifold, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        step_for(make, manifold)


def test_names_and_types():
    with pm.Model():
        pm.HalfNormal("x")
        with pytest.raises(ValueError, match=r"`manifolds` expected names.*'y'"):
            pmg.SGGMC(manifolds={"y": pmg.Box()}, **STEP)
        with pytest.raises(TypeError, match="`manifolds` expected manifolds by the name"):
            pmg.SGGMC(manifolds={"x": "box"}, **STEP)


@pytest.fixture
def offered():
    class Wall(pmg.Box):
        """A manifold of a user's."""

    pmg.register_manifold(pm.Flat, Wall(), on_request=True)
    yield Wall()
    pmg.register_manifold(pm.Flat, pmg.Euclidean(), on_request=True)


def test_a_manifold_that_is_registered_on_request(offered):
    step = step_for(lambda: pm.Flat("x"), offered)
    assert step.sampler.problem.variables[0].manifold is offered
    with pm.Model() as model:
        pm.Flat("x")
        assert isinstance(pmg.manifold_of(model["x"]), pmg.Euclidean)


def test_flat_samplers_take_curved_variables_in_unconstrained_coordinates():
    with pm.Model():
        pm.Dirichlet("p", [2.0, 3.0, 5.0])
        with pytest.raises(ValueError, match="expected variables of Euclidean space"):
            pmg.SGNHT(step_size=0.1)
        pmg.SGNHT(step_size=0.1, manifolds={"p": pmg.Euclidean()})


def mixed(n_rows=2_000):
    """A regression on directions, with a rate in [0, 1] and a scale next to zero."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(n_rows, 3))
    y = x @ [0.6, 0.0, 0.8] + rng.normal(0.0, 0.3, n_rows)
    with pm.Model() as model:
        mu = pmg.VonMisesFisher("mu", [0, 0, 1], 0.0)
        shrink = pm.Uniform("shrink", 0, 1)
        sigma = pm.HalfNormal("sigma", 1.0)
        a, b = pm.Minibatch(x, y, batch_size=100)
        pm.Normal("y", shrink * (mu * a).sum(-1), sigma, observed=b, total_size=n_rows)
    return model, {"shrink": pmg.Box(0, 1), "sigma": pmg.Box()}


@pytest.mark.parametrize("method", [pmg.SGGMC, pytest.param(pmg.gSGNHT, marks=pytest.mark.slow)])
def test_self_tuning_with_control_variates(method):
    """The best slope is at the wall of its prior, where half of a bell is left."""
    model, manifolds = mixed()
    with model:
        step = method(manifolds=manifolds)
        idata = pm.sample(
            500, tune=300, chains=2, cores=1, step=step, random_seed=1, progressbar=False
        )
        assert step.chain.tuning.variance_ratio < 0.1
        exact = pm.sample(
            2_000,
            tune=500,
            chains=2,
            cores=1,
            step=pmg.GMC(manifolds=manifolds),
            random_seed=1,
            progressbar=False,
        )
    found, expected = (pmg.summary(x, round_to="none") for x in (idata, exact))
    assert found["r_hat"].max() < 1.05
    for name in ("shrink", "sigma"):
        error = np.hypot(found.loc[name, "mcse_mean"], expected.loc[name, "mcse_mean"])
        bias = 0.05 * expected.loc[name, "sd"]
        assert abs(found.loc[name, "mean"] - expected.loc[name, "mean"]) < 4.5 * error + bias
    assert expected.loc["shrink", "mean"] > 0.97
    assert not [f for f in pmg.diagnose(idata, model=model).findings if f.severity == "error"]
