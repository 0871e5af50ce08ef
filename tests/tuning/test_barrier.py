#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Chains are in different modes only if the log density dips between them."""

import arviz as az
import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.mass import VariableMasses
from pymc_geodesic.potential import Potential
from pymc_geodesic.sampling.tuning_stages import warn_if_apart
from pymc_geodesic.tuning.barrier import barrier_between

FAR = np.array([6.0, 0.0])


def mixture():
    """Two modes of the same weight at 6 and -6."""
    with pm.Model() as model:
        x = pm.Flat("x", shape=2)
        pm.Potential("two", pm.math.logaddexp(-((x - FAR) ** 2).sum(), -((x + FAR) ** 2).sum()))
    return model


def wide():
    """One mode, along which chains may be anywhere."""
    with pm.Model() as model:
        pm.Normal("x", 0.0, [30.0, 1.0], shape=2)
    return model


def gradient_of(model):
    values = model.continuous_value_vars
    return HostGradient(Potential(model, values, initial_point=model.initial_point()))


def test_the_log_density_dips_between_modes_alone():
    assert barrier_between(gradient_of(mixture()), [FAR], [-FAR]) == pytest.approx(36 - np.log(2))
    assert barrier_between(gradient_of(wide()), [FAR], [-FAR]) == 0
    assert barrier_between(gradient_of(wide()), [FAR], [0 * FAR]) == 0


def test_on_a_sphere_the_way_is_on_the_sphere():
    with pm.Model() as model:
        pmg.Watson("x", mu=[0.0, 0.0, 1.0], kappa=30.0)
    pole = np.array([0.0, 0.1, 1.0])
    there = [pole / np.linalg.norm(pole)]
    assert barrier_between(gradient_of(model), there, [-np.array([0.0, -0.1, 1.0])]) > 20


@pytest.mark.parametrize(("make", "text"), [(mixture, "different modes"), (wide, "not mixed yet")])
def test_the_tuning_phase_says_which_it_is(make, text, caplog):
    draws = np.random.default_rng(1).normal(size=(2, 100, 2))
    draws += np.array([FAR, -FAR])[:, None]
    mass = VariableMasses([np.ones(2)], dense=[False], shapes=[(2,)], dtype="float64")
    windows = [[[x] for x in chain] for chain in draws]
    warn_if_apart("SGNHT", mass, windows, gradient_of(make()))
    assert text in caplog.text


@pytest.mark.parametrize(("make", "name"), [(mixture, "different_modes"), (wide, "not_stationary")])
def test_the_verdict_says_which_it_is(make, name):
    draws = np.random.default_rng(1).normal(size=(4, 250, 2))
    draws += np.array([FAR, -FAR, FAR, -FAR])[:, None]
    stats = {"step_size": np.full((4, 250), 0.1), "diverging": np.zeros((4, 250), bool)}
    idata = az.from_dict({"posterior": {"x": draws}, "sample_stats": stats})
    assert pmg.diagnose(idata).names == ("different_modes",)
    assert pmg.diagnose(idata, model=make()).names == (name,)
