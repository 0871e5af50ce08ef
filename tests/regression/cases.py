#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Short runs of every step on every kind of variable, whose draws are recorded.

A change of the internals that leaves the dynamics alone must reproduce them. They go through
`pm.sample`, so that nothing here depends on how a step is built inside. `python record.py` in this
folder records them anew.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pymc as pm
import pytest
import regression_models as models

import pymc_geodesic as pmg

TUNE, DRAWS = 20, 30


class Case(NamedTuple):
    """A model, a step for it, and its options."""

    model: Callable[[], pm.Model]
    step: Callable[..., Any]
    options: dict[str, Any] = {}


FIXED = {"step_size": 0.02, "n_steps": 2}
FRICTION, DIFFUSION = FIXED | {"friction": 2.0}, FIXED | {"diffusion": 2.0}
# Small enough that rounding does not grow.
SMALL = {"step_size": 0.004, "n_steps": 2}
SLOW, SLOW_DIFFUSION = SMALL | {"friction": 10.0}, SMALL | {"diffusion": 10.0}
PLAIN = {"variance_reduction": None, "n_steps": 2}
TUNED = {"n_steps": 3}
EXACT = {"minibatch": False}


def _local(step, **options):
    return step(["location"], local=pmg.LocalGMC(["effect"], draws=4, tune=4), **options)


def _stream(step, **options):
    return step(data={"batch": models.Rows()}, **options)


def _gibbs(**options):
    local = pmg.LocalGMC(["effect"], draws=4, tune=4)
    with pytest.warns(UserWarning, match="too small"):
        return pmg.GMCWithinGibbs(["location"], local=local, **options)


CASES = {
    "vector-SGGMC": Case(models.vector, pmg.SGGMC, FRICTION | {"gradient_noise": "fisher"}),
    "vector-SGGMC-tuned": Case(models.vector, pmg.SGGMC, TUNED),
    "vector-gSGNHT": Case(models.vector, pmg.gSGNHT, DIFFUSION),
    "vector-SGNHT": Case(models.vector, pmg.SGNHT, DIFFUSION | {"thermostat": "per_variable"}),
    "vector-SGNHT-euler": Case(models.vector, pmg.SGNHT, DIFFUSION | {"integrator": "euler"}),
    "vector-SGNHT-tuned": Case(models.vector, pmg.SGNHT, TUNED),
    "vector-SGNHT-without-replacement": Case(
        models.vector, pmg.SGNHT, DIFFUSION | {"replacement": False, "steps_per_batch": 2}
    ),
    "vector-SGHMC": Case(models.vector, pmg.SGHMC, FRICTION | {"gradient_noise": 5.0}),
    "vector-SGHMC-tuned": Case(models.vector, pmg.SGHMC, TUNED),
    "vector-SGHMC-controlled": Case(
        models.vector, pmg.SGHMC, FRICTION | {"variance_reduction": "control_variates"}
    ),
    "vector-SGHMC-mass": Case(models.vector, pmg.SGHMC, FRICTION | {"mass": "em"}),
    "vector-SGLD": Case(
        models.vector,
        pmg.SGLD,
        PLAIN | {"step_size": pmg.PolynomialSchedule(1e-3, 100, 0.6)},
    ),
    "vector-SGLD-tuned": Case(models.vector, pmg.SGLD, TUNED),
    "vector-SGNPHMC": Case(models.vector, pmg.SGNPHMC, {"step_size": 0.01, "thermal_mass": 4.0}),
    "vector-GMC": Case(partial(models.vector, **EXACT), pmg.GMC, {"n_leapfrog": 3}),
    "sphere-SGGMC": Case(models.sphere, pmg.SGGMC, FRICTION | {"gradient_noise": "fisher"}),
    "sphere-gSGNHT": Case(models.sphere, pmg.gSGNHT, DIFFUSION),
    "sphere-gSGNHT-tuned": Case(models.sphere, pmg.gSGNHT, TUNED),
    "sphere-GMC": Case(partial(models.sphere, **EXACT), pmg.GMC, {"n_leapfrog": 3}),
    "simplex-SGGMC": Case(models.simplex, pmg.SGGMC, SLOW),
    "simplex-gSGNHT": Case(models.simplex, pmg.gSGNHT, SLOW_DIFFUSION),
    "simplex-SGRLD": Case(models.simplex, pmg.SGRLD, PLAIN | {"step_size": 1e-3}),
    "simplex-SGRLD-euler": Case(
        models.simplex, pmg.SGRLD, PLAIN | {"step_size": 1e-3, "dynamics": "euler"}
    ),
    "simplex-GMC": Case(partial(models.simplex, **EXACT), pmg.GMC, {"n_leapfrog": 3}),
    "mixed-SGGMC": Case(models.mixed, pmg.SGGMC, SLOW),
    "mixed-gSGNHT": Case(models.mixed, pmg.gSGNHT, SLOW_DIFFUSION | {"thermostat": "per_variable"}),
    "mixed-gSGNHT-tuned": Case(models.mixed, pmg.gSGNHT, TUNED),
    "mixed-GMC": Case(partial(models.mixed, **EXACT), pmg.GMC, {"n_leapfrog": 3}),
    "local-SGGMC": Case(models.local, partial(_local, pmg.SGGMC), SLOW),
    "local-SGNHT": Case(models.local, partial(_local, pmg.SGNHT), SLOW_DIFFUSION),
    "local-SGLD": Case(models.local, partial(_local, pmg.SGLD), {"step_size": 1e-3}),
    "local-GMCWithinGibbs": Case(partial(models.local, **EXACT), _gibbs, {"n_leapfrog": 3}),
    "lda-SGRLD": Case(models.lda, pmg.SGRLD, {"step_size": 1e-3, "n_steps": 2}),
    "stream-SGNHT": Case(models.stream, partial(_stream, pmg.SGNHT), DIFFUSION),
    "stream-SGLD": Case(
        models.stream,
        partial(_stream, pmg.SGLD),
        PLAIN | {"step_size": 1e-3, "n_steps": 1},
    ),
    "stream-gSGNHT-tuned": Case(models.stream, partial(_stream, pmg.gSGNHT), TUNED),
}


def step_of(name: str) -> Any:
    """The step of a case, for the model on the context stack."""
    options = dict(CASES[name].options)
    if options.get("mass") == "em":
        options["mass"] = pmg.MonteCarloEM()
    return CASES[name].step(**options)


def draws_of(name: str) -> dict[str, np.ndarray]:
    """Run a case; return the draws of every free variable, tuning phase included."""
    with CASES[name].model() as model:
        idata = pm.sample(
            DRAWS,
            tune=TUNE,
            chains=1,
            cores=1,
            step=step_of(name),
            random_seed=7,
            discard_tuned_samples=False,
            compute_convergence_checks=False,
            progressbar=False,
        )
    return {
        rv.name: np.concatenate(
            [idata[group][rv.name].values[0] for group in ("warmup_posterior", "posterior")]
        )
        for rv in model.free_RVs
    }


def sampler_of(name):
    """The sampler of the step of a case."""
    with CASES[name].model():
        return step_of(name).sampler
