#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The line of progress names what takes time, from the model to the certificate."""

import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.stages import shown_by, stage
from pymc_geodesic.step_methods import progress


def test_a_stage_that_ends_or_fails_gives_way_to_that_before():
    shown = []

    @stage("Inner")
    def fails():
        raise ValueError("no")

    with shown_by(shown.append), stage("Outer"), pytest.raises(ValueError, match="no"):
        fails()
    assert shown == ["Outer", "Inner", "Outer", ""]
    with stage("Unseen"):
        assert len(shown) == 4


@pytest.fixture
def shown(monkeypatch):
    found = []
    original = progress.Progress._show

    def show(self, name):
        found.append(name)
        original(self, name)

    monkeypatch.setattr(progress.Progress, "_show", show)
    return found


def test_a_run_says_what_it_does(shown, capsys):
    x = np.random.default_rng(1).normal(size=(2_000, 2))
    with pm.Model():
        beta = pm.Normal("beta", shape=2)
        pm.Normal("y", x @ beta, 1.0, observed=x.sum(axis=1))
        pmg.sample(100, tune=100, random_seed=1, progressbar=True)
    stages = ["Reading the model", "Searching a start", "Searching the mode", "Compiling"]
    stages += ["Measuring noise", "Measuring again", "Checking the draws"]
    stages += ["Correcting the draws", "Certifying the draws"]
    first = [name for name in dict.fromkeys(shown) if name in stages]
    assert set(first) == set(stages)
    assert first[0] == stages[0]
    assert first[-3:] == stages[-3:]
    # The last line is that of the phase.
    assert capsys.readouterr().err.splitlines()[-1].startswith("Sampling")


def test_no_line_is_left_where_nothing_is_drawn_here(shown, capsys):
    with pm.Model() as model:
        pm.Normal("x")
    with pytest.raises(ValueError, match="batch_size"):
        pmg.sample(model=model, batch_size=-1)
    assert "draws" not in capsys.readouterr().err


def test_the_time_before_the_first_draw_is_shown(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    with progress.Progress(100, visible=True), stage("Approximating the posterior"):
        pass
    line = capsys.readouterr().err.splitlines()[-1]
    assert line.startswith("Compiling")
    assert line.rstrip().endswith("0/100 draws 00:00")
