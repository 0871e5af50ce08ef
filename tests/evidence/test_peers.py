#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The table of other packages: who is right, who wins, and what was not run."""

import importlib
import sys

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(
    not (ROOT / "benchmarks").is_dir(), reason="not part of a source archive"
)


@pytest.fixture(scope="module")
def runs():
    sys.path.insert(0, str(ROOT))
    yield importlib.import_module("benchmarks.peers.runs")
    sys.path.remove(str(ROOT))


def run_of(*, effective, cpu=10.0, shift=0.0, scale=1.0):
    errors = shift, 1.0, scale
    return {"cpu": cpu, "wall": cpu, "effective": effective, "errors": errors}


def test_errors_are_in_true_deviations(runs):
    truth = {"mean": [0.0, 1.0], "sd": [1.0, 2.0]}
    assert runs.errors([0.1, 0.6], [1.5, 1.0], truth) == pytest.approx((0.2, 0.5, 1.5))


def test_a_line_says_what_a_run_came_to(runs):
    made = [run_of(effective=500.0, shift=0.1), run_of(effective=300.0, cpu=30.0, scale=1.1)]
    assert runs.line("ours", made) == [
        *("ours", "2", "20.0", "20", "300", "30.0"),
        *("0.100", "1.000", "1.100"),
    ]
    assert runs.line("slow", [{"ended": 120}])[2] == "> 120"
    assert runs.line("broken", [{"failed": "ValueError: no"}])[2] == "failed: ValueError: no"
    assert runs.line("later", [None])[1] == "not run"
    assert runs.line("larger", [{"beyond": True}])[1] == "not tried"


def test_who_took_long_is_not_tried_on_more_rows(runs):
    assert not runs.is_beyond(None)
    assert not runs.is_beyond(run_of(effective=9.0, cpu=39.0))
    assert runs.is_beyond(run_of(effective=9.0, cpu=41.0))
    assert runs.is_beyond({"ended": 120})
    assert not runs.is_complete({"ours": [None]})
    assert runs.is_complete({"larger": [{"beyond": True}]})


@pytest.mark.parametrize(("pace", "wins"), [(40.0, True), (60.0, False)])
def test_a_peer_that_is_right_and_faster_wins(runs, pace, wins):
    found = {
        "ours": [run_of(effective=500.0)],
        "right": [run_of(effective=10 * pace)],
        "wrong": [run_of(effective=9000.0, scale=1.5)],
        "approximate": [run_of(effective=None)],
        "ended": [{"ended": 120}],
    }
    right, faster = runs.checks("case", found)
    assert right[-1] is True
    assert faster[1:] == ("50.0", f">= {pace:.1f} (right)", wins)


def test_what_was_not_run_says_nothing(runs):
    assert runs.checks("case", {"ours": [None], "other": [run_of(effective=9.0)]}) == [
        ("case: ours", "", "", None)
    ]
    scored = {"ours": [{"loss": 0.5}], "other": [{"loss": 0.4}], "later": [None]}
    [(_, told, asked, does)] = runs.of_scores("case", scored, {"loss": 0.05})
    assert (told, asked, does) == ("0.5000", "<= 0.4000 (other) + 0.05", None)
    del scored["later"]
    assert runs.of_scores("case", scored, {"loss": 0.05})[0][-1] is False
