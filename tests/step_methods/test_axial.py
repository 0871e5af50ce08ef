#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Axes: x and -x are one point, for every sampler, unless the model tells them apart."""

import numpy as np
import pymc as pm
import pytest

from chains import run
from exact_moments import assert_moments, assert_moments_by_gmc, second_moments, stochastic_step

import pymc_geodesic as pmg

from pymc_geodesic.potential.even_densities import is_even

EVERY = [
    (n, kappa, distribution)
    for n in (2, 3, 10, 50)
    for kappa in (-20.0, 0.5, 5.0, 50.0)
    for distribution in ("Watson", "Bingham")
]
FAST = {(3, -20.0, "Watson"), (3, 5.0, "Bingham"), (10, 50.0, "Watson")}
GRID = [
    pytest.param(*case, marks=() if case in FAST else pytest.mark.slow, id=str(case))
    for case in EVERY
]


def frame(n):
    return np.linalg.qr(np.random.default_rng(n).normal(size=(n, n)))[0]


def matrix(n, kappa, distribution):
    """One axis, or eigenvalues from 0 to kappa."""
    values = np.zeros(n)
    if distribution == "Watson":
        values[0] = kappa
    else:
        values = np.linspace(0, kappa, n)
    return (frame(n) * values) @ frame(n).T


def model_of(n, kappa, distribution, *, n_points):
    with pm.Model() as model:
        if distribution == "Watson":
            pmg.Watson("x", np.tile(frame(n)[:, 0], (n_points, 1)), kappa)
        else:
            pmg.Bingham("x", np.tile(matrix(n, kappa, distribution), (n_points, 1, 1)))
    return model


def moments(n, kappa, distribution):
    """Squares along two axes, and their means."""
    first, last = frame(n)[:, 0], frame(n)[:, -1]
    exact = second_moments(matrix(n, kappa, distribution))
    statistics = {
        "first": lambda point: (point["x_unitvector__"] @ first) ** 2,
        "last": lambda point: (point["x_unitvector__"] @ last) ** 2,
    }
    return statistics, {"first": first @ exact @ first, "last": last @ exact @ last}


@pytest.mark.parametrize("method", [pmg.SGGMC, pmg.gSGNHT])
@pytest.mark.parametrize(("n", "kappa", "distribution"), GRID)
def test_exact_moments(n, kappa, distribution, method):
    model = model_of(n, kappa, distribution, n_points=100)
    step = stochastic_step(method, model, step_size=0.15 / np.sqrt(2 * abs(kappa) + n / 3))
    assert_moments(step, *moments(n, kappa, distribution))


@pytest.mark.parametrize(("n", "kappa", "distribution"), GRID)
def test_exact_moments_by_gmc(n, kappa, distribution):
    case = n, kappa, distribution
    step_size = 0.6 / np.sqrt(2 * abs(kappa) + n / 3)
    assert_moments_by_gmc(model_of(*case, n_points=4), *moments(*case), step_size=step_size)


def antipodal(mu, kappa, n, seed=1):
    return pm.draw(pmg.Watson.dist(mu, kappa, size=n), random_seed=seed)


@pytest.mark.parametrize(
    "mu",
    [
        pytest.param([0.6, 0.0, 0.8], marks=pytest.mark.slow, id="inside"),
        pytest.param([0.6, 0.8, 0.0], id="equator"),
    ],
)
def test_minibatches_of_antipodal_data(mu):
    """With control variates, also where representatives change at every other draw."""
    data = antipodal(mu, 10.0, 2_000)
    with pm.Model() as model:
        batch = pm.Minibatch(data, batch_size=100)
        axis = pmg.Watson("axis", [0, 0, 1], 0.0)
        pmg.Watson("x", axis, 10.0, observed=batch, total_size=len(data))
    step = pmg.SGGMC(model=model)
    kept = list(run(step, model.initial_point(), draws=1000, tune=300))
    # The tuning phase has compared representatives next to each other.
    assert step.chain.tuning.variance_ratio < 0.01
    draws = np.array([point["axis_unitvector__"] for point, _ in kept][300:])
    assert np.all(draws[:, 2] >= 0)
    # The posterior is a Bingham distribution.
    exact = second_moments(10.0 * data.T @ data)
    found = draws.T @ draws / len(draws)
    # Variances in the tangent plane, within a fifth, and no mean off the axis.
    values, vectors = np.linalg.eigh(exact)
    ratio = np.einsum("ij,ij->j", vectors, found @ vectors)[:2] / values[:2]
    np.testing.assert_allclose(ratio, 1, atol=0.2)


def loadings(scores):
    with pm.Model() as model:
        axes = pmg.Watson("axes", np.eye(3)[:2], 1.0)
        z = pm.Normal("z", shape=2)
        pm.Normal("y", scores(z, axes), 1.0, observed=np.arange(3.0))
    return model


EVEN = {
    "outer product": lambda z, w: (z[:, None] * w * w[:, :1]).sum(0),
    "second moment": lambda z, w: (w[:, :, None] * w[:, None, :]).sum((0, 1)),
}
ODD = {
    "loadings": lambda z, w: (z[:, None] * w).sum(0),
    "direction": lambda z, w: w.sum(0),
    "product of both": lambda z, w: w[0] * w[1],
}


@pytest.mark.parametrize(
    ("scores", "expected"),
    [*((case, True) for case in EVEN.values()), *((case, False) for case in ODD.values())],
    ids=[*EVEN, *ODD],
)
def test_only_even_densities_are_folded(scores, expected):
    model = loadings(scores)
    assert is_even(model, model["axes"]) == expected
    step = pmg.SGGMC(model=model, step_size=0.1, friction=1.0)
    name = step.sampler.problem.manifold_names["axes"]
    assert name == ("ProjectiveSphere" if expected else "Sphere")


def test_a_model_with_directions_is_sampled_as_nuts_does():
    """An axial prior of a mean direction: both ends matter, and the data choose one."""
    data = pm.draw(pmg.VonMisesFisher.dist([0.0, 0.6, -0.8], 3.0, size=5), random_seed=1)
    with pm.Model() as model:
        mu = pmg.Watson("mu", [0, 0, 1], 2.0)
        pmg.VonMisesFisher("x", mu, 3.0, observed=data)
    step = pmg.SGGMC(model=model, step_size=0.05, friction=2.0, n_steps=20)
    draws = np.array(
        [point["mu_unitvector__"] for point, _ in run(step, model.initial_point(), draws=1500)]
    )
    assert draws[:, 2].mean() < -0.3
