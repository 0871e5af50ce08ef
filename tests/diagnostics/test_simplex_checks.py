#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Euler's steps on probabilities near zero: who chose them, and where they are biased."""

from types import SimpleNamespace

import numpy as np
import pytest

from pymc_geodesic.diagnostics.gradients import GradientDraws
from pymc_geodesic.diagnostics.model_checks import check_near_zero, chose_euler_steps
from pymc_geodesic.manifolds import Simplex
from pymc_geodesic.run_record import RunRecord


def draws_of(concentrations):
    """Draws of a Dirichlet distribution with the exact tangent gradient in square roots."""
    a = np.asarray(concentrations, float)
    x = np.sqrt(np.random.default_rng(1).dirichlet(a, (4, 25)))
    gradient = -(2 * a - 1) / x
    gradient -= x * np.sum(x * gradient, axis=-1, keepdims=True)
    variable = SimpleNamespace(name="p", manifold=Simplex())
    return GradientDraws((variable,), [x], [gradient])


def record(step="SGRLD", **settings):
    return RunRecord(step=step, settings=settings, manifolds={"p": "Simplex"})


@pytest.mark.parametrize("concentrations", [(40.0, 0.2, 300.0), (0.1, 0.7, 2.0)])
def test_a_probability_near_zero_is_named_with_its_concentration(concentrations):
    [finding] = check_near_zero(draws_of(concentrations))
    smallest = int(np.argmin(concentrations))
    assert finding.name == "biased_near_zero"
    assert finding.evidence["variable"] == f"p[{smallest}]"
    assert finding.evidence["concentration"] == pytest.approx(concentrations[smallest], abs=0.01)
    assert "cir" in finding.advice


# With counts, and with a concentration at which a useful step is right.
@pytest.mark.parametrize(
    "concentrations", [(40.0, 1.2, 300.0), (0.4, 0.7, 2.0), (9.0, 25.0, 245.0)]
)
def test_probabilities_with_counts_are_not(concentrations):
    assert check_near_zero(draws_of(concentrations)) == []


def test_only_steps_that_were_chosen_for_euler_count():
    assert chose_euler_steps([record()])
    assert chose_euler_steps([record("SGNHT"), record(n_steps=3)])
    for other in (record("gSGNHT"), record(dynamics="cir"), record(step_size=1e-6)):
        assert not chose_euler_steps([other])
