#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Poisson and Gamma variables from normals: their sum is a noncentral chi-squared variable."""

import numpy as np
import pytest

from scipy.stats import ncx2

from pymc_geodesic.algorithms.poisson_gamma import log_gamma, poisson

N, SHARES = 200_000, np.array([0.001, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 0.999])


@pytest.mark.parametrize("mean", [0.0, 0.1, 3.0, 9.9, 10.1, 100.0, 1e4])
@pytest.mark.parametrize("shape", [0.01, 0.2, 1.0, 30.0, 1e4])
def test_moments_and_quantiles(shape, mean):
    """Means within four standard errors, deviations too, and no probability off by .005."""
    z = np.random.default_rng(1).standard_normal((5, N))
    found = np.exp(log_gamma(shape + poisson(np.full(N, mean), z[0]), z[1:]))
    exact = ncx2(2 * shape, 2 * mean) if mean else ncx2(2 * shape, 1e-300)
    sd = np.sqrt(shape + 2 * mean)
    assert abs(found.mean() - shape - mean) < 4 * sd / np.sqrt(N)
    squares = (found - shape - mean) ** 2
    assert abs(squares.mean() - sd**2) < 4 * squares.std() / np.sqrt(N)
    below = np.mean(found[:, None] <= exact.ppf(SHARES) / 2, axis=0)
    # Quantiles below the smallest number are zero.
    is_number = exact.ppf(SHARES) > 1e-290
    np.testing.assert_allclose(below[is_number], SHARES[is_number], atol=0.005)


def test_single_precision_is_finite():
    z = np.random.default_rng(2).standard_normal((5, 10_000)).astype("float32")
    for mean in (0.0, 1e-30, 5.0, 1e6, 1e15):
        count = poisson(np.full(10_000, mean, "float32"), z[0])
        logs = log_gamma(np.float32(0.01) + count, z[1:])
        assert logs.dtype == np.float32
        assert np.isfinite(logs).all()
