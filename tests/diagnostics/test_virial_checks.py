#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Temperatures of positions are judged by their standard errors, and by what steps may be off."""

import arviz as az
import numpy as np
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.diagnostics.thermostat_checks import check_virial

SHAPE = (4, 400)


def statistics(seed=1, **temperatures):
    rng = np.random.default_rng(seed)
    found = {
        "_".join(["configurational_temperature", *filter(None, [name])]): mean
        + rng.normal(0, 1, SHAPE)
        for name, mean in ({"": 1.0} | temperatures).items()
    }
    return found | {"step_size": np.full(SHAPE, 0.1)}


@pytest.mark.parametrize(
    ("mean", "names"),
    [
        (1.0, []),
        (0.9, []),
        (1.15, []),
        (1.4, ["positions_too_wide"]),
        (0.6, ["positions_too_narrow"]),
    ],
)
def test_temperatures_that_are_off(mean, names):
    findings = check_virial(statistics(x=mean, y=1.0))
    assert [finding.name for finding in findings] == names
    for finding in findings:
        assert "`x`" in finding.sentence
        assert "`y`" not in finding.sentence
        assert list(finding.evidence) == ["x"]
        assert finding.advice.startswith("Decrease")


def test_draws_that_share_a_batch_are_left_out():
    stats = statistics(x=1.5)
    for name, values in stats.items():
        if name.startswith("configurational"):
            values[:, 1::2] = np.nan
            values[0, ::4] = np.nan
    assert [finding.name for finding in check_virial(stats)] == ["positions_too_wide"]
    for name in stats:
        stats[name][:, 30:] = np.nan
    assert check_virial(stats) == []


def test_noise_alone_is_no_temperature():
    rng = np.random.default_rng(1)
    stats = statistics()
    stats["configurational_temperature"] = 1 + 50 * rng.standard_t(3, SHAPE)
    assert check_virial(stats) == []


def test_correlated_draws_are_worth_less():
    rng = np.random.default_rng(3)
    slow = np.zeros(SHAPE)
    for t in range(1, SHAPE[1]):
        slow[:, t] = 0.99 * slow[:, t - 1] + rng.normal(0, 0.3, SHAPE[0])
    # Independent draws of this spread would put the mean off by many standard errors.
    assert abs(slow.mean()) > 8 * slow.std() / np.sqrt(slow.size)
    assert check_virial(statistics() | {"configurational_temperature": 1 + slow}) == []


@pytest.mark.parametrize("mean", [1.0, 1.4])
def test_diagnose_reads_them(mean):
    x = np.random.default_rng(2).normal(size=SHAPE)
    stats = statistics() | {"diverging": np.zeros(SHAPE, bool), "thermostat": np.ones(SHAPE)}
    stats["configurational_temperature"] += mean - 1
    found = pmg.diagnose(az.from_dict({"posterior": {"x": x}, "sample_stats": stats}))
    assert found.names == (("positions_too_wide",) if mean > 1 else ())
