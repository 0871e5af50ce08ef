#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Summary statistics of unit vectors: their mean direction or their principal axis."""

from __future__ import annotations

import warnings

import numpy as np
import xarray as xr

from pymc_geodesic.diagnostics.axial import angles_to_axis, largest_spread, principal_axes
from pymc_geodesic.diagnostics.directional import (
    angular_sd,
    mean_direction,
    mean_resultant_length,
    rotate_to_pole,
)

__all__ = ["axial_statistics", "directional_statistics"]

# Largest standard error of a mean relative to its length: three errors are not due to chance.
LARGEST_ERROR = 1 / 3
# In radians. For draws from a girdle the axis with the largest share stands out slightly by chance,
# with an error of about a third of a radian.
LARGEST_AXIS_ERROR = 0.15
# Variance along one axis: at most 1/2 for a uniform distribution, up to 1 for draws at both ends.
TWO_ENDS = 0.6


def directional_statistics(draws: xr.DataArray) -> dict[str, np.ndarray]:
    """Describe the mean directions of draws, with the dimensions (chain, draw, ..., n).

    Warn of draws without a mean direction, whose statistics are NaN, and of draws at both ends of
    an axis.
    """
    x = draws.values.reshape(-1, *draws.shape[2:])
    mean, length = mean_direction(x), mean_resultant_length(x)
    along = (x * mean).sum(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        error = _standard_error(draws, (x - along * mean) / length[..., None])
        # The component along the mean counts: draws at both ends of an axis differ in its sign.
        unknown = _size(_standard_error(draws, x / length[..., None])) >= LARGEST_ERROR
    _warn(
        draws,
        unknown,
        "has no mean direction: the mean resultant length {:.4f} is within its Monte Carlo error. "
        "The draws come from the whole sphere, from opposite sides or from a great circle, or the "
        "chains disagree. `axial=True` describes an axis.",
        length,
    )
    _warn(
        draws,
        ~unknown & _has_two_ends(x, length),
        "lies at both ends of an axis, with mean resultant length {:.2f}: the mean direction "
        "describes neither end. Use `axial=True` if the sign has no meaning; otherwise the "
        "posterior has two modes.",
        length,
    )
    found = {"mean": mean, "mcse_mean": error, "angular_sd": angular_sd(x)[..., None]}
    found = {name: np.where(unknown[..., None], np.nan, value) for name, value in found.items()}
    # Any frame will do if no direction stands out.
    pole = np.where(unknown[..., None], np.eye(x.shape[-1])[-1], mean)
    frame = rotate_to_pole(x, pole)
    return found | {"resultant_length": length[..., None]} | _convergence(draws, frame)


def axial_statistics(draws: xr.DataArray) -> dict[str, np.ndarray]:
    """Describe the principal axes of draws, with the dimensions (chain, draw, ..., n).

    Warn of draws without a principal axis, whose statistics are NaN.
    """
    x = draws.values.reshape(-1, *draws.shape[2:])
    shares, axes = principal_axes(x)
    axis, share = axes[..., 0, :], shares[..., :1]
    # To first order the axis turns by a_j (a_j x)(a_1 x) / (tau_1 - tau_j).
    parts = np.einsum("...jn,s...n->s...j", axes, x)
    with np.errstate(invalid="ignore", divide="ignore"):
        rates = np.where(np.arange(shares.shape[-1]) > 0, 1 / (share - shares), 0.0)
        turned = np.einsum("s...j,...jn->s...n", parts[..., :1] * parts * rates, axes)
        error = _standard_error(draws, turned)
    unknown = _size(error) >= LARGEST_AXIS_ERROR
    _warn(
        draws,
        unknown,
        "has no principal axis: its share of the second moments, {:.4f}, is not above the next one "
        "by more than its Monte Carlo error. The draws come from the whole sphere or from a "
        "girdle, or the chains disagree. The normal of a girdle is the last of "
        "`pmg.diagnostics.principal_axes`.",
        share[..., 0],
    )
    angle = np.sqrt(np.mean(angles_to_axis(x, axis) ** 2, axis=0))[..., None]
    found = {"mean": axis, "mcse_mean": error, "angular_sd": angle}
    found = {name: np.where(unknown[..., None], np.nan, value) for name, value in found.items()}
    pole = np.where(unknown[..., None], np.eye(x.shape[-1])[-1], axis)
    frame = rotate_to_pole(x, pole)
    # Products with the cosine are the same for both signs, and smooth.
    return found | {"axis_share": share} | _convergence(draws, frame * frame[..., -1:])


def _standard_error(draws: xr.DataArray, influence: np.ndarray) -> np.ndarray:
    """Monte Carlo standard errors of means; infinite if the influence of a draw is infinite."""
    import arviz_stats as az

    known = np.isfinite(influence).all(axis=0)
    values = np.where(known, influence, 0.0).reshape(draws.shape)
    found = az.mcse(draws.copy(data=values), method="mean").values
    return np.where(known, found, np.inf)


def _size(error: np.ndarray) -> np.ndarray:
    """Combine standard errors; they are NaN for constant entries and for few draws."""
    return np.sqrt(np.nansum(error**2, axis=-1))


def _has_two_ends(x: np.ndarray, length: np.ndarray) -> np.ndarray:
    found = np.zeros(length.shape, bool)
    # The variances along all axes have the sum 1 - length^2.
    for index in map(tuple, np.argwhere(1 - length**2 > TWO_ENDS)):
        found[index] = largest_spread(x[(slice(None), *index)]) > TWO_ENDS
    return found


def _convergence(draws: xr.DataArray, values: np.ndarray) -> dict[str, np.ndarray]:
    """Return the worst value over coordinates that do not depend on the axes."""
    import arviz_stats as az

    frame, axis = draws.copy(data=values.reshape(draws.shape)), draws.dims[-1]
    return {
        "ess_bulk": az.ess(frame, method="bulk").min(axis).values[..., None],
        "ess_tail": az.ess(frame, method="tail").min(axis).values[..., None],
        "r_hat": az.rhat(frame).max(axis).values[..., None],
    }


def _warn(draws: xr.DataArray, where: np.ndarray, sentence: str, figure: np.ndarray) -> None:
    if not where.any():
        return
    first = tuple(int(i) for i in np.argwhere(where)[0])
    place = f"[{', '.join(map(str, first))}]" if first else ""
    others = int(where.sum()) - 1
    more = f" The same holds for other vectors of the variable ({others})." if others else ""
    text = f"`{draws.name}{place}` {sentence.format(float(figure[first]))}{more}"
    warnings.warn(text, UserWarning, stacklevel=5)
