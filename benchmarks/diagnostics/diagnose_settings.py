#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Good runs of four chains, and those whose fault is a parameter of the sampler, for `diagnose`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import numpy as np
import pymc as pm

import pymc_geodesic as pmg

__all__ = ["CASES", "FAR", "SCALE", "Case", "directions", "exact", "regression", "sghmc", "sgnht"]

N, BATCH = 1000, 50


def regression(*, minibatch: bool = True, total_size: int = N) -> pm.Model:
    """Three coefficients with posterior standard deviations of about 1 / sqrt(N)."""
    rng = np.random.default_rng(1)
    x = rng.standard_normal((N, 3))
    y = x @ [1.0, -0.5, 0.2] + rng.standard_normal(N)
    with pm.Model() as model:
        if minibatch:
            x, y = pm.Minibatch(x, y, batch_size=BATCH)
        beta = pm.Normal("beta", shape=3)
        size = {"total_size": total_size} if minibatch else {}
        pm.Normal("y", x @ beta, 1.0, observed=y, **size)
    return model


def directions() -> pm.Model:
    """A mean direction and its concentration."""
    rng = np.random.default_rng(1)
    data = rng.normal([2.0, 1.0, 0.0], 1.0, (N, 3))
    data /= np.linalg.norm(data, axis=1, keepdims=True)
    with pm.Model() as model:
        rows = pm.Minibatch(data, batch_size=BATCH)
        mu = pmg.VonMisesFisher("mu", mu=[1, 0, 0], kappa=0.0)
        kappa = pm.HalfNormal("kappa", 10.0)
        pmg.VonMisesFisher("x", mu=mu, kappa=kappa, observed=rows, total_size=N)
    return model


def two_modes() -> pm.Model:
    with pm.Model() as model:
        x = pm.Flat("x", initval=5.0)
        pm.Potential("target", -0.5 * (pm.math.abs(x) - 5) ** 2)
    return model


class Case(NamedTuple):
    """A run with the finding that it must lead to, None for a good one.

    One of several findings may be asked for, as "a or b". ``patch`` is in force during the run.
    """

    name: str
    model: Callable[[], pm.Model]
    step: Callable[[], Any]
    expected: str | None
    options: dict[str, Any] = {}
    with_model: bool = False
    patch: Callable[[], AbstractContextManager] = nullcontext


SCALE = 1 / np.sqrt(N)
NOISE = N * N / BATCH  # variance of a minibatch gradient of `regression`, about
SPREAD = [{"x": -5.0}, {"x": 5.0}, {"x": -5.0}, {"x": 5.0}]
FAR = [{"beta": np.full(3, start)} for start in (-30.0, -10.0, 10.0, 30.0)]


def sghmc(step: float, friction: float, **options):
    """Step size in posterior scales, friction in units of one over them."""
    return lambda: pmg.SGHMC(
        step_size=step * SCALE, friction=friction / SCALE, n_steps=10, **options
    )


def sgnht(step: float, diffusion: float, **options):
    return lambda: pmg.SGNHT(
        step_size=step * SCALE, diffusion=diffusion / SCALE, n_steps=10, **options
    )


def sgld(step: float):
    return lambda: pmg.SGLD(step_size=step * SCALE**2, variance_reduction=None, n_steps=10)


def exact() -> pm.Model:
    return regression(minibatch=False)


CASES = [
    Case("SGHMC, exact gradients", exact, sghmc(0.3, 1.0), None),
    Case("SGHMC, 'fisher'", regression, sghmc(0.1, 2.0, gradient_noise="fisher"), None),
    Case("SGHMC, self-tuned", regression, lambda: pmg.SGHMC(n_steps=10), None),
    Case("SGNHT", regression, sgnht(0.1, 3.0), None),
    Case("SGNHT, with the model", regression, sgnht(0.1, 3.0), None, {}, True),
    Case("SGNHT, self-tuned", regression, lambda: pmg.SGNHT(n_steps=10), None),
    Case(
        "gSGNHT, self-tuned, with the model",
        directions,
        lambda: pmg.gSGNHT(n_steps=20),
        None,
        {"chains": 2},
        True,
    ),
    Case("SGLD, control variates", regression, lambda: pmg.SGLD(n_steps=20), None),
    Case("step 1.5 scales, exact", exact, sghmc(1.5, 1.0), "step_size_too_large"),
    Case(
        "step 1 scale, 'fisher', with the model",
        regression,
        sghmc(1.0, 1.0, gradient_noise="fisher"),
        "step_size_too_large",
        {},
        True,
    ),
    Case("step 2.5 scales: diverges", exact, sghmc(2.5, 1.0), "step_size_too_large"),
    Case("SGNHT, step 0.5 scales", regression, sgnht(0.5, 3.0), "step_size_too_large"),
    Case("SGLD, step 1.5 variances", exact, sgld(1.5), "step_size_too_large"),
    Case("friction 1, noise 2 times", regression, sghmc(0.1, 1.0), "friction_too_small"),
    Case("friction 3, noise 0.33 times", regression, sghmc(0.1, 3.0), "friction_too_small"),
    Case("friction, with the model", regression, sghmc(0.1, 2.0), "friction_too_small", {}, True),
    Case(
        "chains in two modes",
        two_modes,
        lambda: pmg.SGHMC(step_size=0.2, friction=1.0, n_steps=10),
        "different_modes",
        {"initvals": SPREAD},
    ),
    Case(
        "start far away, no tuning",
        regression,
        sghmc(0.01, 100.0, gradient_noise="fisher"),
        "not_stationary",
        {"initvals": FAR, "tune": 0},
    ),
    Case(
        "one common start, no tuning",
        regression,
        sghmc(0.01, 100.0, gradient_noise="fisher"),
        "not_stationary",
        {"initvals": {"beta": np.full(3, 10.0)}, "tune": 0},
    ),
    Case(
        "total_size 10 times too large",
        lambda: regression(total_size=10 * N),
        sgnht(0.05, 3.0, trust_total_size=True),
        "total_size",
        {},
        True,
    ),
    Case(
        "total_size 2 times too small",
        lambda: regression(total_size=N // 2),
        sgnht(0.1, 3.0, trust_total_size=True),
        "total_size",
        {},
        True,
    ),
]
