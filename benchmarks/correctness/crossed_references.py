#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What the parameters of ``crossed_models`` are compared with: their posteriors without chains."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.correctness.crossed_models import Crossed
from benchmarks.correctness.crossed_truths import N_PAIRS, Latents, Marginal, Quadrature, moments
from benchmarks.correctness.strangers_truths import Moments

__all__ = ["COMPARED", "reference"]

# Variables in the order of the reference's moments.
COMPARED = {
    "crossed": ("of_a", "of_b", "sigma", "mu"),
    "InstEval": ("of_s", "of_d", "of_p", "sigma", "mu", "slope"),
    "InstEval, a fifth": ("of_s", "of_d", "of_p", "sigma", "mu", "slope"),
    "ratings": ("of_a", "of_b", "cuts"),
    "claims": ("of_r", "of_v", "mu", "slopes"),
    "claims, a tenth": ("of_r", "of_v", "mu", "slopes"),
    "inflated counts": ("tau", "alpha", "psi", "mu", "slopes"),
    "5e5 rows": ("of_a", "of_b", "sigma", "mu"),
    "5e5 rows, logistic": ("of_a", "of_b", "mu"),
    "5e6 rows": ("of_a", "of_b", "sigma", "mu"),
    "5e6 rows, logistic": ("of_a", "of_b", "mu"),
}


def normal(eta, y, others):
    return -0.5 * ((y - eta) / others[0]) ** 2 - jnp.log(others[0])


def bernoulli(eta, y, others):
    return y * eta - jnp.logaddexp(0.0, eta)


def poisson(eta, y, others):
    return y * eta - jnp.exp(eta)


def ordinal(eta, y, cuts):
    ends = jnp.concatenate([jnp.array([-1e3]), cuts, jnp.array([1e3])])
    low, high = ends[y] - eta, ends[y + 1] - eta
    # Of log(F(high) - F(low)), without a difference of numbers that are nearly equal.
    return -jax.nn.softplus(low) - jax.nn.softplus(-high) + jnp.log1p(-jnp.exp(low - high))


def inflated(eta, y, others):
    alpha, psi = others
    log_total = jnp.logaddexp(jnp.log(alpha), eta)
    lgamma = jax.scipy.special.gammaln
    count = lgamma(y + alpha) - lgamma(alpha) - lgamma(y + 1.0)
    count += alpha * (jnp.log(alpha) - log_total) + y * (eta - log_total)
    return jnp.where(
        y == 0, jnp.logaddexp(jnp.log1p(-psi), jnp.log(psi) + count), jnp.log(psi) + count
    )


def half_normal(values: np.ndarray, widths: Sequence[float] | float) -> float:
    """Log density of the logarithms of half-normal parameters."""
    return float(np.sum(np.log(values) - 0.5 * (values / np.asarray(widths)) ** 2))


def of_scales(
    case: Crossed,
    rows: Callable,
    *,
    start: Sequence[float],
    widths: Sequence[float],
    prior: tuple[Sequence[float], Sequence[float]],
    offset: np.ndarray | float = 0.0,
    n_columns: int | None = None,
    n_pairs: int = N_PAIRS,
) -> Moments:
    """Factors' deviations, and that of the rows if there is one more."""
    n, columns = len(case.factors), case.design[:, :n_columns]
    center, deviation = map(np.asarray, prior)
    latents = Latents(
        rows, case.factors, columns, case.outcome, prior=(center, deviation), offset=offset
    )

    def density(t: np.ndarray) -> Marginal:
        values = np.exp(t)
        found = latents(values[:n], values[n:])
        return found._replace(log_density=found.log_density + half_normal(values, widths))

    return moments(density, np.log(start), np.exp, n_pairs=n_pairs)


def of_ratings(case: Crossed) -> Moments:
    """Factors' deviations and cuts."""
    empty = np.zeros(0)
    latents = Latents(ordinal, case.factors, case.design, case.outcome, prior=(empty, empty))

    def natural(t: np.ndarray) -> np.ndarray:
        return np.concatenate([np.exp(t[:2]), t[2] + np.cumsum(np.r_[0.0, np.exp(t[3:])])])

    def density(t: np.ndarray) -> Marginal:
        values = natural(t)
        found = latents(values[:2], values[2:])
        prior = half_normal(values[:2], 1.0) + t[3:].sum() - 0.5 * np.sum((values[2:] / 3.0) ** 2)
        return found._replace(log_density=found.log_density + prior)

    cuts = np.asarray(case.truth["cuts"])
    start = np.r_[np.log([case.truth["of_a"], case.truth["of_b"]]), cuts[0], np.log(np.diff(cuts))]
    return moments(density, start, natural)


def of_inflated(case: Crossed) -> Moments:
    """All parameters, with the effects of groups integrated out by quadrature."""
    quadrature = Quadrature(inflated, case.factors[0], case.outcome)

    def natural(t: np.ndarray) -> np.ndarray:
        return np.r_[np.exp(t[:2]), 1 / (1 + np.exp(-t[2])), t[3:]]

    def density(t: np.ndarray) -> Marginal:
        tau, alpha, psi, mu, *slopes = values = natural(t)
        found = quadrature(tau, np.array([alpha, psi]), case.design @ values[3:])
        prior = half_normal(np.array([tau]), 1.0) + np.log(alpha) - alpha
        prior += np.log(psi * (1 - psi)) - 0.5 * (mu / 2.0) ** 2 - 0.5 * np.sum(np.square(slopes))
        return Marginal(found + prior, np.zeros(0), np.zeros(0))

    start = np.r_[np.log([0.5, 1.5]), np.log(0.7 / 0.3), 1.0, case.truth["slopes"]]
    return moments(density, start, natural)


def reference(name: str, case: Crossed) -> Moments:
    """Means and deviations of the variables of ``COMPARED``."""
    if name == "ratings":
        return of_ratings(case)
    if name == "inflated counts":
        return of_inflated(case)
    if name.startswith("claims"):
        prior = ([-3.0, 0, 0, 0, 0], [2.0, 1, 1, 1, 1])
        return of_scales(
            case,
            poisson,
            start=[0.25, 0.15],
            widths=[0.5, 0.5],
            prior=prior,
            offset=case.design[:, -1],
            n_columns=-1,
        )
    if name.startswith("InstEval"):
        # The deviation of 14 departments has a long tail: 300 pairs find it narrower by a tenth.
        return of_scales(
            case,
            normal,
            start=[0.33, 0.52, 0.1, 1.18],
            widths=[1.0, 1.0, 1.0, 2.0],
            prior=([3.0, 0.0], [1.0, 1.0]),
            n_pairs=1_200,
        )
    if name.endswith("logistic"):
        return of_scales(case, bernoulli, start=[0.6, 0.9], widths=[1.0, 1.0], prior=([0.0], [1.5]))
    return of_scales(
        case, normal, start=[0.5, 0.7, 1.0], widths=[1.0, 1.0, 1.0], prior=([3.0], [1.0])
    )
