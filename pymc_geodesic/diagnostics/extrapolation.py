#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Richardson extrapolation of averages over two chains, with the errors of their difference."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from scipy.special import ndtri

from pymc_geodesic.monte_carlo import effective_draws, mean_and_mcse, z_score

__all__ = ["Statistic", "extrapolated", "has_failed", "statistics_of"]

# Below it, independent runs would do nearly as well.
LEAST_GAIN = 2.0
# The standard error itself has an error of seven per cent at this size, and large differences
# that are rare are detected, because they make few effective draws.
LEAST_EFFECTIVE = 100


class Statistic(NamedTuple):
    """A statistic of the draws at two step sizes.

    Attributes
    ----------
    name : str
        Such as ``mean``.
    coarse, fine : float
        Its estimates.
    of_coarse, of_fine : ndarray
        The contribution of each draw ``(chain, draw)``: the estimate varies as their mean does.
    """

    name: str
    coarse: float
    fine: float
    of_coarse: np.ndarray
    of_fine: np.ndarray


def statistics_of(coarse: np.ndarray, fine: np.ndarray, *, with_sd: bool) -> Iterator[Statistic]:
    """Yield the mean and the standard deviation of draws ``(chain, draw)``.

    To first order, a standard deviation s varies as the mean of :math:`(x - m)^2 / (2 s)`.
    """
    yield Statistic("mean", float(coarse.mean()), float(fine.mean()), coarse, fine)
    if with_sd:
        sds = float(coarse.std()), float(fine.std())
        pairs = zip((coarse, fine), sds, strict=True)
        squares = [(x - x.mean()) ** 2 / (2 * sd) if sd else 0 * x for x, sd in pairs]
        yield Statistic("sd", *sds, *squares)


def extrapolated(found: Statistic, *, order: int, probability: float) -> dict[str, float]:
    """Return bias, extrapolation and their intervals, as a row of a table.

    The errors are those of weighted differences of the draws, so they are right whether the chains
    are coupled or not.
    """
    power = 2**order
    weight = power / (power - 1)
    change = found.of_coarse - found.of_fine
    _, error_of_change = mean_and_mcse(change)
    _, error = mean_and_mcse(found.of_coarse - weight * change)
    bias, bias_error = weight * (found.coarse - found.fine), weight * error_of_change
    apart = sum(mean_and_mcse(x)[1] ** 2 for x in (found.of_coarse, found.of_fine))
    limit = float(ndtri(0.5 + probability / 2))
    at_zero = found.coarse - bias
    return {
        "estimate": found.coarse,
        "halved": found.fine,
        "bias": bias,
        "bias_error": bias_error,
        "bias_low": bias - limit * bias_error,
        "bias_high": bias + limit * bias_error,
        "z": z_score(bias, bias_error),
        "extrapolated": at_zero,
        "extrapolated_error": error,
        "extrapolated_low": at_zero - limit * error,
        "extrapolated_high": at_zero + limit * error,
        "gain": apart / error_of_change**2 if error_of_change else np.inf,
    }


def has_failed(found: Statistic, gain: float) -> bool:
    """Return whether coupled chains have separated: no gain, or few independent differences."""
    change = found.of_coarse - found.of_fine
    if not np.isfinite(change).all():
        return True
    return bool(gain < LEAST_GAIN or (np.ptp(change) and effective_draws(change) < LEAST_EFFECTIVE))
