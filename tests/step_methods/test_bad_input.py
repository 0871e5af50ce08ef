#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Bad input is answered by a sentence that says what was expected and what was got."""

import numpy as np
import pymc as pm
import pytest

from pymc.exceptions import SamplingError

import pymc_geodesic as pmg

DATA = np.random.default_rng(1).normal(size=40)
SAMPLE = {
    "draws": 20,
    "tune": 0,
    "chains": 1,
    "cores": 1,
    "progressbar": False,
    "quiet": True,
    "compute_convergence_checks": False,
}


@pytest.fixture(scope="module")
def sphere():
    with pm.Model() as model:
        pmg.VonMisesFisher("mu", [0.0, 0.6, 0.8], 2.0)
        pm.Normal("x", observed=DATA)
    return model


@pytest.fixture(scope="module")
def flat():
    with pm.Model() as model:
        pm.Normal("theta")
        pm.Poisson("count", 2.0)
    return model


NOT_POSITIVE = [0, -1.0, np.nan, np.inf, "small", None]


@pytest.mark.parametrize("value", NOT_POSITIVE[:-1])
@pytest.mark.parametrize(
    ("method", "parameter"),
    [
        (pmg.SGGMC, "step_size"),
        (pmg.SGGMC, "friction"),
        (pmg.gSGNHT, "step_size"),
        (pmg.gSGNHT, "diffusion"),
        (pmg.GMC, "step_size"),
    ],
)
def test_parameters_that_are_not_positive(sphere, method, parameter, value):
    with pytest.raises(ValueError, match=f"`{parameter}` expected a positive, finite number, got"):
        method(model=sphere, **{parameter: value})


@pytest.mark.parametrize("value", [0, -2, 1.5, True, "ten"])
@pytest.mark.parametrize(
    ("method", "parameter"),
    [(pmg.SGGMC, "n_steps"), (pmg.SGGMC, "steps_per_batch"), (pmg.GMC, "n_leapfrog")],
)
def test_counts_that_are_not_whole(sphere, method, parameter, value):
    with pytest.raises(ValueError, match=f"`{parameter}` expected a whole number of at least 1"):
        method(model=sphere, **{parameter: value})


@pytest.mark.parametrize("value", [-0.1, 1.0])
def test_jitter_that_is_no_share(sphere, value):
    with pytest.raises(ValueError, match="`jitter` expected a share from 0 to below 1, got"):
        pmg.GMC(model=sphere, jitter=value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-0.1, 10, 0.6), "`a` expected a positive"),
        ((0.1, 0, 0.6), "`b` expected a positive"),
        ((0.1, 10, np.nan), "`c` expected a positive"),
    ],
)
def test_schedules_that_are_not_positive(arguments, message):
    with pytest.raises(ValueError, match=message):
        pmg.PolynomialSchedule(*arguments)
    with pytest.raises(ValueError, match="`step_size` expected a positive"):
        pmg.ConstantSchedule(arguments[0] - 1)


@pytest.mark.parametrize(
    ("method", "keywords", "message"),
    [
        (pmg.gSGNHT, {"thermostat": "per_row"}, "`thermostat` expected one of 'shared'.*'per_row'"),
        (pmg.SGGMC, {"gradient_noise": "Fisher"}, "expected None, a number.*'Fisher'"),
        (pmg.SGGMC, {"gradient_noise": "fisher"}, "expected a model with `pm.Minibatch`"),
        (pmg.SGGMC, {"gradient_noise": -1.0}, "finite variances of zero or more, got -1.0"),
        (pmg.SGGMC, {"gradient_noise": np.nan}, "finite variances of zero or more, got nan"),
        (
            pmg.SGGMC,
            {"gradient_noise": [1.0, 2.0]},
            r"broadcasts to shape \(3,\), got shape \(2,\)",
        ),
        (pmg.SGGMC, {"gradient_noise": {"nu": 1.0}}, r"among \['mu'\], got \['nu'\]"),
    ],
)
def test_options_that_are_unknown(sphere, method, keywords, message):
    with pytest.raises(ValueError, match=message):
        method(model=sphere, **keywords)


def test_integrator_that_is_unknown(flat):
    with pytest.raises(ValueError, match=r"`integrator` expected one of 'splitting', 'euler'"):
        pmg.SGNHT(model=flat, integrator="leapfrog")


@pytest.mark.parametrize("method", [pmg.SGNHT, pmg.SGHMC, pmg.SGLD])
def test_flat_steps_on_spheres_name_the_step_to_use(sphere, method):
    message = (
        f"`{method.__name__}` expected variables of Euclidean space, got `mu` on a sphere. Use"
    )
    with pytest.raises(ValueError, match=message + " `pmg.gSGNHT` or `pmg.SGGMC`"):
        method(model=sphere)


def test_flat_steps_on_simplexes():
    with pm.Model() as model:
        pm.Dirichlet("p", np.ones(3))
    with pytest.raises(ValueError, match="got `p` on a simplex"):
        pmg.SGLD(model=model)


@pytest.mark.parametrize("chosen", ["nu", ["mu", "nu"], "x", pm.Normal.dist()], ids=str)
def test_variables_that_are_unknown(sphere, chosen):
    with pytest.raises(ValueError, match=r"`vars` expected free.*which are `mu`; got"):
        pmg.SGGMC(chosen, model=sphere)


def test_no_variables(flat):
    with pytest.raises(ValueError, match="No free random variables to sample"):
        pmg.SGGMC([], model=flat)


def test_model_without_continuous_variables():
    with pm.Model() as model:
        pm.Poisson("count", 2.0)
    with pytest.raises(
        ValueError, match="at least one continuous free variable to sample, got none"
    ):
        pmg.SGGMC(model=model)


@pytest.mark.parametrize("method", [pmg.SGGMC, pmg.GMC])
def test_discrete_variables(flat, method):
    with pytest.raises(ValueError, match=r"`count` is discrete \(dtype int64\)"):
        method(["count"], model=flat)


@pytest.mark.parametrize("method", [pmg.gSGNHT, pmg.GMC])
def test_start_off_the_manifold(sphere, method):
    step = method(model=sphere)
    value = step.vars[0].name
    step.setup_chain(np.random.default_rng(1), 0, 1)
    with pytest.raises(
        SamplingError, match=r"start of `mu` is not on its manifold.*norms in \[3, 3\]"
    ):
        step.step({value: np.array([0.0, 0.0, 3.0])})


@pytest.mark.parametrize("method", [pmg.SGHMC, pmg.GMC])
def test_start_of_infinite_density(method):
    with pm.Model() as model:
        theta = pm.Normal("theta")
        pm.Potential("wall", pm.math.switch(theta > 2, -np.inf, 0.0))
    step = method(model=model)
    step.setup_chain(np.random.default_rng(1), 0, 1)
    with pytest.raises(SamplingError, match=r"infinite log density.*model.debug\(\)"):
        step.step({"theta": np.array(3.0)})


def test_start_that_is_not_finite(sphere):
    step = pmg.SGGMC(model=sphere)
    step.setup_chain(np.random.default_rng(1), 0, 1)
    with pytest.raises(SamplingError, match="start"):
        step.step({step.vars[0].name: np.full(3, np.nan)})


def test_every_chain_checks_its_own_start(sphere):
    step = pmg.SGGMC(model=sphere)
    name = step.vars[0].name
    step.setup_chain(np.random.default_rng(1), 0, 1)
    step.step({name: np.array([0.0, 0.0, 1.0])})
    step.setup_chain(np.random.default_rng(1), 0, 1)
    with pytest.raises(SamplingError, match="not on its manifold"):
        step.step({name: np.array([0.0, 0.0, 2.0])})


UNSTABLE = {
    "SGGMC": (pmg.SGGMC, {"friction": 0.1}),
    "gSGNHT": (pmg.gSGNHT, {"diffusion": 0.1}),
    "SGLD": (pmg.SGLD, {"n_steps": 1}),
}


@pytest.mark.parametrize("name", UNSTABLE)
def test_a_chain_that_leaves_is_kept_flagged_and_warned_of_once(name):
    method, options = UNSTABLE[name]
    with pm.Model():
        theta = pm.Normal("theta")
        pm.Potential("well", -(theta**6))
        step = method(step_size=3.0, **options)
        idata = pm.sample(step=step, random_seed=1, initvals={"theta": 1.0}, **SAMPLE)
        step.setup_chain(np.random.default_rng(1), 0, 20)
        point, warnings = {"theta": np.array(1.0)}, []
        for _ in range(20):
            point, [stats] = step.step(point)
            warnings.append(stats["warning"])
    assert np.isfinite(idata.posterior["theta"]).all()
    assert idata.sample_stats["diverging"].any()
    [warning] = [warning for warning in warnings if warning is not None]
    # Without a velocity that is undone a chain may diverge step by step.
    assert ("diverged" if name == "SGLD" else "not finite and undid it") in warning.message
    assert "Decrease `step_size`" in warning.message


def test_gmc_flags_what_diverges_and_stays():
    with pm.Model() as model:
        theta = pm.Normal("theta")
        pm.Potential("well", -(theta**6))
    step = pmg.GMC(model=model, step_size=3.0)
    step.setup_chain(np.random.default_rng(1), 0, 5)
    point, [stats] = step.step({"theta": np.array(1.0)})
    assert stats["diverging"]
    assert stats["accepted"] == 0
    assert point["theta"] == 1.0
    assert "Pass a `step_size` below" in stats["warning"].message


INDEFINITE = [[1.0, 2.0], [2.0, 1.0]]


@pytest.fixture(scope="module")
def pair():
    with pm.Model() as model:
        pm.Normal("a", shape=2)
        pm.Normal("b")
    return model


@pytest.mark.parametrize(
    ("method", "keywords", "message"),
    [
        (pmg.SGHMC, {"friction": {"a": INDEFINITE, "b": 1.0}}, "expected positive eigenvalues"),
        (pmg.SGHMC, {"friction": [1.0, 1.0, 0.0]}, "expected positive eigenvalues, got one of 0"),
        (pmg.SGHMC, {"friction": np.eye(2)}, r"a matrix of shape \(3, 3\).*got shape \(2, 2\)"),
        (pmg.SGHMC, {"friction": {"a": 1.0}}, r"a value for each of .*got none for \['b'\]"),
        (pmg.SGHMC, {"friction": {"a": 1.0, "c": 1.0}}, r"variables among .*got \['c'\]"),
        (pmg.SGHMC, {"friction": {"a": np.ones(3), "b": 1.0}}, r"over its entries; got shape"),
        (pmg.SGHMC, {"friction": np.eye(3), "step_size": None}, "`SGHMC` expected a `step_size`"),
        (pmg.SGHMC, {"friction": np.eye(3), "integrator": "euler"}, "expected a number with"),
        (
            pmg.SGHMC,
            {"integrator": "leapfrog"},
            r"`integrator` expected one of 'splitting', 'euler'",
        ),
        (pmg.SGHMC, {"gradient_noise": {"a": INDEFINITE}}, "expected non-negative eigenvalues"),
        (pmg.SGHMC, {"gradient_noise": np.triu(np.ones((3, 3)))}, "expected a symmetric matrix"),
        (pmg.SGHMC, {"gradient_noise": np.eye(3), "mass": 2.0}, "expected no `mass`"),
        (pmg.SGHMC, {"gradient_noise": np.eye(3), "integrator": "euler"}, "expected variances"),
        (
            pmg.SGNHT,
            {"gradient_noise": np.eye(3)},
            "`gradient_noise` of `SGNHT` expected variances",
        ),
        (pmg.SGNHT, {"thermostat": "matrix", "step_size": None}, "expected a `step_size`"),
        (pmg.SGNHT, {"thermostat": "matrix", "integrator": "euler"}, "expected 'splitting' with"),
        (pmg.SGNHT, {"thermostat": "full"}, "'per_point', 'matrix', got 'full'"),
    ],
)
def test_matrices_that_do_not_fit(pair, method, keywords, message):
    with pytest.raises(ValueError, match=message):
        method(model=pair, **({"step_size": 0.1} | keywords))


def test_matrices_on_a_curved_manifold(sphere):
    for keywords, message in (
        ({"friction": np.eye(3)}, "`friction` expected a number, or a dict by variable name"),
        ({"friction": {"mu": np.ones(3)}}, r"one for each point in shape \(\)"),
        ({"gradient_noise": np.eye(3)}, "a covariance between entries would have to turn"),
    ):
        with pytest.raises(ValueError, match=message):
            pmg.SGGMC(model=sphere, step_size=0.1, **keywords)
