#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Summary statistics of directions, axes and angles."""

from __future__ import annotations

import warnings

from collections.abc import Collection, Sequence

import numpy as np
import xarray as xr

from pymc_geodesic.diagnostics.directional import (
    angles_to_axis,
    angular_sd,
    largest_spread,
    mean_direction,
    mean_resultant_length,
    principal_axes,
    rotate_to_pole,
)
from pymc_geodesic.validation import TURNS, Unit, one_of, radians

__all__ = [
    "about_mean",
    "angle_statistics",
    "axial_statistics",
    "directional_statistics",
    "turns_of",
    "warn_of_seams",
]

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


# Numbers are taken for angles if they fill a range of one turn up to this share of it at both ends,
# and vary about their mean direction by less than this share of their standard deviation.
EDGE, LARGEST_SHARE = 0.02, 0.5
# Fewer draws do not show where they lie.
FEWEST_DRAWS = 20


def turns_of(
    draws: xr.Dataset, *, recorded: Collection[str], named: str | Sequence[str], unit: Unit
) -> dict[str, float]:
    """Return the size of a whole turn for each variable that is an angle.

    Parameters
    ----------
    draws : Dataset
        The variables.
    recorded : collection of str
        Angles that the run has recorded, in radians.
    named : str or sequence of str
        Those that the user names.
    unit : {"radians", "degrees"}
        Unit of the latter.

    Raises
    ------
    ValueError
        If a name is not that of a variable, or its values are not in this unit.
    """
    turn = TURNS[one_of("unit", unit, TURNS)]
    found = {str(name): TURNS["radians"] for name in draws.data_vars if name in recorded}
    for name in [named] if isinstance(named, str) else named:
        if name not in draws:
            raise ValueError(
                f"`angles` expected names of variables, got {name!r}. The variables are "
                f"{sorted(map(str, draws.data_vars))}."
            )
        if name not in found:
            radians(name, draws[name].values, unit=unit)
            found[name] = turn
    return found


def about_mean(x: np.ndarray, turn: float) -> np.ndarray:
    """Return draws of angles, along the first axis, within half a turn of their mean direction.

    They may be beyond the ends of the range of angles.
    """
    center = _mean_direction(x, turn)
    return center + np.mod(x - center + turn / 2, turn) - turn / 2


def angle_statistics(x: np.ndarray, turn: float) -> dict[str, np.ndarray]:
    """Describe draws of angles, along the first axis, in their own unit."""
    center, angles = _mean_direction(x, turn), x * (2 * np.pi / turn)
    length = np.hypot(np.cos(angles).mean(axis=0), np.sin(angles).mean(axis=0))
    deviation = np.sqrt(np.mean((about_mean(x, turn) - center) ** 2, axis=0))
    return {"mean": center, "resultant_length": length, "angular_sd": deviation}


def warn_of_seams(draws: xr.Dataset, names: Collection[str]) -> None:
    """Warn of variables that are summarised as numbers, but whose draws look like those of angles.

    Parameters
    ----------
    draws : Dataset
        Draws, whose first dimensions are ``chain`` and ``draw``.
    names : collection of str
        Variables that are neither angles nor vectors, as far as is known.
    """
    for name in names:
        values = draws[name].values
        x = values.reshape(-1, *values.shape[2:])
        if x.dtype.kind != "f" or len(x) < FEWEST_DRAWS:
            continue
        for unit, turn in TURNS.items():
            if np.any(_lie_at_both_ends(x, turn)):
                named = f"angles=[{name!r}]" + (', unit="degrees"' if unit == "degrees" else "")
                warnings.warn(
                    f"`{name}` looks like an angle in {unit} whose draws lie at both ends of its "
                    "range. Its mean, sd, interval and R-hat are those of a number. If it is an "
                    f"angle, pass `{named}`.",
                    UserWarning,
                    stacklevel=3,
                )


def _lie_at_both_ends(x: np.ndarray, turn: float) -> np.ndarray:
    """Return for each entry whether draws are at both ends of a range of one turn, and close."""
    least, largest = x.min(axis=0), x.max(axis=0)
    is_near = np.zeros(least.shape, dtype=bool)
    for start in (-turn / 2, 0.0):
        low, high = (least - start) / turn, (largest - start) / turn
        is_inside = (low > -1e-6) & (high < 1 + 1e-6)
        is_near |= is_inside & (low < EDGE) & (high > 1 - EDGE)
    return is_near & (about_mean(x, turn).std(axis=0) < LARGEST_SHARE * x.std(axis=0))


def _mean_direction(x: np.ndarray, turn: float) -> np.ndarray:
    angles = x * (2 * np.pi / turn)
    mean = np.arctan2(np.sin(angles).mean(axis=0), np.cos(angles).mean(axis=0))
    return np.asarray(mean * (turn / (2 * np.pi)))
