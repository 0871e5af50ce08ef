#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Ways to the posterior of a logistic regression: ours, and those of other packages.

Each has four chains where it has chains. Samplers of all rows have 300 transitions of tuning and
250 draws a chain, about 1,000 effective ones: more would only make them slower. A step size, a
number of steps or a learning rate is the package's default where it has one.
"""

from __future__ import annotations

import os

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.peers.runs import SEED, Draws
from benchmarks.speed.answer import laplace, logistic_model

__all__ = ["METHODS"]

CHAINS, TUNE, DRAWS = 4, 300, 250
# Rows of HMCECS at a time, and in how many blocks they are redrawn.
SUBSAMPLE, BLOCKS = 200, 20
# Of LAPS, which is made for thousands of chains on an accelerator.
LAPS_CHAINS, LAPS_STEPS = 64, (100, 200)
# Of MAMS: what its authors recommend.
MAMS_TARGET = 0.9
ADVI_STEPS, ADVI_RATE = 20_000, 0.001
APPROXIMATE_DRAWS = 2_000


def ours(x: np.ndarray, y: np.ndarray) -> Draws:
    """Draw by `pmg.sample` with its defaults, by batches of 300."""
    import pymc_geodesic as pmg

    idata = pmg.sample(model=logistic_model(x, y), random_seed=SEED, progressbar=False)
    return Draws(idata.posterior["slope"].values)


def of_all_rows(x: np.ndarray, y: np.ndarray) -> Any:
    """Write the model with all rows in PyMC."""
    import pymc as pm

    with pm.Model() as model:
        slope = pm.Normal("slope", 0.0, 1.0, shape=x.shape[1])
        pm.Bernoulli("y", logit_p=x @ slope, observed=y)
    return model


def by_nutpie(adaptation: str) -> Callable[[np.ndarray, np.ndarray], Draws]:
    """Make a method of nutpie, on Numba and all cores."""

    def draw(x: np.ndarray, y: np.ndarray) -> Draws:
        import nutpie

        compiled = nutpie.compile_pymc_model(of_all_rows(x, y), backend="numba")
        found = nutpie.sample(
            compiled,
            draws=DRAWS,
            tune=TUNE,
            chains=CHAINS,
            cores=os.cpu_count(),
            adaptation=adaptation,
            progress_bar=False,
            seed=SEED,
        )
        return Draws(found.posterior["slope"].values)

    return draw


def numpyro_run(kernel: Any, x: np.ndarray, y: np.ndarray, *, tune: int, draws: int) -> Draws:
    """Run a kernel of NumPyro."""
    import jax

    from numpyro.infer import MCMC

    run = MCMC(
        kernel,
        num_warmup=tune,
        num_samples=draws,
        num_chains=CHAINS,
        chain_method="sequential",
        progress_bar=False,
    )
    run.run(jax.random.PRNGKey(SEED), x, y)
    return Draws(np.asarray(run.get_samples(group_by_chain=True)["slope"]))


def numpyro_model(subsample: int | None) -> Callable[[Any, Any], None]:
    """Make the model in NumPyro, of all rows or of some at a time."""
    import jax
    import numpyro
    import numpyro.distributions as dist

    jax.config.update("jax_enable_x64", True)

    def model(x: Any, y: Any) -> None:
        slope = numpyro.sample("slope", dist.Normal(0.0, 1.0).expand([x.shape[1]]).to_event(1))
        with numpyro.plate("rows", len(x), subsample_size=subsample):
            if subsample is not None:
                x = numpyro.subsample(x, event_dim=1)
                y = numpyro.subsample(y, event_dim=0)
            numpyro.sample("y", dist.BernoulliLogits(x @ slope), obs=y)

    return model


def numpyro_nuts(x: np.ndarray, y: np.ndarray) -> Draws:
    """Draw by NumPyro's NUTS, all rows."""
    model = numpyro_model(None)
    from numpyro.infer import NUTS

    return numpyro_run(NUTS(model), x, y, tune=TUNE, draws=DRAWS)


def numpyro_hmcecs(x: np.ndarray, y: np.ndarray) -> Draws:
    """Draw by energy conserving subsampling around the mode, which Newton's method finds."""
    mode, _ = laplace(x, y)
    model = numpyro_model(SUBSAMPLE)
    import jax.numpy as jnp

    from numpyro.infer import HMCECS, NUTS, init_to_value

    around = {"slope": jnp.asarray(mode)}
    inner = NUTS(model, init_strategy=init_to_value(values=around))
    kernel = HMCECS(inner, num_blocks=BLOCKS, proxy=HMCECS.taylor_proxy(around))
    return numpyro_run(kernel, x, y, tune=TUNE, draws=2 * DRAWS)


def log_density(x: np.ndarray, y: np.ndarray) -> Callable[[Any], Any]:
    """Make the log density of all rows in JAX."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    x, y = jnp.asarray(x), jnp.asarray(y, dtype=float)

    def evaluate(slope: Any) -> Any:
        eta = x @ slope
        return y @ eta - jnp.logaddexp(0.0, eta).sum() - 0.5 * slope @ slope

    return evaluate


def blackjax_mams(x: np.ndarray, y: np.ndarray) -> Draws:
    """Draw by BlackJAX's adjusted microcanonical sampler of varied trajectories, all rows."""
    density = log_density(x, y)
    import blackjax
    import jax
    import jax.numpy as jnp

    from blackjax.mcmc import adjusted_mclmc_dynamic as mams

    kernel = mams.build_kernel(mams.make_random_trajectory_length_fn(True))
    start, tuning, sampling = jax.random.split(jax.random.key(SEED), 3)
    state = mams.init(jnp.zeros(x.shape[1]), density, start)
    # A fifth of the number is tuning.
    state, found, _ = blackjax.adjusted_mclmc_find_L_and_step_size(
        kernel, density, 5 * TUNE, state, tuning, MAMS_TARGET
    )

    def chain(key: Any) -> Any:
        begin, rest = jax.random.split(key)
        first = mams.init(state.position, density, begin)

        def move(at: Any, key: Any) -> tuple[Any, Any]:
            at, _ = kernel(
                rng_key=key,
                state=at,
                logdensity_fn=density,
                step_size=found.step_size,
                inverse_mass_matrix=found.inverse_mass_matrix,
                integration_steps_params=(found.L / found.step_size,),
            )
            return at, at.position

        return jax.lax.scan(move, first, jax.random.split(rest, 2 * DRAWS))[1]

    run = jax.jit(chain)
    return Draws(np.stack([run(key) for key in jax.random.split(sampling, CHAINS)]))


def blackjax_laps(x: np.ndarray, y: np.ndarray) -> Draws:
    """Draw the last state of each of many chains by BlackJAX's late adjusted sampler."""
    density = log_density(x, y)
    import jax

    from blackjax.adaptation.laps import laps

    *_, last = laps(
        density,
        lambda key: jax.random.normal(key, (x.shape[1],)),
        x.shape[1],
        *LAPS_STEPS,
        LAPS_CHAINS,
        jax.sharding.Mesh(jax.devices(), "chains"),
        jax.random.key(SEED),
    )
    # One after the other, as if of one chain: they are independent.
    return Draws(np.asarray(last.position)[None])


def of_approximation(idata: Any) -> Draws:
    """Return draws of an approximation of PyMC."""
    values = idata.posterior["slope"].values
    return Draws(values.reshape(1, -1, values.shape[-1]), approximate=True)


def pathfinder(x: np.ndarray, y: np.ndarray) -> Draws:
    """Fit by pymc-extras' Pathfinder of four paths, all rows."""
    import pymc_extras as pmx

    return of_approximation(
        pmx.fit_pathfinder(of_all_rows(x, y), random_seed=SEED, parallel=False, progressbar=False)
    )


def dadvi(x: np.ndarray, y: np.ndarray) -> Draws:
    """Fit by pymc-extras' deterministic ADVI, all rows."""
    from pymc_extras.inference import fit_dadvi

    options = {"random_seed": SEED, "progressbar": False, "n_draws": APPROXIMATE_DRAWS}
    return of_approximation(fit_dadvi(of_all_rows(x, y), **options))


def laplace_of_extras(x: np.ndarray, y: np.ndarray) -> Draws:
    """Fit by pymc-extras' Laplace approximation, all rows."""
    import pymc_extras as pmx

    return of_approximation(
        pmx.fit_laplace(
            model=of_all_rows(x, y), random_seed=SEED, progressbar=False, draws=APPROXIMATE_DRAWS
        )
    )


def advi_of_extras(x: np.ndarray, y: np.ndarray) -> Draws:
    """Fit by pymc-extras' new ADVI and its optimizer, by batches of 300."""
    from pymc_extras.inference.advi.fit import fit_advi

    return of_approximation(
        fit_advi(
            logistic_model(x, y), n_steps=ADVI_STEPS, draws=APPROXIMATE_DRAWS, random_seed=SEED
        )
    )


def advi(x: np.ndarray, y: np.ndarray) -> Draws:
    """Fit by PyMC's ADVI with Adam, by batches of 300."""
    import pymc as pm

    with logistic_model(x, y):
        found = pm.fit(
            ADVI_STEPS,
            method="advi",
            obj_optimizer=pm.adam(learning_rate=ADVI_RATE),
            random_seed=SEED,
            progressbar=False,
        )
    return of_approximation(found.sample(APPROXIMATE_DRAWS, random_seed=SEED))


METHODS: dict[str, Callable[[np.ndarray, np.ndarray], Draws]] = {
    "pymc_geodesic": ours,
    "nutpie, low rank": by_nutpie("low_rank"),
    "NumPyro NUTS": numpyro_nuts,
    "NumPyro HMCECS": numpyro_hmcecs,
    "BlackJAX MAMS": blackjax_mams,
    "BlackJAX LAPS": blackjax_laps,
    "pymc-extras Laplace": laplace_of_extras,
    "pymc-extras DADVI": dadvi,
    "pymc-extras Pathfinder": pathfinder,
    "pymc-extras ADVI": advi_of_extras,
    "PyMC ADVI": advi,
}
