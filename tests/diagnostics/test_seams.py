#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Summaries and convergence of axes and angles do not see where their coordinates jump."""

import arviz as az
import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.diagnostics.seams import without_seam


@pytest.fixture(scope="module")
def run():
    """An axis near the equator, where folding changes signs, and an angle about pi."""
    with pm.Model() as model:
        pmg.Watson("axis", [0.6, 0.8, 0.0], 60.0)
        pm.VonMises("angle", np.array([np.pi, 0.5]), 20.0)
        step = pmg.SGGMC(step_size=0.05, friction=3.0, n_steps=30, backend="jax")
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


def test_angles_can_be_named():
    x = np.angle(np.exp(1j * np.random.default_rng(1).normal(np.pi, 0.1, (4, 500))))
    idata = az.from_dict({"posterior": {"x": x}})
    table = pmg.summary(idata, angles=["x"], round_to="none")
    assert abs(table.loc["x", "mean"]) == pytest.approx(np.pi, abs=0.02)
    assert table.loc["x", "sd"] == pytest.approx(0.1, rel=0.1)
    with pytest.raises(ValueError, match="`angles` expected names of variables, got 'y'"):
        pmg.summary(idata, angles=["y"])


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
