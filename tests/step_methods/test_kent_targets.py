#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Kent distributions, whose contours are ellipses: exact moments by quadrature over one angle.

The angle around the mean direction is integrated exactly: of the squares along both axes the sum is
the squared sine s of the distance, and the mean difference s I_1(beta s) / I_0(beta s).
"""

import numpy as np
import pymc as pm
import pytest

from exact_moments import assert_moments, assert_moments_by_gmc, stochastic_step
from scipy.special import ive

import pymc_geodesic as pmg

FRAME = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
# Nearly uniform, round, elongated, with two modes, and strongly concentrated of either shape.
EVERY = [(0.5, 0.2), (5.0, 0.5), (5.0, 2.4), (2.0, 3.0), (50.0, 5.0), (100.0, 48.0)]
GRID = [
    pytest.param(*case, marks=() if case == (5.0, 2.4) else pytest.mark.slow, id=str(case))
    for case in EVERY
]


def expected_moments(kappa, beta):
    angles = np.linspace(0, np.pi, 200_001)[1:-1]
    square = np.sin(angles) ** 2
    logs = kappa * np.cos(angles) + beta * square + np.log(ive(0, beta * square) * np.sin(angles))
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    difference = weights @ (square * ive(1, beta * square) / ive(0, beta * square))
    total = weights @ square
    return {
        "mean": weights @ np.cos(angles),
        "major": (total + difference) / 2,
        "minor": (total - difference) / 2,
    }


def target(kappa, beta, n_points):
    with pm.Model() as model:
        pmg.Kent("x", np.tile(FRAME, (n_points, 1, 1)), kappa, beta)
    [value] = model.value_vars
    statistics = {
        "mean": lambda point: point[value.name] @ FRAME[:, 0],
        "major": lambda point: (point[value.name] @ FRAME[:, 1]) ** 2,
        "minor": lambda point: (point[value.name] @ FRAME[:, 2]) ** 2,
    }
    return model, statistics, expected_moments(kappa, beta)


def rate(kappa, beta):
    return np.sqrt(kappa + 2 * beta + 1)


@pytest.mark.parametrize("method", [pmg.SGGMC, pmg.gSGNHT])
@pytest.mark.parametrize(("kappa", "beta"), GRID)
def test_exact_moments(kappa, beta, method):
    model, *exact = target(kappa, beta, 100)
    step = stochastic_step(method, model, step_size=0.15 / rate(kappa, beta), n_steps=40)
    assert_moments(step, *exact, draws=120, discard=30)


@pytest.mark.parametrize(("kappa", "beta"), GRID)
def test_exact_moments_by_gmc(kappa, beta):
    model, *exact = target(kappa, beta, 4)
    assert_moments_by_gmc(model, *exact, step_size=0.6 / rate(kappa, beta))
