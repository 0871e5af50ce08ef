#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""The Watson distribution of axes.

The normaliser of the Watson distribution, and the density of its squared cosine.

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

from pymc.distributions.dist_math import check_parameters
from pytensor.tensor.variable import TensorVariable

from pymc_geodesic.distributions.base import RandomGraph, on_manifold, on_support, with_signature
from pymc_geodesic.distributions.transforms import unit_vector
from pymc_geodesic.distributions.unimodal import draw_unimodal, log_integral
from pymc_geodesic.distributions.unit_vectors import (
    UnitVectorDistribution,
    common_dimension,
    cosine,
    dimension,
    direction_and_number,
    directions_about,
    random_signs,
)
from pymc_geodesic.distributions.validation import as_float_tensor, has_unit_norm
from pymc_geodesic.manifolds import ProjectiveSphere

__all__ = ["SquaredCosine", "Watson", "WatsonRV", "watson_log_normalizer"]


class WatsonRV(RandomGraph):
    """Random graph of :class:`Watson`."""

    extended_signature = "[rng],[size],(n),()->[rng],(n)"

    @classmethod
    def draw(cls, mu, kappa, *, size, rng):
        """Return the generator's next state and draws."""
        height = SquaredCosine(dimension(mu), kappa)
        next_rng, s = draw_unimodal(
            height.log_density, mode=height.mode, width=height.width, size=size, rng=rng
        )
        next_rng, signs = random_signs(tuple(size), next_rng)
        along = signs * pt.sqrt(pt.sigmoid(s))
        next_rng, draws = directions_about(
            mu, along[..., None], pt.sigmoid(-s)[..., None], next_rng
        )
        return next_rng, draws


@with_signature()
class Watson(UnitVectorDistribution):
    r"""
    Watson distribution of axes on the unit sphere.

    The last axis is a unit vector of :math:`\mathbb{R}^n`, any :math:`n \ge 2`; x and -x
    have the same density. It refers to the surface (Hausdorff) measure of the whole sphere:

    .. math::

        f(x \mid \mu, \kappa) = c_n(\kappa) \, e^{\kappa (\mu^\top x)^2}, \qquad
        c_n(\kappa) = \frac{\Gamma(n/2)}{2 \pi^{n/2} M(\tfrac12, \tfrac n2, \kappa)}

    ========  ==========================================
    Support   :math:`x \in \mathbb{R}^n, |x| = 1`
    Mean      0
    Modes     :math:`\pm \mu` for kappa > 0, the great circle orthogonal to it for kappa < 0
    ========  ==========================================

    Parameters
    ----------
    mu : tensor_like of float, shape (..., n)
        Axes, unit vectors in the last axis. They are not normalised.
    kappa : tensor_like of float, shape (...)
        Concentration: around the axis if positive, around the girdle orthogonal to it if negative.
        At 0 the distribution is uniform.

    Raises
    ------
    ValueError
        If known values of ``mu`` or ``observed`` are not finite unit vectors (norm 1 within
        1e-6) of length two or more, or known values of ``kappa`` are not finite. Symbolic
        parameters are checked when the log density is evaluated.

    Notes
    -----
    Draws have random signs, and are exact up to an event of probability below 1e-12. Samplers of
    this package give free variables a last entry that is not negative, see
    :class:`~pymc_geodesic.manifolds.ProjectiveSphere`, unless the model distinguishes x from -x.
    The log density of a value off the sphere is -inf. The default transform is
    :class:`~pymc_geodesic.distributions.transforms.UnitVectorTransform`.

    References
    ----------
    .. [1] Mardia, K. V. and Jupp, P. E. (2000). Directional Statistics, section 9.4.2.
           DOI 10.1002/9780470316979

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> axes = np.eye(3)
    >>> with pm.Model():
    ...     mu = pmg.Watson("mu", mu=[0, 0, 1], kappa=0.0)
    ...     kappa = pm.HalfNormal("kappa", 50.0)
    ...     x = pmg.Watson("x", mu=mu, kappa=kappa, observed=axes)
    >>> mu.type.shape, x.type.shape
    ((3,), (3, 3))
    """

    rv_type = WatsonRV

    @classmethod
    def dist(cls, mu: Any, kappa: Any, **kwargs) -> TensorVariable:
        """Return a variable that is not registered in a model."""
        mu, kappa = direction_and_number(
            mu,
            kappa,
            owner="Watson",
            holds=lambda kappa: np.ones(kappa.shape, bool),
            expected="concentrations of either sign",
            advice="For a nearly certain axis use a large number such as 1e6.",
            shape=kwargs.get("shape"),
        )
        return super().dist([mu, kappa], **kwargs)

    def support_point(rv, size, mu, kappa) -> TensorVariable:
        """Return the axis, or for a girdle a vector near it."""
        n = dimension(mu)
        # Away from the pole of a girdle, where the gradient vanishes.
        other = pt.where(pt.eq(pt.arange(n), pt.abs(mu).argmin(axis=-1, keepdims=True)), 1.0, 0.0)
        girdle = other - (other * mu).sum(axis=-1, keepdims=True) * mu
        girdle = girdle / pt.sqrt((girdle * girdle).sum(axis=-1, keepdims=True))
        return pt.broadcast_to(pt.where(kappa[..., None] < 0, girdle, mu), rv.shape)

    def logp(value, mu, kappa) -> TensorVariable:
        """Return the log density with respect to the surface measure."""
        n = common_dimension(value, "Watson", mu=mu)
        res = kappa * cosine(value, mu) ** 2 + watson_log_normalizer(n, kappa)
        res = on_support(res, value, has_unit_norm)
        return check_parameters(res, has_unit_norm(mu), msg="norm of mu = 1 (within 1e-6)")


on_manifold(Watson, ProjectiveSphere(), unit_vector)


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
