#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Kinetic and configurational temperatures, with their expected values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

from pymc.model import Model
from scipy import optimize, stats

from pymc_geodesic.diagnostics.fields import Field
from pymc_geodesic.diagnostics.gradients import Batches, GradientDraws, gradient_draws
from pymc_geodesic.manifolds import Manifold
from pymc_geodesic.monte_carlo import mean_and_mcse, z_score
from pymc_geodesic.runs.refined import as_drawn

__all__ = ["configurational_temperature", "kinetic_temperature", "temperatures_of"]

KINETIC, FREEDOM = "kinetic_temperature", "degrees_of_freedom"


def kinetic_temperature(idata: xr.DataTree, *, prob: float = 0.99) -> pd.DataFrame:
    r"""Compare the kinetic temperature of each variable with its distribution at temperature one.

    With velocities :math:`v \sim N(0, \Lambda(x))` on a manifold of intrinsic dimension m, the
    temperature of a transition, :math:`v^\top v / m`, has the distribution
    :math:`\chi^2_m / m`, whose mean is one.

    Parameters
    ----------
    idata : DataTree
        Result of ``pm.sample`` with a step of this package that has velocities.
    prob : float
        Probability of the highest-density bands.

    Returns
    -------
    DataFrame
        One row for each variable, and one for all together if there are several. ``mean`` with its
        Monte Carlo standard error ``mcse``; ``z``, the distance of the mean from one in standard
        errors; ``degrees_of_freedom``, m; ``lower`` and ``upper``, the band of a single transition.

    Raises
    ------
    ValueError
        If the sample statistics hold no kinetic temperature with its degrees of freedom.

    Notes
    -----
    The temperature recorded for a draw is the mean over its transitions, so that with ``n_steps``
    above one nearly all draws lie inside the band. Velocities can have the right temperature while
    positions do not: see :func:`configurational_temperature`. At the end of a transition of
    :class:`SGHMC` the velocity along a direction of curvature :math:`\omega^2` has the temperature
    :math:`1 / (1 - \epsilon^2 \omega^2 / 4)` when the position has temperature one, 1.07 at
    :math:`\epsilon \omega = 1/2`.

    References
    ----------
    Wenzel, F. et al. (2020). How good is the Bayes posterior in deep neural networks really? ICML.
    Appendix I.

    Examples
    --------
    >>> import numpy as np, arviz as az
    >>> temperature = np.random.default_rng(1).chisquare(3, (4, 500)) / 3
    >>> idata = az.from_dict(
    ...     {
    ...         "posterior": {"x": temperature},
    ...         "sample_stats": {
    ...             "kinetic_temperature": temperature,
    ...             "degrees_of_freedom": np.full((4, 500), 3),
    ...         },
    ...     }
    ... )
    >>> table = kinetic_temperature(idata)
    >>> bool(abs(table.loc["all", "z"]) < 3)
    True
    """
    found = idata["sample_stats"].data_vars
    names = [n for n in found if n.startswith(KINETIC) and n.replace(KINETIC, FREEDOM) in found]
    if not names:
        raise ValueError(
            f"`kinetic_temperature` expected `{KINETIC}` and `{FREEDOM}` among the sample "
            f"statistics, got {sorted(found)}. Use draws of a step of this package that has "
            "velocities, such as `pmg.SGGMC` or `pmg.gSGNHT`."
        )
    if any(set(found[name].dims) != {"chain", "draw"} for name in names):
        raise ValueError(
            "`kinetic_temperature` expected the statistics of one step, got those of several "
            "steps. Sample all variables with one step of this package."
        )
    rows = {}
    for name in names:
        freedom = int(found[name.replace(KINETIC, FREEDOM)].values.flat[0])
        mean, mcse = mean_and_mcse(found[name].transpose("chain", "draw").to_numpy())
        lower, upper = _highest_density(freedom, prob)
        key = name.removeprefix(KINETIC).removeprefix("_") or "all"
        rows[key] = [mean, mcse, z_score(mean - 1, mcse), freedom, lower, upper]
    columns = ["mean", "mcse", "z", FREEDOM, "lower", "upper"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    return table.astype({FREEDOM: int})


def configurational_temperature(
    idata: xr.DataTree,
    *,
    model: Model | None = None,
    batches: Batches = 1,
    max_draws: int = 500,
    random_seed: int | np.random.Generator | None = None,
) -> pd.DataFrame:
    r"""Temperature of the positions of each variable, from the gradient of the model.

    For a vector field F on the manifold of a variable,

    .. math::

        T = \frac{E[F \cdot \nabla U]}{E[\operatorname{div} F]},

    which is one for draws of the posterior and larger for draws that are too wide. F is
    ``x - mean`` for real variables, in the coordinates in which they are sampled, and for
    probability vectors in log ratios; for unit vectors it is the tangent part of the gradient
    of a quadratic function with the first two moments of the draws. The moments of F come from
    other chains than the one that is averaged or, with one chain, from the other half of the draws.

    Parameters
    ----------
    idata : DataTree
        Result of ``pm.sample``, with any step.
    model : Model, optional
        The model that was given to :func:`sample`; by default that of the context.
    batches : int or "all"
        Number of minibatches averaged at each draw, or the whole data. Any number gives an unbiased
        estimate. Without ``pm.Minibatch`` gradients are exact.
    max_draws : int
        Maximum number of draws per chain; longer chains are thinned evenly.
    random_seed : int or Generator, optional
        For the minibatches.

    Returns
    -------
    DataFrame
        One row per variable: ``mean``, the temperature; ``mcse``, its Monte Carlo standard error,
        which is not finite if the temperature is not identified, as for a uniform unit vector;
        ``z``, its distance from one in standard errors.

    Raises
    ------
    ValueError
        If the posterior lacks a variable of the model.

    References
    ----------
    Rugh, H. H. (1997). Dynamical approach to temperature. Physical Review Letters 78.

    Examples
    --------
    >>> import numpy as np, arviz as az, pymc as pm, pymc_geodesic as pmg
    >>> with pm.Model() as model:
    ...     x = pm.Normal("x", shape=3)
    >>> draws = np.random.default_rng(1).normal(0, 1.2, (4, 250, 3))
    >>> table = pmg.configurational_temperature(
    ...     az.from_dict({"posterior": {"x": draws}}), model=model
    ... )
    >>> round(float(table.loc["x", "mean"]), 1)
    1.4
    """
    # The draws that the sampler has made, whatever is corrected afterwards.
    draws = gradient_draws(
        as_drawn(idata), model=model, batches=batches, max_draws=max_draws, random_seed=random_seed
    )
    return temperatures_of(draws)


def temperatures_of(draws: GradientDraws) -> pd.DataFrame:
    """Return the configurational temperature of each variable, from gradients at draws."""
    rows = {
        variable.name: _temperature(variable.manifold, x, gradient)
        for variable, x, gradient in zip(*draws, strict=True)
    }
    return pd.DataFrame.from_dict(rows, orient="index", columns=["mean", "mcse", "z"])


def _temperature(
    manifold: Manifold, x: np.ndarray, gradient: np.ndarray
) -> tuple[float, float, float]:
    work, divergence = _cross_fitted(manifold, x, gradient)
    excess, error = mean_and_mcse(work - divergence)
    _, denominator_error = mean_and_mcse(divergence)
    denominator = divergence.mean()
    if denominator <= 4 * denominator_error:
        return np.nan, np.inf, z_score(excess, error)
    temperature = work.mean() / denominator
    _, ratio_error = mean_and_mcse(work - temperature * divergence)
    return temperature, ratio_error / denominator, z_score(excess, error)


def _cross_fitted(
    manifold: Manifold, x: np.ndarray, gradient: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Evaluate at each part of the draws the field determined by the other parts."""
    chains, draws = x.shape[:2]
    halves = [slice(0, draws // 2), slice(draws // 2, None)]
    parts = (
        [(chain, slice(None)) for chain in range(chains)]
        if chains > 1
        else [(0, half) for half in halves]
    )
    work, divergence = np.empty((chains, draws)), np.empty((chains, draws))
    field = Field(manifold, x.shape[2:], dtype=x.dtype.name)
    for part in parts:
        others = np.ones((chains, draws), dtype=bool)
        others[part] = False
        found = field.work_and_divergence(x[part], gradient[part], reference=x[others])
        work[part], divergence[part] = found
    return work, divergence


def _highest_density(freedom: int, prob: float) -> tuple[float, float]:
    """Shortest interval that contains this probability of ``chi2_m / m``."""
    distribution = stats.chi2(freedom, scale=1 / freedom)
    # The density falls from the left end for one or two degrees of freedom.
    if freedom <= 2:
        return 0.0, float(distribution.ppf(prob))

    def length(below: float) -> float:
        return distribution.ppf(below + prob) - distribution.ppf(below)

    below = optimize.minimize_scalar(length, bounds=(0, 1 - prob), method="bounded").x
    return float(distribution.ppf(below)), float(distribution.ppf(below + prob))
