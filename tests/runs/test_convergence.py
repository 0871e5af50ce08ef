#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What is said of chains that disagree or are short."""

import arviz_base as az
import numpy as np
import pymc as pm
import pytest
import xarray as xr

from scipy.signal import lfilter

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


def said(model, effect, scale):
    posterior = {"effect": effect, "scale": scale, "twice": np.ones_like(scale)}
    idata = az.from_dict(
        {"posterior": posterior}, coords={"person": PEOPLE}, dims={"effect": ["person"]}
    )
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


@pytest.mark.parametrize(("shift", "level"), [(0.5, "warn"), (3.0, "error")])
def test_chains_that_have_never_mixed_are_an_error(shift, level):
    with pm.Model() as one:
        pm.Normal("x")
    x = normals(4, 500)
    x[0] += shift
    first, *_ = warnings_of_convergence(az.from_dict({"posterior": {"x": x}}), one)
    assert first.level == level


def test_short_chains_are_named(model):
    [text] = said(model, normals(4, 500, 2), np.repeat(normals(4, 10), 50, axis=1) + 1e-3)[-1:]
    assert text.startswith("The effective sample size of `scale` is ")
    assert "less than 100" in text


@pytest.mark.parametrize("k", [1, 10, 1_200])
def test_the_largest_r_hat_of_many_is_no_alarm(k):
    """At a correlation of .8, with 110 effective draws a chain, 1.01 is exceeded by chance."""
    with pm.Model() as wide:
        pm.Normal("effect", shape=k)
    rng, alarms, n = np.random.default_rng(k), 0, max(3, 120 // k)
    for _ in range(n):
        noise = rng.normal(size=(4, 1_000, k))
        noise[:, 0] /= 0.6
        effect = lfilter([0.6], [1.0, -0.8], noise, axis=1)
        found = warnings_of_convergence(az.from_dict({"posterior": {"effect": effect}}), wide)
        alarms += any(warning.message.startswith("R-hat of") for warning in found)
    # By 1.01 alone one run in four raises an alarm for k = 1, and every run for the others.
    assert alarms <= 1


def test_one_of_many_chains_that_disagrees_is_named():
    with pm.Model() as wide:
        pm.Normal("effect", shape=1_200)
    effect = normals(4, 1_000, 1_200)
    effect[0, :, 700] += 0.35
    [text] = [
        w.message
        for w in warnings_of_convergence(az.from_dict({"posterior": {"effect": effect}}), wide)
        if "R-hat" in w.message
    ]
    assert text.startswith("R-hat of `effect[700]` is 1.0")
    assert "than chance makes the largest of 1,200" in text


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
