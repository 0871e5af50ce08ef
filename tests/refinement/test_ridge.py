#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Ridge regression whose penalty is chosen by leaving out draws."""

import numpy as np

from pymc_geodesic.refinement.frame import MANY, MOST_SEPARATE, Ridge


def test_exact_relations_are_found():
    rng = np.random.default_rng(1)
    x, slopes = rng.normal(size=(60, 5)) * [1, 10, 0.1, 1, 3] + 4, rng.normal(size=(5, 3))
    np.testing.assert_allclose(Ridge(x).fit(x @ slopes + 2).coefficients, slopes, atol=1e-6)


def test_what_features_do_not_predict_has_small_coefficients():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(100, 60)), rng.normal(size=(100, 4))
    left = y - x @ Ridge(x).fit(y).coefficients
    fresh = rng.normal(size=(1000, 60)) @ Ridge(x).fit(y).coefficients
    assert np.all(fresh.var(axis=0) < 0.2)
    assert np.all(left.var(axis=0) > 0.5 * y.var(axis=0))


def test_more_features_than_draws_and_many_functions():
    rng = np.random.default_rng(3)
    axes = rng.normal(size=(5, MANY + 20))
    x, fresh = (rng.normal(size=(n, 5)) @ axes for n in (80, 50))
    x, fresh = (z + 0.1 * rng.normal(size=z.shape) for z in (x, fresh))
    y = np.repeat(x[:, :1], MOST_SEPARATE + 7, axis=1)
    left = fresh[:, :1] - fresh @ Ridge(x).fit(y).coefficients
    assert np.all(left.var(axis=0) < 0.15 * fresh[:, 0].var())


def test_without_features_nothing_is_predicted():
    found = Ridge(np.zeros((30, 0))).fit(np.random.default_rng(4).normal(size=(30, 2)))
    assert found.coefficients.shape == (0, 2)
