#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Whether many chains agree that continue from a few: by nested R-hat."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr

from pymc.stats.convergence import SamplerWarning, WarningType
from scipy.special import chdtri

from pymc_geodesic.entry_names import worst_entry
from pymc_geodesic.monte_carlo import rank_statistics

__all__ = ["of_superchains"]

# The limits of PyMC's checks: of R-hat, and of effective draws, a hundred for each of four chains.
LARGEST_R_HAT, FEWEST_EFFECTIVE = 1.01, 400
# Probability that a run without a fault is accused.
BY_CHANCE = 0.01
# With fewer draws in a chain nothing is known of how they depend on one another.
FEWEST_DRAWS = 4


def of_superchains(values: Mapping[str, xr.DataArray], n_superchains: int) -> list[SamplerWarning]:
    r"""Check nested R-hat and the effective sample size of all entries.

    The chains of a superchain have one origin. With the variance B of the superchains' means and
    the mean W of their variances, :math:`\hat R = \sqrt{1 + B / W}` (Margossian, Hoffman, Sountsov,
    Riou-Durand, Vehtari and Gelman 2024, equation 8); chains of few draws suffice.

    Parameters
    ----------
    values : mapping of str to DataArray
        Draws ``(chain, draw, ...)``.
    n_superchains : int
        Chain i belongs to superchain i modulo this number.
    """
    from arviz_stats import rhat_nested

    n_chains, n_draws = next(iter(values.values())).shape[:2]
    if n_draws < FEWEST_DRAWS:
        return [_said(f"{n_draws} draws of each chain are too few to check convergence.", "info")]
    ids = np.arange(n_chains) % n_superchains
    sizes = {name: rank_statistics(x.to_numpy()).effective_size for name, x in values.items()}
    r_hats = rhat_nested(xr.Dataset(dict(values)), superchain_ids=ids)
    n_entries = sum(x.size for x in sizes.values())
    ratio = chdtri(n_superchains - 1, BY_CHANCE / n_entries) / (n_superchains - 1)
    excess, found = {}, []
    for name, size in sizes.items():
        limit = np.maximum(LARGEST_R_HAT, np.sqrt(1 + ratio * n_superchains / size))
        r_hat = r_hats[name].to_numpy()
        excess[name] = np.where(r_hat > limit, r_hat, np.nan)
    name, largest = worst_entry(excess, values)
    if largest > 0:
        found.append(
            f"Nested R-hat of {name} is {largest:.3f}, more than {LARGEST_R_HAT} and than chance "
            "makes it: the chains depend on where they began. Increase `draws` or `tune`."
        )
    name, least = worst_entry({name: -x for name, x in sizes.items()}, values)
    if -least < FEWEST_EFFECTIVE:
        found.append(
            f"The effective sample size of {name} is {-least:.0f} in all chains together, less "
            f"than {FEWEST_EFFECTIVE}. Increase `draws`."
        )
    return [_said(text, "warn") for text in found]


def _said(text: str, level: str) -> SamplerWarning:
    return SamplerWarning(WarningType.CONVERGENCE, text, level)
