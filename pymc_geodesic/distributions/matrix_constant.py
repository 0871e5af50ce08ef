#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""The normalising constants of the matrix Langevin and matrix Fisher distributions.

It is the hypergeometric function of matrix argument

.. math::

    E_{X} \, e^{\operatorname{tr} F^\top X} = {}_0F_1(n / 2; F^\top F / 4),

the mean over uniform frames. With one column it is a Bessel function. With two it is one integral:
if :math:`Z_n(r) = {}_0F_1(n / 2; r^2 / 4)` is the function of one column,

.. math::

    {}_0F_1(n / 2; F^\top F / 4) = E_\tau \, Z_n\left(\sqrt{|F|^2 + 2 \tau \sqrt{\det F^\top F}}
    \right), \qquad \tau \sim (1 - \tau^2)^{n / 2 - 2},

because both sides have the expansion of Muirhead in powers of the determinant. With more columns it
is approximated by a saddlepoint.

With :math:`a = n / 2` and the eigenvalues :math:`\lambda_i` of :math:`F^\top F` Herz's integral is

.. math::

    {}_0F_1(a; F^\top F / 4) \propto \int \exp\left(\operatorname{tr} Z +
    \tfrac14 \operatorname{tr} F^\top F Z^{-1} - a \log\det Z\right) dZ

over complex symmetric matrices Z. Its saddle is diagonal, at :math:`z_i = a + w_i` with
:math:`w_i = (\sqrt{a^2 + \lambda_i} - a) / 2`.
"""

import math

import numpy as np
import pytensor.tensor as pt

from pytensor.gradient import disconnected_grad
from pytensor.tensor.linalg import eigh
from pytensor.tensor.variable import TensorVariable
from scipy.special import gammaln, multigammaln

from pymc_geodesic.distributions.bessel import POINTS, WEIGHTS, vmf_log_normalizer
from pymc_geodesic.distributions.coordinates import davenport

__all__ = ["log_mean_exponential", "log_mean_over_rotations", "log_one_column", "log_saddlepoint"]


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
        :func:`~pymc_geodesic.distributions.matrix_constant.log_saddlepoint`.

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


# Points and reach of the double exponential rule: 2e-9 up to singular values of 1,000.
N_POINTS, REACH = 101, 3.4


def _rule() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return points x of the unit interval, 1 - x without cancellation, and log weights."""
    h, step = np.linspace(-REACH, REACH, N_POINTS, retstep=True)
    stretched = np.pi * np.sinh(h)
    x, rest = 1 / (1 + np.exp(stretched)), 1 / (1 + np.exp(-stretched))
    return x, rest, np.log(step * np.pi * np.cosh(h) * x * rest)


_X, _REST, _LOG_WEIGHTS = _rule()


def log_mean_over_rotations(parameter: TensorVariable) -> TensorVariable:
    r"""Log of the mean of :math:`e^{\operatorname{tr} F^\top X}` over uniform rotations of space.

    In terms of quaternions it is the mean of :math:`e^{q^\top A q}` over the sphere in four
    dimensions. Let :math:`\lambda_1 \ge \dots \ge \lambda_4` be the eigenvalues of A. The share t
    of :math:`|q|^2` in the plane of the first and the last eigenvector is uniform, so this mean is

    .. math::

        \int_0^1 e^{t (\lambda_1 + \lambda_4) / 2 + (1 - t) (\lambda_2 + \lambda_3) / 2}
        I_0\left(t \frac{\lambda_1 - \lambda_4}{2}\right)
        I_0\left((1 - t) \frac{\lambda_2 - \lambda_3}{2}\right) dt .

    ``parameter`` is the matrix F, of shape (..., 3, 3). Differentiable once, also where eigenvalues
    coincide. Its relative error is below 1e-8 up to singular values of 1,000.
    """
    matrix = davenport(parameter)
    vectors = disconnected_grad(eigh(matrix)[1])
    values = (vectors * (matrix @ vectors)).sum(axis=-2)[..., None, :]
    fourth, third, second, first = (values[..., i] for i in range(4))
    x, rest = _X.astype(parameter.dtype), _REST.astype(parameter.dtype)
    exponent = rest * (first + fourth) / 2 + x * (second + third) / 2
    bessel = log_one_column(2, rest * (first - fourth) / 2)
    bessel += log_one_column(2, x * (second - third) / 2)
    return pt.logsumexp(exponent + bessel + _LOG_WEIGHTS.astype(parameter.dtype), axis=-1)


def log_saddlepoint(inner: TensorVariable, *, n: int, p: int) -> TensorVariable:
    r"""Log of :math:`{}_0F_1(n / 2; F^\top F / 4)` by a saddlepoint of second order.

    To the leading term

    .. math::

        \sum_i \left(2 w_i - a \log (z_i / a)\right)
        - \tfrac12 \sum_{i \le j} \log \frac{a (w_i + w_j + a)}{z_i z_j}

    a correction is added that is exact for F = 0 and as all singular values of F go to infinity.
    Between these ends it is :math:`T + (E - T_\infty) x (2 - x)` with Kume, Preston and Wood's term
    T of second order, its limit :math:`T_\infty`, :math:`x = T / T_\infty` and the exact limit E.

    Parameters
    ----------
    inner : TensorVariable, shape (..., p, p)
        The matrix F'F.
    n, p : int
        Rows and columns of F.

    Returns
    -------
    TensorVariable, shape (...)
        Differentiable once, also where eigenvalues coincide.

    Notes
    -----
    Largest errors found for p = 3 and singular values from 0 to 3 n, compared with integration in
    three dimensions: 0.04 for n = 4, 0.008 for n = 8, 0.002 for n = 15 and 4e-4 for n = 30, mostly
    if one singular value is zero. The errors accumulate over the whole range, so errors of the
    gradient are far smaller.

    References
    ----------
    Kume, A., Preston, S. P. and Wood, A. T. A. (2013). Saddlepoint approximations for the
    normalizing constant of Fisher-Bingham distributions on products of spheres and Stiefel
    manifolds. Biometrika 100. DOI 10.1093/biomet/ast021
    """
    a = 0.5 * n
    # Derivatives of eigenvalues need the eigenvectors, but not their derivatives, which would fail
    # where eigenvalues coincide.
    vectors = disconnected_grad(eigh(inner)[1])
    squares = pt.maximum((vectors * (inner @ vectors)).sum(axis=-2), 0)
    w = 0.5 * squares / (a + pt.sqrt(a**2 + squares))
    own = (2 * w - a * pt.log1p(w / a) + 0.5 * (p + 1) * pt.log1p(w / a)).sum(axis=-1)
    pairs = pt.log1p((w[..., :, None] + w[..., None, :]) / a)
    each_once = np.triu(np.ones((p, p)))
    leading = own - 0.5 * (each_once * pairs).sum(axis=(-1, -2))
    zero = float(_second_order(np.zeros(p), a, np))
    second = _second_order(w, a, pt) - zero
    x = second / -zero
    return leading + second + (_exact_limit(n, p) + zero) * x * (2 - x)


def _second_order(w, a: float, xp):
    r"""Return the term :math:`\langle C_4 \rangle - \langle C_3^2 \rangle / 2` of second order.

    At the saddle the integrand is that of a symmetric Gaussian matrix B whose entries have the
    covariances :math:`s_{ij} / 2` and :math:`s_{ii}`, with :math:`s_{ij} = 1 / (w_i + w_j + a)`,
    times the exponentials of :math:`i C_3 = i \sum (w + a / 3) (B^3)_{ii}` and
    :math:`C_4 = \sum (w + a / 4) (B^4)_{ii}`. These are their expectations by Wick's theorem.
    """
    s = 1 / (w[..., :, None] + w[..., None, :] + a)
    one = np.eye(w.shape[-1] if xp is np else w.type.shape[-1])
    own = (one * s).sum(axis=-1)
    half = 0.5 * s * (1 + one)
    rows = half.sum(axis=-1)
    crossed = (0.25 * s**2 * (1 + 3 * one)).sum(axis=-1)
    fourth = ((w + a / 4) * (rows**2 + (half * rows[..., None, :]).sum(axis=-1) + crossed)).sum(-1)
    h = w + a / 3
    pull = ((2 * h[..., :, None] + h[..., None, :]) * half).sum(axis=-1)
    triangles = s * (s[..., :, :, None] * s[..., None, :, :]).sum(axis=-2)
    weights = 0.25 * h[..., :, None] ** 2 + 0.5 * h[..., :, None] * h[..., None, :]
    doubled = (2 * h[..., :, None] + h[..., None, :]) ** 2 * s**2 * own[..., :, None]
    connected = (weights * triangles + 0.25 * doubled).sum(axis=(-1, -2))
    third = (pull**2 * own + 3 * h**2 * own**3).sum(axis=-1) + connected
    return fourth - 0.5 * third


def _exact_limit(n: int, p: int) -> float:
    r"""Limit of the log of the function less the leading term, as all singular values grow.

    Laplace's method at X = I uses the tangent coordinates of :math:`p (p - 1) / 2` rotations of
    pairs of columns, with precision :math:`d_i + d_j`, and of p vectors of length n - p, with
    precision :math:`d_i`.
    """
    a, log_2n = 0.5 * n, math.log(n)
    free = 0.5 * p * (p - 1) + p * (n - p)
    log_haar = p * math.log(2) + 0.5 * n * p * math.log(math.pi) - float(multigammaln(a, p))
    exact = 0.5 * free * math.log(2 * math.pi) - log_haar
    leading = p * (a * log_2n - a) - 0.25 * p * (p + 1) * log_2n - 0.5 * p * math.log(2)
    return exact - leading
