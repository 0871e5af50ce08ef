#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The logistic-normal distribution on the simplex."""

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from pymc.distributions.dist_math import check_parameters
from pymc.distributions.multivariate import SimplexContinuous
from pymc.distributions.shape_utils import to_tuple
from pytensor.tensor.linalg import cholesky, solve_triangular
from pytensor.tensor.variable import TensorVariable

from pymc_geodesic.distributions.base import ChecksObserved, RandomGraph, on_support, with_signature
from pymc_geodesic.distributions.probability_vectors import (
    check_probability_vectors,
    from_logs,
    log_entries,
    sums_to_one,
)
from pymc_geodesic.distributions.validation import as_float_tensor, constant_value

__all__ = ["LogisticNormal", "LogisticNormalRV"]

# Measured: the first matrix product in a Numba graph costs 23 s of cold compilation. Up to this
# length a sum over the products of entries is as fast, and takes no more than 2 kB per draw.
_SHORT = 16

# Relative to the largest entry: above the rounding of a computed covariance matrix or its
# factor, below any deliberate asymmetry.
_MATRIX_TOLERANCE = 1e-6


def _append_zero(z: TensorVariable) -> TensorVariable:
    """Return ``z`` with the log-ratio of the last probability to itself, 0, in the last axis."""
    return pt.concatenate([z, pt.zeros_like(z[..., :1])], axis=-1)


def _diagonal(chol: TensorVariable) -> TensorVariable:
    return pt.diagonal(chol, axis1=-2, axis2=-1)


def _multiply(matrix: TensorVariable, vector: TensorVariable) -> TensorVariable:
    """Multiply matrices and vectors, with leading axes that broadcast."""
    length = matrix.type.shape[-1]
    if length is not None and length <= _SHORT:
        return (matrix * vector[..., None, :]).sum(axis=-1)
    if matrix.ndim == 2:
        return vector @ matrix.mT
    return (matrix @ vector[..., None])[..., 0]


class LogisticNormalRV(RandomGraph):
    """Random graph of :class:`LogisticNormal`."""

    extended_signature = "[rng],[size],(m),(m,m)->[rng],(n)"

    @classmethod
    def draw(cls, mu, chol, *, size, rng):
        """Return the generator's next state and draws."""
        next_rng, noise = pm.Normal.dist(
            size=(*tuple(size), mu.shape[-1]), rng=rng, return_next_rng=True
        )
        z = mu + _multiply(chol, noise)
        return next_rng, from_logs(_append_zero(z))


def _check_matrix(x: TensorVariable, argument: str, expected: str, is_valid: Any) -> None:
    """Raise an error if ``x`` is known and not a stack of square and valid matrices."""
    rows, columns = x.type.shape[-2:] if x.ndim >= 2 else (None, None)
    if x.ndim < 2 or (rows is not None and columns is not None and rows != columns):
        raise ValueError(
            f"`LogisticNormal` expected square matrices in the last two axes of `{argument}`, got "
            f"shape {x.type.shape}. For K probabilities pass a matrix of K - 1 rows and columns."
        )
    known = constant_value(x)
    if known is not None and not (np.all(np.isfinite(known)) and is_valid(known)):
        raise ValueError(f"`LogisticNormal` expected `{argument}` to be {expected}")


def _is_covariance(x: np.ndarray) -> bool:
    size = np.max(np.abs(x), axis=(-2, -1), initial=0.0, keepdims=True)
    if np.any(np.abs(x - np.swapaxes(x, -1, -2)) > _MATRIX_TOLERANCE * size):
        return False
    try:
        np.linalg.cholesky(x)
    except np.linalg.LinAlgError:
        return False
    return True


def _is_factor(x: np.ndarray) -> bool:
    size = np.max(np.abs(x), axis=(-2, -1), initial=0.0, keepdims=True)
    lower = np.all(np.abs(np.triu(x, 1)) <= _MATRIX_TOLERANCE * size)
    return bool(lower and np.all(np.diagonal(x, axis1=-2, axis2=-1) > 0))


def _factor(cov: Any, chol: Any) -> TensorVariable:
    """Return the lower Cholesky factor of whichever matrix was passed."""
    if (cov is None) == (chol is None):
        raise ValueError(
            "`LogisticNormal` expected exactly one of `cov` and `chol`, got "
            f"{'neither' if cov is None else 'both'}. Pass the covariance matrix of the log-ratios "
            "as `cov`, or its lower Cholesky factor as `chol`."
        )
    if cov is None:
        chol = as_float_tensor(chol)
        _check_matrix(
            chol,
            "chol",
            "finite lower triangular matrices with a positive diagonal, got something else. "
            "Pass the lower Cholesky factor, or the covariance matrix itself as `cov`.",
            _is_factor,
        )
        return chol
    cov = as_float_tensor(cov)
    _check_matrix(
        cov,
        "cov",
        "finite, symmetric and positive definite matrices, got something else. Symmetrise it with "
        "`(cov + cov.T) / 2`, and add a small multiple of the identity if it is singular.",
        _is_covariance,
    )
    return cholesky(cov)


def _check_lengths(mu: TensorVariable, chol: TensorVariable, argument: str) -> None:
    """Raise an error if ``mu`` is known to be empty or not to fit the matrix."""
    if mu.ndim == 0 or mu.type.shape[-1] == 0:
        raise ValueError(
            "`LogisticNormal` expected K - 1 means of log-ratios, one or more, in the last axis "
            f"of `mu`, got shape {mu.type.shape}. For K probabilities pass K - 1 means."
        )
    length, rows = mu.type.shape[-1], chol.type.shape[-1]
    if length is not None and rows is not None and length != rows:
        raise ValueError(
            f"`LogisticNormal` expected `mu` and `{argument}` of equal length in the last axis, "
            f"got {length} and {rows}. For K probabilities both have length K - 1."
        )


def _check_shape(mu: TensorVariable, shape: Any) -> None:
    """Raise an error if ``shape``, also that of ``observed``, is known and does not end in K."""
    if shape is None or mu.type.shape[-1] is None or len(to_tuple(shape)) == 0:
        return
    last, expected = to_tuple(shape)[-1], mu.type.shape[-1] + 1
    if isinstance(last, int | np.integer) and last != expected:
        raise ValueError(
            f"`LogisticNormal` expected {expected} probabilities, one more than `mu` has "
            f"elements, in the last axis of `shape` or `observed`, got {last}. For K probabilities "
            "pass `mu` of length K - 1."
        )


@with_signature()
class LogisticNormal(ChecksObserved, SimplexContinuous):
    r"""
    Logistic-normal distribution on the simplex.

    The last axis is a probability vector of length K, whose K - 1 log-ratios to its last entry are
    normal: :math:`z \sim N(\mu, \Sigma)`, :math:`p = \operatorname{softmax}(z_1, \dots, z_{K-1},
    0)`. The density is with respect to Lebesgue measure on the first K - 1 entries, as that of
    :class:`pymc.Dirichlet`:

    .. math::

        f(p \mid \mu, \Sigma) = N(z \mid \mu, \Sigma) \prod_{i=1}^K p_i^{-1}, \qquad
        z_i = \log \frac{p_i}{p_K}

    ================  ==========================================
    Support           :math:`p \in \mathbb{R}^K, p_i > 0, \sum_i p_i = 1`
    Mean of z         :math:`\mu`
    Covariance of z   :math:`\Sigma`
    ================  ==========================================

    The moments of p have no closed form. Unlike a Dirichlet, the entries can be positively
    correlated.

    Parameters
    ----------
    mu : tensor_like of float, shape (..., K - 1)
        Means of the log-ratios.
    cov : tensor_like of float, shape (..., K - 1, K - 1), optional
        Covariance matrix of the log-ratios. Pass exactly one of ``cov`` and ``chol``.
    chol : tensor_like of float, shape (..., K - 1, K - 1), optional
        Lower Cholesky factor of the covariance matrix, as :class:`pymc.LKJCholeskyCov` makes it.

    Raises
    ------
    ValueError
        When not exactly one of ``cov`` and ``chol`` is given; when the shapes of ``mu``, the
        matrix, ``shape`` and ``observed`` are known and do not fit together; when known values of
        ``mu`` are not finite, of ``cov`` not symmetric and positive definite, or of ``chol`` not
        lower triangular with a positive diagonal; or when ``observed`` does not hold
        probability vectors with positive entries that sum to 1 (within 1e-6; 1e-4 in single
        precision). Symbolic matrices are checked when the log density is evaluated.

    Notes
    -----
    The distribution does not depend on the choice of the last entry, which is a linear map of z.
    The log density is -inf off the simplex and where an entry is 0. The default transform is
    PyMC's ``simplex``, and the support point is :math:`\operatorname{softmax}(\mu, 0)`.

    Draws below the smallest normal floating point number (2.2e-308) are raised to it, so that
    their log density is finite. This only happens where log-ratios differ by more than 708.

    References
    ----------
    .. [1] Aitchison, J. and Shen, S. M. (1980). Logistic-normal distributions: some properties
           and uses. Biometrika 67. DOI 10.1093/biomet/67.2.261

    Examples
    --------
    >>> import pymc as pm, pymc_geodesic as pmg
    >>> with pm.Model():
    ...     p = pmg.LogisticNormal("p", mu=[0.0, 1.0], cov=[[1.0, 0.8], [0.8, 1.0]])
    ...     _ = pm.Multinomial("counts", n=20, p=p, observed=[3, 12, 5])
    >>> p.type.shape
    (3,)
    """

    rv_type = LogisticNormalRV
    check_observed = staticmethod(check_probability_vectors)

    @classmethod
    def dist(cls, mu: Any, cov: Any = None, *, chol: Any = None, **kwargs) -> TensorVariable:
        """Return a variable that is not registered in a model."""
        mu = as_float_tensor(mu)
        known = constant_value(mu)
        if known is not None and not np.all(np.isfinite(known)):
            raise ValueError(
                "`LogisticNormal` expected finite means of the log-ratios in `mu`, got missing or "
                "infinite values. For a small probability use a mean such as -20."
            )
        factor = _factor(cov, chol)
        _check_lengths(mu, factor, "cov" if chol is None else "chol")
        _check_shape(mu, kwargs.get("shape"))
        return super().dist([mu, factor], **kwargs)

    def support_point(rv, size, mu, chol) -> TensorVariable:
        """Return the probabilities at the mean of the log-ratios."""
        return pt.broadcast_to(from_logs(_append_zero(mu)), rv.shape)

    def logp(value, mu, chol) -> TensorVariable:
        """Return the log density with respect to Lebesgue measure on the first K - 1 entries."""
        log_value, positive = log_entries(value)
        z = log_value[..., :-1] - log_value[..., -1:]
        scaled = solve_triangular(chol, z - mu, lower=True, b_ndim=1)
        scale = _diagonal(chol)
        m = pt.as_tensor(z.shape[-1]).astype(value.dtype)
        log_normal = (
            -0.5 * (scaled * scaled).sum(axis=-1)
            - pt.log(scale).sum(axis=-1)
            - 0.5 * np.log(2.0 * np.pi).astype(value.dtype) * m
        )
        res = log_normal - log_value.sum(axis=-1)
        res = on_support(pt.switch(positive, res, -np.inf), value, sums_to_one)
        return check_parameters(res, pt.all(scale > 0, axis=-1), msg="positive definite covariance")
