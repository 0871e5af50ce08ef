#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The von Mises-Fisher and the power spherical distribution on the unit sphere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from pymc.distributions.dist_math import check_parameters
from pytensor.tensor.variable import TensorVariable

from pymc_geodesic.distributions.base import RandomGraph, on_manifold, on_support, with_signature
from pymc_geodesic.distributions.bessel import vmf_log_normalizer
from pymc_geodesic.distributions.transforms import unit_vector
from pymc_geodesic.distributions.unit_vectors import (
    UnitVectorDistribution,
    common_dimension,
    cosine,
    dimension,
    direction_and_number,
    directions_about,
    mode_at_mu,
)
from pymc_geodesic.distributions.validation import has_unit_norm
from pymc_geodesic.manifolds import Sphere

__all__ = [
    "PowerSpherical",
    "PowerSphericalRV",
    "VonMisesFisher",
    "VonMisesFisherRV",
    "draw_cosine",
    "propose_heights",
]

# Wood's envelope accepts at least 65.7 % of its proposals (n = 2, large kappa), so that all 40 are
# rejected with probability below 3e-19.
_N_PROPOSALS = 40


def propose_heights(n, kappa, shape, rng):
    r"""Propose :math:`w = \mu^\top x` from Wood's envelope.

    Return :math:`1 - w`, :math:`1 + w`, the log probability that each is to be accepted, and the
    next generator. Wood's formulas are rearranged to avoid cancellation.
    """
    a = pt.as_tensor(n - 1.0).astype(kappa.dtype)
    rng, z = pm.Beta.dist(0.5 * a, 0.5 * a, size=shape, rng=rng, return_next_rng=True)
    b = a / (2.0 * kappa + pt.sqrt(4.0 * kappa**2 + a**2))
    d = 1.0 - z + b * z
    log_ratio = 2.0 * b * kappa * (1.0 - 2.0 * z) / ((1.0 + b) * d)
    log_ratio += a * pt.log((1.0 + b) / (2.0 * d))
    return 2.0 * b * z / d, 2.0 * (1.0 - z) / d, log_ratio, rng


def draw_cosine(n, kappa, size, rng):
    r"""Draw :math:`w = \mu^\top x` by Wood's rejection; return :math:`w`, :math:`1 - w^2`, rng.

    The proposals of a draw lie along a last axis of fixed length, which needs no loop and
    compiles on every backend of PyTensor.
    """
    shape = (*tuple(size), _N_PROPOSALS)
    below, above, log_ratio, rng = propose_heights(n, kappa[..., None], shape, rng)
    rng, u = pm.Uniform.dist(0.0, 1.0, size=shape, rng=rng, return_next_rng=True)
    first = pt.argmax(pt.ge(log_ratio, pt.log(u)), axis=-1, keepdims=True)
    one_minus_w = pt.take_along_axis(below, first, axis=-1)
    one_plus_w = pt.take_along_axis(above, first, axis=-1)
    return 1.0 - one_minus_w, one_minus_w * one_plus_w, rng


class VonMisesFisherRV(RandomGraph):
    """Random graph of :class:`VonMisesFisher`."""

    extended_signature = "[rng],[size],(n),()->[rng],(n)"

    @classmethod
    def draw(cls, mu, kappa, *, size, rng):
        """Return the generator's next state and draws."""
        w, one_minus_w2, next_rng = draw_cosine(dimension(mu), kappa, size, rng)
        next_rng, draws = directions_about(mu, w, one_minus_w2, next_rng)
        return next_rng, draws


@with_signature()
class VonMisesFisher(UnitVectorDistribution):
    r"""
    Von Mises-Fisher distribution on the unit sphere.

    The last axis is a unit vector of :math:`\mathbb{R}^n`, any :math:`n \ge 2`. The density is
    with respect to the surface (Hausdorff) measure of the sphere, as in
    ``scipy.stats.vonmises_fisher``:

    .. math::

        f(x \mid \mu, \kappa) = c_n(\kappa) \, e^{\kappa \mu^\top x}, \qquad
        c_n(\kappa) = \frac{\kappa^{n/2-1}}{(2\pi)^{n/2} I_{n/2-1}(\kappa)}

    ========  ==========================================
    Support   :math:`x \in \mathbb{R}^n, |x| = 1`
    Mean      :math:`A_n(\kappa) \mu`, with :math:`A_n = I_{n/2} / I_{n/2-1}`
    Mode      :math:`\mu`
    ========  ==========================================

    Parameters
    ----------
    mu : tensor_like of float, shape (..., n)
        Mean directions, unit vectors in the last axis. They are not normalised.
    kappa : tensor_like of float, shape (...)
        Concentration, at least 0. At 0 the distribution is uniform.

    Raises
    ------
    ValueError
        If known values of ``mu`` or ``observed`` are not finite unit vectors (norm 1 within
        1e-6) of length two or more, or known values of ``kappa`` are negative or not finite.
        Symbolic parameters are checked when the log density is evaluated.

    Notes
    -----
    The log density of a value off the sphere is -inf. Constant data are checked once, when the
    model is built. Symbolic data, such as ``pm.Data``, are checked when the log density is
    evaluated.

    Draws are exact up to an event of probability below 3e-19: Wood's rejection algorithm with
    40 proposals per draw. The default transform is
    :class:`~pymc_geodesic.distributions.transforms.UnitVectorTransform`.

    A free (not observed) ``pm.Mixture`` of these needs an explicit
    ``default_transform=unit_vector``, because PyMC only passes on its own transforms.

    References
    ----------
    .. [1] Mardia, K. V. and Jupp, P. E. (2000). Directional Statistics, section 9.3.
           DOI 10.1002/9780470316979
    .. [2] Wood, A. T. A. (1994). Simulation of the von Mises Fisher distribution.
           Communications in Statistics 23. DOI 10.1080/03610919408813161

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> data = np.eye(3)
    >>> with pm.Model():
    ...     mu = pmg.VonMisesFisher("mu", mu=[1, 0, 0], kappa=1.0)
    ...     kappa = pm.HalfNormal("kappa", 50.0)
    ...     x = pmg.VonMisesFisher("x", mu=mu, kappa=kappa, observed=data)
    >>> mu.type.shape, x.type.shape
    ((3,), (3, 3))
    """

    rv_type = VonMisesFisherRV
    support_point = mode_at_mu

    @classmethod
    def dist(cls, mu: Any, kappa: Any, **kwargs) -> TensorVariable:
        """Return a variable that is not registered in a model."""
        mu, kappa = direction_and_number(
            mu, kappa, owner="VonMisesFisher", shape=kwargs.get("shape")
        )
        return super().dist([mu, kappa], **kwargs)

    def logp(value, mu, kappa) -> TensorVariable:
        """Return the log density with respect to the surface measure."""
        n = common_dimension(value, "VonMisesFisher", mu=mu)
        res = kappa * cosine(value, mu) + vmf_log_normalizer(n, kappa)
        res = on_support(res, value, has_unit_norm)
        return check_parameters(
            res, kappa >= 0, has_unit_norm(mu), msg="kappa >= 0, norm of mu = 1 (within 1e-6)"
        )


on_manifold(VonMisesFisher, Sphere(), unit_vector)


class PowerSphericalRV(RandomGraph):
    """Random graph of :class:`PowerSpherical`."""

    extended_signature = "[rng],[size],(n),()->[rng],(n)"

    @classmethod
    def draw(cls, mu, kappa, *, size, rng):
        """Return the generator's next state and draws."""
        half = 0.5 * (pt.as_tensor(dimension(mu)).astype(kappa.dtype) - 1.0)
        # Half of one minus the cosine keeps digits that the cosine loses.
        next_rng, y = pm.Beta.dist(half, half + kappa, size=size, rng=rng, return_next_rng=True)
        y = y[..., None]
        next_rng, draws = directions_about(mu, 1.0 - 2.0 * y, 4.0 * y * (1.0 - y), next_rng)
        return next_rng, draws


@with_signature()
class PowerSpherical(UnitVectorDistribution):
    r"""
    Power spherical distribution on the unit sphere.

    The last axis is a unit vector of :math:`\mathbb{R}^n`, any :math:`n \ge 2`. The density is with
    respect to the surface (Hausdorff) measure of the sphere:

    .. math::

        f(x \mid \mu, \kappa) = \frac{\Gamma(\alpha + \beta)}
        {2^{\alpha + \beta} \pi^{\beta} \Gamma(\alpha)} \, (1 + \mu^\top x)^{\kappa}, \qquad
        \alpha = \beta + \kappa, \quad \beta = \tfrac{n - 1}{2}

    ========  ==========================================
    Support   :math:`x \in \mathbb{R}^n, |x| = 1`
    Mean      :math:`\frac{\kappa}{\kappa + n - 1} \mu`
    Mode      :math:`\mu`
    ========  ==========================================

    Parameters
    ----------
    mu : tensor_like of float, shape (..., n)
        Mean directions, unit vectors in the last axis. They are not normalised.
    kappa : tensor_like of float, shape (...)
        Concentration, at least 0. At 0 the distribution is uniform.

    Raises
    ------
    ValueError
        If known values of ``mu`` or ``observed`` are not finite unit vectors (norm 1 within
        1e-6) of length two or more, or known values of ``kappa`` are negative or not finite.
        Symbolic parameters are checked when the log density is evaluated.

    Notes
    -----
    Like :class:`VonMisesFisher`, but with a normaliser and draws in closed form. The density is
    zero opposite to the mean, where its gradient has a pole: with small kappa on the circle, chains
    pass there often and need short steps. The log density of
    a value off the sphere is -inf. The default transform is
    :class:`~pymc_geodesic.distributions.transforms.UnitVectorTransform`.

    References
    ----------
    .. [1] De Cao, N. and Aziz, W. (2020). The power spherical distribution. arXiv:2006.04437

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> data = np.eye(3)
    >>> with pm.Model():
    ...     mu = pmg.PowerSpherical("mu", mu=[1, 0, 0], kappa=1.0)
    ...     x = pmg.PowerSpherical("x", mu=mu, kappa=10.0, observed=data)
    >>> mu.type.shape, x.type.shape
    ((3,), (3, 3))
    """

    rv_type = PowerSphericalRV
    support_point = mode_at_mu

    @classmethod
    def dist(cls, mu: Any, kappa: Any, **kwargs) -> TensorVariable:
        """Return a variable that is not registered in a model."""
        mu, kappa = direction_and_number(
            mu, kappa, owner="PowerSpherical", shape=kwargs.get("shape")
        )
        return super().dist([mu, kappa], **kwargs)

    def logp(value, mu, kappa) -> TensorVariable:
        """Return the log density with respect to the surface measure."""
        n = pt.as_tensor(common_dimension(value, "PowerSpherical", mu=mu)).astype(kappa.dtype)
        beta = 0.5 * (n - 1.0)
        alpha = beta + kappa
        log_two, log_pi = np.log([2.0, np.pi]).astype(kappa.dtype)
        log_scale = pt.gammaln(alpha + beta) - pt.gammaln(alpha)
        log_scale = log_scale - (alpha + beta) * log_two - beta * log_pi
        # Opposite to the mean direction, where rounding may give a negative number.
        height = pt.maximum(1.0 + cosine(value, mu), np.finfo(value.dtype).tiny)
        res = on_support(kappa * pt.log(height) + log_scale, value, has_unit_norm)
        return check_parameters(
            res, kappa >= 0, has_unit_norm(mu), msg="kappa >= 0, norm of mu = 1 (within 1e-6)"
        )


on_manifold(PowerSpherical, Sphere(), unit_vector)
