#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Digests are the same in every process, and differ where values do."""

import os
import subprocess
import sys

from functools import partial
from pathlib import Path

import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.runs.checkpoints.identity import digest, graph_digests

REGRESSION = Path(__file__).parents[1] / "regression"
sys.path.insert(0, str(REGRESSION))

import regression_models as models  # noqa: E402

NAMES = ("vector", "sphere", "simplex", "mixed", "local", "lda", "stream")
VALUES = [
    *(0, 0.0, False, None, "0", b"0", np.zeros(1), np.zeros(1, "float32"), np.zeros((1, 1)), {}),
    *([], [0], (0,), {"a": [0]}, {"a": [1]}, {1, 2}, np.array([None]), np.float32, np.random),
    *(lambda x: x, lambda x: x + 1, lambda x: x + 2, partial(sum, start=1), partial(sum, start=2)),
    *(pmg.LocalGMC(["x"]), pmg.LocalGMC(["y"]), pmg.PolynomialSchedule(1.0, 2.0, 0.6)),
    *(pmg.PolynomialSchedule(1.0, 2.0, 0.7), np.random.default_rng(1), np.random.default_rng(2)),
]


def test_values_that_differ_have_other_digests():
    digests = [digest(value) for value in VALUES]
    assert len(set(digests)) == len(VALUES)
    assert digests == [digest(value) for value in VALUES]


def test_objects_that_hold_themselves_have_a_digest():
    value: list = [1]
    value.append(value)
    assert digest(value) == digest(value)
    # A file cannot be pickled.
    with open(__file__) as file:
        assert digest(file)


def all_digests():
    found = [graph_digests(getattr(models, name)().logp(sum=False)) for name in NAMES]
    return [*found, digest(models.Rows()), digest(pmg.LocalGMC(["x"], draws=3))]


@pytest.mark.filterwarnings("ignore")
def test_another_process_finds_the_same():
    code = (
        f"import sys, warnings; warnings.simplefilter('ignore'); sys.path[:0] = {sys.path!r}; "
        f"sys.path.insert(0, {str(Path(__file__).parent)!r}); "
        "import test_digest; print(test_digest.all_digests())"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONHASHSEED": "5"},
    )
    found = all_digests()
    assert shown.stdout.splitlines()[-1] == str(found)
    assert len(set(map(str, found))) == len(found)


def model(family=pm.Normal, mean=0.0, power=2, data=1.0):
    with pm.Model() as made:
        x = family("x", mean, 1.0)
        pm.Potential("p", -(x**power))
        pm.Normal("y", x, 1.0, observed=np.full(3, data))
    return made


@pytest.mark.parametrize(
    ("change", "differs"),
    [
        ({}, (False, False)),
        ({"family": pm.Cauchy}, (True, False)),
        ({"mean": 1.0}, (True, False)),
        ({"power": 4}, (True, False)),
        ({"data": 2.0}, (False, True)),
    ],
)
def test_graphs_differ_in_what_they_compute_or_in_their_arrays(change, differs):
    first, second = (graph_digests(m.logp(sum=False)) for m in (model(), model(**change)))
    assert tuple(a != b for a, b in zip(first, second, strict=True)) == differs
