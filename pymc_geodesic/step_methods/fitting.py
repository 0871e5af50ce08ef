#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Whether the options of a stochastic-gradient step fit its algorithm."""

from __future__ import annotations

from typing import Any

from pymc_geodesic.algorithms.algorithm import Algorithm
from pymc_geodesic.potential.noise_matrices import is_noise_matrix
from pymc_geodesic.sampling.problem import Problem

__all__ = ["require_fitting"]


def require_fitting(
    name: str, algorithm: Algorithm, problem: Problem, gradient_noise: Any, *, has_step_size: bool
) -> None:
    """Raise an error for noise that the algorithm cannot use, or a missing step size.

    Raises
    ------
    ValueError
        If they do not fit.
    """
    if algorithm.needs_step_size and not has_step_size:
        raise ValueError(
            f"`{name}` expected a `step_size`, because the tuning phase cannot choose one for "
            f"{algorithm.needs_step_size}; got none. Pass a `step_size`."
        )
    if not is_noise_matrix(gradient_noise, problem.variables):
        return
    if not algorithm.takes_covariance:
        raise ValueError(
            f"`gradient_noise` of `{name}` expected variances, got covariances between entries. "
            "Leave it out, because a thermostat finds the noise, or use `pmg.SGGMC` or "
            "`pmg.SGHMC` with their second-order integrator."
        )
    if problem.mass is not None:
        raise ValueError(
            "`gradient_noise` with covariances between entries expected no `mass`, because they "
            f"would change in its frame; got {problem.mass!r}. Leave out one of them."
        )
