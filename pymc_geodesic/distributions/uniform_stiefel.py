#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The uniform distribution of frames."""

from typing import Any

import pymc as pm
import pytensor.tensor as pt

from pymc.distributions.distribution import Continuous, SymbolicRandomVariable
from pymc.distributions.shape_utils import rv_size_is_none
from pymc.distributions.transforms import _default_transform
from pymc.pytensorf import normalize_rng_param
from pytensor.tensor.random.utils import normalize_size_param
from pytensor.tensor.variable import TensorVariable

from pymc_geodesic.distributions.frames import (
    check_frames,
    check_shape,
    known_shape,
    log_stiefel_area,
    require_frame_shape,
)
from pymc_geodesic.distributions.signatures import with_signature
from pymc_geodesic.distributions.support import on_support
from pymc_geodesic.distributions.transforms import frame
from pymc_geodesic.manifolds import Stiefel, register_manifold
from pymc_geodesic.manifolds.orthonormal import has_orthonormal_columns

__all__ = ["UniformStiefel", "UniformStiefelRV"]


class UniformStiefelRV(SymbolicRandomVariable):
    """Random graph of :class:`UniformStiefel`."""

    name = "UniformStiefel"
    extended_signature = "[rng],[size],(s)->[rng],(n,p)"
    _print_name = ("UniformStiefel", "\\operatorname{UniformStiefel}")

    @classmethod
    def rv_op(cls, support_shape, *, size=None, rng=None):
        """Build the random variable."""
        support_shape = pt.as_tensor(support_shape, dtype="int64", ndim=1)
        n, p = known_shape(support_shape)
        rng, size = normalize_rng_param(rng), normalize_size_param(size)
        full_size = () if rv_size_is_none(size) else tuple(size)
        next_rng, noise = pm.Normal.dist(size=(*full_size, n, p), rng=rng, return_next_rng=True)
        draws = Stiefel().random_point(noise)
        return cls(inputs=[rng, size, support_shape], outputs=[next_rng, draws])(
            rng, size, support_shape
        )


@with_signature()
class UniformStiefel(Continuous):
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
    rv_op = UniformStiefelRV.rv_op

    def __new__(cls, name: str, *args, observed: Any = None, **kwargs) -> TensorVariable:
        """Add the variable to the model on the context stack."""
        if observed is not None:
            check_frames(observed, "observed", "UniformStiefel")
        return super().__new__(cls, name, *args, observed=observed, **kwargs)

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


@_default_transform.register(UniformStiefelRV)
def _uniform_stiefel_default_transform(op, rv):
    return frame


register_manifold(UniformStiefel, Stiefel())
