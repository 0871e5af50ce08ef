#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The uniform distribution on the unit sphere."""

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from pymc.distributions.distribution import Continuous
from pytensor.tensor.variable import TensorVariable

from pymc_geodesic.distributions.base import (
    ChecksObserved,
    RandomGraph,
    WithLength,
    length_of,
    on_manifold,
    on_support,
    with_signature,
)
from pymc_geodesic.distributions.transforms import unit_vector
from pymc_geodesic.distributions.unit_vectors import normalised
from pymc_geodesic.distributions.validation import check_unit_vectors, has_unit_norm
from pymc_geodesic.manifolds import Sphere

__all__ = ["SphericalUniform", "SphericalUniformRV"]


class SphericalUniformRV(RandomGraph):
    """Random graph of :class:`SphericalUniform`."""

    extended_signature = "[rng],[size],(s)->[rng],(n)"

    @classmethod
    def draw(cls, support_shape, *, size, rng):
        """Return the generator's next state and draws."""
        next_rng, noise = pm.Normal.dist(
            size=(*tuple(size), support_shape[0]), rng=rng, return_next_rng=True
        )
        draws = normalised(noise)
        return next_rng, draws


@with_signature()
class SphericalUniform(ChecksObserved, WithLength, Continuous):
    r"""
    Uniform distribution on the unit sphere.

    The last axis is a unit vector of :math:`\mathbb{R}^n`, any :math:`n \ge 2`. The density is
    constant, one over the area, with respect to the surface (Hausdorff) measure:

    .. math::

        f(x) = \frac{\Gamma(n/2)}{2 \pi^{n/2}}

    ========  ==========================================
    Support   :math:`x \in \mathbb{R}^n, |x| = 1`
    Mean      0
    ========  ==========================================

    Parameters
    ----------
    shape : tuple of int
        Shape of the variable; the last element is n. Alternatively pass ``dims`` or ``observed``.
    support_shape : tuple of int, optional
        ``(n,)``, for use with ``size``.

    Raises
    ------
    ValueError
        If n is unknown or below 2, or if ``observed`` does not hold unit vectors.

    Notes
    -----
    The log density of a value off the sphere is -inf. The default transform is
    :class:`~pymc_geodesic.distributions.transforms.UnitVectorTransform`, and the support point is
    :math:`(1, \dots, 1) / \sqrt{n}`.

    References
    ----------
    .. [1] Muller, M. E. (1959). A note on a method for generating points uniformly on
           n-dimensional spheres. Communications of the ACM 2. DOI 10.1145/377939.377946

    Examples
    --------
    >>> import pymc as pm, pymc_geodesic as pmg
    >>> with pm.Model():
    ...     mu = pmg.SphericalUniform("mu", shape=(5, 3))  # five unit vectors
    >>> mu.type.shape
    (5, 3)
    """

    rv_type = SphericalUniformRV
    rv_op = SphericalUniformRV.rv_op
    check_observed = staticmethod(check_unit_vectors)

    @classmethod
    def dist(cls, *, support_shape: Any = None, **kwargs) -> TensorVariable:
        """Return a variable that is not registered in a model."""
        support_shape, n = length_of(
            support_shape,
            kwargs.get("shape"),
            unknown="`SphericalUniform` expected the dimension n of its space, got none. Pass "
            "`shape`, `dims`, `observed` or `support_shape`; the last element is n.",
        )
        if n is not None and n < 2:
            raise ValueError(
                "`SphericalUniform` expected unit vectors of two or more elements in the last "
                f"axis, got length {n}. End `shape` or `dims` with 2 or more."
            )
        return super().dist([support_shape], **kwargs)

    def support_point(rv, size, support_shape) -> TensorVariable:
        """Return the direction of the diagonal."""
        n = support_shape[0].astype(rv.dtype)
        return pt.full(rv.shape, 1.0 / pt.sqrt(n))

    def logp(value, support_shape) -> TensorVariable:
        """Return minus the log of the area of the sphere, and -inf off the sphere."""
        static = value.type.shape[-1]
        n = support_shape[0] if static is None else np.asarray(static)
        half = 0.5 * n.astype(value.dtype)
        log_density = pt.gammaln(half) - np.log(2.0) - half * np.log(np.pi)
        return on_support(pt.full(value.shape[:-1], log_density), value, has_unit_norm)


on_manifold(SphericalUniform, Sphere(), unit_vector)
