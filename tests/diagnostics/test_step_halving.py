#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Biases of known size, estimated by halving the step."""

import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

OPTIONS = {"tune": 50, "chains": 4, "cores": 1, "compute_convergence_checks": False}


def normal(points):
    with pm.Model() as model:
        pm.Normal("x", shape=points)
    return model


def test_order_is_known_to_the_step():
    with normal(1):
        orders = [
            method(step_size=0.1, backend="jax").order
            for method in (pmg.SGGMC, pmg.SGHMC, pmg.gSGNHT, pmg.SGLD)
        ]
        assert orders == [2, 2, 2, 1]
        assert pmg.SGNHT(step_size=0.1, integrator="euler", backend="jax").order == 1


def test_bias_of_langevin_dynamics():
    """A standard normal has variance 1 / (1 - h / 4) at step size h."""
    h, built = 0.8, []

    def factory(step_size):
        built.append(pmg.SGLD(step_size=step_size, n_steps=10, backend="jax"))
        return built[-1]

    result = pmg.step_halving(normal(1), factory, step_size=h, draws=2000, random_seed=1, **OPTIONS)
    assert [step.chain.settings.n_steps for step in built] == [10, 20]
    assert result.order == 1
    sd = result.table.loc[("x[0]", "sd")]
    bias = 2 * ((1 - h / 4) ** -0.5 - (1 - h / 8) ** -0.5)
    assert abs(sd["bias"] - bias) < 4 * sd["bias_error"]
    assert sd["z"] > 4
    # What the next power of h leaves is a quarter of the bias at most.
    assert abs(sd["extrapolated"] - 1) < abs(bias) / 4 + 4 * sd["extrapolated_error"]
    mean = result.table.loc[("x[0]", "mean")]
    assert abs(mean["z"]) < 4
    assert "the sd of x[0] is off by" in str(result)
    assert len(result.runs) == 2
    assert result.runs[0]["posterior"].sizes["draw"] == 2000


def test_a_class_keeps_its_friction():
    options = {"n_steps": 2, "backend": "jax"}
    result = pmg.step_halving(
        normal(1), pmg.SGHMC, step_size=0.2, options=options, draws=20, random_seed=1, **OPTIONS
    )
    frictions = [float(run["sample_stats"]["friction"][0, -1]) for run in result.runs]
    assert frictions == pytest.approx([0.05, 0.05])
    sizes = [float(run["sample_stats"]["step_size"][0, -1]) for run in result.runs]
    assert sizes == pytest.approx([0.2, 0.1])
    table = result.table
    np.testing.assert_allclose(
        table["extrapolated"], (4 * table["halved"] - table["estimate"]) / 3, rtol=1e-12
    )


@pytest.mark.parametrize("step", [pm.NUTS, lambda step_size: "no step"])
def test_steps_without_a_bias_of_this_kind(step):
    with pytest.raises(ValueError, match="`step` expected a stochastic-gradient step class"):
        pmg.step_halving(normal(1), step, step_size=0.1)
    with pytest.raises(ValueError, match="`step_size`"):
        pmg.step_halving(normal(1), pmg.SGHMC, step_size=-1.0)
