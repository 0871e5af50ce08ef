#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The list of ordinary models that ``models.py`` runs, and what of them is compared."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import pymc as pm

from benchmarks.correctness import ordinary_groups as groups
from benchmarks.correctness import ordinary_latents as latents
from benchmarks.correctness import ordinary_regressions as regressions
from benchmarks.correctness.gaussian_process_truth import feature_moments
from benchmarks.correctness.nuts_at_a_mode import moments_at_lowest_mode
from benchmarks.correctness.ordinary_truths import crossed_moments, ridge_moments

__all__ = ["MODELS", "Ordinary"]


class Ordinary(NamedTuple):
    """A posterior and what of it is compared.

    ``compared`` names all global parameters, without the effects of groups. Where parameters are
    known up to a symmetry, as the weights of a network, these are predictions. ``model`` writes the
    posterior for minibatches or for all rows. ``moments`` are exact means and deviations of what is
    compared, or those of NUTS that begins at the lowest mode; without them NUTS has to find them.
    """

    what: str
    n_rows: int
    compared: list[str]
    model: Callable[[bool], pm.Model]
    moments: Callable[[], tuple[np.ndarray, np.ndarray]] | None = None


def _crossed(n_users: int, n_items: int, n_rows: int, *, centered: bool) -> Ordinary:
    sizes = {"n_users": n_users, "n_items": n_items, "n_rows": n_rows}
    return Ordinary(
        f"crossed effects {n_users:,} x {n_items}" + ("" if centered else ", not centred"),
        n_rows,
        ["mu", "of_users", "of_items", "sigma"],
        partial(groups.crossed, **sizes, centered=centered),
        lambda: crossed_moments(*groups.ratings(**sizes), prior_mean=groups.PRIOR_MEAN),
    )


def _slopes(*, centered: bool) -> Ordinary:
    return Ordinary(
        "varying slopes, 2,000 groups" + ("" if centered else ", not centred"),
        groups.N_ROWS,
        ["mu", "factor_stds", "correlation"],
        partial(groups.slopes, centered=centered),
    )


def _radon(n_counties: int) -> Ordinary:
    return Ordinary(
        f"radon, {n_counties:,} counties",
        groups.N_ROWS,
        ["intercept", "slope", "on_floor", "tau", "sigma"],
        partial(groups.radon, n_counties=n_counties),
    )


def _regression(what: str, compared: list[str], model: Callable[[bool], pm.Model]) -> Ordinary:
    return Ordinary(what, regressions.N_ROWS, compared, model)


def _with_groups(what: str, compared: list[str], model: Callable[[bool], pm.Model]) -> Ordinary:
    return Ordinary(what, groups.N_ROWS, compared, model)


def _with_latents(what: str, compared: list[str], model: Callable[[bool], pm.Model]) -> Ordinary:
    return Ordinary(what, latents.N_ROWS, compared, model)


def _ridge_moments() -> tuple[np.ndarray, np.ndarray]:
    return ridge_moments(*regressions.sparse_regression(), scales=regressions.RIDGE_SCALES)


def _feature_moments() -> tuple[np.ndarray, np.ndarray]:
    places = regressions.sines(regressions.ON_A_LINE, 30)
    return feature_moments(regressions.gaussian_process, places)


MODELS = {
    "quantile": _regression("quantile regression", ["beta", "scale"], regressions.quantile),
    "ridge": _regression("ridge, p = 300", ["beta", "tau", "sigma"], regressions.ridge)._replace(
        moments=_ridge_moments
    ),
    "crossed_small": _crossed(200, 40, 20_000, centered=True),
    "zero_inflated": _regression(
        "zero-inflated Poisson", ["beta", "gamma"], regressions.zero_inflated
    ),
    "radon_85": _radon(85),
    "multinomial": _regression("multinomial, K = 20", ["beta"], regressions.multinomial),
    "gaussian_process": _regression(
        "Gaussian process by features",
        ["scale", "length", "sigma", "f"],
        regressions.gaussian_process,
    )._replace(moments=_feature_moments),
    "mixture_regression": _with_latents(
        "mixture of regressions",
        ["share", "level", "slope", "sigma"],
        latents.mixture_regression,
    ),
    "negative_binomial": _with_groups(
        "negative binomial, 300 groups", ["mu", "tau", "beta", "alpha"], groups.negative_binomial
    ),
    "ordinal": _with_groups("ordinal, 300 groups", ["tau", "beta", "cuts"], groups.ordinal),
    "survival": _with_groups(
        "survival, 300 frailties", ["mu", "tau", "beta", "shape"], groups.survival
    ),
    "network": _regression("network, predictions", ["sigma", "f"], regressions.network)._replace(
        moments=partial(moments_at_lowest_mode, regressions.network, ["sigma", "f"])
    ),
    "dirichlet_process": _with_latents(
        "Dirichlet process, density", ["log_density"], latents.dirichlet_process
    ),
    "radon_3000": _radon(3_000),
    "crossed_centered": _crossed(3_000, 500, 40_000, centered=True),
    "crossed_noncentered": _crossed(3_000, 500, 40_000, centered=False),
    "slopes_centered": _slopes(centered=True),
    "slopes_noncentered": _slopes(centered=False),
    "item_response": _with_latents(
        "item response 1,000 x 100",
        ["mu", "of_items", "of_slopes", "difficulty", "slope"],
        latents.item_response,
    )._replace(n_rows=100_000),
    "factorization": _with_latents(
        "matrix factorisation, predictions", ["mu", "tau", "sigma", "f"], latents.factorization
    ),
    "horseshoe": _regression("horseshoe, p = 300", ["beta", "tau", "sigma"], regressions.horseshoe),
}
