#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""The normalising constant of the matrix Langevin distribution.

It is the hypergeometric function of matrix argument

.. math::

    E_{X} \, e^{\operatorname{tr} F^\top X} = {}_0F_1(n / 2; F^\top F / 4),

the mean over uniform frames. With one column it is a Bessel function. With two it is one integral:
if :math:`Z_n(r) = {}_0F_1(n / 2; r^2 / 4)` is the function of one column,

.. math::

    {}_0F_1(n / 2; F^\top F / 4) = E_\tau \, Z_n\left(\sqrt{|F|^2 + 2 \tau \sqrt{\det F^\top F}}
    \right), \qquad \tau \sim (1 - \tau^2)^{n / 2 - 2},

because both sides have the expansion of Muirhead in powers of the determinant. With more columns it
is approximated by :mod:`pymc_geodesic.distributions.saddlepoint`.
"""

import numpy as np
import pytensor.tensor as pt

from pytensor.gradient import disconnected_grad
from pytensor.tensor.variable import TensorVariable
from scipy.special import gammaln

from pymc_geodesic.distributions.bessel import POINTS, WEIGHTS, vmf_log_normalizer
from pymc_geodesic.distributions.saddlepoint import log_saddlepoint

__all__ = ["log_mean_exponential", "log_one_column"]

# Rounds of the search for the peak of the integrand, which need not be exact.
N_ROUNDS = 3


def log_one_column(n: int, kappa: TensorVariable) -> TensorVariable:
    r"""Log of :math:`{}_0F_1(n / 2; \kappa^2 / 4)`, the mean of exp(kappa x_1) over the sphere."""
    log_area = np.log(2.0) + 0.5 * n * np.log(np.pi) - gammaln(0.5 * n)
    return -vmf_log_normalizer(n, kappa) - log_area.astype(kappa.dtype)


def log_mean_exponential(parameter: TensorVariable, *, n: int, p: int) -> TensorVariable:
    r"""Log of the mean of :math:`e^{\operatorname{tr} F^\top X}` over uniform frames X.

    Parameters
    ----------
    parameter : TensorVariable, shape (..., n, p)
        The matrix F.
    n, p : int
        Rows and columns.

    Returns
    -------
    TensorVariable, shape (...)
        Differentiable once in F, also where singular values of F coincide or vanish. With one or
        two columns its relative error is below 1e-9, with more that of
        :func:`~pymc_geodesic.distributions.saddlepoint.log_saddlepoint`.

    References
    ----------
    Muirhead, R. J. (1975). Expressions for some hypergeometric functions of matrix argument with
    applications. Journal of Multivariate Analysis 5.
    """
    if p == 1:
        return log_one_column(n, _root((parameter**2).sum(axis=(-1, -2))))
    inner = parameter.mT @ parameter
    if p == 2:
        determinant = inner[..., 0, 0] * inner[..., 1, 1] - inner[..., 0, 1] ** 2
        return _two_columns(inner[..., 0, 0] + inner[..., 1, 1], _root(determinant), n)
    return log_saddlepoint(inner, n=n, p=p)


def _root(square: TensorVariable) -> TensorVariable:
    """Square root of a number that is zero or more up to rounding, with finite gradient at zero."""
    return pt.sqrt(pt.maximum(square, np.asarray(np.finfo(square.dtype).tiny, square.dtype)))


def _two_columns(total: TensorVariable, root: TensorVariable, n: int) -> TensorVariable:
    """Integrate over ``tau = tanh(s)`` by the trapezoidal rule of :mod:`.bessel` around its peak.

    ``total`` is the sum of the squared singular values, ``root`` their product.
    """
    a = float(n - 2)
    cosine = pt.ones_like(total)
    for _ in range(N_ROUNDS):
        # The slope of log Z_n(r) is about r / (n / 2 + sqrt(n^2 / 4 + r^2)).
        square = pt.maximum(total + 2 * cosine * root, 0)
        slope = root / (0.5 * n + pt.sqrt(0.25 * n**2 + square))
        cosine = 2 * slope / (a + pt.sqrt(a**2 + 4 * slope**2))
    # The integral does not depend on the location of its points.
    peak = disconnected_grad(pt.arctanh(pt.minimum(cosine, 1 - 1e-12)))
    width = disconnected_grad(1 / pt.sqrt(a * (1 + cosine**2)))
    s = peak[..., None] + width[..., None] * POINTS.astype(total.dtype)
    length = _root(total[..., None] + 2 * root[..., None] * pt.tanh(s))
    log_density = -a * (pt.abs(s) + pt.log1p(pt.exp(-2 * pt.abs(s))) - np.log(2.0))
    log_weight = np.log(WEIGHTS).astype(total.dtype) + pt.log(width)[..., None]
    log_total = 0.5 * np.log(np.pi) + gammaln(0.5 * a) - gammaln(0.5 * (a + 1))
    terms = log_one_column(n, length) + log_density + log_weight
    return pt.logsumexp(terms, axis=-1) - log_total.astype(total.dtype)
