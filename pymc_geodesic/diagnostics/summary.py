#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Posterior summaries that treat unit vectors as directions, and frames as frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr

from pymc_geodesic.diagnostics.direction_statistics import (
    about_mean,
    angle_statistics,
    axial_statistics,
    directional_statistics,
    turns_of,
    warn_of_seams,
)
from pymc_geodesic.diagnostics.directional import along_axis, principal_axes
from pymc_geodesic.diagnostics.frames import frame_statistics
from pymc_geodesic.diagnostics.geometry import geometries
from pymc_geodesic.manifolds import Circle, Manifold, ProjectiveSphere
from pymc_geodesic.manifolds.registry import recorded_manifolds
from pymc_geodesic.runs.refined import errors_of
from pymc_geodesic.validation import Unit, extracted, one_of

__all__ = ["summary", "with_digits"]

SAMPLE_DIMS = ("chain", "draw")
KINDS = ("all", "stats", "diagnostics")


def summary(
    idata: xr.DataTree,
    var_names: str | Sequence[str] | None = None,
    *,
    filter_vars: Literal["like", "regex"] | None = None,
    group: str = "posterior",
    coords: Mapping[str, Any] | None = None,
    kind: Literal["all", "stats", "diagnostics"] = "all",
    ci_prob: float | None = None,
    ci_kind: Literal["eti", "hdi"] | None = None,
    round_to: int | Literal["auto", "none"] = "auto",
    directions: Sequence[str] | None = None,
    compositions: Sequence[str] | None = None,
    axial: bool | None = None,
    angles: str | Sequence[str] = (),
    unit: Unit = "radians",
) -> pd.DataFrame:
    r"""Summarise draws like ``az.summary``, with unit vectors as directions.

    **Unit vectors.** The mean of unit vectors is not a unit vector, and R-hat of a coordinate
    depends on the axes. Here

    - ``mean`` is the mean direction :math:`\bar x / |\bar x|`, of norm one, and ``mcse_mean`` its
      standard error by the delta method: that of the mean of
      :math:`(I - \bar\mu \bar\mu^\top) x / \bar R`;
    - ``resultant_length`` is :math:`\bar R = |\bar x|`, one if all draws agree;
    - ``angular_sd`` is the root mean square angle to the mean direction, in radians;
    - ``r_hat``, ``ess_bulk`` and ``ess_tail`` are the worst over the coordinates in an orthonormal
      frame of the tangent space at the mean direction and the cosine of the angle to it. They are
      the same for all entries of a vector, do not depend on the axes, and have no seam, unlike
      angles. The frame is that of a map centred at the mean direction. The cosine reveals chains
      that agree in direction but not in spread.

    ``sd``, the interval and ``mcse_sd`` are those of the coordinates.

    Draws whose mean is within its Monte Carlo error of zero, such as those along a great circle or
    in equal shares on opposite sides, have no mean direction: it and its statistics are NaN,
    with a warning. Vectors at both ends of an axis also give a warning.

    **Axes.** For unit vectors that were sampled as axes, such as free
    :class:`~pymc_geodesic.Watson` variables, and with ``axial=True`` for all unit vectors, the sign
    is ignored. ``mean`` is then the
    principal axis, the first eigenvector :math:`a_1` of :math:`\frac1S \sum_t x_t x_t^\top`;
    ``axis_share`` is its eigenvalue, one if all draws lie on the axis and 1/n for uniform
    draws; ``angular_sd`` is the root mean square angle to the axis, and ``mcse_mean`` the
    standard error by the delta method. ``sd`` and the interval are those of the coordinates of the
    draws on the side of the axis. R-hat and the effective sample sizes are those of the
    coordinates in the frame of the axis times the cosine of the angle to it, which do not depend
    on the sign.

    **Angles.** Angles that were sampled on the circle, such as free ``pm.VonMises`` variables, and
    Deterministics that are an ``arctan2``, are wrapped about their mean direction, which is
    ``mean``: an interval may go beyond pi, and chains about pi agree. ``resultant_length`` and
    ``angular_sd`` are those of their unit vectors. Other variables are angles if `angles` names
    them. Those that look like angles on both sides of the end of their range give a warning.

    **Frames**, matrices with orthonormal columns. ``mean`` is the frame nearest to the mean of the
    entries (see :func:`pymc_geodesic.diagnostics.mean_frame`), ``mcse_mean`` its standard error by
    the delta method along the tangent space; ``angular_sd`` is the root mean square angle of a
    column to that of the mean, and ``resultant_length`` the length of the column of mean entries.
    R-hat and the effective sample sizes are the worst over the entries in an orthonormal basis that
    begins with the mean frame, the same for all entries of a frame. With ``axial=True`` the signs
    of columns are first chosen to agree, as principal components require; see
    :func:`pymc_geodesic.diagnostics.align_frames`.

    **Probability vectors.** As in ``az.summary``, entry by entry, with R-hat and ESS of the
    probabilities. These statistics depend only on ranks, so they are the same for the logarithm of
    an entry. A log-ratio would mix the convergence of two entries, and is not defined for entries
    of exactly zero, which draws of ``SGRLD`` can have.

    **Corrected draws** (:func:`refine`). ``mcse_mean`` and ``mcse_sd`` are the errors of the
    corrected figures, which may be much smaller than those of an average over the draws.

    Parameters
    ----------
    idata : DataTree
        Result of ``pm.sample``.
    var_names : str or sequence of str, optional
        Variables to summarise; all by default.
    filter_vars : {None, "like", "regex"}
        How `var_names` are read, as in ``az.summary``.
    group : str
        Group of the draws.
    coords : mapping, optional
        Part of the draws. The axis of a vector must stay complete.
    kind : {"all", "stats", "diagnostics"}
        The columns to compute.
    ci_prob, ci_kind
        As in ``az.summary``.
    round_to : int or {"auto", "none"}
        Number of decimals, or "none" for no rounding. By default as many as show three digits of
        the standard deviation of an entry, and two of a Monte Carlo error. Effective sample sizes
        are rounded down to whole numbers unless it is "none".
    directions, compositions : sequence of str, optional
        Names of the variables that are unit vectors, and of those that are probability vectors. By
        default those that the run has recorded as such. For other variables, and runs of other
        samplers, they are detected: a last axis with norm one in all draws, or without negative
        entries and with a sum of one. An empty list turns this off.
    axial : bool, optional
        Whether unit vectors x and -x are the same, as for normals of planes and eigenvectors, and
        columns of frames likewise. By default this is so for variables that a sampler of this
        package has moved as axes.
    angles : str or sequence of str, optional
        Names of further variables that are angles. Those that a run of this package has recorded
        as angles are so in any case.
    unit : {"radians", "degrees"}
        Unit of the variables in `angles`. Their statistics are in the same unit.

    Returns
    -------
    pandas.DataFrame
        One row per entry, as in ``az.summary``. The columns ``resultant_length``, or
        ``axis_share``, and ``angular_sd`` exist if there is a unit vector, and are NaN for other
        variables.

    Raises
    ------
    ValueError
        If `kind` is unknown, a name is not that of a variable with at least one axis, a variable
        named in `directions` or `compositions` does not have that geometry, or one named in
        `angles` has values of more than a whole turn.

    Warns
    -----
    UserWarning
        For unit vectors without a mean direction or principal axis, or at both ends of an axis, and
        for numbers that look like angles.

    See Also
    --------
    weighted : Summaries of draws with a changing step size.

    References
    ----------
    Mardia, K. V. and Jupp, P. E. (2000). Directional Statistics, section 9.2.

    Vehtari, A. et al. (2021). Rank-normalization, folding, and localization: an improved R-hat for
    assessing convergence of MCMC. Bayesian Analysis 16(2).

    Examples
    --------
    >>> import arviz as az, numpy as np, pymc_geodesic as pmg
    >>> x = np.random.default_rng(1).normal([5.0, 0.0, 0.0], 1.0, (4, 500, 3))
    >>> x /= np.linalg.norm(x, axis=-1, keepdims=True)
    >>> found = pmg.summary(az.from_dict({"posterior": {"x": x}}))
    >>> round(float((found["mean"] ** 2).sum()), 2)
    1.0
    """
    # Imported on first use, because ArviZ imports JAX if installed.
    import arviz_stats as az

    from arviz_base import dataset_to_dataframe

    one_of("kind", kind, KINDS)
    selection: dict[str, Any] = {"var_names": var_names, "filter_vars": filter_vars, "group": group}
    draws = extracted(idata, **selection)
    draws = (draws if coords is None else draws.sel(coords)).transpose(*SAMPLE_DIMS, ...)
    manifolds = recorded_manifolds(idata)
    kinds = geometries(draws, manifolds=manifolds, directions=directions, compositions=compositions)
    circles = _named(Circle, manifolds, draws)
    turns = turns_of(draws, recorded=circles, named=angles, unit=unit)
    warn_of_seams(draws, [str(n) for n in draws if kinds[n] == "plain" and n not in turns])
    unit_vectors = [name for name, geometry in kinds.items() if geometry == "direction"]
    frames = [name for name, geometry in kinds.items() if geometry == "frame"]
    axes = _named(ProjectiveSphere, manifolds, draws) if axial is None else unit_vectors * axial
    # Entries that never change, such as the effect of a reference level, have no R-hat.
    with np.errstate(divide="ignore", invalid="ignore"):
        found = az.summary(
            _unfolded(idata, group, turns, [name for name in unit_vectors if name in axes]),
            coords=coords,
            kind=kind,
            ci_prob=ci_prob,
            ci_kind=ci_kind,
            fmt="xarray",
            round_to="none",
            **selection,
        )
    columns = ["axis_share"] * any(name in axes for name in unit_vectors)
    directed = [name for name in unit_vectors if name not in axes]
    columns += ["resultant_length"] * bool(directed or turns or frames)
    if columns and kind != "diagnostics":
        found = _with_columns(found, [*columns, "angular_sd"])
    plain = [n for n, geometry in kinds.items() if geometry != "direction" and n not in turns]
    if group == "posterior" and isinstance(idata, xr.DataTree):
        for name in plain:
            _put(found[name], errors_of(idata, name, coords or {}))
    for name in unit_vectors:
        describe = axial_statistics if name in axes else directional_statistics
        _put(found[name], describe(draws[name].transpose(*SAMPLE_DIMS, ...)))
    for name, turn in turns.items():
        _put(found[name], angle_statistics(_flat(draws[name]), turn))
    for name in frames:
        _put(
            found[name],
            frame_statistics(draws[name].transpose(*SAMPLE_DIMS, ...), axial=bool(axial)),
        )
    # Together, variables whose common dimensions are in another order would get wrong labels.
    tables = [dataset_to_dataframe(found[[n]], sample_dims=["summary"]).T for n in found.data_vars]
    table = pd.concat(tables)
    return table if round_to == "none" else _rounded(table, round_to)


def _named(kind: type, manifolds: Mapping[str, Manifold], draws: xr.Dataset) -> list[str]:
    return [str(name) for name in draws.data_vars if isinstance(manifolds.get(str(name)), kind)]


def _flat(draws: xr.DataArray) -> np.ndarray:
    """Put all draws along the first axis."""
    x = draws.transpose(*SAMPLE_DIMS, ...).values
    return x.reshape(-1, *x.shape[2:])


def _unfolded(
    idata: xr.DataTree, group: str, turns: Mapping[str, float], axes: Sequence[str]
) -> xr.DataTree:
    """Write angles about their mean direction, and axes with the sign of the principal axis.

    All other variables are unchanged.
    """
    if not turns and not axes:
        return idata
    draws = idata[group].to_dataset()
    for name, turn in turns.items():
        values = draws[name].transpose(*SAMPLE_DIMS, ...)
        draws[name] = values.copy(data=about_mean(_flat(values), turn).reshape(values.shape))
    for name in axes:
        values = draws[name].transpose(*SAMPLE_DIMS, ...)
        axis = principal_axes(_flat(values))[1][..., 0, :]
        draws[name] = values.copy(data=along_axis(values.to_numpy(), axis))
    return xr.DataTree.from_dict({group: draws})


def _with_columns(found: xr.Dataset, names: list[str]) -> xr.Dataset:
    """Add statistics after the mean, the standard deviation and the interval."""
    columns = list(found["summary"].values)
    return found.reindex(summary=[*columns[:4], *names, *columns[4:]])


def _put(found: xr.DataArray, statistics: Mapping[str, np.ndarray]) -> None:
    """Write the statistics of directions into the summary."""
    for column, values in statistics.items():
        if column in found["summary"].values:
            found.loc[{"summary": column}] = values


def _rounded(table: pd.DataFrame, round_to: int | Literal["auto"]) -> pd.DataFrame:
    sizes = [column for column in table if column.startswith("ess_")]
    rounded = table.round(3 if round_to == "auto" else round_to)
    if round_to == "auto":
        for column in set(table) - {*sizes, "r_hat", "resultant_length", "axis_share"}:
            is_error = column.startswith("mcse_")
            width = table[column if is_error or column == "angular_sd" else "sd"]
            # The rounding error of a constant has no digits.
            width = width.where(width > 1e-12 * np.abs(table.get("mean", 0.0)))
            rounded[column] = with_digits(table[column], width, digits=2 if is_error else 3)
    rounded[sizes] = np.floor(table[sizes]).astype("Int64")
    return rounded


def with_digits(x: pd.Series, width: pd.Series, *, digits: int, least: int = 0) -> pd.Series:
    """Round numbers to the decimals that show so many digits of a width, which may be missing."""
    decimals = digits - 1 - np.floor(np.log10(width))
    shift = 10.0 ** decimals.fillna(3).clip(least, 290)
    return (x * shift).round() / shift
