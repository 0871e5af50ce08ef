#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""The normaliser of the Watson distribution, and the density of its squared cosine.

With :math:`v = (\mu^\top x)^2` and :math:`s = \log v - \log(1 - v)`,

.. math::

    \int_{S^{n-1}} e^{\kappa (\mu^\top x)^2} dS
    = \frac{2 \pi^{(n-1)/2}}{\Gamma(\tfrac{n-1}2)} \int_{-\infty}^{\infty} e^{\kappa v} v^{1/2}
    (1 - v)^{(n-1)/2} \, ds,

whose integrand has one mode for every n and every sign of kappa.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytensor.tensor as pt

from pytensor.tensor.variable import TensorVariable

from pymc_geodesic.distributions.unimodal import log_integral
from pymc_geodesic.distributions.validation import as_float_tensor

__all__ = ["SquaredCosine", "watson_log_normalizer"]


class SquaredCosine:
    r"""The logit s of the squared cosine :math:`v = (\mu^\top x)^2` under a Watson distribution.

    Parameters
    ----------
    n : int or scalar TensorVariable
        Dimension of the space that holds the sphere.
    kappa : TensorVariable
        Concentration.

    Attributes
    ----------
    mode, width : TensorVariable
        Mode of the density of s, and the inverse root of its curvature there.
    """

    def __init__(self, n: Any, kappa: TensorVariable) -> None:
        n = pt.as_tensor(n).astype(kappa.dtype)
        self.kappa, self.n = kappa, n
        # At the mode kappa v^2 - (kappa - n / 2) v - 1 / 2 = 0. Both v and 1 - v are written
        # without cancellation for small values.
        root = pt.sqrt(kappa * (kappa - (n - 2.0)) + 0.25 * n**2)
        excess = kappa - 0.5 * n
        is_bipolar = excess > 0
        rest = (n - 1.0) / (pt.where(is_bipolar, kappa + 0.5 * n, n) + root)
        share = 1.0 / (root - pt.minimum(excess, 0.0))
        share, rest = (
            pt.where(is_bipolar, 1.0 - rest, share),
            pt.where(is_bipolar, rest, 1.0 - share),
        )
        self.mode = pt.log(share) - pt.log(rest)
        self.width = 1.0 / pt.sqrt(share * rest * root)

    def log_density(self, s: TensorVariable) -> TensorVariable:
        """Return the log density of the logit, for points along a last axis, without constant."""
        kappa = self.kappa[..., None]
        return kappa * pt.sigmoid(s) - 0.5 * pt.softplus(-s) - 0.5 * (self.n - 1.0) * pt.softplus(s)


def watson_log_normalizer(n: int | TensorVariable, kappa: Any) -> TensorVariable:
    r"""Return the log of the Watson normaliser.

    .. math::

        c_n(\kappa) = \frac{\Gamma(n/2)}{2 \pi^{n/2} M(\tfrac12, \tfrac n2, \kappa)}

    so that :math:`c_n(\kappa) e^{\kappa (\mu^\top x)^2}` has integral 1 over the unit sphere of
    :math:`\mathbb{R}^n` with its surface measure; M is Kummer's function.

    Parameters
    ----------
    n : int or scalar TensorVariable
        Dimension of the space that holds the sphere, at least 2. Not differentiable.
    kappa : tensor_like of float
        Concentration, of either sign and any shape.

    Returns
    -------
    TensorVariable
        Same shape as ``kappa``. Its derivative is :math:`-E (\mu^\top x)^2`.

    Notes
    -----
    Relative error, with respect to ``max(1, abs(result))``, is below 1e-12 for n from 2 to 1,000
    and kappa from -1e6 to 1e6, in double precision.

    References
    ----------
    .. [1] Mardia, K. V. and Jupp, P. E. (2000). Directional Statistics, section 9.4.2.
           DOI 10.1002/9780470316979

    Examples
    --------
    >>> round(float(watson_log_normalizer(3, 0.0).eval()), 6)  # -log(4 pi)
    -2.531024
    """
    kappa = as_float_tensor(kappa)
    height = SquaredCosine(n, kappa)
    log_z = log_integral(height.log_density, mode=height.mode, width=height.width)
    half = 0.5 * (height.n - 1.0)
    log_two, log_pi = np.log([2.0, np.pi]).astype(kappa.dtype)
    return pt.gammaln(half) - half * log_pi - log_two - log_z
