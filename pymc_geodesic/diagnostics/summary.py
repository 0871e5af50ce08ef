#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Posterior summaries that know unit vectors."""

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
from pymc_geodesic.diagnostics.geometry import geometries

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
    r"""Summarise draws as ``az.summary`` does, with unit vectors seen as directions.

    **Unit vectors.** The coordinates of a mean of unit vectors are not those of a unit vector, and
    R-hat of a coordinate depends on the axes. Here

    - ``mean`` is the mean direction :math:`\bar x / |\bar x|`, of norm one, and ``mcse_mean`` its
      standard error by the delta method: that of the mean of
      :math:`(I - \bar\mu \bar\mu^\top) x / \bar R`;
    - ``resultant_length`` is :math:`\bar R = |\bar x|`, one where all draws agree;
    - ``angular_sd`` is the root mean square angle to the mean direction, in radians;
    - ``r_hat``, ``ess_bulk`` and ``ess_tail`` are the worst over the coordinates in an orthonormal
      frame of the tangent space at the mean direction and the cosine of the angle to it. They are
      the same for all entries of a vector, do not depend on the axes, and have no seam, as angles
      have. In other words: the frame is that in which the draws would be looked at on a map, and
      the cosine tells chains that agree in direction but not in spread.

    ``sd``, the interval and ``mcse_sd`` are those of the coordinates.

    Draws whose mean is within its Monte Carlo error of zero, such as those along a great circle or
    in equal shares on opposite sides, have no mean direction: it and its statistics are NaN, and a
    warning says so. A warning also names vectors at both ends of an axis.

    **Axes.** With ``axial=True`` unit vectors count up to their sign. ``mean`` is then the
    principal axis, the first eigenvector :math:`a_1` of :math:`\frac1S \sum_t x_t x_t^\top`;
    ``axis_share`` is its eigenvalue, one where all draws lie on the axis and 1/n where they come
    from everywhere; ``angular_sd`` is the root mean square angle to the axis, and ``mcse_mean`` the
    standard error by the delta method. R-hat and the effective sample sizes are those of the
    coordinates in the frame of the axis times the cosine of the angle to it, which do not depend
    on the sign.

    **Probability vectors.** As in ``az.summary``, entry by entry, with R-hat and ESS on the
    probabilities. These statistics look at ranks only, so that the logarithm of an entry would give
    the same; a log-ratio would give every entry the troubles of its neighbour near zero, and is not
    defined where a draw has an entry of exactly zero, as draws of ``SGRLD`` can have.

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
        Part of the draws. The axis of a vector must be left whole.
    kind : {"all", "stats", "diagnostics"}
        Which columns.
    ci_prob, ci_kind
        As in ``az.summary``.
    round_to : int or "none"
        Decimals, or "none" for the numbers as they are. Effective sample sizes are rounded down to
        whole numbers unless it is "none".
    directions, compositions : sequence of str, optional
        Names of the variables that are unit vectors, and of those that are probability vectors. By
        default they are told by their draws: a last axis with norm one in all of them, or
        without negative entries and with a sum of one. An empty list turns this off.

    axial : bool
        Whether unit vectors x and -x are the same, as for normals of planes and eigenvectors.

    Returns
    -------
    pandas.DataFrame
        One row an entry, as in ``az.summary``. The columns ``resultant_length``, or ``axis_share``,
        and ``angular_sd`` are there if there is a unit vector, and NaN for other variables.

    Raises
    ------
    ValueError
        If `kind` is unknown, or a name given is not that of a variable with an axis of its own, or
        is one of `directions` or `compositions` without being it.

    Warns
    -----
    UserWarning
        Of unit vectors that have no mean direction, or no principal axis, or two ends.

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
    # ArviZ imports JAX where that is installed: only who asks for a summary waits for it.
    import arviz as az

    from arviz_base import dataset_to_dataframe, extract

    if kind not in KINDS:
        raise ValueError(f"`kind` expected one of {', '.join(map(repr, KINDS))}, got {kind!r}.")
    selection = {"var_names": var_names, "filter_vars": filter_vars, "group": group}
    draws = extract(idata, combined=False, keep_dataset=True, **selection)
    draws = draws if coords is None else draws.sel(coords)
    kinds = geometries(draws, directions=directions, compositions=compositions)
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
    length = "axis_share" if axial else "resultant_length"
    if unit_vectors and kind != "diagnostics":
        found = _with_columns(found, [length, "angular_sd"])
    describe = axial_statistics if axial else directional_statistics
    for name in unit_vectors:
        _put(found[name], describe(draws[name].transpose(*SAMPLE_DIMS, ...)))
    table = pd.DataFrame(dataset_to_dataframe(found, sample_dims=["summary"]).T)
    return table if round_to == "none" else _rounded(table, round_to)


def _with_columns(found: xr.Dataset, names: list[str]) -> xr.Dataset:
    """Add statistics after the mean, the standard deviation and the interval."""
    columns = list(found["summary"].values)
    return found.reindex(summary=[*columns[:4], *names, *columns[4:]])


def _put(found: xr.DataArray, statistics: Mapping[str, np.ndarray]) -> None:
    """Put the statistics of directions into their places."""
    for column, values in statistics.items():
        if column in found["summary"].values:
            found.loc[{"summary": column}] = values


def _rounded(table: pd.DataFrame, decimals: int) -> pd.DataFrame:
    sizes = [column for column in table if column.startswith("ess_")]
    table = table.round(decimals)
    table[sizes] = np.floor(table[sizes]).astype("Int64")
    return table
