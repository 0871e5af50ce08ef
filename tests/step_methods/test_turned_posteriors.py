#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Tuning and draws are the same wherever the coordinates of an angle or an axis jump."""

import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.distributions.coordinates import angles_to_vectors

N = 400


def wrapped(x):
    return np.angle(np.exp(1j * x))


def angle(place):
    """The mean direction of angles, at 0 or at pi, and their concentration."""
    center = {"away": 0.0, "at the seam": np.pi}[place]
    rows = np.random.default_rng(1).vonmises(0.0, 0.8, N)
    rows = wrapped(rows - np.angle(np.exp(1j * rows).mean()) + center)
    mean = pm.VonMises("mean", 0.0, 0.01)
    kappa = pm.HalfNormal("kappa", 5.0)
    batch = pm.Minibatch(rows, batch_size=100)
    pm.VonMises("rows", mean, kappa, observed=batch, total_size=N)
    return lambda idata: wrapped(idata["posterior"]["mean"].to_numpy() - center)


def quaternion(place):
    """The mean rotation of quaternions of random signs, at the pole or where signs change."""
    pole = {"away": [0.0, 0.0, 0.0, 1.0], "at the seam": [1.0, 0.0, 0.0, 0.0]}[place]
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(N, 4)) * 0.3
    rows[:, 3] += 1.0
    rows = np.roll(rows, 1, axis=1) if place == "at the seam" else rows
    rows *= rng.choice([-1, 1], (N, 1)) / np.linalg.norm(rows, axis=1, keepdims=True)
    mean = pmg.Watson("mean", [0.0, 0.0, 0.0, 1.0], 0.0)
    kappa = pm.HalfNormal("kappa", 10.0)
    batch = pm.Minibatch(rows, batch_size=100)
    pmg.Watson("rows", mean, kappa, observed=batch, total_size=N)
    side = int(np.argmax(pole)) - 1

    def deviation(idata):
        x = idata["posterior"]["mean"].to_numpy()
        return x[..., side] * np.sign(x[..., side + 1])

    return deviation


@pytest.mark.parametrize(
    "write", [angle, pytest.param(quaternion, marks=pytest.mark.slow)], ids=lambda f: f.__name__
)
def test_the_seam_changes_nothing(write, caplog):
    means, errors, deviations, step_sizes, tables = [], [], [], [], []
    for place in ("away", "at the seam"):
        with pm.Model():
            deviation = write(place)
            idata = pmg.sample(600, tune=600, random_seed=1, progressbar=False)
        x = deviation(idata)
        mean, error = (np.array(f(x)) for f in (np.mean, lambda x: x.std() / np.sqrt(200)))
        means.append(mean)
        errors.append(error)
        deviations.append(x.std())
        step_sizes.append(float(idata["sample_stats"]["step_size"][0, -1]))
        tables.append(pmg.summary(idata, round_to="none"))
    said = [record.message for record in caplog.records]
    assert not any("disagree" in text or "R-hat of" in text for text in said), said
    assert step_sizes[0] == pytest.approx(step_sizes[1], rel=0.25)
    assert min(step_sizes) > 0.3
    for table in tables:
        assert table["r_hat"].max() < 1.02
        assert table["ess_bulk"].min() > 400
    assert abs(means[0] - means[1]) < 4 * np.hypot(*errors)
    assert deviations[0] == pytest.approx(deviations[1], rel=0.2)


def test_a_uniform_angle_is_drawn_from_everywhere():
    """It has no center, and its chains no reason to disagree."""
    rows = np.random.default_rng(1).normal(1.0, 1.0, N)
    with pm.Model():
        pm.VonMises("angle", 0.0, 1e-6)
        mean = pm.Normal("mean")
        pm.Normal("rows", mean, 1.0, observed=pm.Minibatch(rows, batch_size=100), total_size=N)
        idata = pmg.sample(600, tune=600, random_seed=1, progressbar=False)
    vectors = angles_to_vectors(idata["posterior"]["angle"].to_numpy())
    # Of a few hundred independent angles.
    assert np.abs(vectors.mean(axis=(0, 1))).max() < 4 * np.sqrt(0.5 / 400)
    assert float(idata["posterior"]["mean"].std()) == pytest.approx((N + 1) ** -0.5, rel=0.15)
    table = pmg.summary(idata, round_to="none")
    assert table["r_hat"].max() < 1.02
    assert table["ess_bulk"].min() > 400
