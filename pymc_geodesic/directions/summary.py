#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A summary of directions in degrees, in the convention of a field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr

from pymc_geodesic.diagnostics.direction_statistics import axial_statistics, directional_statistics
from pymc_geodesic.diagnostics.directional import (
    along_axis,
    cap_radius,
    mean_direction,
    principal_axes,
)
from pymc_geodesic.diagnostics.geometry import geometries
from pymc_geodesic.diagnostics.summary import with_digits
from pymc_geodesic.directions.conventions import CONVENTIONS, Convention, lower_end
from pymc_geodesic.entry_names import entry_at
from pymc_geodesic.manifolds import Circle, ProjectiveSphere
from pymc_geodesic.manifolds.registry import recorded_manifolds
from pymc_geodesic.plots.selection import dataset_of, probability_or_default
from pymc_geodesic.validation import one_of

__all__ = ["summary"]

# Bearings have two entries, east and north, as angles on the circle have.
N_HORIZONTAL = 2


def summary(
    idata: xr.DataTree,
    convention: str,
    *,
    var_names: str | Sequence[str] | None = None,
    group: str = "posterior",
    coords: Mapping[str, Any] | None = None,
    ci_prob: float | None = None,
    round_to: int | Literal["auto", "none"] = "auto",
) -> pd.DataFrame:
    """Summarise directions in degrees: mean direction, intervals and cone of confidence.

    Parameters
    ----------
    idata : DataTree
        Result of :func:`pymc_geodesic.sample`.
    convention : str
        How directions are written: ``"dip"`` (dip and dip direction of planes, whose poles the
        variables are), ``"strike"``, ``"trend"``, ``"declination"``, ``"latitude"``,
        ``"azimuth"``, or one of :func:`register_convention`.
    var_names : str or sequence of str, optional
        Variables; by default all unit vectors with as many entries as the convention needs, and
        for azimuths all angles that were sampled on the circle, in radians clockwise from north.
    group : str
        Group of the draws.
    coords : mapping, optional
        Part of the draws, as in ArviZ.
    ci_prob : float, optional
        Probability of the intervals and of the cone; by default that of ArviZ.
    round_to : int or {"auto", "none"}
        Number of decimals; by default two, and as many as show two digits of ``angular_sd``.

    Returns
    -------
    pandas.DataFrame
        A row for each direction. For each angle, that of the mean direction or axis and the ends of
        its highest-density interval, which may go beyond the range of the angle, as from -3 to 5
        degrees. Then ``cone``, the angle from the mean within which the direction lies with the
        probability ``ci_prob``; ``angular_sd``, the root mean square angle; and effective sample
        sizes and R-hat as in :func:`pymc_geodesic.summary`.

    Raises
    ------
    ValueError
        If there is no such convention, or no such unit vector.

    Examples
    --------
    >>> import arviz as az, numpy as np, pymc_geodesic as pmg
    >>> rng = np.random.default_rng(1)
    >>> poles = pmg.directions.from_dip(rng.normal(40, 2, (4, 100)), rng.normal(0, 3, (4, 100)))
    >>> found = pmg.directions.summary(az.from_dict({"posterior": {"pole": poles}}), "dip")
    >>> found[["dip", "dip_direction"]].round(0).abs().to_numpy() % 360
    array([[40.,  0.]])
    """
    known = CONVENTIONS[one_of("convention", convention, CONVENTIONS)]
    draws = dataset_of(idata, var_names=var_names, group=group, coords=coords)
    manifolds, size = recorded_manifolds(idata), known.n_entries
    if size == N_HORIZONTAL:
        angles = [str(n) for n in draws if isinstance(manifolds.get(str(n)), Circle)]
        draws = draws.assign({name: _east_north(draws[name]) for name in angles})
        manifolds = {name: x for name, x in manifolds.items() if name not in angles}
    kinds = geometries(draws, manifolds=manifolds)
    names = [n for n, kind in kinds.items() if kind == "direction" and draws[n].shape[-1] == size]
    if not names or (var_names is not None and len(names) < len(draws.data_vars)):
        raise ValueError(
            f"`var_names` expected unit vectors with {size} entries, got "
            f"{sorted(map(str, draws.data_vars))}. Select some."
        )
    prob = probability_or_default(ci_prob)
    rows: dict[str, dict[str, float]] = {}
    for name in names:
        is_axis = known.axial or isinstance(manifolds.get(name), ProjectiveSphere)
        rows |= _described(draws[name], known, prob, is_axis=is_axis)
    table = pd.DataFrame.from_dict(rows, orient="index")
    if round_to == "none":
        return table
    sizes, sd = ["ess_bulk", "ess_tail"], table["angular_sd"]
    for column in set(table) - {*sizes, "r_hat"}:
        table[column] = (
            with_digits(table[column], sd.where(sd > 0), digits=2, least=2)
            if round_to == "auto"
            else table[column].round(round_to)
        )
    table["r_hat"] = table["r_hat"].round(3)
    table[sizes] = np.floor(table[sizes]).astype("Int64")
    return table


def _east_north(angle: xr.DataArray) -> xr.DataArray:
    """Return the directions of angles in radians, clockwise from north."""
    found = xr.concat([np.sin(angle), np.cos(angle)], dim="towards")
    return found.transpose(..., "towards").rename(angle.name)


def _described(
    draws: xr.DataArray, convention: Convention, prob: float, *, is_axis: bool
) -> dict[str, dict[str, float]]:
    """Describe each direction of a variable, by its label."""
    statistics = (axial_statistics if is_axis else directional_statistics)(draws)
    x = draws.values.reshape(-1, *draws.shape[2:])
    found = {}
    for place in np.ndindex(draws.shape[2:-1]):
        at = x[(slice(None), *place)]
        mean = _axis(at) if is_axis else mean_direction(at)
        if is_axis:
            at = along_axis(at, mean)
        row: dict[str, float] = {}
        about, angles = convention.of(mean), convention.of(at)
        for name, center, angle in zip(convention.angles, about, angles, strict=True):
            row |= _angle(name, float(center), angle, prob)
        row[f"cone{100 * prob:.0f}"] = float(np.rad2deg(cap_radius(at, prob)))
        row["angular_sd"] = float(np.rad2deg(statistics["angular_sd"][place][0]))
        for name in ("ess_bulk", "ess_tail", "r_hat"):
            row[name] = float(statistics[name][place][0])
        found[entry_at(draws, place)] = row
    return found


def _axis(x: np.ndarray) -> np.ndarray:
    """Return the lower end of the principal axis of draws."""
    return lower_end(principal_axes(x)[1][0])


def _angle(name: str, center: float, angle: np.ndarray, prob: float) -> dict[str, float]:
    """Describe an angle by the direction that is the mean, and draws within half a turn of it."""
    import arviz_stats as az

    near = center + np.mod(angle - center + 180, 360) - 180
    low, high = az.hdi(near, prob=prob)
    end = f"{name}_hdi{100 * prob:.0f}"
    return {name: center, f"{end}_lb": float(low), f"{end}_ub": float(high)}
