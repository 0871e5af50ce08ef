#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The uniform distributions on the unit sphere and in the unit ball."""

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
from pymc_geodesic.distributions.transforms import ball, unit_vector
from pymc_geodesic.distributions.unit_vectors import normalised
from pymc_geodesic.distributions.validation import check_unit_vectors, has_unit_norm
from pymc_geodesic.manifolds import Ball, Sphere
from pymc_geodesic.validation import UNIT_NORM_TOLERANCE, whole

__all__ = ["SphericalUniform", "SphericalUniformRV", "UniformBall", "UniformBallRV"]


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


class UniformBallRV(RandomGraph):
    """Random graph of :class:`UniformBall`."""

    extended_signature = "[rng],[size],(s)->[rng],(n)"

    @classmethod
    def draw(cls, support_shape, *, size, rng):
        """Return the generator's next state and draws."""
        next_rng, noise = pm.Normal.dist(
            size=(*tuple(size), support_shape[0] + 2), rng=rng, return_next_rng=True
        )
        draws = Sphere().project(noise)[..., :-2]
        return next_rng, draws


@with_signature()
class UniformBall(Continuous):
    r"""
    Uniform distribution in the unit ball.

    The last axis is a vector of :math:`\mathbb{R}^n` of length one at most. The density is one over
    the volume:

    .. math::

        f(x) = \frac{\Gamma(n/2 + 1)}{\pi^{n/2}}

    ========  ==========================================
    Support   :math:`x \in \mathbb{R}^n, |x| \le 1`
    Mean      0
    Variance  :math:`1 / (n + 2)` for each entry
    ========  ==========================================

    Parameters
    ----------
    n : int
        Number of entries.

    Raises
    ------
    ValueError
        When n is not a whole number of one or more.

    Notes
    -----
    The log density of a longer vector is -inf. Leading axes of ``shape`` are independent vectors.
    Any density in the ball is this one times a potential. Draws are the first n entries of uniform
    unit vectors with n + 2. The default transform is
    :class:`~pymc_geodesic.distributions.transforms.BallTransform`, which lets every step sample it;
    on request steps move it on :class:`~pymc_geodesic.manifolds.Ball`.

    Examples
    --------
    >>> import pymc as pm, pymc_geodesic as pmg
    >>> with pm.Model():
    ...     x = pmg.UniformBall("x", 3)
    >>> pm.draw(x, draws=5, random_seed=1).shape
    (5, 3)

    ``pmg.SGGMC(manifolds={"x": pmg.Ball()})`` moves it within the ball.
    """

    rv_type = UniformBallRV

    @classmethod
    def dist(cls, n: int, **kwargs) -> TensorVariable:
        """Return a variable that is not registered in a model."""
        return super().dist([pt.as_tensor([whole("n", n)], dtype="int64")], **kwargs)

    def support_point(rv, size, support_shape) -> TensorVariable:
        """Return the center."""
        return pt.zeros_like(rv)

    def logp(value, support_shape) -> TensorVariable:
        """Return minus the log of the volume, and -inf outside."""
        half = 0.5 * support_shape[0].astype(value.dtype)
        log_density = pt.gammaln(half + 1) - half * np.log(np.pi)
        return on_support(pt.full(value.shape[:-1], log_density), value, _is_inside)


def _is_inside(x):
    return (x * x).sum(axis=-1) <= 1 + UNIT_NORM_TOLERANCE


on_manifold(UniformBall, Ball(), ball, on_request=True)
