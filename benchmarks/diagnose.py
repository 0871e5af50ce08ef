#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""How often `diagnose` names the fault of a bad run, and how often it is silent on a good one."""

from __future__ import annotations

import contextlib
import io

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pymc as pm

from common import Check, arguments, report, table

import pymc_geodesic as pmg

N, BATCH = 1000, 50
SEEDS = 20


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
    """A run with the finding that it must lead to, None for a good one."""

    name: str
    model: Callable[[], pm.Model]
    step: Callable[[], Any]
    expected: str | None
    options: dict[str, Any] = {}
    with_model: bool = False


SCALE = 1 / np.sqrt(N)
NOISE = N * N / BATCH  # variance of a minibatch gradient of `regression`, about
SPREAD = [{"x": -5.0}, {"x": 5.0}, {"x": -5.0}, {"x": 5.0}]
FAR = [{"beta": np.full(3, start)} for start in (-30.0, -10.0, 10.0, 30.0)]


def sghmc(step: float, friction: float, **options):
    """Step size in posterior scales, friction in units of one over them."""
    return lambda: pmg.SGHMC(
        step_size=step * SCALE, friction=friction / SCALE, n_steps=10, backend="jax", **options
    )


def sgnht(step: float, diffusion: float, **options):
    return lambda: pmg.SGNHT(
        step_size=step * SCALE, diffusion=diffusion / SCALE, n_steps=10, backend="jax", **options
    )


def sgld(step: float, **options):
    return lambda: pmg.SGLD(step_size=step * SCALE**2, n_steps=10, backend="jax", **options)


def exact() -> pm.Model:
    return regression(minibatch=False)


CASES = [
    Case("SGHMC, exact gradients", exact, sghmc(0.3, 1.0), None),
    Case("SGHMC, 'fisher'", regression, sghmc(0.1, 2.0, gradient_noise="fisher"), None),
    Case("SGHMC, self-tuned", regression, lambda: pmg.SGHMC(n_steps=10, backend="jax"), None),
    Case("SGNHT", regression, sgnht(0.1, 3.0), None),
    Case("SGNHT, with the model", regression, sgnht(0.1, 3.0), None, {}, True),
    Case("SGNHT, self-tuned", regression, lambda: pmg.SGNHT(n_steps=10, backend="jax"), None),
    Case(
        "gSGNHT, self-tuned, with the model",
        directions,
        lambda: pmg.gSGNHT(n_steps=20, backend="jax"),
        None,
        {"chains": 2},
        True,
    ),
    Case("SGLD, control variates", regression, lambda: pmg.SGLD(n_steps=20, backend="jax"), None),
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
        lambda: pmg.SGHMC(step_size=0.2, friction=1.0, n_steps=10, backend="jax"),
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


def quiet_diagnose(*args, **options) -> pmg.diagnostics.Diagnosis:
    with contextlib.redirect_stdout(io.StringIO()):
        return pmg.diagnose(*args, **options)


def run(case: Case, seeds: int) -> list[Any]:
    model = case.model()
    with model:
        step = case.step()
    right, others, example = 0, Counter(), ""
    for seed in range(1, seeds + 1):
        options = {"draws": 500, "tune": 500, "chains": 4} | case.options
        idata = pm.sample(
            model=model,
            step=step,
            random_seed=seed,
            cores=1,
            progressbar=False,
            compute_convergence_checks=False,
            **options,
        )
        found = quiet_diagnose(idata, model=model if case.with_model else None)
        named = case.expected in found.names if case.expected else found.ok
        right += named
        others.update(name for name in found.names if name != case.expected)
        if case.expected and named and not example:
            example = str(found.findings[found.names.index(case.expected)])
    print(f"{case.name}: {right} of {seeds}  {dict(others)}\n  {example}", flush=True)
    return [case.name, case.expected or "silent", right, seeds, dict(others)]


def main() -> None:
    import logging
    import warnings

    logging.getLogger("pymc").setLevel(logging.ERROR)
    warnings.simplefilter("ignore", UserWarning)
    options = arguments(__doc__)
    seeds = 2 if options.quick else SEEDS
    rows = [run(case, seeds) for case in CASES]
    table("diagnose", ["run", "asked", "times", "of", "also found"], rows)
    checks = []
    for what in dict.fromkeys(row[1] for row in rows):
        mine = [row for row in rows if row[1] == what]
        right, of = sum(row[2] for row in mine), sum(row[3] for row in mine)
        checks.append(Check(what, f"{right} of {of}", f">= {0.95 * of:.0f}", right >= 0.95 * of))
    report("diagnose", checks, quick=options.quick, rows=rows)


if __name__ == "__main__":
    main()
