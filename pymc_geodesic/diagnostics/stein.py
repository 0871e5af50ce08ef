#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Stein checks: identities that draws of a posterior satisfy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr

from pymc.model import Model
from scipy import stats

from pymc_geodesic.diagnostics import rules as rules
from pymc_geodesic.diagnostics.gradients import Batches, gradient_draws
from pymc_geodesic.diagnostics.harmonics import stein_values
from pymc_geodesic.monte_carlo import mcse
from pymc_geodesic.runs.refined import as_drawn

__all__ = ["SteinCheck", "stein_check"]

# The standard error is estimated too, from about half as many independent numbers as there are
# effective draws, so that z has the tails of Student's t.
ERRORS_PER_DRAW = 0.5
# Rounding error of an identity that holds at every draw.
ROUNDING = 1e-9


@dataclass(frozen=True)
class SteinCheck:
    """Verdict of :func:`stein_check`.

    Attributes
    ----------
    table : DataFrame
        One row per identity, worst first: ``mean``, expected to be zero; ``mcse``, its Monte Carlo
        standard error; ``z``; ``effect``, the mean in standard deviations of a single draw;
        ``p_value``, corrected for the number of identities.
    level : float
        Probability with which draws of the posterior fail.
    tolerance : float
        Largest effect that is accepted.
    """

    table: pd.DataFrame
    level: float
    tolerance: float

    @property
    def failed(self) -> pd.DataFrame:
        """The identities that the draws contradict."""
        return self.table[self.table["p_value"] < self.level]

    @property
    def passed(self) -> bool:
        """Whether the draws contradict no identity."""
        return self.failed.empty

    def __str__(self) -> str:
        """Write the verdict as a sentence."""
        worst, n = self.table.iloc[0], len(self.table)
        figures = f"z = {worst['z']:.1f}, corrected p = {worst['p_value']:.2g}"
        if self.passed:
            return (
                f"The draws satisfy {n} Stein identities within Monte Carlo error; the largest "
                f"deviation is {worst.name} ({figures})."
            )
        return (
            f"The draws contradict {len(self.failed)} of {n} Stein identities of the model; the "
            f"largest violation is {worst.name} ({figures}). They do not follow the model's "
            "posterior: see `pmg.diagnose`."
        )


def stein_check(
    idata: xr.DataTree,
    *,
    model: Model | None = None,
    var_names: Sequence[str] | None = None,
    batches: Batches = 1,
    order: int = 2,
    tolerance: float = 0.0,
    level: float = 0.01,
    max_draws: int = 1000,
    random_seed: int | np.random.Generator | None = None,
) -> SteinCheck:
    r"""Test whether draws satisfy Stein identities of the posterior.

    For a smooth function f on the manifold of a variable,

    .. math::

        E[\Delta f(x) - \nabla f(x) \cdot \nabla U(x)] = 0,

    with the Laplace-Beltrami operator and the potential energy U with respect to surface measure.
    The functions f are harmonics of degree one and two for unit vectors, monomials of degree one
    and two for probability vectors, and centred coordinates and their products for real variables,
    in the coordinates in which they are sampled. For variables with more than ten entries, products
    of two different entries are left out. The identities are linear in the gradient, so that
    minibatch gradients test them without bias.

    Parameters
    ----------
    idata : DataTree
        Result of ``pm.sample``, with any step.
    model : Model, optional
        The model that was given to :func:`sample`; by default that of the context.
    var_names : sequence of str, optional
        Continuous free variables to test; all by default.
    batches : int or "all"
        Number of minibatches averaged at each draw, or the whole data. More minibatches make the
        test sharper.
    order : {1, 2}
        Degree of the functions: one only tests means, two also variances and covariances.
    tolerance : float
        Largest effect that is accepted, in standard deviations of a single draw. With zero, the
        default, enough draws reveal the bias of order ``step_size**2`` of any unadjusted sampler.
    level : float
        Probability that draws of the posterior fail, for all identities together.
    max_draws : int
        Maximum number of draws per chain; longer chains are thinned evenly.
    random_seed : int or Generator, optional
        For the minibatches.

    Returns
    -------
    SteinCheck
        Print it for a verdict in a sentence; programs read ``passed`` and ``table``.

    Raises
    ------
    ValueError
        If the posterior lacks a variable of the model, ``order`` is neither one nor two, or there
        are fewer than twenty draws per chain.

    Notes
    -----
    Standard errors are ArviZ's, p values those of Student's t with half the effective sample size
    as degrees of freedom, multiplied by the number of identities in Holm's order.

    References
    ----------
    Gorham, J. and Mackey, L. (2015). Measuring sample quality with Stein's method. NIPS.

    Examples
    --------
    >>> import numpy as np, arviz as az, pymc as pm, pymc_geodesic as pmg
    >>> with pm.Model() as model:
    ...     x = pm.Normal("x", shape=2)
    >>> draws = np.random.default_rng(1).normal(0, 1, (4, 500, 2))
    >>> pmg.stein_check(az.from_dict({"posterior": {"x": draws}}), model=model).passed
    True
    """
    if order not in (1, 2):
        raise ValueError(f"`order` expected 1 or 2, got {order!r}.")
    # After a correction the identities hold, whatever the sampler has done.
    idata = as_drawn(idata)
    if (n_draws := idata["posterior"].sizes["draw"]) < 20:
        raise ValueError(
            f"`stein_check` expected at least 20 draws per chain, got {n_draws}. Draw more."
        )
    draws = gradient_draws(
        idata, model=model, batches=batches, max_draws=max_draws, random_seed=random_seed
    ).chosen(var_names)
    values: dict[str, np.ndarray] = {}
    for variable, x, gradient in zip(*draws, strict=True):
        identities = stein_values(variable.manifold, x, gradient, order=order)
        values |= {name.replace("{}", variable.name): value for name, value in identities}
    table = _tested(values, tolerance=tolerance)
    return SteinCheck(table, level, tolerance)


def _tested(values: dict[str, np.ndarray], *, tolerance: float) -> pd.DataFrame:
    """Test that the mean of every array ``(chain, draw)`` is zero."""
    array = np.stack(list(values.values()), axis=-1)
    mean, sd = array.mean(axis=(0, 1)), array.std(axis=(0, 1))
    # An identity that holds at every draw has no error and cannot be tested.
    free = sd > ROUNDING * max(1.0, np.abs(array).max())
    error, z, effect, p_value = (np.full(len(mean), value) for value in (0.0, 0.0, 0.0, 1.0))
    error[free] = mcse(array[..., free])
    effect[free] = mean[free] / sd[free]
    excess = np.maximum(np.abs(mean[free]) - tolerance * sd[free], 0)
    z[free] = np.sign(mean[free]) * excess / error[free]
    freedom = np.maximum(ERRORS_PER_DRAW * (sd[free] / error[free]) ** 2, 2.0)
    p_value[free] = 2 * stats.t.sf(np.abs(z[free]), freedom)
    columns = {"mean": mean, "mcse": error, "z": z, "effect": effect, "p_value": _holm(p_value)}
    table = pd.DataFrame(columns, index=list(values))
    return table.iloc[np.argsort(p_value, kind="stable")]


def _holm(p_value: np.ndarray) -> np.ndarray:
    """Correct p values for their number (Holm 1979), whatever their dependence."""
    order = np.argsort(p_value)
    factors = np.arange(len(p_value), 0, -1)
    corrected = np.minimum(np.maximum.accumulate(p_value[order] * factors), 1.0)
    result = np.empty_like(corrected)
    result[order] = corrected
    return result
