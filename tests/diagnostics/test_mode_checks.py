#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Modes that were found before the first draw, and whether chains cross between them."""

import arviz as az
import numpy as np
import pytest

from pymc_geodesic.diagnostics.model_checks import check_modes, not_looked
from pymc_geodesic.run_record import ModeRecord, ModesRecord, RunRecord


def record(weight=0.3, not_looked="", **changes):
    other = ModeRecord(weight, "x", [1], 2.0, -2.0, 13.0)
    modes = ModesRecord(1 - weight, [other], [3, 1], n_starts=27, not_looked=not_looked)
    return RunRecord("SGNHT", {}, {"x": "Euclidean"}, modes=modes._replace(**changes))


def draws(signs):
    """Draws around both modes of the second entry."""
    noise = np.random.default_rng(1).normal(size=(*np.shape(signs), 3)) * 0.3
    return run(x=noise + 2.0 * np.asarray(signs)[..., None] * [0.0, 1.0, 0.0])


def run(**values):
    return az.from_dict({"posterior": values})


APART = np.repeat([[1], [-1], [-1], [-1]], 200, axis=1)
MIXED = np.where(np.random.default_rng(2).random((4, 200)) < 0.3, 1, -1)


@pytest.mark.parametrize(("weight", "severity"), [(0.3, "error"), (0.02, "warning")])
def test_chains_that_stay_are_reported(weight, severity):
    [finding] = check_modes([record(weight)], draws(APART))
    assert (finding.name, finding.severity) == ("several_modes", severity)
    assert finding.evidence["crossings_per_chain"] == [0.0]
    assert "`x[1]` is 2 instead of -2" in finding.sentence
    assert "3 and 1 began" in finding.sentence


def test_so_are_chains_all_in_one_mode_and_entries_that_were_not_kept():
    assert check_modes([record()], draws(np.ones((4, 200))))
    assert check_modes([record()], run(y=np.ones((4, 200))))


def test_chains_that_cross_are_not():
    assert not check_modes([record()], draws(MIXED))


def test_a_wide_mode_whose_draws_come_near_the_other_does_not_cross():
    wide = np.random.default_rng(1).normal(2.0, 1.5, (4, 200, 3)).clip(-0.5)
    assert check_modes([record()], run(x=wide))


def test_one_mode_and_old_records_have_no_finding():
    assert not check_modes([record(others=())], draws(APART))
    assert not check_modes([RunRecord("SGNHT", {}, {})], draws(APART))


def test_reasons_are_told():
    assert not_looked([record()]) == ""
    assert not_looked([record(not_looked="of a whim")]) == (
        "other modes of the posterior: of a whim."
    )
