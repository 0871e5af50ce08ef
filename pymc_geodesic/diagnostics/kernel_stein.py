#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The kernel Stein discrepancy of draws, from minibatch gradients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
import xarray as xr

from pymc.model import Model
from pymc.util import get_random_generator

from pymc_geodesic.diagnostics import rules as rules
from pymc_geodesic.diagnostics.gradients import Batches, gradient_draws
from pymc_geodesic.diagnostics.harmonics import Factor, kernel_factors

__all__ = ["KernelSteinDiscrepancy", "kernel_stein_discrepancy"]

N_BOOTSTRAP = 500


@dataclass(frozen=True)
class KernelSteinDiscrepancy:
    """Result of :func:`kernel_stein_discrepancy`.

    Attributes
    ----------
    squared : float
        Estimate of the squared discrepancy, unbiased for independent draws. For correct draws
        it is around zero, and negative half of the time.
    p_value : float
        Probability of a larger estimate for draws from the posterior, by a wild bootstrap.
    n_draws : int
        Number of draws compared.
    """

    squared: float
    p_value: float
    n_draws: int

    def __str__(self) -> str:
        """Write the result as a sentence."""
        verdict = "no" if self.p_value >= 0.01 else "a"
        return (
            f"The kernel Stein discrepancy of {self.n_draws} draws, {self.squared:.3g} squared "
            f"(p = {self.p_value:.2g}), shows {verdict} difference from the model's posterior."
        )


def kernel_stein_discrepancy(
    idata: xr.DataTree,
    *,
    model: Model | None = None,
    var_names: Sequence[str] | None = None,
    batches: Batches = 1,
    max_draws: int = 250,
    random_seed: int | np.random.Generator | None = None,
) -> KernelSteinDiscrepancy:
    r"""Distance of draws from the posterior, by an inverse multiquadric kernel.

    .. math::

        \operatorname{KSD}^2 = \frac{1}{S (S - 1)} \sum_{s \neq t} k_U(x_s, x_t), \qquad
        k(x, y) = \left(1 + |x - y|^2 / \ell^2\right)^{-1/2}

    with the Stein kernel :math:`k_U` of k, which is linear in the gradient at each of its two
    arguments. Each draw has its own minibatches, so that the estimate of every summand is unbiased.

    Real variables are compared in the coordinates in which they are sampled, and probability
    vectors in log ratios; both are divided by their standard deviations. Unit vectors are compared
    on the sphere, by tangent vector fields and the kernel of the distance in the embedding.
    :math:`\ell^2` is the median of the squared distances.

    Parameters
    ----------
    idata : DataTree
        Result of ``pm.sample``, with any step.
    model : Model, optional
        The model that was given to :func:`sample`; by default that of the context.
    var_names : sequence of str, optional
        Continuous free variables to compare; all by default.
    batches : int or "all"
        Number of minibatches averaged at each draw, or the whole data.
    max_draws : int
        Maximum number of draws per chain; longer chains are thinned evenly. Time and memory are
        quadratic in the total number of draws.
    random_seed : int or Generator, optional
        For the minibatches and the bootstrap.

    Returns
    -------
    KernelSteinDiscrepancy
        Print it for a sentence.

    Raises
    ------
    ValueError
        If the posterior lacks a variable of the model.

    Notes
    -----
    The bootstrap multiplies draws by random signs, which are as strongly autocorrelated as the
    draws. Its p value is right for long chains and too small for short chains of strongly
    correlated draws. The test loses power as the number of entries grows: select the variables in
    doubt with ``var_names``.

    References
    ----------
    Gorham, J. and Mackey, L. (2017). Measuring sample quality with kernels. ICML.

    Chwialkowski, K., Strathmann, H. and Gretton, A. (2016). A kernel test of goodness of fit. ICML.

    Barp, A., Oates, C. J., Porcu, E. and Girolami, M. (2022). A Riemann-Stein kernel method.
    Bernoulli 28.

    Examples
    --------
    >>> import numpy as np, arviz as az, pymc as pm, pymc_geodesic as pmg
    >>> with pm.Model() as model:
    ...     x = pm.Normal("x", shape=2)
    >>> draws = np.random.default_rng(1).normal(0, 1.5, (4, 100, 2))
    >>> idata = az.from_dict({"posterior": {"x": draws}})
    >>> pmg.kernel_stein_discrepancy(idata, model=model, random_seed=1).p_value < 0.01
    True
    """
    rng = get_random_generator(random_seed)
    draws = gradient_draws(
        idata, model=model, batches=batches, max_draws=max_draws, random_seed=rng
    ).chosen(var_names)
    factors: list[Factor] = []
    for variable, x, gradient in zip(*draws, strict=True):
        x, gradient = (array.reshape(-1, *array.shape[2:]) for array in (x, gradient))
        factors += kernel_factors(variable.manifold, x, gradient)
    stein = _stein_kernel(factors)
    np.fill_diagonal(stein, 0.0)
    chains, length = draws.points[0].shape[:2]
    n = chains * length
    squared = stein.sum() / (n * (n - 1))
    signs = _wild_signs(rng, chains, length, memory=_memory(stein, chains, length))
    resampled = np.einsum("bs,st,bt->b", signs, stein, signs, optimize=True) / (n * (n - 1))
    p_value = (1 + np.count_nonzero(resampled >= squared)) / (1 + N_BOOTSTRAP)
    return KernelSteinDiscrepancy(float(squared), float(p_value), n)


def _stein_kernel(factors: Sequence[Factor]) -> np.ndarray:
    """Compute the Stein kernel from the factors of the product."""
    at_unit = reduce(add, (factor.products(1.0) for factor in factors)).distance
    median = np.median(at_unit[np.triu_indices_from(at_unit, 1)])
    length = np.sqrt(median) if median > 0 else 1.0
    p = reduce(add, (factor.products(length) for factor in factors))
    k = 1 / np.sqrt(1 + p.distance)
    drift = p.drift + p.drift.T
    return p.scores * k + (drift + p.trace) * k**3 - 3 * p.bend * k**5


def _memory(stein: np.ndarray, chains: int, length: int) -> float:
    """Autocorrelation time of the Stein kernel's functions, in draws.

    The kernel's mean over pairs of draws of one chain at a lag is the total autocovariance of its
    functions. The mean over pairs of different chains is the discrepancy itself.
    """
    blocks = [slice(chain * length, (chain + 1) * length) for chain in range(chains)]
    within = sum(stein[block, block] for block in blocks) / chains
    lags = np.array([np.trace(within, offset=lag) / (length - lag) for lag in range(length // 4)])
    level = stein.sum() / (stein.size - len(stein))
    covariance = lags - level
    # The discrepancy leaves out the diagonal, so the first lag replaces lag zero.
    ends = np.flatnonzero(covariance[1:] <= 0)
    last = int(ends[0]) if len(ends) else len(covariance) - 1
    return 1.0 + last


def _wild_signs(rng: np.random.Generator, chains: int, length: int, *, memory: float) -> np.ndarray:
    """Draw signs that flip between successive draws with probability ``1 / (2 memory)``."""
    flips = rng.random((N_BOOTSTRAP, chains, length)) < 0.5 / memory
    flips[:, :, 0] = rng.random((N_BOOTSTRAP, chains)) < 0.5
    signs = np.where(np.cumsum(flips, axis=2) % 2, 1.0, -1.0)
    return signs.reshape(N_BOOTSTRAP, chains * length)
