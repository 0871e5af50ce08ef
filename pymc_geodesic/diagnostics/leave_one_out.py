#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""``pmg.loo``: leave-one-out cross-validation from the log likelihood of a sample of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from arviz_stats import loo as az_loo
from arviz_stats.utils import ELPDDataLOO, ELPDDataLOOSubsample
from pymc.model import Model
from scipy.special import logsumexp

from pymc_geodesic.rows.builders import as_sampled, given_model
from pymc_geodesic.runs.at_draws import Point
from pymc_geodesic.runs.row_densities import RowDensities
from pymc_geodesic.validation import data_tree, whole

__all__ = ["SubsampledLOO", "loo"]

# Of a normal distribution, for 95 per cent.
Z = 1.96
# The mean is not the best point if the posterior has several modes or the variable several names
# for the same point, as axes have. One draw is better by chance, but not by so much.
MUCH_LARGER = 2.0
# For so many rows of the sample, one more is scored that is among the least likely.
UNLIKELY = 4


@dataclass(kw_only=True, repr=False)
class SubsampledLOO(ELPDDataLOOSubsample):
    """The result of :func:`loo` of more rows than the sample has: ArviZ's, with an interval.

    Attributes
    ----------
    interval : tuple of float
        The elpd that all rows would give, with a probability of 95 per cent.
    """

    @property
    def interval(self) -> tuple[float, float]:
        """The elpd that all rows would give, with a probability of 95 per cent."""
        half = Z * self.subsampling_se
        return float(self.elpd - half), float(self.elpd + half)

    def __str__(self) -> str:
        """Print it as ArviZ does, and the interval."""
        low, high = self.interval
        return (
            f"{super().__str__()}\nAll rows give an elpd between {low:,.1f} and {high:,.1f}, with "
            "a probability of 95%.\n"
        )


def loo(
    idata: xr.DataTree,
    model: Model | Any | None = None,
    *,
    var_name: str | None = None,
    rows: int = 1_000,
    random_seed: int = 0,
) -> ELPDDataLOO:
    r"""Estimate how well a model predicts rows that it has not seen, from a sample of its rows.

    The expected log predictive density of row i, if the row were left out, is found by Pareto-
    smoothed importance sampling for ``rows`` random rows. For all rows the log density at one point
    is computed, the posterior mean, which is near it. The sum is estimated from the differences,

    .. math::

        \text{elpd} = \sum_{i=1}^N \log p(y_i \mid \bar\theta)
            + \frac{N}{m} \sum_{j \in \text{sample}}
            \left[\text{elpd}_j - \log p(y_j \mid \bar\theta)\right].

    The rows that are least likely at this point, a quarter as many as the sample has, get their own
    elpd in the first sum, because a random sample of outliers would not represent them.

    Parameters
    ----------
    idata : DataTree
        Result of :func:`sample` or ``pm.sample``.
    model : pymc.Model, bambi.Model or object, optional
        The model that was sampled, with minibatches or without; by default that of the context.
    var_name : str, optional
        The observed variable; by default the only one.
    rows : int
        Rows of the sample. If there are no more, all are used, and the result is ``az.loo``'s.
    random_seed : int
        Chooses the sample. Models of the same rows have the same sample, as comparisons need it.

    Returns
    -------
    ELPDDataLOO
        As of ``az.loo``, with Pareto k of each row of the sample in ``pareto_k``. ``az.compare``
        takes several of them. For more than ``rows`` rows it is as of ``az.loo_subsample``: ``se``
        is the standard error of the elpd of future data, ``subsampling_se`` that due to the
        sample, and ``interval`` has the elpd that all rows would give, with a probability of 95 per
        cent. Other rows than those of the sample have their log density at the point in ``elpd_i``.

    Raises
    ------
    DependentRowsError
        If rows depend on each other.
    ValueError
        If the draws lack a variable on which rows depend, or there is no such variable.

    Notes
    -----
    A row is one of the first axis of the observed variable: an entry of several numbers counts
    once, and so does a group of :class:`GroupedRows`. Variables with an entry for each row, which
    :func:`sample` integrates out, are integrated out here too. Then a row is left out together with
    its own entry, and the result differs from that of a likelihood that is given the entry.

    References
    ----------
    Magnusson, M., Riis Andersen, M., Jonasson, J. and Vehtari, A. (2019). Bayesian leave-one-out
    cross-validation for large data. ICML.

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> y = np.random.default_rng(1).normal(2.0, 1.0, 10_000)
    >>> with pm.Model() as model:
    ...     mean = pm.Normal("mean", 0.0, 10.0)
    ...     _ = pm.Normal("y", mean, 1.0, observed=y)
    >>> idata = pmg.sample(250, tune=250, model=model, random_seed=1, progressbar=False)
    >>> found = pmg.loo(idata, model)
    >>> bool(abs(found.elpd + 14_175.3) < 1), found.subsample_size
    (True, 1000)
    """
    idata = as_sampled(data_tree(idata), model)
    densities = RowDensities(given_model(model), var_name)
    n, m = densities.n_rows, whole("rows", rows)
    sample = np.arange(n)
    if m < n:
        sample = np.sort(np.random.default_rng(random_seed).permutation(n)[:m])
    points = densities.points.of(idata)
    columns = [x.reshape(-1, *x.shape[2:]) for x in points]
    draws = [[x[i, ...] for x in columns] for i in range(len(columns[0]))]
    log_likelihood = densities.of_rows(draws, sample)
    if m >= n:
        return _of_rows(idata, densities, log_likelihood, sample)
    mean = densities.points.mean(points)
    point = _nearest(mean, densities.of_rows([mean], sample)[0], draws, log_likelihood)
    everywhere = densities.of_all_rows(point)
    # Where a row is least likely, its elpd differs most from its log density. So few rows decide
    # that a random sample would have some of them, or none.
    unlikely = np.argpartition(everywhere, m // UNLIKELY)[: m // UNLIKELY]
    others = np.setdiff1d(unlikely, sample)
    known = np.concatenate([log_likelihood, densities.of_rows(draws, others)], axis=1)
    found = _of_rows(idata, densities, known, np.concatenate([sample, others]))
    return _of_all(found, _log_mean(log_likelihood), everywhere, sample, unlikely)


def _of_rows(
    idata: xr.DataTree, densities: RowDensities, log_likelihood: np.ndarray, rows: np.ndarray
) -> ELPDDataLOO:
    """Return ArviZ's result for some rows, of log likelihoods of all draws: (draw, row)."""
    posterior = idata["posterior"].to_dataset()[densities.points.names]
    dim = _dim_of_rows(idata, densities.name)
    shape = posterior.sizes["chain"], posterior.sizes["draw"], len(rows)
    values = xr.DataArray(
        log_likelihood.reshape(shape),
        dims=("chain", "draw", dim),
        coords={"chain": posterior["chain"], "draw": posterior["draw"], dim: rows},
    )
    tree = {"posterior": posterior, "log_likelihood": xr.Dataset({densities.name: values})}
    return az_loo(xr.DataTree.from_dict(tree), var_name=densities.name, pointwise=True)


def _dim_of_rows(idata: xr.DataTree, name: str) -> str:
    if "observed_data" in idata and name in idata["observed_data"]:
        return str(next(iter(idata["observed_data"][name].dims), f"{name}_dim_0"))
    return f"{name}_dim_0"


def _nearest(
    mean: Point, at_mean: np.ndarray, draws: Sequence[Point], log_likelihood: np.ndarray
) -> Point:
    """Return the mean, or the draw at which log densities of rows are nearest to all draws'."""
    lpd = _log_mean(log_likelihood)
    spread = np.var(lpd - log_likelihood, axis=1)
    spread = np.where(np.isfinite(spread), spread, np.inf)
    best = int(np.argmin(spread))
    return mean if np.var(lpd - at_mean) <= MUCH_LARGER * spread[best] else draws[best]


def _of_all(
    found: ELPDDataLOO,
    lpd: np.ndarray,
    everywhere: np.ndarray,
    sample: np.ndarray,
    unlikely: np.ndarray,
) -> SubsampledLOO:
    """Return the result for all rows.

    Parameters
    ----------
    found : ELPDDataLOO
        That of a random sample, then of those unlikely rows that it lacks.
    lpd : ndarray
        Log predictive density of the sample.
    everywhere : ndarray
        Log density of all rows at a point.
    sample, unlikely : ndarray of int
        Numbers of rows.
    """
    n, m, dims = len(everywhere), len(sample), found.elpd_i.dims
    rows = found.elpd_i[dims[0]].values
    elpd_i, k = everywhere.copy(), np.full(n, np.nan)
    elpd_i[rows], k[rows] = found.elpd_i, found.pareto_k
    approximate = everywhere.copy()
    approximate[unlikely] = elpd_i[unlikely]
    estimate, subsampling_se, se = found.elpd_i[:m].azstats.diff_srs_estimator(
        lpd_approx_sample=approximate[sample], lpd_approx_all=approximate, n_data_points=n
    )
    return SubsampledLOO(
        elpd=estimate,
        subsampling_se=subsampling_se,
        se=se,
        p=n * float(np.mean(lpd - elpd_i[sample])),
        n_samples=found.n_samples,
        n_data_points=n,
        scale=found.scale,
        warning=found.warning,
        good_k=found.good_k,
        # ArviZ leaves NaN for other rows; then the weights of its comparison mean nothing.
        elpd_i=xr.DataArray(elpd_i, dims=dims, name="elpd_i"),
        pareto_k=xr.DataArray(k, dims=dims, name="pareto_k"),
        subsample_size=m,
        loo_subsample_observations=sample,
        elpd_loo_approx=xr.DataArray(approximate, dims=dims, name="elpd_loo_approx"),
    )


def _log_mean(log_likelihood: np.ndarray) -> np.ndarray:
    return logsumexp(log_likelihood, axis=0) - np.log(len(log_likelihood))
