#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What is said of chains that disagree, are short, or diverge."""

import arviz_base as az
import numpy as np
import pymc as pm
import pytest
import xarray as xr

import pymc_geodesic as pmg

from pymc_geodesic.run_record import ATTRIBUTE, write_record
from pymc_geodesic.runs.convergence import warnings_of_convergence

PEOPLE = ["ann", "bob"]


@pytest.fixture(scope="module")
def model():
    with pm.Model(coords={"person": PEOPLE}) as model:
        pm.Normal("effect", dims="person")
        pm.HalfNormal("scale")
        pm.Deterministic("twice", 2 * model["scale"])
    return model


def said(model, effect, scale, diverging=None):
    posterior = {"effect": effect, "scale": scale, "twice": np.ones_like(scale)}
    diverging = np.zeros(scale.shape, bool) if diverging is None else diverging
    groups = {"posterior": posterior, "sample_stats": {"diverging": diverging}}
    idata = az.from_dict(groups, coords={"person": PEOPLE}, dims={"effect": ["person"]})
    return [warning.message for warning in warnings_of_convergence(idata, model)]


def normals(*shape):
    return np.random.default_rng(0).normal(size=shape)


def test_nothing_is_said_of_good_chains(model):
    assert said(model, normals(4, 500, 2), normals(4, 500)) == []


def test_chains_that_disagree_are_named_by_their_label(model):
    effect = normals(4, 500, 2)
    effect[0, :, 1] += 3
    first, second = said(model, effect, normals(4, 500))
    assert first.startswith("R-hat of `effect[bob]` is 1.")
    assert second.startswith("The effective sample size of `effect[bob]` is ")


def test_short_chains_are_named(model):
    [text] = said(model, normals(4, 500, 2), np.repeat(normals(4, 10), 50, axis=1) + 1e-3)[-1:]
    assert text.startswith("The effective sample size of `scale` is ")
    assert "less than 100" in text


def test_divergences_are_counted(model):
    diverging = np.zeros((4, 500), bool)
    diverging[1, :3] = True
    [text] = said(model, normals(4, 500, 2), normals(4, 500), diverging)
    assert text.startswith("3 of 2000 draws after tuning diverged.")


@pytest.mark.parametrize(
    ("shape", "start"),
    [((4, 50), "50 draws are too few"), ((1, 500), "Only one chain"), ((2, 500), "R-hat is reli")],
)
def test_limits_of_the_checks_are_said(model, shape, start):
    [text] = said(model, normals(*shape, 2), normals(*shape))
    assert text.startswith(start)


def test_entries_that_never_move_are_not_compared(model):
    assert said(model, np.ones((4, 500, 2)), np.ones((4, 500))) == []


def test_angles_and_axes_are_compared_where_they_do_not_jump():
    """Angles about pi, and axes of which each chain has another sign."""
    with pm.Model() as model:
        pm.VonMises("angle", 0.0, 1.0)
        pmg.Watson("axis", [0.0, 0.0, 1.0], 0.0)
    angle = np.angle(np.exp(1j * (np.pi + 0.1 * normals(4, 500))))
    angle[0] = np.abs(angle[0])
    axis = [1.0, 0.0, 0.0] + 0.1 * normals(4, 500, 3)
    axis /= np.linalg.norm(axis, axis=-1, keepdims=True)
    axis[::2] *= -1
    idata = az.from_dict({"posterior": {"angle": angle, "axis": axis}})
    found = [warning.message for warning in warnings_of_convergence(idata, model)]
    assert any("R-hat of `axis[0]` is" in text for text in found)
    record = write_record("gSGNHT", {}, {"angle": "Circle", "axis": "ProjectiveSphere"})
    idata["sample_stats"] = xr.DataTree(xr.Dataset(attrs={ATTRIBUTE: record}))
    # The first chain is really on one side.
    first, *_ = [warning.message for warning in warnings_of_convergence(idata, model)]
    assert first.startswith("R-hat of `angle` is 1.")
    idata["posterior"]["angle"][0] = -angle[1]
    assert warnings_of_convergence(idata, model) == []
