#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Posterior summaries of draws made with a changing step size."""

from __future__ import annotations

from collections.abc import Sequence

import xarray as xr

from pymc_geodesic.kernel.representatives import without_seam
from pymc_geodesic.manifolds.registry import recorded_manifolds

__all__ = ["weighted"]


def weighted(
    idata: xr.DataTree,
    *,
    var_names: Sequence[str] | None = None,
    quantiles: Sequence[float] = (0.055, 0.5, 0.945),
) -> xr.Dataset:
    r"""Posterior means, standard deviations and quantiles weighted by step size.

    A draw made with a small step represents a short time of the diffusion. With step
    sizes :math:`\epsilon_t`, expectations are estimated by

    .. math::

        \hat E f = \frac{\sum_t \epsilon_t f(x_t)}{\sum_t \epsilon_t}.

    With a constant step size these are the ordinary summaries. Angles and axes that the run has
    recorded are first written about their mean, so that an angle may go beyond pi.

    Parameters
    ----------
    idata : DataTree
        Result of ``pm.sample`` with a step of this package.
    var_names : sequence of str, optional
        Variables to summarise; all by default.
    quantiles : sequence of float
        Probabilities of the quantiles; by default the median and an 89 per cent interval.

    Returns
    -------
    Dataset
        For each variable its own shape with a leading dimension ``statistic``: ``mean``, ``sd`` and
        one entry per quantile.

    Raises
    ------
    ValueError
        If the sample statistics hold no ``step_size``.

    References
    ----------
    Welling, M. and Teh, Y. W. (2011). Bayesian learning via stochastic gradient Langevin dynamics.
    ICML. Section 4.

    Examples
    --------
    >>> import numpy as np, arviz as az
    >>> idata = az.from_dict(
    ...     {
    ...         "posterior": {"x": np.array([[0.0, 1.0]])},
    ...         "sample_stats": {"step_size": np.array([[3.0, 1.0]])},
    ...     }
    ... )
    >>> float(weighted(idata)["x"].sel(statistic="mean"))
    0.25
    """
    if "step_size" not in idata["sample_stats"].data_vars:
        raise ValueError(
            "`weighted` expected a `step_size` among the sample statistics, got "
            f"{sorted(idata['sample_stats'].data_vars)}. Use draws of a step of this package."
        )
    draws = idata["posterior"].to_dataset()
    draws = draws if var_names is None else draws[list(var_names)]
    for name, manifold in recorded_manifolds(idata).items():
        if name in draws:
            x = draws[name].transpose("chain", "draw", ...)
            draws[name] = x.copy(data=without_seam(manifold, x.to_numpy()))
    sample = ("chain", "draw")
    by_weight = draws.weighted(idata["sample_stats"]["step_size"])
    summaries = [by_weight.mean(sample), by_weight.std(sample)]
    summaries += [by_weight.quantile(q, dim=sample).drop_vars("quantile") for q in quantiles]
    names = ["mean", "sd", *(f"q{100 * q:g}" for q in quantiles)]
    return xr.concat(summaries, dim=xr.DataArray(names, dims="statistic", name="statistic"))
