#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""R-hat, effective sizes and Monte Carlo errors of all entries at once, beside ArviZ's of each."""

import warnings

import arviz_stats as az
import numpy as np
import pytest

from scipy.signal import lfilter

import pymc_geodesic.monte_carlo as module

from pymc_geodesic.monte_carlo import effective_sizes, mcse, rank_statistics

MOVES = {"frozen": 2, "incomplete": 3}


def chains(shape, slope, seed=0):
    """Draw autoregressive chains, and change some entries to what rarely happens."""
    rng = np.random.default_rng(seed)
    x = lfilter([np.sqrt(1 - slope**2)], [1, -slope], rng.normal(size=shape), axis=1)
    x[:, :, 0] = np.round(2 * x[:, :, 0])
    x[:, :, 1] += np.arange(shape[0])[:, None]
    x[:, :, MOVES["frozen"]] = 1.0
    x[0, 3, MOVES["incomplete"]] = np.nan
    x[:, :, 4] = x[:, :, 4] > 0
    x[:, :, 5] *= np.arange(1, shape[0] + 1)[:, None]
    x[:, :, 6] = np.exp(3 * x[:, :, 6])
    return x


def of_each(statistic, x, **options):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return np.array([statistic(x[:, :, i], **options) for i in range(x.shape[2])])


@pytest.mark.parametrize("slope", [0.0, 0.5, 0.99, -0.6, -0.97])
@pytest.mark.parametrize("shape", [(4, 400, 12), (2, 101, 12), (3, 11, 12), (5, 4, 12), (3, 5, 12)])
def test_statistics_are_those_of_arviz(shape, slope):
    x = chains(shape, slope)
    found = rank_statistics(x)
    np.testing.assert_allclose(found.r_hat, of_each(az.rhat, x), rtol=1e-9)
    np.testing.assert_allclose(found.effective_size, of_each(az.ess, x), rtol=1e-9)
    np.testing.assert_allclose(effective_sizes(x), of_each(az.ess, x, method="mean"), rtol=1e-9)
    assert np.isnan(found.r_hat[MOVES["frozen"]])
    assert np.isnan(found.effective_size[MOVES["incomplete"]])


def test_one_chain_has_effective_draws():
    x = chains((1, 200, 12), 0.5)
    np.testing.assert_allclose(effective_sizes(x), of_each(az.ess, x, method="mean"), rtol=1e-9)


def test_monte_carlo_errors_are_those_of_arviz():
    x = chains((4, 300, 12), 0.7)
    np.testing.assert_allclose(mcse(x), of_each(az.mcse, x, method="mean"), rtol=1e-9)


def test_few_draws_have_no_statistics():
    x = np.random.default_rng(0).normal(size=(4, 3, 2))
    assert np.isnan(rank_statistics(x)).all()
    assert np.isnan(effective_sizes(x)).all()


def test_blocks_do_not_matter(monkeypatch):
    x = chains((4, 100, 12), 0.5).reshape(4, 100, 3, 4)
    whole = rank_statistics(x)
    monkeypatch.setattr(module, "BLOCK", 4 * 100 * 5)
    np.testing.assert_array_equal(rank_statistics(x), whole)
    assert whole.r_hat.shape == (3, 4)
