#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The uniform distribution of rotations."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from pytensor.tensor.variable import TensorVariable

from pymc_geodesic.distributions.base import RandomGraph, on_manifold, on_support, with_signature
from pymc_geodesic.distributions.frames import (
    RotationDistribution,
    check_shape,
    known_shape,
    log_rotations_area,
)
from pymc_geodesic.distributions.transforms import rotation
from pymc_geodesic.manifolds import SpecialOrthogonal
from pymc_geodesic.manifolds.orthonormal import is_rotation

__all__ = ["UniformRotation", "UniformRotationRV"]


class UniformRotationRV(RandomGraph):
    """Random graph of :class:`UniformRotation`."""

    extended_signature = "[rng],[size],(s)->[rng],(n,n)"

    @classmethod
    def draw(cls, support_shape, *, size, rng):
        """Return the generator's next state and draws."""
        shape = known_shape(support_shape)
        next_rng, noise = pm.Normal.dist(size=(*tuple(size), *shape), rng=rng, return_next_rng=True)
        draws = SpecialOrthogonal().random_point(noise)
        return next_rng, draws


@with_signature()
class UniformRotation(RotationDistribution):
    r"""
    Uniform distribution of rotation matrices.

    The last two axes are a matrix X of shape (n, n) with :math:`X^\top X = I` and determinant 1.
    The density is constant, one over the area, with respect to the surface (Hausdorff) measure in
    the space of all matrices. In three dimensions the area is :math:`16 \sqrt 2\, \pi^2`: in this
    metric a rotation by the small angle h has length :math:`\sqrt 2\, h`.

    ========  ==========================================
    Support   :math:`X \in \mathbb{R}^{n \times n}, X^\top X = I, \det X = 1`
    Mean      0
    ========  ==========================================

    Parameters
    ----------
    n : int, default 3
        Dimension of the space, 2 or more.

    Raises
    ------
    TypeError
        When n is not a whole number.
    ValueError
        If n is below 2, a shape does not end in (n, n), or ``observed`` does not hold rotations.

    Notes
    -----
    The log density of a matrix that is not a rotation is -inf. Leading axes of ``shape`` are
    independent rotations. The default transform is
    :class:`~pymc_geodesic.distributions.transforms.RotationTransform`.

    References
    ----------
    .. [1] Mardia, K. V. and Jupp, P. E. (2000). Directional Statistics, section 13.2.
           DOI 10.1002/9780470316979

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> reference = np.random.default_rng(1).normal(size=(10, 3))
    >>> with pm.Model():
    ...     attitude = pmg.UniformRotation("attitude")
    ...     turned = (attitude * reference[:, None, :]).sum(-1)
    ...     x = pm.Normal("x", turned, 0.1, observed=reference[:, [1, 2, 0]])
    >>> attitude.type.shape
    (3, 3)
    """

    rv_type = UniformRotationRV
    rv_op = UniformRotationRV.rv_op

    @classmethod
    def dist(cls, n: int = 3, **kwargs) -> TensorVariable:
        """Return a variable that is not registered in a model."""
        if not isinstance(n, int | np.integer):
            raise TypeError(f"`UniformRotation` expected a whole number as `n`, got {n!r}.")
        if n < 2:
            raise ValueError(f"`UniformRotation` expected n of 2 or more, got {n}.")
        if isinstance(shape := kwargs.get("shape"), tuple | list):
            check_shape({"shape": shape}, (n, n), "UniformRotation")
        return super().dist([pt.as_tensor([n, n], dtype="int64")], **kwargs)

    def support_point(rv, size, support_shape) -> TensorVariable:
        """Return the identity."""
        return pt.broadcast_to(pt.eye(rv.type.shape[-1], dtype=rv.dtype), rv.shape)

    def logp(value, support_shape) -> TensorVariable:
        """Return the log density with respect to the surface measure."""
        n, _ = known_shape(support_shape)
        check_shape({"the value": value.type.shape}, (n, n), "UniformRotation")
        log_density = pt.full(value.shape[:-2], -log_rotations_area(n), dtype=value.dtype)
        return on_support(log_density, value, is_rotation)


on_manifold(UniformRotation, SpecialOrthogonal(), rotation)
