#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""The normaliser of the Kent distribution, and the density of its cosine to the mean direction.

With :math:`t = \gamma_1^\top x = \tanh s`,

.. math::

    \int_{S^2} e^{\kappa \gamma_1^\top x + \beta ((\gamma_2^\top x)^2 - (\gamma_3^\top x)^2)} dS
    = 2 \pi \int_{-\infty}^{\infty} e^{\kappa t} I_0(\beta (1 - t^2)) (1 - t^2) \, ds,

whose integrand has one mode for every :math:`\kappa, \beta \ge 0`. It is the sum of the series in
Bessel functions of Kent (1982), which has thousands of terms if beta is large.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytensor.tensor as pt

from pymc.distributions.dist_math import i0e
from pytensor.tensor.variable import TensorVariable

from pymc_geodesic.distributions.unimodal import log_integral, mode_and_width
from pymc_geodesic.distributions.validation import as_float_tensor

__all__ = ["KentCosine", "kent_log_normalizer", "log_i0e"]


def log_i0e(x: TensorVariable) -> TensorVariable:
    r"""Return :math:`\log I_0(x) - x` for x of 0 or more; log I_0 has no slope at 0."""
    return pt.log(i0e(pt.maximum(x, np.asarray(np.finfo(x.dtype).tiny, x.dtype))))


class KentCosine:
    """The inverse hyperbolic tangent s of the cosine to the mean direction.

    Parameters
    ----------
    kappa, beta : TensorVariable
        Concentration and ovalness, not negative, of the same shape.

    Attributes
    ----------
    mode, width : TensorVariable
        Approximate mode of the density of s, and the inverse root of its curvature there.
    """

    def __init__(self, kappa: TensorVariable, beta: TensorVariable) -> None:
        self.kappa, self.beta = kappa, beta
        # The modes without beta, and for large beta; the true mode is nearer to the equator.
        alone = kappa / (1.0 + pt.sqrt(1.0 + kappa**2))
        inside = kappa / pt.maximum(2.0 * beta, kappa + 1e-9)
        self.mode, self.width = mode_and_width(alone, inside, self._derivatives)

    def _derivatives(self, s: TensorVariable) -> tuple[TensorVariable, TensorVariable]:
        """Return the slope of the log density in s and minus its curvature, both roughly.

        The ratio of Bessel functions is approximated by y / (1 + sqrt(1 + y^2)), within a tenth.
        """
        t, w = pt.tanh(s), 1.0 / pt.cosh(s) ** 2
        y = self.beta * w
        root = pt.sqrt(1.0 + y**2)
        ratio = y / (1.0 + root)
        slope = self.kappa * w - 2.0 * t * (1.0 + y * ratio)
        change = y / (root * (1.0 + root))
        curvature = 2.0 * w * (self.kappa * t + 1.0 + y * ratio)
        curvature = curvature - 4.0 * t**2 * y * (ratio + change)
        return slope, pt.maximum(curvature, 0.25)

    def log_density(self, s: TensorVariable) -> TensorVariable:
        """Return the log density of s minus kappa, for points along a last axis."""
        kappa, beta = self.kappa[..., None], self.beta[..., None]
        log_w = -2.0 * (pt.abs(s) + pt.log1p(pt.exp(-2.0 * pt.abs(s))) - np.log(2.0))
        y = beta * pt.exp(log_w)
        # kappa (t - 1), without cancellation near the mean direction.
        return -2.0 * kappa * pt.sigmoid(-2.0 * s) + y + log_i0e(y) + log_w


def kent_log_normalizer(kappa: Any, beta: Any) -> TensorVariable:
    r"""Return the log of the Kent normaliser.

    .. math::

        c(\kappa, \beta)^{-1} = 2 \pi \sum_{j=0}^\infty
        \frac{\Gamma(j + \tfrac12)}{\Gamma(j + 1)} \beta^{2j}
        \left( \tfrac\kappa2 \right)^{-2j - 1/2} I_{2j + 1/2}(\kappa)

    Parameters
    ----------
    kappa, beta : tensor_like of float
        Concentration and ovalness, not negative, of shapes that broadcast.

    Returns
    -------
    TensorVariable
        Its derivatives are :math:`-E \gamma_1^\top x` and
        :math:`-E [(\gamma_2^\top x)^2 - (\gamma_3^\top x)^2]`.

    Notes
    -----
    Relative error, with respect to ``max(1, abs(result))``, is below 1e-10 for both from 0 to 1e4,
    also for beta above kappa / 2, in double precision; it is largest where both are equal.

    References
    ----------
    .. [1] Kent, J. T. (1982). The Fisher-Bingham distribution on the sphere. Journal of the Royal
           Statistical Society B 44. DOI 10.1111/j.2517-6161.1982.tb01189.x

    Examples
    --------
    >>> round(float(kent_log_normalizer(0.0, 0.0).eval()), 6)  # -log(4 pi)
    -2.531024
    """
    kappa, beta = pt.broadcast_arrays(as_float_tensor(kappa), as_float_tensor(beta))
    cosine = KentCosine(kappa, beta)
    log_z = log_integral(cosine.log_density, mode=cosine.mode, width=cosine.width)
    return -np.log(2.0 * np.pi).astype(kappa.dtype) - kappa - log_z
