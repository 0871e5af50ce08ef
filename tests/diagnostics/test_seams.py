#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Summaries and convergence of axes and angles do not see where their coordinates jump."""

import warnings

import arviz as az
import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
import xarray as xr

import pymc_geodesic as pmg

from pymc_geodesic.kernel.representatives import without_seam
from pymc_geodesic.run_record import ATTRIBUTE, read_records, write_record


@pytest.fixture(scope="module")
def run():
    """An axis near the equator, where folding changes signs, and an angle about pi."""
    with pm.Model() as model:
        pmg.Watson("axis", [0.6, 0.8, 0.0], 60.0)
        pm.VonMises("angle", np.array([np.pi, 0.5]), 20.0)
        step = pmg.SGGMC(step_size=0.05, friction=3.0, n_steps=30)
        idata = pm.sample(
            1000, tune=100, chains=4, cores=1, step=step, random_seed=1, progressbar=False
        )
    return model, idata


def test_the_draws_have_seams(run):
    x = run[1].posterior["axis"].values
    assert np.all(x[..., 2] >= 0)
    assert 0.2 < (x[..., 0] > 0).mean() < 0.8
    assert np.ptp(run[1].posterior["angle"].values[..., 0]) > 6


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_summary_knows_axes_and_angles(run):
    table = pmg.summary(run[1], round_to="none")
    axis = table.loc[[f"axis[{i}]" for i in range(3)]]
    mean = axis["mean"].to_numpy(float)
    assert np.abs(mean @ [0.6, 0.8, 0.0]) > 0.999
    assert axis["axis_share"].iloc[0] > 0.95
    assert axis["r_hat"].max() < 1.02
    angle = table.loc["angle[0]"]
    assert abs(np.angle(np.exp(1j * (angle["mean"] - np.pi)))) < 0.03
    # The deviation of a von Mises distribution of this concentration.
    assert angle["sd"] == pytest.approx(0.2265, rel=0.1)
    assert angle["angular_sd"] == pytest.approx(angle["sd"], rel=0.02)
    assert angle["r_hat"] < 1.02
    lower, upper = (float(angle[name]) for name in table.columns[2:4])
    assert upper - lower < 1.2
    assert table.loc["angle[1]", "mean"] == pytest.approx(0.5, abs=0.03)


def record(angles=()):
    manifolds = {"free": "Circle", "x": "Euclidean"}
    return xr.Dataset(attrs={ATTRIBUTE: write_record("gSGNHT", {}, manifolds, angles=angles)})


def about_pi(seed=1, sd=0.1):
    return np.angle(np.exp(1j * np.random.default_rng(seed).normal(np.pi, sd, (4, 500))))


def test_named_angles_are_added_to_those_that_a_run_has_recorded():
    posterior = az.from_dict({"posterior": {"free": about_pi(1), "named": about_pi(2)}})
    posterior["sample_stats"] = xr.DataTree(record())
    table = pmg.summary(posterior, angles=["named"], round_to="none")
    for name in ("free", "named"):
        assert abs(table.loc[name, "mean"]) == pytest.approx(np.pi, abs=0.02)
        assert table.loc[name, "sd"] == pytest.approx(0.1, rel=0.1)
    alone = pmg.summary(posterior, var_names=["free"], angles=[])
    assert alone.loc["free", "sd"] == pytest.approx(0.1, rel=0.1)
    with pytest.raises(ValueError, match="`angles` expected names of variables, got 'other'"):
        pmg.summary(posterior, angles="other")


def test_angles_in_degrees_keep_their_unit():
    degrees = np.rad2deg(about_pi()) % 360
    idata = az.from_dict({"posterior": {"wind": degrees}})
    table = pmg.summary(idata, angles="wind", unit="degrees", round_to="none")
    assert abs(table.loc["wind", "mean"]) == pytest.approx(180, abs=1)
    assert table.loc["wind", "angular_sd"] == pytest.approx(np.rad2deg(0.1), rel=0.1)
    with pytest.raises(ValueError, match="`wind` expected angles in radians from -2 pi to 2 pi"):
        pmg.summary(idata, angles="wind")


def test_part_of_the_angles_is_wrapped_too():
    x = np.stack([about_pi(1), about_pi(2)], axis=-1)
    idata = az.from_dict({"posterior": {"x": x}})
    table = pmg.summary(idata, angles="x", coords={"x_dim_0": [1]}, round_to="none")
    assert table["sd"].to_numpy() == pytest.approx([0.1], rel=0.1)


@pytest.mark.parametrize(
    ("draws", "unit"),
    [
        (about_pi(), "radians"),
        (np.rad2deg(about_pi()), "degrees"),
        (np.mod(about_pi() + np.pi, 2 * np.pi), "radians"),
        (np.mod(np.rad2deg(about_pi()) + 180, 360), "degrees"),
    ],
)
def test_numbers_that_look_like_angles_give_a_warning(draws, unit):
    idata = az.from_dict({"posterior": {"x": draws}})
    with pytest.warns(UserWarning, match=f"`x` looks like an angle in {unit} .* at both ends"):
        pmg.summary(idata)
    idata["sample_stats"] = xr.DataTree(record(angles=["x"]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pmg.summary(idata, angles=["x"], unit=unit)


@pytest.mark.parametrize(
    "draws",
    [
        np.random.default_rng(1).uniform(-np.pi, np.pi, (4, 500)),
        np.random.default_rng(1).normal(0.0, 1.0, (4, 500)),
        np.random.default_rng(1).beta(0.2, 0.2, (4, 500)),
        np.random.default_rng(1).normal(0.0, 100.0, (4, 500)),
    ],
)
def test_other_numbers_give_none(draws):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pmg.summary(az.from_dict({"posterior": {"x": draws}}))


def test_an_arctangent_of_a_model_is_an_angle():
    """Alone, in a matrix, and a whole multiple of it."""
    with pm.Model():
        x = pm.Normal("x", [-5.0, 0.0], 0.5, shape=2)
        angle = pt.arctan2(x[1], x[0])
        pm.Deterministic("angle", angle)
        pm.Deterministic("both", pt.stack([angle, pt.arctan2(x[0], x[1])])[None])
        pm.Deterministic("twice", 2 * angle)
        step = pmg.SGGMC(step_size=0.1, friction=3.0, n_steps=20)
        idata = pmg.sample(400, tune=100, step=step, random_seed=1, progressbar=False)
    assert list(read_records(idata)[0].angles) == ["angle", "both", "twice"]
    table = pmg.summary(idata, round_to="none")
    row = table.loc["angle"]
    error = 4 * row["mcse_mean"]
    assert abs(np.angle(np.exp(1j * (row["mean"] - np.pi)))) < error
    assert row["sd"] == pytest.approx(0.1, rel=0.15)
    assert table.loc["both[0, 0]", "mean"] == row["mean"]


def test_no_verdict_of_different_modes(run):
    model, idata = run
    for known in (model, None):
        found = pmg.diagnose(idata, model=known)
        names = {finding.name for finding in found.findings}
        assert not names & {"different_modes", "not_stationary"}, names


def test_chains_at_the_two_ends_of_an_axis_agree():
    rng = np.random.default_rng(1)
    x = rng.normal([3.0, 0.0, 0.0], 0.3, (4, 200, 3))
    x /= np.linalg.norm(x, axis=-1, keepdims=True)
    x[::2] *= -1
    aligned = without_seam(pmg.ProjectiveSphere(), x)
    assert abs(aligned[..., 0].mean()) > 0.95
    assert np.ptp(np.sign(aligned[..., 0])) == 0
