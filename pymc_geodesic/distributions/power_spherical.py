#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The power spherical distribution."""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from pymc.distributions.dist_math import check_parameters
from pytensor.tensor.variable import TensorVariable

from pymc_geodesic.distributions.base import RandomGraph, on_manifold, on_support, with_signature
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

__all__ = ["PowerSpherical", "PowerSphericalRV"]


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
    rv_op = PowerSphericalRV.rv_op
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
