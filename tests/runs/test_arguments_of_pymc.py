#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Arguments of ``pm.sample`` are taken, or answered by what to do instead."""

import inspect

import pymc as pm
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.runs.plan import INSTEAD

NAMES = {
    name for name, p in inspect.signature(pm.sample).parameters.items() if p.kind != p.VAR_KEYWORD
}
OURS = set(inspect.signature(pmg.sample).parameters)


def test_every_argument_of_pymc_is_taken_or_answered():
    assert set(INSTEAD) >= NAMES - OURS
    assert not OURS & set(INSTEAD)


@pytest.mark.parametrize("name", INSTEAD)
def test_an_argument_that_is_not_taken_is_answered(name):
    with pytest.raises(TypeError, match=rf"`{name}` expected no value, got 4\. .+\.$"):
        pmg.sample(model=pm.Model(), **{name: 4})


def test_the_length_of_the_tuning_phase_has_a_name():
    with pytest.raises(TypeError, match=r"`pmg\.sample\(10, tune=20\)` if"):
        pmg.sample(10, 20)


def test_a_model_has_a_name():
    for given in ({}, {"tune": 20}):
        with pytest.raises(
            TypeError, match=r"got an object of type Model\. .* `pmg\.sample\(model="
        ):
            pmg.sample(pm.Model(), **given)


def test_python_names_other_arguments():
    with pytest.raises(TypeError, match="unexpected keyword argument 'chain'"):
        pmg.sample(chain=4)
