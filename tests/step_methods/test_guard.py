#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""PyMC's own steps are kept away from random gradients, and let be everywhere else."""

import arviz as az
import numpy as np
import pymc as pm
import pytest

from pymc.sampling import forward
from pymc.sampling.mcmc import assign_step_methods
from pymc.stats import log_density

import pymc_geodesic as pmg

from pymc_geodesic.minibatch_guard import install

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
            pmg.SGGMC([model["location"]], step_size=0.01, friction=1.0),
            pm.NUTS([model["scale"]], compile_kwargs=CHEAP),
        ]
        idata = pm.sample(step=steps, random_seed=1, **SAMPLE)
    assert np.ptp(idata.posterior["location"].values) > 0
    assert np.ptp(idata.posterior["scale"].values) > 0


def test_compound_of_our_own_on_minibatches():
    with model_of(minibatch=True):
        steps = [
            pmg.SGGMC(["location"], step_size=0.01, friction=1.0),
            pmg.SGLD(["scale"], step_size=1e-4, n_steps=1),
        ]
        idata = pm.sample(step=steps, random_seed=1, **SAMPLE)
    assert np.ptp(idata.posterior["scale"].values) > 0


def test_compound_with_another_step_on_minibatches_is_refused():
    with model_of(minibatch=True) as model:
        steps = [
            pmg.SGGMC(["location"], step_size=0.01, friction=1.0),
            pm.Metropolis([model["scale"]], compile_kwargs=CHEAP),
        ]
        with pytest.raises(ValueError, match=r"`scale` would be sampled by a step that is not of"):
            pm.sample(step=steps, **SAMPLE)


def test_an_older_step_does_not_vouch_for_another():
    with model_of(minibatch=True) as model:
        older = pmg.SGLD(["scale"], step_size=1e-4, n_steps=1)
        steps = [
            pmg.SGGMC(["location"], step_size=0.01, friction=1.0),
            pm.Metropolis([model["scale"]], compile_kwargs=CHEAP),
        ]
        with pytest.raises(ValueError, match=r"`scale` would be sampled by a step that is not of"):
            pm.sample(step=steps, **SAMPLE)
    assert older.vars


def test_left_over_variables_of_minibatch_models_are_refused():
    with model_of(minibatch=True):
        step = pmg.SGGMC(["location"], step_size=0.01, friction=1.0)
        with pytest.raises(ValueError, match=r"`scale` would be sampled by a step that is not of"):
            pm.sample(step=step, **SAMPLE)


def test_nuts_for_a_minibatch_model_is_warned_of():
    with model_of(minibatch=True) as model, pytest.warns(UserWarning, match="meaningless draws"):
        assign_step_methods(model)


def test_nuts_is_warned_of_also_after_a_run_with_our_own_step():
    with model_of(minibatch=True) as model:
        step = pmg.SGGMC(step_size=0.01, friction=1.0)
        with pytest.warns(UserWarning, match="meaningless draws"):
            assign_step_methods(model)
    assert step.vars == model.value_vars


def test_full_data_models_are_not_warned_of():
    with model_of(minibatch=False) as model:
        assign_step_methods(model)


def draws_of():
    rng = np.random.default_rng(1)
    return az.from_dict(
        {"posterior": {"location": rng.normal(size=(1, 3)), "scale": rng.uniform(size=(1, 3))}}
    )


def log_likelihood(model, **keywords):
    return pm.compute_log_likelihood(
        draws_of(), model=model, progressbar=False, compile_kwargs=CHEAP, **keywords
    )


def predict(model, **keywords):
    return pm.sample_posterior_predictive(
        draws_of(), model=model, progressbar=False, compile_kwargs=CHEAP, **keywords
    )


@pytest.mark.parametrize(
    ("compute", "message"),
    [
        (log_likelihood, r"all rows of `x`, got one random batch.*scaled by `total_size`.*full_da"),
        (predict, r"one random batch of `pm.Minibatch` for each draw of \['x'\].*pmg.full_data"),
    ],
)
def test_values_of_a_random_batch_are_warned_of(compute, message):
    model = model_of(minibatch=True)
    with pytest.warns(UserWarning, match=message) as found:
        compute(model)
    assert len(found) == 1
    assert found[0].filename == __file__
    assert compute(pmg.full_data(model))
    assert compute(model_of(minibatch=False))


def deterministics(model, **keywords):
    return pm.compute_deterministics(
        draws_of(), model=model, progressbar=False, compile_kwargs=CHEAP, **keywords
    )


def test_deterministics_of_a_random_batch_are_warned_of():
    with model_of(minibatch=True) as model:
        pm.Deterministic("twice", 2 * model["location"])
        pm.Deterministic("residual", model.rvs_to_values[model["x"]] - model["location"])
    message = r"random batch .* for each draw of \['residual'\]"
    with pytest.warns(UserWarning, match=message) as found:
        deterministics(model)
    assert len(found) == 1
    assert found[0].filename == __file__
    deterministics(model, var_names=["twice"])
    assert deterministics(pmg.full_data(model))["residual"].shape == (1, 3, N)


def find_mode(model):
    return pm.find_MAP(model=model, progressbar=False, maxeval=3, compile_kwargs=CHEAP)


def sample_smc(model):
    return pm.sample_smc(
        **{"draws": 20, "chains": 1, "cores": 1, "progressbar": False, "random_seed": 1},
        compute_convergence_checks=False,
        model=model,
        compile_kwargs=CHEAP,
    )


@pytest.mark.parametrize(("compute", "name"), [(find_mode, "find_MAP"), (sample_smc, "sample_smc")])
@pytest.mark.filterwarnings("ignore:(?!`pm)")
def test_a_random_density_at_every_evaluation_is_warned_of(compute, name):
    message = f"`pm.{name}` expected the log density of all rows.*{name}.model=pmg.full_data"
    with pytest.warns(UserWarning, match=message) as found:
        compute(model_of(minibatch=True))
    assert sum("all rows" in str(warning.message) for warning in found) == 1
    assert compute(model_of(minibatch=False))


def test_values_that_do_not_depend_on_a_batch_are_not_warned_of():
    with model_of(minibatch=True) as model:
        pm.Deterministic("twice", 2 * model["location"])
    predict(model, var_names=["twice"])
    pm.stats.compute_log_prior(draws_of(), model=model, progressbar=False, compile_kwargs=CHEAP)
    pm.sample_prior_predictive(3, model=model, compile_kwargs=CHEAP)


def test_log_likelihoods_of_the_place_of_a_stream_are_warned_of():
    with pm.Model() as model:
        batch = pm.Data("batch", np.zeros(5))
        mean, scale = pm.Normal("location"), pm.HalfNormal("scale")
        pm.Normal("x", mean, scale, observed=batch, total_size=N)
    with pytest.warns(UserWarning, match="all rows of `x`, 40 by its `total_size`, got 5, each"):
        log_likelihood(model)
    pm.set_data({"batch": DATA}, model=model)
    log_likelihood(model)


def test_the_guard_is_installed_once():
    functions = log_density.compute_log_density, forward.compile_forward_sampling_function
    install()
    assert functions == (
        log_density.compute_log_density,
        forward.compile_forward_sampling_function,
    )
    assert not hasattr(functions[0].__wrapped__, "__wrapped__")
