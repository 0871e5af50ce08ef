#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Corrected draws on curved manifolds have the moments of posteriors that are known exactly."""

import arviz_base as az
import numpy as np
import pymc as pm
import pytest

from scipy.special import ive

import pymc_geodesic as pmg

from pymc_geodesic.manifolds import LogSimplex
from pymc_geodesic.refinement.curved import moves_of

N_DRAWS = 400


def products(x):
    flat = x.reshape(*x.shape[:2], -1)
    i, j = np.triu_indices(flat.shape[-1])
    return np.concatenate([flat, flat[..., i] * flat[..., j]], axis=-1)


def sphere(kappa=8.0, shift=0.1, narrow=1.3):
    mean = np.array([1.0, 2.0, 2.0]) / 3
    resultant = 1 / np.tanh(kappa) - 1 / kappa
    second = resultant / kappa * np.eye(3) + (1 - 3 * resultant / kappa) * np.outer(mean, mean)
    moved = mean + shift * np.array([2.0, -1.0, 0.0])
    with pm.Model() as model:
        pmg.VonMisesFisher("x", mean, kappa)
    wrong = pmg.VonMisesFisher.dist(moved / np.linalg.norm(moved), kappa / narrow)
    exact = np.concatenate([resultant * mean, second[np.triu_indices(3)]])
    return model, wrong, exact, products


def circle(kappa=3.0, shift=0.15):
    with pm.Model() as model:
        pm.VonMises("x", 1.0, kappa)
    wrong = pm.VonMises.dist(1.0 + shift, kappa / 1.3)
    ratios = ive(1, kappa) / ive(0, kappa), ive(2, kappa) / ive(0, kappa)
    angles = [f(k) for k in (1, 2) for f in (np.cos, np.sin)]
    exact = np.repeat(ratios, 2) * angles

    def statistics(x):
        return np.stack([f(k * x) for k in (1, 2) for f in (np.cos, np.sin)], axis=-1)

    return model, wrong, exact, statistics


def simplex(alpha=(0.6, 1.0, 3.0)):
    alpha = np.array(alpha)
    with pm.Model() as model:
        pm.Dirichlet("x", alpha)
    mean, total = alpha / alpha.sum(), alpha.sum()
    cov = (np.diag(mean) - np.outer(mean, mean)) / (total + 1)
    exact = np.concatenate([mean, (cov + np.outer(mean, mean))[np.triu_indices(3)]])
    return model, pm.Dirichlet.dist(alpha / 1.2 + [0.0, 0.3, 0.0]), exact, products


def frames():
    """Moments by weights of uniform frames, which are known to a hundredth of a deviation."""
    matrix = np.array([[3.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    with pm.Model() as model:
        pmg.MatrixLangevin("x", matrix)
    wrong = pmg.MatrixLangevin.dist(matrix / 1.3 + [[0.4, 0.0], [0.0, 0.0], [0.0, -0.4]])
    frames = np.linalg.qr(np.random.default_rng(5).normal(size=(400_000, 3, 2)))
    uniform = frames.Q * np.sign(np.diagonal(frames.R, axis1=1, axis2=2))[:, None, :]
    weights = np.exp((matrix * uniform).sum(axis=(1, 2)))
    exact = weights @ products(uniform[None])[0] / weights.sum()
    return model, wrong, exact, products


@pytest.mark.parametrize("case", [sphere, circle, simplex, frames])
def test_wrong_draws_get_exact_moments(case):
    model, wrong, exact, statistics = case()
    draws = pm.draw(wrong, 4 * N_DRAWS, random_seed=1)
    draws = draws.reshape(4, N_DRAWS, *draws.shape[1:])
    found = pmg.refine(az.from_dict({"posterior": {"x": draws}}), model)
    before, after = statistics(draws), statistics(found["posterior"]["x"].values)
    error = np.abs(before.mean(axis=(0, 1)) - exact), np.abs(after.mean(axis=(0, 1)) - exact)
    scale = before.std(axis=(0, 1))
    worst = [(x / scale).max() for x in error]
    assert worst[1] < worst[0] / 5
    assert worst[1] < 3 / np.sqrt(4 * N_DRAWS)
    assert model.free_RVs[0].type.shape == found["posterior"]["x"].shape[2:]


def test_points_stay_on_their_manifold():
    model, wrong, *_ = sphere()
    draws = pm.draw(wrong, 400, random_seed=2).reshape(4, 100, 3)
    found = pmg.refine(az.from_dict({"posterior": {"x": draws}}), model)
    np.testing.assert_allclose(np.linalg.norm(found["posterior"]["x"], axis=-1), 1, rtol=1e-12)


def test_forces_in_log_probabilities_have_mean_zero():
    alpha = np.array([0.7, 2.0, 4.0])
    p = np.random.default_rng(1).dirichlet(alpha, 20_000)
    _, force, inner = moves_of(LogSimplex(), (3,), "float64")(np.log(p), -(alpha - 1) + 0 * p)
    error = force.std(axis=0) / np.sqrt(len(p))
    assert np.all(np.abs(force.mean(axis=0)) < 4.5 * error)
    np.testing.assert_allclose(inner.sum(axis=-1), 0, atol=1e-12)


def test_axes_stay_as_drawn():
    with pm.Model() as model:
        pmg.Watson("x", np.array([0.0, 0.0, 1.0]), 5.0)
    draws = pm.draw(model["x"], 400, random_seed=3).reshape(4, 100, 3)
    idata = az.from_dict({"posterior": {"x": draws}})
    found = pmg.refine(idata, model)
    assert set(found.children) == {"posterior"}
    np.testing.assert_array_equal(found["posterior"]["x"], draws)
    assert found["posterior"].attrs["verdict"] == "not certified"
