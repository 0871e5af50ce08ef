#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Gradient noise that entries of a row have in common, and the friction that balances it."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

from scipy.linalg import expm

from pymc_geodesic.algorithms.gsgnht import State, transition
from pymc_geodesic.algorithms.row_noise import (
    covariance_of_rows,
    damp_rows,
    no_covariances,
    row_axis,
)
from pymc_geodesic.manifolds import Euclidean, Product, Sphere
from pymc_geodesic.potential.estimate import Estimate

N_ROWS, STEP_SIZE, DIFFUSION = 40, 0.2, 1.5
N_CHAINS, N_TRANSITIONS, N_WARM = 200, 700, 100
NOISE = np.array([[4.0, 2.0, -1.0], [2.0, 3.0, 0.0], [-1.0, 0.0, 2.0]])
BETWEEN = NOISE - np.diag(np.diag(NOISE))


@pytest.mark.parametrize(
    ("shape", "axis"),
    [((40, 3), 1), ((3, 40), 0), ((40,), None), ((40, 1), None), ((10, 3), None), ((40, 30), None)],
)
def test_long_matrices_have_rows(shape, axis):
    assert row_axis(Euclidean(), shape) == axis
    assert row_axis(Sphere(), shape) is None


def test_rows_are_damped_by_an_exponential_of_their_covariance():
    shapes = [(), (40, 3), (5,), (2, 25)]
    manifold = Product([Euclidean()] * 4, shapes=shapes)
    rng = np.random.default_rng(1)
    velocity = [rng.standard_normal(shape) for shape in shapes]
    matrices = [BETWEEN, np.array([[0.0, 1.5], [1.5, 0.0]])]
    assert [k.shape for k in no_covariances(manifold, "float64")] == [k.shape for k in matrices]
    time = 0.01
    damped = damp_rows(
        manifold,
        tuple(map(pt.as_tensor, velocity)),
        [pt.as_tensor(k) for k in matrices],
        time=pt.as_tensor(time),
    )
    number, long, short, wide = pytensor.function([], list(damped), mode="FAST_COMPILE")()
    np.testing.assert_array_equal(number, velocity[0])
    np.testing.assert_array_equal(short, velocity[2])
    # The third order is left out.
    options = {"atol": 3 * np.max(np.abs(velocity[1])) * (3 * time) ** 3 / 6}
    np.testing.assert_allclose(long, velocity[1] @ expm(-time * matrices[0]), **options)
    np.testing.assert_allclose(wide, expm(-time * matrices[1]) @ velocity[3], **options)
    first, second = covariance_of_rows(manifold, velocity)
    np.testing.assert_allclose(first, velocity[1].T @ velocity[1] / 40)
    np.testing.assert_allclose(second, velocity[3] @ velocity[3].T / 25)


def moments_of_rows(between):
    """Mean products of entries of a row over independent chains, and their standard error."""
    import jax

    shape = (N_ROWS, 3)
    x, v, z, noise = (pt.tensor(shape=shape, dtype="float64") for _ in range(4))
    xi = pt.dscalar()
    measured = np.broadcast_to(np.diag(NOISE), shape), between, np.zeros(0)
    state = transition(
        State((x,), (v,), (xi,)),
        lambda position: Estimate((position[0] + noise,), (None,)),
        (z,),
        manifold=Product([Euclidean()], shapes=[shape]),
        step_size=pt.as_tensor(STEP_SIZE),
        diffusion=pt.as_tensor(DIFFUSION),
        grouping="shared",
        measured_noise=tuple(map(pt.as_tensor, measured)),
    )
    outputs = [state.position[0], state.velocity[0], state.thermostat[0]]
    function = pytensor.function([x, v, xi, z, noise], outputs, mode="JAX")
    step = jax.jit(jax.vmap(function.vm.jit_fn))
    rng, factor = np.random.default_rng(7), np.linalg.cholesky(NOISE)
    x, v = rng.standard_normal((2, N_CHAINS, *shape))
    xi, sums = np.full(N_CHAINS, DIFFUSION), np.zeros((N_CHAINS, 3, 3))
    for number in range(N_TRANSITIONS):
        z, own = rng.standard_normal((2, N_CHAINS, *shape))
        x, v, xi = (np.asarray(array) for array in step(x, v, xi, z, own @ factor.T))
        if number >= N_WARM:
            sums += np.einsum("cri,crj->cij", x, x) / N_ROWS
    moments = sums / (N_TRANSITIONS - N_WARM)
    return moments.mean(axis=0), moments.std(axis=0, ddof=1) / np.sqrt(N_CHAINS)


def test_balanced_rows_are_not_correlated():
    found, error = moments_of_rows(BETWEEN)
    # The drifts of the splitting make variances too large by a quarter of the squared step size.
    allowed = 1.5 * STEP_SIZE**2 / 4 * np.eye(3)
    assert np.all(np.abs(found - np.eye(3)) < allowed + 0.01 + 5 * error)


def test_rows_whose_entries_are_balanced_alone_are_correlated():
    found, _ = moments_of_rows(np.zeros((3, 3)))
    assert found[0, 1] > 0.07
    assert found[0, 2] < -0.03
