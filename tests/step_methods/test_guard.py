#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""PyMC's own steps are kept away from random gradients, and let be everywhere else."""

import numpy as np
import pymc as pm
import pytest

from pymc.sampling.mcmc import assign_step_methods

import pymc_geodesic as pmg

N = 40
DATA = np.random.default_rng(1).normal(1.0, 1.0, N)
SAMPLE = {
    "draws": 3,
    "tune": 3,
    "chains": 1,
    "cores": 1,
    "progressbar": False,
    "quiet": True,
    "compute_convergence_checks": False,
}
CHEAP = {"mode": "FAST_COMPILE"}


def model_of(*, minibatch):
    with pm.Model() as model:
        data = pm.Minibatch(DATA, batch_size=5) if minibatch else DATA
        location = pm.Normal("location")
        scale = pm.HalfNormal("scale")
        scaled = {"total_size": N} if minibatch else {}
        pm.Normal("x", location, scale, observed=data, **scaled)
    return model


def test_compound_with_nuts_on_the_full_data():
    with model_of(minibatch=False) as model:
        steps = [
            pmg.SGGMC([model["location"]], step_size=0.01, friction=1.0, backend="jax"),
            pm.NUTS([model["scale"]], compile_kwargs=CHEAP),
        ]
        idata = pm.sample(step=steps, random_seed=1, **SAMPLE)
    assert np.ptp(idata.posterior["location"].values) > 0
    assert np.ptp(idata.posterior["scale"].values) > 0


def test_compound_of_our_own_on_minibatches():
    with model_of(minibatch=True):
        steps = [
            pmg.SGGMC(["location"], step_size=0.01, friction=1.0, backend="jax"),
            pmg.SGLD(["scale"], step_size=1e-4, n_steps=1, backend="jax"),
        ]
        idata = pm.sample(step=steps, random_seed=1, **SAMPLE)
    assert np.ptp(idata.posterior["scale"].values) > 0


def test_compound_with_another_step_on_minibatches_is_refused():
    with model_of(minibatch=True) as model:
        steps = [
            pmg.SGGMC(["location"], step_size=0.01, friction=1.0, backend="jax"),
            pm.Metropolis([model["scale"]], compile_kwargs=CHEAP),
        ]
        with pytest.raises(ValueError, match=r"`scale` would be sampled by a step that is not of"):
            pm.sample(step=steps, **SAMPLE)


def test_an_older_step_does_not_vouch_for_another():
    with model_of(minibatch=True) as model:
        older = pmg.SGLD(["scale"], step_size=1e-4, n_steps=1, backend="jax")
        steps = [
            pmg.SGGMC(["location"], step_size=0.01, friction=1.0, backend="jax"),
            pm.Metropolis([model["scale"]], compile_kwargs=CHEAP),
        ]
        with pytest.raises(ValueError, match=r"`scale` would be sampled by a step that is not of"):
            pm.sample(step=steps, **SAMPLE)
    assert older.vars


def test_left_over_variables_of_minibatch_models_are_refused():
    with model_of(minibatch=True):
        step = pmg.SGGMC(["location"], step_size=0.01, friction=1.0, backend="jax")
        with pytest.raises(ValueError, match=r"`scale` would be sampled by a step that is not of"):
            pm.sample(step=step, **SAMPLE)


def test_nuts_for_a_minibatch_model_is_warned_of():
    with model_of(minibatch=True) as model, pytest.warns(UserWarning, match="meaningless draws"):
        assign_step_methods(model)


def test_nuts_is_warned_of_also_after_a_run_with_our_own_step():
    with model_of(minibatch=True) as model:
        step = pmg.SGGMC(step_size=0.01, friction=1.0, backend="jax")
        with pytest.warns(UserWarning, match="meaningless draws"):
            assign_step_methods(model)
    assert step.vars == model.value_vars


def test_full_data_models_are_not_warned_of():
    with model_of(minibatch=False) as model:
        assign_step_methods(model)
