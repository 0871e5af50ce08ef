#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Chains that tuned to different posteriors."""

import arviz as az
import numpy as np
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.diagnostics.thermostat_checks import check_tuning

SHAPE = (4, 400)


def stats(seed, *, sizes=(1.0, 1.0, 1.0, 1.0), energies=(0.0, 0.0, 0.0, 0.0), noise=10.0):
    """A Gaussian posterior of ten entries, with energies estimated from batches."""
    rng = np.random.default_rng(seed)
    energy = 0.5 * rng.chisquare(10, SHAPE) + noise * rng.standard_normal(SHAPE)
    return {
        "step_size": 0.1 * np.ones(SHAPE) * np.array(sizes)[:, None],
        "potential_estimate": 500 + energy + np.array(energies)[:, None],
        "diverging": np.zeros(SHAPE, dtype=bool),
    }


@pytest.mark.parametrize("seed", range(50))
@pytest.mark.parametrize("noise", [0.0, 10.0, 300.0])
def test_silence_where_chains_agree(seed, noise):
    found = check_tuning(stats(seed, sizes=(1, 1.5, 0.8, 1.2), noise=noise), n_entries=10)
    assert found == []


@pytest.mark.parametrize("seed", range(20))
def test_energies_apart(seed):
    [finding] = check_tuning(stats(seed, energies=(0, 0, 20, 0)), n_entries=10)
    assert finding.name == "chains_tuned_apart"
    assert len(finding.evidence["mean_energies"]) == 4
    assert "step_sizes" not in finding.evidence


def test_step_sizes_apart():
    [finding] = check_tuning(stats(1, sizes=(1, 1, 11, 1)), n_entries=10)
    assert finding.evidence["step_sizes"] == pytest.approx([0.1, 0.1, 1.1, 0.1])


def test_one_chain_has_none_to_compare_with():
    one = {name: values[:1] for name, values in stats(1).items()}
    assert check_tuning(one, n_entries=10) == []


def test_diagnose_says_so(capsys):
    x = np.random.default_rng(1).normal(size=(*SHAPE, 10))
    idata = az.from_dict({"posterior": {"x": x}, "sample_stats": stats(1, energies=(0, 50, 0, 0))})
    assert "chains_tuned_apart" in pmg.diagnose(idata).names
    assert "The chains tuned to different posteriors: mean energies" in capsys.readouterr().out
