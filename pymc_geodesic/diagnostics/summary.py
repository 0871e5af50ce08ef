#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Posterior summaries that know unit vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr

from pymc_geodesic.diagnostics.directional import (
    angular_sd,
    mean_direction,
    mean_resultant_length,
    rotate_to_pole,
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

    Returns
    -------
    pandas.DataFrame
        One row an entry, as in ``az.summary``. The columns ``resultant_length`` and ``angular_sd``
        are there if there is a unit vector, and NaN for other variables.

    Raises
    ------
    ValueError
        If `kind` is unknown, or a name given is not that of a variable with an axis of its own.

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
    if unit_vectors and kind != "diagnostics":
        found = _with_columns(found, ["resultant_length", "angular_sd"])
    for name in unit_vectors:
        _describe(found[name], draws[name].transpose(*SAMPLE_DIMS, ...))
    table = pd.DataFrame(dataset_to_dataframe(found, sample_dims=["summary"]).T)
    return table if round_to == "none" else _rounded(table, round_to)


def _with_columns(found: xr.Dataset, names: list[str]) -> xr.Dataset:
    """Add statistics after the mean, the standard deviation and the interval."""
    columns = list(found["summary"].values)
    return found.reindex(summary=[*columns[:4], *names, *columns[4:]])


def _describe(found: xr.DataArray, draws: xr.DataArray) -> None:
    """Put the statistics of directions into their places."""
    import arviz as az

    x = draws.values.reshape(-1, *draws.shape[2:])
    mean, length = mean_direction(x), mean_resultant_length(x)
    columns = set(found["summary"].values)

    def put(column: str, values: np.ndarray) -> None:
        if column in columns:
            found.loc[{"summary": column}] = values

    put("mean", mean)
    put("resultant_length", length[..., None])
    put("angular_sd", angular_sd(x)[..., None])
    if "r_hat" not in columns:
        return
    frame = draws.copy(data=rotate_to_pole(x, mean).reshape(draws.shape))
    axis = draws.dims[-1]
    put("ess_bulk", az.ess(frame, method="bulk").min(axis).values[..., None])
    put("ess_tail", az.ess(frame, method="tail").min(axis).values[..., None])
    put("r_hat", az.rhat(frame).max(axis).values[..., None])
    along = (x * mean).sum(axis=-1, keepdims=True)
    influence = draws.copy(data=((x - along * mean) / length[..., None]).reshape(draws.shape))
    put("mcse_mean", az.mcse(influence, method="mean").values)


def _rounded(table: pd.DataFrame, decimals: int) -> pd.DataFrame:
    sizes = [column for column in table if column.startswith("ess_")]
    table = table.round(decimals)
    table[sizes] = np.floor(table[sizes]).astype("Int64")
    return table
