#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The noise of gradients along the noisiest direction of a point."""

from __future__ import annotations

import numpy as np
import pytest

from pymc_geodesic.tuning.outweighing import noisiest_direction

N_PLACES, N_BATCHES = 8, 24


def gradients(variances, *, seed, shape=(), basis=None):
    """Gradients at some places, whose means differ, with given variances along a basis."""
    rng = np.random.default_rng(seed)
    size = len(variances)
    basis = np.eye(size) if basis is None else basis
    found = []
    for _ in range(N_PLACES):
        noise = rng.standard_normal((N_BATCHES, *shape, size)) * np.sqrt(variances)
        found.append(100.0 * rng.standard_normal((*shape, size)) + noise @ basis.T)
    return found


def many(variances, **options):
    return [noisiest_direction(gradients(variances, seed=i, **options), 1) for i in range(200)]


@pytest.mark.parametrize("size", [2, 30, 300])
def test_independent_entries_have_no_noisier_direction(size):
    found = many(np.full(size, 3.0))
    assert np.mean(found) == pytest.approx(3.0, abs=4 * np.std(found) / np.sqrt(len(found)))


@pytest.mark.parametrize("size", [2, 30])
def test_correlated_entries_add_up(size):
    # Each entry has the variance 20 / size + 1 - 1 / size, and one direction 20.
    basis = np.linalg.qr(np.column_stack([np.ones(size), np.eye(size)[:, 1:]]))[0]
    found = many(np.r_[20.0, np.ones(size - 1)], basis=basis)
    # With finitely many samples the direction is found up to (D - 1) / (n - 8) of its opposite.
    lost = (size - 1) / (N_PLACES * (N_BATCHES // 2 - 1)) / 20
    assert np.mean(found) == pytest.approx(20.0 * (1 - lost), rel=0.03)


def test_noisiest_of_several_points():
    rows = [np.stack([x, 4 * x], axis=1) for x in gradients(np.array([1.0, 5.0]), seed=1)]
    alone = [x[:, 1] for x in rows]
    assert noisiest_direction(rows, 1) == pytest.approx(noisiest_direction(alone, 1))


def test_points_with_two_axes():
    rows = gradients(np.array([1.0, 2.0, 5.0, 1.0]), seed=1)
    frames = [x.reshape(-1, 2, 2) for x in rows]
    assert noisiest_direction(frames, 2) == pytest.approx(noisiest_direction(rows, 1))


def test_gradient_that_is_not_finite():
    rows = gradients(np.ones(3), seed=1)
    rows[0][0, 0] = np.inf
    assert np.isnan(noisiest_direction(rows, 1))
