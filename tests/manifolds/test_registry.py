#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Which manifold a random variable is given."""

import numpy as np
import pymc as pm
import pymc.distributions.transforms as tr
import pytensor.tensor as pt
import pytest

from time_of_day import TimeOfDay

import pymc_geodesic as pmg

from pymc_geodesic.potential import Potential

VARIABLES = {
    "von Mises-Fisher": (lambda: pmg.VonMisesFisher.dist([1.0, 0.0, 0.0], 2.0), pmg.Sphere),
    "batch of spheres": (lambda: pmg.VonMisesFisher.dist(np.eye(3), 2.0), pmg.Sphere),
    "uniform": (lambda: pmg.SphericalUniform.dist(shape=(4, 3)), pmg.Sphere),
    "Dirichlet": (lambda: pm.Dirichlet.dist(np.ones(3)), pmg.Simplex),
    "batch of simplexes": (lambda: pm.Dirichlet.dist(np.ones((2, 3))), pmg.Simplex),
    "logistic normal": (
        lambda: pm.StickBreakingWeights.dist(alpha=1.0, K=3),
        pmg.Simplex,
    ),
    "normal": (lambda: pm.Normal.dist(), pmg.Euclidean),
    "half normal": (lambda: pm.HalfNormal.dist(), pmg.Euclidean),
    "multivariate normal": (lambda: pm.MvNormal.dist(np.zeros(2), np.eye(2)), pmg.Euclidean),
    "mixture": (
        lambda: pm.NormalMixture.dist(w=[0.5, 0.5], mu=[0.0, 1.0], sigma=1.0),
        pmg.Euclidean,
    ),
}


@pytest.mark.parametrize("case", VARIABLES)
def test_manifold_of(case):
    make, expected = VARIABLES[case]
    assert type(pmg.manifold_of(make())) is expected


def test_manifold_of_an_observed_minibatch_variable():
    with pm.Model():
        batch = pm.Minibatch(np.tile([1.0, 0, 0], (20, 1)), batch_size=5)
        x = pmg.VonMisesFisher("x", [1.0, 0, 0], 2.0, observed=batch, total_size=20)
    assert isinstance(pmg.manifold_of(x), pmg.Sphere)


@pytest.mark.parametrize("thing", [pt.vector("x"), 3.0, "mu"], ids=["input", "number", "name"])
def test_manifold_of_something_else_raises(thing):
    with pytest.raises(TypeError, match="expected a random variable, got"):
        pmg.manifold_of(thing)


def manifolds_in_step(model):
    potential = Potential(model, model.value_vars, initial_point=model.initial_point())
    return {variable.name: variable.manifold.name for variable in potential.variables}


def test_a_transform_of_the_users_takes_the_variable_off_its_manifold():
    with pm.Model() as model:
        pm.Dirichlet("free", np.ones(3))
        pm.Dirichlet("ordered", np.ones(3), transform=tr.Chain([tr.simplex, tr.ordered]))
        pm.Dirichlet("bare", np.ones(3), default_transform=None)
    assert manifolds_in_step(model) == {
        "free": "Simplex",
        "ordered": "Euclidean",
        "bare": "Simplex",
    }


def test_register_manifold_needs_no_change_elsewhere():
    pmg.register_manifold(pm.Wald, pmg.Sphere())
    try:
        assert isinstance(pmg.manifold_of(pm.Wald.dist(1.0, 1.0)), pmg.Sphere)
    finally:
        pmg.register_manifold(pm.Wald, pmg.Euclidean())


def test_a_distribution_whose_transform_closes_angles_keeps_its_own_manifold():
    with pm.Model() as model:
        TimeOfDay("hour", 23.0, 0.4)
        pm.HalfNormal("angle", default_transform=tr.circular)
        pmg.BivariateVonMises("torus", [0.0, 1.0], [1.0, 2.0], 0.5)
    assert manifolds_in_step(model) == {"hour": "Clock", "angle": "Circle", "torus": "Circle"}


def test_manifolds_are_found_by_the_name_that_a_run_records():
    for manifold in (pmg.Euclidean(), pmg.Simplex(), pmg.Sphere()):
        assert type(pmg.manifolds.manifold_named(manifold.name)) is type(manifold)
    assert pmg.manifolds.manifold_named("Klein bottle") is None
