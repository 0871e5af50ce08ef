#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The uniform distribution in the ball: its density, draws, and the transform for NUTS."""

import numpy as np
import pymc as pm
import pytest

from pymc.testing import assert_support_point_is_expected

import pymc_geodesic as pmg

from pymc_geodesic.distributions.transforms import ball

COPIED_RNG = "ignore:The RandomType SharedVariables:UserWarning"


def test_logp():
    volumes = {1: 2.0, 2: np.pi, 3: 4 / 3 * np.pi}
    for n, volume in volumes.items():
        points = np.stack([np.zeros(n), np.eye(n)[0], np.ones(n) * 1.1])
        logp = pm.logp(pmg.UniformBall.dist(n, shape=(3, n)), points).eval()
        np.testing.assert_allclose(logp, [-np.log(volume)] * 2 + [-np.inf], rtol=1e-12)


@pytest.mark.filterwarnings(COPIED_RNG)
@pytest.mark.parametrize("mode", ["NUMBA", "JAX"])
def test_draws(mode):
    n, size = 3, 4000
    x = pm.draw(pmg.UniformBall.dist(n, shape=(size, n)), random_seed=1, mode=mode)
    radius = np.linalg.norm(x, axis=-1)
    assert radius.max() <= 1
    # The nth power of the radius is uniform.
    assert abs((radius**n).mean() - 0.5) < 4.5 / np.sqrt(12 * size)
    np.testing.assert_allclose((x**2).mean(0), 1 / (n + 2), atol=4.5 * 0.25 / np.sqrt(size))
    np.testing.assert_allclose(x.mean(0), 0, atol=4.5 / np.sqrt((n + 2) * size))


def test_the_jacobian_of_the_transform():
    y, h = np.array([0.3, -1.2, 2.0]), 1e-6
    columns = [
        (ball.backward(y + h * e).eval() - ball.backward(y - h * e).eval()) / (2 * h)
        for e in np.eye(3)
    ]
    exact = np.linalg.slogdet(np.array(columns))[1]
    assert ball.log_jac_det(y).eval() == pytest.approx(exact, abs=1e-8)
    np.testing.assert_allclose(ball.forward(ball.backward(y)).eval(), y, rtol=1e-12)
    assert np.isfinite(ball.forward(np.eye(3)[0]).eval()).all()


def test_in_a_model():
    with pm.Model() as model:
        pmg.UniformBall("x", 3, shape=(2, 3))
        pmg.UniformBall("y", 4)
    assert tuple(model["x"].shape.eval()) == (2, 3)
    assert_support_point_is_expected(model, np.zeros((2, 3)))
    assert isinstance(pmg.manifold_of(model["x"]), pmg.Euclidean)
    with pytest.raises(ValueError, match="`n` expected a whole number"):
        pmg.UniformBall.dist(0)


@pytest.mark.slow
def test_nuts():
    with pm.Model():
        pmg.UniformBall("x", 3)
        idata = pm.sample(2000, chains=2, cores=1, random_seed=1, progressbar=False)
    x = idata.posterior["x"].values.reshape(-1, 3)
    np.testing.assert_allclose((x**2).mean(0), 0.2, atol=0.02)
