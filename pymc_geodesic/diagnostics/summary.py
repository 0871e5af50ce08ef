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
    axial_statistics,
    directional_statistics,
)
from pymc_geodesic.diagnostics.frame_statistics import frame_statistics
from pymc_geodesic.diagnostics.geometry import geometries, recorded_manifolds

__all__ = ["summary"]

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
    round_to: int | Literal["none"] = 3,
    directions: Sequence[str] | None = None,
    compositions: Sequence[str] | None = None,
    axial: bool = False,
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

    **Axes.** With ``axial=True`` the sign of unit vectors is ignored. ``mean`` is then the
    principal axis, the first eigenvector :math:`a_1` of :math:`\frac1S \sum_t x_t x_t^\top`;
    ``axis_share`` is its eigenvalue, one if all draws lie on the axis and 1/n if they come from
    everywhere; ``angular_sd`` is the root mean square angle to the axis, and ``mcse_mean`` the
    standard error by the delta method. R-hat and the effective sample sizes are those of the
    coordinates in the frame of the axis times the cosine of the angle to it, which do not depend
    on the sign.

    **Frames**, matrices with orthonormal columns. ``mean`` is the frame nearest to the mean of the
    entries (see :func:`pymc_geodesic.diagnostics.mean_frame`), ``mcse_mean`` its standard error by
    the delta method along the tangent space; ``angular_sd`` is the root mean square angle of a
    column to that of the mean, and ``resultant_length`` the length of the column of mean entries.
    R-hat and the effective sample sizes are the worst over the entries in an orthonormal basis that
    begins with the mean frame, the same for all entries of a frame. With ``axial=True`` the signs
    of columns are first chosen to agree, as principal components need it; see
    :func:`pymc_geodesic.diagnostics.align_frames`.

    **Probability vectors.** As in ``az.summary``, entry by entry, with R-hat and ESS of the
    probabilities. These statistics depend on ranks only, so that the logarithm of an entry gives
    the same. A log-ratio would mix the convergence of two entries, and is not defined for entries
    of exactly zero, which draws of ``SGRLD`` can have.

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
    round_to : int or "none"
        Number of decimals, or "none" for no rounding. Effective sample sizes are rounded down to
        whole numbers unless it is "none".
    directions, compositions : sequence of str, optional
        Names of the variables that are unit vectors, and of those that are probability vectors. By
        default those that the run has recorded as such. Other variables, and runs of other
        samplers, are looked at: a last axis with norm one in all draws, or without negative entries
        and with a sum of one. An empty list turns this off.
    axial : bool
        Whether unit vectors x and -x are the same, as for normals of planes and eigenvectors, and
        columns of frames likewise.

    Returns
    -------
    pandas.DataFrame
        One row per entry, as in ``az.summary``. The columns ``resultant_length``, or
        ``axis_share``, and ``angular_sd`` exist if there is a unit vector, and are NaN for other
        variables.

    Raises
    ------
    ValueError
        If `kind` is unknown, a name is not that of a variable with an axis of its own, or a
        variable named in `directions` or `compositions` does not have that geometry.

    Warns
    -----
    UserWarning
        For unit vectors without a mean direction or principal axis, or at both ends of an axis.

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
    import arviz as az

    from arviz_base import dataset_to_dataframe, extract

    if kind not in KINDS:
        raise ValueError(f"`kind` expected one of {', '.join(map(repr, KINDS))}, got {kind!r}.")
    selection: dict[str, Any] = {"var_names": var_names, "filter_vars": filter_vars, "group": group}
    draws = extract(idata, combined=False, keep_dataset=True, **selection)
    draws = draws if coords is None else draws.sel(coords)
    manifolds = recorded_manifolds(idata)
    kinds = geometries(draws, manifolds=manifolds, directions=directions, compositions=compositions)
    found = az.summary(
        idata,
        coords=coords,
        kind=kind,
        ci_prob=ci_prob,
        ci_kind=ci_kind,
        fmt="xarray",
        round_to="none",
        **selection,
    )
    unit_vectors = [name for name, geometry in kinds.items() if geometry == "direction"]
    frames = [name for name, geometry in kinds.items() if geometry == "frame"]
    columns = {"axis_share": unit_vectors and axial}
    columns |= {"resultant_length": frames or (unit_vectors and not axial)}
    added = [name for name, is_used in columns.items() if is_used]
    if added and kind != "diagnostics":
        found = _with_columns(found, [*added, "angular_sd"])
    describe = axial_statistics if axial else directional_statistics
    for name in unit_vectors:
        _put(found[name], describe(draws[name].transpose(*SAMPLE_DIMS, ...)))
    for name in frames:
        _put(found[name], frame_statistics(draws[name].transpose(*SAMPLE_DIMS, ...), axial=axial))
    table = pd.DataFrame(dataset_to_dataframe(found, sample_dims=["summary"]).T)
    return table if round_to == "none" else _rounded(table, round_to)


def _with_columns(found: xr.Dataset, names: list[str]) -> xr.Dataset:
    """Add statistics after the mean, the standard deviation and the interval."""
    columns = list(found["summary"].values)
    return found.reindex(summary=[*columns[:4], *names, *columns[4:]])


def _put(found: xr.DataArray, statistics: Mapping[str, np.ndarray]) -> None:
    """Write the statistics of directions into the summary."""
    for column, values in statistics.items():
        if column in found["summary"].values:
            found.loc[{"summary": column}] = values


def _rounded(table: pd.DataFrame, decimals: int) -> pd.DataFrame:
    sizes = [column for column in table if column.startswith("ess_")]
    table = table.round(decimals)
    table[sizes] = np.floor(table[sizes]).astype("Int64")
    return table
