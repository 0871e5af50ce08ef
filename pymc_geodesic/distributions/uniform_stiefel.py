#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The uniform distribution of frames."""

import pymc as pm
import pytensor.tensor as pt

from pytensor.tensor.variable import TensorVariable

from pymc_geodesic.distributions.base import RandomGraph, on_manifold, on_support, with_signature
from pymc_geodesic.distributions.frames import (
    FrameDistribution,
    check_shape,
    known_shape,
    log_stiefel_area,
    require_frame_shape,
)
from pymc_geodesic.distributions.transforms import frame
from pymc_geodesic.manifolds import Stiefel
from pymc_geodesic.manifolds.orthonormal import has_orthonormal_columns

__all__ = ["UniformStiefel", "UniformStiefelRV"]


class UniformStiefelRV(RandomGraph):
    """Random graph of :class:`UniformStiefel`."""

    extended_signature = "[rng],[size],(s)->[rng],(n,p)"

    @classmethod
    def draw(cls, support_shape, *, size, rng):
        """Return the generator's next state and draws."""
        n, p = known_shape(support_shape)
        next_rng, noise = pm.Normal.dist(size=(*tuple(size), n, p), rng=rng, return_next_rng=True)
        draws = Stiefel().random_point(noise)
        return next_rng, draws


@with_signature()
class UniformStiefel(FrameDistribution):
    r"""
    Uniform distribution of frames, matrices with orthonormal columns.

    The last two axes are a matrix X of shape (n, p) with :math:`X^\top X = I`. The density is
    constant, one over the area, with respect to the surface (Hausdorff) measure of the Stiefel
    manifold in the space of all matrices:

    .. math::

        f(X) = 2^{-p (p - 1) / 4} \, \frac{\Gamma_p(n / 2)}{2^p \pi^{n p / 2}}

    ========  ==========================================
    Support   :math:`X \in \mathbb{R}^{n \times p}, X^\top X = I`
    Mean      0
    ========  ==========================================

    Parameters
    ----------
    n : int
        Number of rows, the dimension of the space.
    p : int
        Number of columns, from 1 to n - 1.

    Raises
    ------
    TypeError
        When n or p is not a whole number.
    ValueError
        If p is not between 1 and n - 1, a shape does not end in (n, p), or ``observed`` does not
        have orthonormal columns.

    Notes
    -----
    The log density of a matrix without orthonormal columns is -inf. Leading axes of ``shape`` are
    independent frames. Draws are the Q of normal matrices. The default transform is
    :class:`~pymc_geodesic.distributions.transforms.FrameTransform`.

    Many authors leave out the factor :math:`2^{-p (p - 1) / 4}`, which belongs to the metric of the
    embedding; it is the same for all frames.

    References
    ----------
    .. [1] Chikuse, Y. (2003). Statistics on Special Manifolds, section 2.5.
           DOI 10.1007/978-0-387-21540-2

    Examples
    --------
    >>> import pymc as pm, pymc_geodesic as pmg
    >>> with pm.Model():
    ...     loadings = pmg.UniformStiefel("loadings", 64, 5)
    ...     frames = pmg.UniformStiefel("frames", 10, 3, shape=(4, 10, 3))  # four frames
    >>> loadings.type.shape, frames.type.shape
    ((64, 5), (4, 10, 3))
    """

    rv_type = UniformStiefelRV

    @classmethod
    def dist(cls, n: int, p: int, **kwargs) -> TensorVariable:
        """Return a variable that is not registered in a model."""
        n, p = require_frame_shape(n, p, "UniformStiefel")
        if isinstance(shape := kwargs.get("shape"), tuple | list):
            check_shape({"shape": shape}, (n, p), "UniformStiefel")
        return super().dist([pt.as_tensor([n, p], dtype="int64")], **kwargs)

    def support_point(rv, size, support_shape) -> TensorVariable:
        """Return the first columns of the identity."""
        n, p = known_shape(support_shape)
        return pt.broadcast_to(pt.eye(n, p, dtype=rv.dtype), rv.shape)

    def logp(value, support_shape) -> TensorVariable:
        """Return the log density with respect to the surface measure."""
        n, p = known_shape(support_shape)
        check_shape({"the value": value.type.shape}, (n, p), "UniformStiefel")
        log_density = pt.full(value.shape[:-2], -log_stiefel_area(n, p), dtype=value.dtype)
        return on_support(log_density, value, has_orthonormal_columns)


on_manifold(UniformStiefel, Stiefel(), frame)
