#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Runs that once gave a wrong answer without a word, and one-chain runs, for `diagnose`.

Of the faults that are refused when a step is built there are no runs. Settings are in units of the
posterior's scale, as in :mod:`diagnose_settings`.
"""

from __future__ import annotations

import importlib

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from scipy.stats import vonmises_fisher

import pymc_geodesic as pmg

from benchmarks.diagnostics.diagnose_settings import (
    FAR,
    SCALE,
    Case,
    directions,
    exact,
    regression,
    sghmc,
    sgnht,
)

__all__ = ["ONE_CHAIN", "TEMPERATURES", "WRONG"]

# The package has a function of the same name, which hides the module.
GSGNHT = importlib.import_module("pymc_geodesic.algorithms.gsgnht")
N_ROWS, T_SCALE, NU = 1_000, 1.5, 4.0
# Local variables take time in proportion to the rows of a batch.
N_LOCAL, LOCAL_BATCH = 500, 50


def probabilities() -> pm.Model:
    """Probabilities of four words in 200 documents of five words each."""
    rows = np.random.default_rng(1).multinomial(5, [0.4, 0.3, 0.2, 0.1], size=200).astype("int32")
    with pm.Model() as model:
        p = pm.Dirichlet("p", np.ones(4))
        batch = pm.Minibatch(rows, batch_size=50)
        pm.Multinomial("n", 5, p, observed=batch, total_size=200)
    return model


def scale_mixture() -> pm.Model:
    """The location of Student t data, whose rows each have a precision of their own."""
    y = T_SCALE * np.random.default_rng(1).standard_t(NU, N_LOCAL)
    with pm.Model() as model:
        rows = pm.Minibatch(y, batch_size=LOCAL_BATCH)
        mu = pm.Normal("mu", 0.0, 10.0, initval=0.0)
        w = pm.Gamma("w", NU / 2, NU / 2, shape=LOCAL_BATCH)
        pm.Normal("y", mu, T_SCALE / pm.math.sqrt(w), observed=rows, total_size=N_LOCAL)
    return model


CENTRES = np.eye(3)


def mixture() -> pm.Model:
    """Three clusters of unit vectors, with weights, mean directions and concentrations."""
    rng = np.random.default_rng(1)
    labels = rng.choice(3, N_ROWS, p=[0.4, 0.35, 0.25])
    x = np.concatenate(
        [vonmises_fisher(CENTRES[k], 30.0).rvs((labels == k).sum(), rng) for k in range(3)]
    )

    def log_density(x, w, mu, kappa):
        # In space the normaliser is kappa / (4 pi sinh kappa).
        log_c = pt.log(kappa / (2 * np.pi)) - kappa - pt.log1p(-pt.exp(-2 * kappa))
        cosines = (x[:, None, :] * mu).sum(axis=-1)
        return pt.logsumexp(pt.log(w) + log_c + kappa * cosines, axis=-1)

    with pm.Model() as model:
        batch = pm.Minibatch(rng.permutation(x), batch_size=100)
        w = pm.Dirichlet("w", np.ones(3))
        mu = pmg.VonMisesFisher("mu", mu=[0, 0, 1], kappa=0.0, shape=(3, 3))
        kappa = pm.HalfNormal("kappa", 50.0, shape=3)
        pm.CustomDist(
            "x",
            w,
            mu,
            kappa,
            logp=log_density,
            observed=batch,
            signature="(k),(k,n),(k)->(n)",
            total_size=N_ROWS,
        )
    return model


def start_at(directions, kappa=(30.0, 30.0, 30.0)) -> dict[str, np.ndarray]:
    directions = np.asarray(directions, dtype=float)
    directions = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    return {"mu": directions, "kappa": np.array(kappa), "w": np.full(3, 1 / 3)}


RIGHT, PERMUTED = start_at(CENTRES), start_at(CENTRES[[1, 2, 0]])
# Two components share the first cluster, the third serves the two others.
WRONG_MODE = start_at([[1, 0.1, 0], [1, 0, 0.1], [0, 1, 1]], kappa=(30.0, 30.0, 3.0))


def two_noises() -> pm.Model:
    """Two variables of one scale, of which the data's noise heats the first alone."""
    rows = np.random.default_rng(1).normal(size=(N_ROWS, 4))
    with pm.Model() as model:
        a = pm.Normal("a", 0.0, 10.0, shape=4)
        pm.Normal("b", 0.0, 1 / np.sqrt(N_ROWS), shape=4)
        batch = pm.Minibatch(rows, batch_size=10)
        pm.Normal("y", a, 1.0, observed=batch, total_size=N_ROWS)
    return model


def wrong_sign() -> pm.Model:
    """A density that grows without bound, as from a sign that is wrong."""
    with pm.Model() as model:
        x = pm.Flat("x", shape=3, initval=np.full(3, 0.1))
        pm.Potential("target", 0.5 * (x**2).sum())
    return model


def force_divided_by(temperature: float) -> Callable:
    """Give the dynamics another force than the gradient: positions of that temperature."""

    @contextmanager
    def patched() -> Iterator[None]:
        kick = GSGNHT.kick

        def scaled(*args, gradient, **options):
            return kick(*args, gradient=tuple(g / temperature for g in gradient), **options)

        with patch.object(GSGNHT, "kick", scaled):
            yield

    return patched


def gsgnht(step: float, diffusion: float, **options) -> Callable:
    """Like `sgnht`, for the dynamics that `force_divided_by` changes."""
    return lambda: pmg.gSGNHT(
        step_size=step * SCALE,
        diffusion=diffusion / SCALE,
        **({"n_steps": 10} | options),
    )


def local(**options) -> Callable:
    """Location by SGNHT, precisions of the rows by `LocalGMC`."""
    return lambda: pmg.SGNHT(
        ["mu"],
        local=pmg.LocalGMC(["w"], draws=10, tune=20, n_leapfrog=5, **options),
        step_size=0.008,
        diffusion=15.0,
        n_steps=10,
    )


def self_tuned(method, **options) -> Callable:
    return lambda: method(**({"n_steps": 10} | options))


ONE = {"chains": 1}
TWO = {"chains": 2, "draws": 200, "tune": 200}
SHORT = {"chains": 1, "draws": 300, "tune": 300}

ONE_CHAIN = [
    Case("SGHMC, exact gradients", exact, sghmc(0.3, 1.0), None, ONE),
    Case("SGHMC, 'fisher'", regression, sghmc(0.1, 2.0, gradient_noise="fisher"), None, ONE),
    Case("SGNHT, self-tuned", regression, self_tuned(pmg.SGNHT), None, ONE),
    Case("SGNHT, self-tuned, with the model", regression, self_tuned(pmg.SGNHT), None, ONE, True),
    Case("gSGNHT, self-tuned, sphere", directions, self_tuned(pmg.gSGNHT, n_steps=20), None, ONE),
    Case(
        "SGRLD, simplex",
        probabilities,
        self_tuned(pmg.SGRLD, step_size=1e-4, variance_reduction=None, n_steps=100),
        None,
        ONE,
    ),
    Case("SGLD, control variates", regression, self_tuned(pmg.SGLD, n_steps=20), None, ONE),
    Case("GMC", exact, lambda: pmg.GMC(), None, ONE),
    Case("LocalGMC, tuned", scale_mixture, local(), None, SHORT),
    Case(
        "mixture, two chains from one start",
        mixture,
        self_tuned(pmg.gSGNHT),
        None,
        TWO | {"initvals": [RIGHT, RIGHT]},
    ),
]

WRONG = [
    Case(
        "LocalGMC, step size 1.2", scale_mixture, local(step_size=1.2), "local_rows_unmoved", SHORT
    ),
    Case(
        "mixture, chains in two modes",
        mixture,
        self_tuned(pmg.gSGNHT),
        "chains_tuned_apart or different_modes",
        TWO | {"initvals": [RIGHT, WRONG_MODE]},
    ),
    Case(
        "mixture, labels permuted",
        mixture,
        self_tuned(pmg.gSGNHT),
        "label_switching",
        TWO | {"initvals": [RIGHT, PERMUTED]},
    ),
    Case(
        "density without bound, one chain",
        wrong_sign,
        lambda: pmg.SGHMC(step_size=0.3, friction=1.0, n_steps=10),
        "step_size_too_large",
        ONE,
    ),
    Case("step 2.1 scales, one chain", exact, sghmc(2.1, 0.1), "step_size_too_large", ONE),
    Case(
        "SGNHT, far start, 100 of tuning",
        regression,
        sgnht(0.1, 0.1),
        "thermostat_unsettled or step_size_too_large or not_stationary",
        {"initvals": FAR, "tune": 100},
    ),
    Case(
        "SGNHT, far start, 100 of tuning, one chain",
        regression,
        sgnht(0.1, 0.1),
        "thermostat_unsettled or step_size_too_large or not_stationary",
        {"initvals": FAR[0], "tune": 100, "chains": 1},
    ),
    Case(
        "thermostat, exact gradients, step 1.2 scales",
        exact,
        sgnht(1.2, 0.1),
        "positions_too_narrow",
    ),
    Case(
        "thermostat, 50 steps a batch",
        regression,
        gsgnht(0.02, 1.0, n_steps=50, steps_per_batch=50, variance_reduction=None),
        "positions_too_wide",
    ),
    Case(
        "one thermostat, two noises",
        two_noises,
        lambda: pmg.SGNHT(step_size=1e-3, diffusion=10.0, n_steps=50, variance_reduction=None),
        "shared_thermostat or positions_too_wide or positions_too_narrow",
        {"chains": 2},
    ),
    Case(
        "few effective draws",
        exact,
        sghmc(0.1, 20.0),
        "few_effective_draws or not_stationary",
    ),
    Case(
        "few effective draws, one chain",
        exact,
        sghmc(0.1, 10.0),
        "few_effective_draws or not_stationary",
        ONE,
    ),
    Case(
        "on its way, one chain",
        regression,
        sghmc(0.01, 100.0, gradient_noise="fisher"),
        "not_stationary",
        {"initvals": FAR[3], "tune": 0, "chains": 1},
    ),
]

TEMPERATURES = [
    Case(
        f"positions at temperature {temperature}",
        exact,
        gsgnht(0.2, 0.5),
        "positions_too_wide",
        patch=force_divided_by(temperature),
    )
    for temperature in (1.05, 1.1, 1.2, 1.3, 1.4)
]
