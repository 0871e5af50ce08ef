#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The spherical Cauchy distribution."""

from __future__ import annotations

from typing import Any

import pymc as pm
import pytensor.tensor as pt

from pymc.distributions.dist_math import check_parameters
from pytensor.tensor.variable import TensorVariable

from pymc_geodesic.distributions.base import RandomGraph, on_manifold, on_support, with_signature
from pymc_geodesic.distributions.transforms import unit_vector
from pymc_geodesic.distributions.unit_vectors import (
    UnitVectorDistribution,
    common_dimension,
    dimension,
    direction_and_number,
    mode_at_mu,
    normalised,
    sphere_log_area,
)
from pymc_geodesic.distributions.validation import has_unit_norm
from pymc_geodesic.manifolds import Sphere

__all__ = ["SphericalCauchy", "SphericalCauchyRV"]


class SphericalCauchyRV(RandomGraph):
    """Random graph of :class:`SphericalCauchy`."""

    extended_signature = "[rng],[size],(n),()->[rng],(n)"

    @classmethod
    def draw(cls, mu, rho, *, size, rng):
        """Map a uniform unit vector by the Moebius transformation that takes 0 to rho mu."""
        shape = (*tuple(size), dimension(mu))
        next_rng, noise = pm.Normal.dist(size=shape, rng=rng, return_next_rng=True)
        center = rho[..., None] * mu
        moved = normalised(noise) + center
        scale = (1.0 - rho**2)[..., None] / (moved * moved).sum(axis=-1, keepdims=True)
        draws = normalised(scale * moved + center)
        return next_rng, draws


@with_signature()
class SphericalCauchy(UnitVectorDistribution):
    r"""
    Spherical Cauchy distribution on the unit sphere.

    The last axis is a unit vector of :math:`\mathbb{R}^n`, any :math:`n \ge 2`. The density is with
    respect to the surface (Hausdorff) measure of the sphere:

    .. math::

        f(x \mid \mu, \rho) = \frac{\Gamma(n/2)}{2 \pi^{n/2}}
        \left( \frac{1 - \rho^2}{1 + \rho^2 - 2 \rho \mu^\top x} \right)^{n-1}

    ========  ==========================================
    Support   :math:`x \in \mathbb{R}^n, |x| = 1`
    Mode      :math:`\mu`
    ========  ==========================================

    Parameters
    ----------
    mu : tensor_like of float, shape (..., n)
        Directions, unit vectors in the last axis. They are not normalised.
    rho : tensor_like of float, shape (...)
        Concentration, from 0, the uniform distribution, to below 1.

    Raises
    ------
    ValueError
        If known values of ``mu`` or ``observed`` are not finite unit vectors (norm 1 within
        1e-6) of length two or more, or known values of ``rho`` are out of range. Symbolic
        parameters are checked when the log density is evaluated.

    Notes
    -----
    The stereographic image of a Cauchy-like t distribution: heavy tails, for data with outliers.
    Moebius transformations of the sphere keep the family. Draws are exact. The log density of a
    value off the sphere is -inf. The default transform is
    :class:`~pymc_geodesic.distributions.transforms.UnitVectorTransform`.

    References
    ----------
    .. [1] Kato, S. and McCullagh, P. (2020). Some properties of a Cauchy family on the sphere
           derived from the Moebius transformations. Bernoulli 26. DOI 10.3150/20-BEJ1222

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> data = np.eye(3)
    >>> with pm.Model():
    ...     mu = pmg.SphericalUniform("mu", shape=3)
    ...     rho = pm.Beta("rho", 2.0, 2.0)
    ...     x = pmg.SphericalCauchy("x", mu=mu, rho=rho, observed=data)
    >>> x.type.shape
    (3, 3)
    """

    rv_type = SphericalCauchyRV
    support_point = mode_at_mu

    @classmethod
    def dist(cls, mu: Any, rho: Any, **kwargs) -> TensorVariable:
        """Return a variable that is not registered in a model."""
        mu, rho = direction_and_number(
            mu,
            rho,
            argument="rho",
            owner="SphericalCauchy",
            holds=lambda rho: (rho >= 0) & (rho < 1),
            expected="concentrations from 0 to below 1",
            shape=kwargs.get("shape"),
        )
        return super().dist([mu, rho], **kwargs)

    def logp(value, mu, rho) -> TensorVariable:
        """Return the log density with respect to the surface measure."""
        n = pt.as_tensor(common_dimension(value, "SphericalCauchy", mu=mu)).astype(value.dtype)
        # Has no cancellation if rho and the cosine are near one.
        distance = ((value - mu) ** 2).sum(axis=-1)
        ratio = pt.log1p(-rho) + pt.log1p(rho) - pt.log((1.0 - rho) ** 2 + rho * distance)
        res = (n - 1.0) * ratio - sphere_log_area(n, value.dtype)
        res = on_support(res, value, has_unit_norm)
        return check_parameters(
            res,
            rho >= 0,
            rho < 1,
            has_unit_norm(mu),
            msg="0 <= rho < 1, norm of mu = 1 (within 1e-6)",
        )


on_manifold(SphericalCauchy, Sphere(), unit_vector)
