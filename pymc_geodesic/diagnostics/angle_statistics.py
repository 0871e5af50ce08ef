#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Summary statistics of angles about their mean direction, and angles that nobody has named."""

from __future__ import annotations

import warnings

from collections.abc import Collection, Sequence

import numpy as np
import xarray as xr

from pymc_geodesic.validation import TURNS, Unit, one_of, radians

__all__ = ["about_mean", "angle_statistics", "turns_of", "warn_of_seams"]

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
