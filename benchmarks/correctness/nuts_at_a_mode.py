#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Moments of a posterior whose modes NUTS does not find by itself, for ``models.py``.

A network has many modes, hundreds of nats apart, and posterior scales that differ by factors of
thousands. NUTS begins at the lowest of several modes, in the frame of the curvature there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pymc as pm

from arviz import rhat
from pymc.blocking import DictToArrayBijection, RaveledVars
from pymc.step_methods.hmc.quadpotential import QuadPotentialFull
from scipy.optimize import minimize

from benchmarks.harness.sampling import flat

__all__ = ["moments_at_lowest_mode"]

N_STARTS, MOST_EVALUATIONS = 12, 8_000
# For central differences of gradients.
DIFFERENCE = 1e-5
# The mass is given, so that only the step size is tuned.
TUNE, DRAWS, CHAINS = 500, 1_000, 4
LARGEST_RHAT = 1.01


def moments_at_lowest_mode(
    model: Callable[[bool], pm.Model], names: Sequence[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Return means and deviations of all entries of variables, one after the other.

    Raises
    ------
    ArithmeticError
        If fewer than two starts found the lowest mode, or chains of NUTS disagree.
    """
    full = model(False)
    first = full.initial_point()
    order = [value.name for value in full.value_vars]
    packed = DictToArrayBijection.map({name: first[name] for name in order})
    with full:
        density = full.logp_dlogp_function(ravel_inputs=True)
    density.set_extra_values({})
    point, covariance = _lowest_mode(density, packed.data)
    values = DictToArrayBijection.rmap(RaveledVars(point, packed.point_map_info))
    outputs = full.replace_rvs_by_values(full.free_RVs)
    constrained = full.compile_fn(outputs, inputs=full.value_vars, point_fn=True)(values)
    start = {rv.name: value for rv, value in zip(full.free_RVs, constrained, strict=True)}
    with full:
        step = pm.NUTS(potential=QuadPotentialFull(covariance))
        found = pm.sample(
            DRAWS,
            tune=TUNE,
            chains=CHAINS,
            cores=1,
            step=step,
            initvals=start,
            random_seed=1,
            progressbar=False,
            compute_convergence_checks=False,
        ).posterior
    draws = flat({name: found[name].values for name in names}, names)
    worst = max(float(rhat(draws[..., i])) for i in range(draws.shape[-1]))
    if not worst <= LARGEST_RHAT:
        raise ArithmeticError(
            f"NUTS at the lowest mode expected an R-hat of 1.01, got {worst:.3f}."
        )
    return draws.mean(axis=(0, 1)), draws.std(axis=(0, 1))


def _lowest_mode(density, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest of several modes, and the inverse of the curvature there."""

    def objective(x):
        value, slope = density(x)
        return (-value, -slope) if np.isfinite(value) else (np.inf, np.zeros_like(x))

    rng = np.random.default_rng(0)
    options = {"maxiter": MOST_EVALUATIONS, "maxfun": MOST_EVALUATIONS, "ftol": 1e-13, "gtol": 1e-3}
    ends = [
        minimize(
            objective,
            start + rng.uniform(-1, 1, start.shape),
            jac=True,
            method="L-BFGS-B",
            options=options,
        )
        for _ in range(N_STARTS)
    ]
    best, second = sorted(ends, key=lambda end: end.fun)[:2]
    if second.fun > best.fun + 1:
        raise ArithmeticError(
            f"The lowest mode expected to be found twice, got {best.fun:.1f} and {second.fun:.1f}."
        )
    steps = DIFFERENCE * np.eye(len(start))
    columns = [density(best.x - step)[1] - density(best.x + step)[1] for step in steps]
    curvature = np.array(columns) / (2 * DIFFERENCE)
    return best.x, np.linalg.inv(0.5 * (curvature + curvature.T))
