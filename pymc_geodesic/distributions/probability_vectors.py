#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Probability vectors: their checks and draws; weights of a truncated Dirichlet process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytensor.tensor as pt

from numpy.typing import ArrayLike
from pytensor.graph.basic import Variable
from pytensor.tensor.variable import TensorVariable

from pymc_geodesic.distributions.validation import finite_value

__all__ = ["check_probability_vectors", "from_logs", "log_entries", "stick_breaking", "sums_to_one"]

# Largest difference of a sum from 1. It is far above the rounding of sums of 1e6 entries and far
# below any deliberate scaling, in double and in single precision.
SUM_TOLERANCE = {"float64": 1e-6, "float32": 1e-4}


def check_probability_vectors(x: Any, argument: str, owner: str) -> None:
    """Raise an error if ``x`` is known and not in the interior of a simplex in its last axis.

    Parameters
    ----------
    x : tensor_like
        Array, list or tensor. Symbolic tensors other than constants pass.
    argument, owner : str
        Names of the argument and the distribution in the message.

    Raises
    ------
    ValueError
        When ``x`` has no axis, its last axis has length 1, a value is missing, infinite or not
        positive, or a sum differs from 1 by more than 1e-6 (1e-4 in single precision).

    Examples
    --------
    >>> check_probability_vectors([0.2, 0.8], "observed", "SymmetricDirichlet")
    """
    static_shape = x.type.shape if isinstance(x, Variable) else np.shape(x)
    if len(static_shape) == 0:
        raise ValueError(
            f"`{owner}` expected probability vectors in the last axis of `{argument}`, got a "
            f"scalar. Pass `{argument}` with two or more elements in the last axis."
        )
    if static_shape[-1] is not None and static_shape[-1] < 2:
        raise ValueError(
            f"`{owner}` expected probability vectors of two or more elements in the last axis of "
            f"`{argument}`, got length {static_shape[-1]}. A single probability is always 1: "
            "leave it out, or pass both it and its complement."
        )
    value = finite_value(x, argument, owner, expected="probability vectors in the last axis")
    if value is None:
        return
    dtype = getattr(x, "dtype", None)
    tolerance = SUM_TOLERANCE.get(str(dtype), SUM_TOLERANCE["float64"])
    totals = value.sum(axis=-1, dtype="float64")
    if np.any(value < 0) or np.any(np.abs(totals - 1.0) > tolerance):
        raise ValueError(
            f"`{owner}` expected positive entries that sum to 1 in the last axis of `{argument}`, "
            f"got a smallest entry of {value.min():.6g} and sums in [{totals.min():.6g}, "
            f"{totals.max():.6g}]. If these are counts or weights, divide them by their sum: "
            f"`{argument} / np.sum({argument}, axis=-1, keepdims=True)`."
        )
    if np.any(value == 0):
        raise ValueError(
            f"`{owner}` expected positive entries in the last axis of `{argument}`, got "
            f"{np.count_nonzero(value == 0)} exact zeros, where the log density is infinite. "
            "Replace them by a value below the precision of your measurements and divide by the "
            "sum, or model the underlying counts with `pm.Multinomial`."
        )


def log_entries(value: TensorVariable) -> tuple[TensorVariable, TensorVariable]:
    """Return ``log(value)``, and whether it is finite throughout the last axis.

    PyTensor turns the log of a softmax into a difference of logs. Entries of a transformed variable
    may therefore underflow to 0 in a sampler and keep a finite log, so the log is tested and not
    ``value``.
    """
    log_value = pt.log(value)
    # Also False where `value` is negative, as comparisons with NaN are.
    finite = pt.all(log_value > -np.inf, axis=-1)
    return log_value, finite


def sums_to_one(value):
    """Return whether an array or tensor sums to 1 along its last axis, within the tolerance."""
    tolerance = SUM_TOLERANCE.get(str(value.dtype), SUM_TOLERANCE["float64"])
    return abs(value.sum(axis=-1) - 1.0) <= np.asarray(tolerance, dtype=value.dtype)


def from_logs(logs: TensorVariable) -> TensorVariable:
    r"""Return :math:`e^{l_i} / \sum_j e^{l_j}`, no entry below the smallest normal number.

    Smaller entries are raised to it (2.2e-308 in double precision), so that their logs are
    finite. The sum changes by at most K times this, which rounding absorbs.
    """
    weights = pt.exp(logs - logs.max(axis=-1, keepdims=True))
    floor = np.finfo(logs.dtype).tiny
    return pt.maximum(weights / weights.sum(axis=-1, keepdims=True), floor)


def stick_breaking(shares: ArrayLike | TensorVariable) -> TensorVariable:
    r"""Break a stick of length one: each component takes a share of what is left.

    .. math::

        w_k = v_k \prod_{j < k} (1 - v_j), \qquad w_K = \prod_{j < K} (1 - v_j) .

    With :math:`v_k \sim \mathrm{Beta}(1, \alpha)` these are the weights of a Dirichlet process of
    concentration :math:`\alpha`, truncated at K components. A mixture with such weights uses as
    many of its components as the data need.

    PyMC's ``StickBreakingWeights`` has the same distribution, as a point of the simplex. Its
    density is infinite at corners for small :math:`\alpha`. Free shares have smooth densities on
    the log-odds scale, on which PyMC's and this package's steps move them.

    Parameters
    ----------
    shares : array_like
        Shares v in (0, 1), along the last axis: one less than there are components.

    Returns
    -------
    TensorVariable
        Weights w, along the last axis.

    Notes
    -----
    For shares that are Beta(1, :math:`\alpha`), the mean of :math:`w_k` is
    :math:`\alpha^{k-1} / (1 + \alpha)^k`, and that of its square is :math:`2 \alpha^{k-1} /
    [(1 + \alpha) (2 + \alpha)^k]`, for k < K. All beyond the first K - 1 components have the
    weight :math:`(\alpha / (1 + \alpha))^{K-1}` on average: choose K such that it is small.

    References
    ----------
    Sethuraman, J. (1994). A constructive definition of Dirichlet priors. Statistica Sinica 4.

    Ishwaran, H. and James, L. F. (2001). Gibbs sampling methods for stick-breaking priors. Journal
    of the American Statistical Association 96.

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> pmg.stick_breaking(np.array([0.5, 0.5, 0.2])).eval()
    array([0.5 , 0.25, 0.05, 0.2 ])
    >>> with pm.Model() as model:
    ...     alpha = pm.Gamma("alpha", 2.0, 2.0)
    ...     v = pm.Beta("v", 1.0, alpha, shape=9)
    ...     mu = pmg.SphericalUniform("mu", shape=(10, 3))
    ...     kappa = pm.Gamma("kappa", 2.0, 0.05, shape=10)
    ...     component = pmg.VonMisesFisher.dist(mu, kappa)
    ...     x = pm.Mixture("x", pmg.stick_breaking(v), component, shape=(100, 3))
    >>> pm.draw(x, random_seed=1).shape
    (100, 3)
    """
    v = pt.as_tensor(shares)
    one = pt.ones_like(v[..., :1])
    left = pt.concatenate([one, pt.cumprod(1 - v, axis=-1)], axis=-1)
    return left * pt.concatenate([v, one], axis=-1)
