#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Directions in which draws are wider than the frame expects are found, and chance is not."""

import numpy as np
import pytest

from pymc_geodesic.mass.low_rank import LowRankMass
from pymc_geodesic.tuning.whitening import (
    SOFT,
    soft_directions,
    with_directions_of_draws,
)

SIZE = 300
FLAT = np.ones(SIZE, dtype=bool)


def draws_with(variances, rng, n=400):
    """Draws of unit variance but for the last axes of a random basis, and these axes."""
    axes = np.linalg.qr(rng.standard_normal((SIZE, len(variances))))[0]
    frame = rng.standard_normal((n, SIZE))
    return frame + (frame @ axes * (np.sqrt(variances) - 1)) @ axes.T, axes


@pytest.mark.parametrize("n", [4, 40, 400, 2_000])
def test_draws_of_unit_variance_have_none(n):
    for seed in range(20):
        frame = np.random.default_rng(seed).standard_normal((n, SIZE))
        assert soft_directions(frame).shape == (SIZE, 0)


def test_the_widest_are_found():
    frame, axes = draws_with([40.0, 20.0, 1.5, 0.1], np.random.default_rng(1))
    found = soft_directions(frame)
    assert found.shape == (SIZE, 2)
    np.testing.assert_allclose(found.T @ found, np.eye(2), atol=1e-10)
    assert np.all(np.linalg.svd(axes[:, :2].T @ found)[1] > 0.97)


def test_draws_that_drift_have_one_direction():
    rng = np.random.default_rng(2)
    frame = rng.standard_normal((400, SIZE)) + np.linspace(-3, 3, 400)[:, None]
    found = soft_directions(frame)
    assert found.shape == (SIZE, 1)
    np.testing.assert_allclose(np.abs(found), SIZE**-0.5, rtol=0.3)


def low_rank(rank=5):
    return LowRankMass(
        [np.ones(SIZE)],
        directions=np.zeros((SIZE, rank)),
        curvatures=np.ones(rank),
        shapes=[(SIZE,)],
        dtype="float64",
    )


def variances_along(mass, frame, axes):
    seen = np.array([mass.whiten([draw]) for draw in frame])
    inside = np.linalg.qr(np.array([mass.whiten([axis]) for axis in axes.T]).T)[0]
    return np.linalg.eigvalsh(np.cov((seen @ inside).T))


def test_draws_make_the_frame_round():
    rng = np.random.default_rng(3)
    frame, axes = draws_with([50.0, 10.0], rng)
    mass = with_directions_of_draws(low_rank(), [[x] for x in frame], is_flat=FLAT)
    new, _ = draws_with([50.0, 10.0], np.random.default_rng(3), n=4_000)
    again = with_directions_of_draws(mass, [[x] for x in new], is_flat=FLAT)
    assert variances_along(low_rank(), new, axes).max() > 40
    assert variances_along(mass, new, axes).max() < 8
    assert variances_along(again, new, axes).max() < SOFT


def test_directions_that_are_there_are_corrected_both_ways():
    rng = np.random.default_rng(4)
    _, axes = draws_with([1.0, 1.0], rng)
    directions = np.zeros((SIZE, 5))
    directions[:, :2] = axes
    mass = LowRankMass(
        [np.ones(SIZE)],
        directions=directions,
        curvatures=np.array([0.1, 10.0, 1.0, 1.0, 1.0]),
        shapes=[(SIZE,)],
        dtype="float64",
    )
    frame = rng.standard_normal((4_000, SIZE))
    corrected = with_directions_of_draws(mass, [[x] for x in frame], is_flat=FLAT)
    np.testing.assert_allclose(corrected.curvatures, 1.0, rtol=0.1)


def test_entries_that_are_not_flat_have_no_directions():
    rng = np.random.default_rng(5)
    frame, _ = draws_with([50.0], rng)
    is_flat = np.arange(SIZE) >= 100
    mass = with_directions_of_draws(low_rank(), [[x] for x in frame], is_flat=is_flat)
    assert np.any(mass.directions[100:])
    assert not np.any(mass.directions[:100])


def test_draws_that_say_nothing_change_nothing():
    mass = low_rank()
    assert with_directions_of_draws(mass, [[np.ones(SIZE)]], is_flat=FLAT) is mass
    missing = [[np.full(SIZE, np.nan)]] * 10
    assert with_directions_of_draws(mass, missing, is_flat=FLAT) is mass
    ran_off = [[size * np.ones(SIZE)] for size in (1e200, -1e200)] * 5
    assert with_directions_of_draws(mass, ran_off, is_flat=FLAT) is mass
    same = with_directions_of_draws(mass, [[np.ones(SIZE)]] * 10, is_flat=FLAT)
    assert np.all(np.isfinite(same.whiten([np.ones(SIZE)])))
