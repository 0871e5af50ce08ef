#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Bessel functions and the von Mises-Fisher normaliser as small PyTensor graphs.

With :math:`a = n - 1`, everything here comes from one integral over :math:`t = \mu^\top x`,

.. math::

    Z_n(\kappa) = \int_{-1}^{1} e^{\kappa t} (1 - t^2)^{(n-3)/2} \, dt
                = \int_{-\infty}^{\infty} e^{\kappa \tanh s} \operatorname{sech}^{a} s \, ds,

taken by the trapezoidal rule in :math:`u`, where :math:`s = s_0 + \sigma (u + \sinh u) / 2`,
:math:`s_0` is the mode of the integrand and :math:`\sigma` its width. The integrand is analytic,
so 65 points are enough for every :math:`n \ge 2` and every :math:`\kappa \ge 0`: no branches
on the order, no under- or overflow, and few nodes to compile. Differences from the mode are
computed without cancellation, so that single precision works too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytensor.tensor as pt

from pytensor.compile.builders import OpFromGraph
from pytensor.gradient import disconnected_type
from pytensor.tensor.variable import TensorVariable

from pymc_geodesic.distributions.unimodal import spaced
from pymc_geodesic.distributions.validation import as_float_tensor

__all__ = ["POINTS", "WEIGHTS", "RowwiseGraph", "bessel_ratio", "vmf_log_normalizer"]


# 65 points up to 28 widths keep n = 2, the heaviest tail, within 3e-11; n >= 3 is within 2e-12.
_N_POINTS = 65


POINTS, WEIGHTS = spaced(_N_POINTS, reach=28.0)


class _Quadrature:
    r"""The pieces of the rule at one :math:`\kappa`, with the points along a new last axis.

    With :math:`t_0 = \tanh s_0`, :math:`m = e^{2(s - s_0)} - 1` and :math:`q = (1 + t_0) / 2`,

    .. math::

        t - t_0 = \tfrac12 (1 - t_0^2) \frac{m}{1 + qm}, \qquad
        1 - t^2 = (1 - t_0^2) \frac{1 + m}{(1 + qm)^2}.
    """

    def __init__(self, n: TensorVariable, kappa: TensorVariable) -> None:
        self.a = n - 1.0
        total = self.a + pt.sqrt(self.a**2 + 4.0 * kappa**2)
        self.mode = 2.0 * kappa / total
        self.one_minus_mode2 = 2.0 * self.a / total
        self.width = 1.0 / pt.sqrt(self.a * (1.0 + self.mode**2))
        mode = self.mode[..., None]
        shift = self.width[..., None] * POINTS.astype(kappa.dtype)
        self.m = pt.expm1(2.0 * shift)
        qm = 0.5 * (1.0 + mode) * self.m
        self.d = 1.0 + qm
        log_weight = self.a * (0.5 * mode * self.m / self.d + shift - pt.log1p(qm))
        self.weight = WEIGHTS.astype(kappa.dtype) * pt.exp(log_weight)
        self.total = self.weight.sum(axis=-1)

    def mean(self, values: TensorVariable) -> TensorVariable:
        """Return the expectation of ``values`` under the normalised weights."""
        return (self.weight * values).sum(axis=-1) / self.total


def _log_normalizer_graph(n: TensorVariable, kappa: TensorVariable) -> TensorVariable:
    quad = _Quadrature(n, kappa)
    log_z = (
        kappa * quad.mode
        + 0.5 * quad.a * pt.log(quad.one_minus_mode2)
        + pt.log(quad.width)
        + pt.log(quad.total)
    )
    log_half_area = pt.gammaln(0.5 * quad.a) - 0.5 * quad.a * np.log(np.pi).astype(kappa.dtype)
    return log_half_area - np.log(2.0).astype(kappa.dtype) - log_z


def _ratio_graph(n: TensorVariable, kappa: TensorVariable) -> TensorVariable:
    # E t and kappa E(1 - t^2) / (n - 1) are equal. The first is accurate for large kappa and the
    # second for small, hence their mixture with weight t0^2.
    quad = _Quadrature(n, kappa)
    mode, rest = quad.mode[..., None], quad.one_minus_mode2[..., None]
    from_variance = rest * mode * (1.0 + quad.m) / quad.d**2
    from_mean = mode**2 * (mode + 0.5 * rest * quad.m / quad.d)
    return quad.mean(from_variance + from_mean)


def _ratio_derivative_graph(n: TensorVariable, kappa: TensorVariable) -> TensorVariable:
    # A' = Var t; 1 - t = (1 - t0) / (1 + q m), and 1 - t0 is computed without cancellation.
    quad = _Quadrature(n, kappa)
    inverse = 1.0 / quad.d
    spread = quad.mean((inverse - quad.mean(inverse)[..., None]) ** 2)
    return (quad.one_minus_mode2 / (1.0 + quad.mode)) ** 2 * spread


def _log_normalizer_pullback(inputs, outputs, cotangents):
    return [disconnected_type(), -cotangents[0] * bessel_ratio(*inputs)]


def _ratio_pullback(inputs, outputs, cotangents):
    return [disconnected_type(), cotangents[0] * _ratio_derivative_graph(*inputs)]


def _apply(graph, pullback, name: str, n: Any, kappa: Any) -> TensorVariable:
    """Wrap ``graph`` in an inlined Op whose gradient in ``kappa`` is ``pullback``."""
    if isinstance(n, int | np.integer) and n < 2:
        raise ValueError(f"`n` expected a dimension of at least 2, got {n}.")
    kappa = as_float_tensor(kappa)
    n = pt.as_tensor(n).astype(kappa.dtype)
    inputs = [n.type("n"), kappa.type("kappa")]
    op = RowwiseGraph(
        inputs,
        [graph(*inputs)],
        inline=True,
        pullback=pullback,
        connection_pattern=[[False], [True]],
        name=name,
        core_ndim=0,
    )
    return op(n, kappa)


def vmf_log_normalizer(n: int | TensorVariable, kappa: Any) -> TensorVariable:
    r"""Return the log of the von Mises-Fisher normaliser :math:`c_n(\kappa)`.

    .. math::

        c_n(\kappa) = \frac{\kappa^{n/2 - 1}}{(2\pi)^{n/2} I_{n/2-1}(\kappa)}, \qquad
        c_n(0) = \frac{\Gamma(n/2)}{2 \pi^{n/2}}, \qquad
        \frac{d}{d\kappa} \log c_n(\kappa) = -A_n(\kappa)

    so that :math:`c_n(\kappa) e^{\kappa \mu^\top x}` has integral 1 over the unit sphere of
    :math:`\mathbb{R}^n` with its surface measure.

    Parameters
    ----------
    n : int or scalar TensorVariable
        Dimension of the space that holds the sphere, at least 2. Not differentiable.
    kappa : tensor_like of float
        Concentration, at least 0, of any shape. Not checked.

    Returns
    -------
    TensorVariable
        Same shape as ``kappa``.

    Raises
    ------
    ValueError
        When ``n`` is a Python integer below 2.

    Notes
    -----
    Relative error, with respect to ``max(1, abs(result))``, is below 1e-10 for n from 2 to
    60,000 and kappa from 0 to 1e6, in double precision, and the same holds for the derivative.
    Each value of ``kappa`` costs 65 evaluations of three elementary functions.

    References
    ----------
    .. [1] Mardia, K. V. and Jupp, P. E. (2000). Directional Statistics, section 9.3.
           DOI 10.1002/9780470316979
    .. [2] Trefethen, L. N. and Weideman, J. A. C. (2014). The exponentially convergent
           trapezoidal rule. SIAM Review 56. DOI 10.1137/130932132

    Examples
    --------
    >>> vmf_log_normalizer(3, 0.0).eval()  # -log(4 pi)
    array(-2.53102425)
    """
    return _apply(_log_normalizer_graph, _log_normalizer_pullback, "VMFLogNormalizer", n, kappa)


def bessel_ratio(n: int | TensorVariable, kappa: Any) -> TensorVariable:
    r"""Return :math:`A_n(\kappa) = I_{n/2}(\kappa) / I_{n/2-1}(\kappa)`.

    It is the mean resultant length of the von Mises-Fisher distribution, :math:`E \mu^\top x`. Its
    derivative is :math:`A_n' = 1 - A_n^2 - (n - 1) A_n / \kappa = \operatorname{Var} \mu^\top x`.

    Parameters
    ----------
    n : int or scalar TensorVariable
        Dimension of the space that holds the sphere, at least 2. Not differentiable.
    kappa : tensor_like of float
        Concentration, at least 0, of any shape. Not checked.

    Returns
    -------
    TensorVariable
        Same shape as ``kappa``, in [0, 1), with relative error below 1e-10.

    Raises
    ------
    ValueError
        When ``n`` is a Python integer below 2.

    References
    ----------
    .. [1] Mardia, K. V. and Jupp, P. E. (2000). Directional Statistics, appendix 1.
           DOI 10.1002/9780470316979

    Examples
    --------
    >>> bessel_ratio(3, 1.0).eval()  # 1 / tanh(1) - 1
    array(0.31303529)
    """
    return _apply(_ratio_graph, _ratio_pullback, "BesselRatio", n, kappa)


class RowwiseGraph(OpFromGraph):
    """An operation on the last axes of its inputs, the same along all other axes.

    Inputs without axes are common to all entries.

    Parameters
    ----------
    core_ndim : int
        Number of the last axes: 0 for a function of numbers, 2 for one of matrices.
    """

    def __init__(self, *arguments: Any, core_ndim: int, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self.core_ndim = core_ndim
