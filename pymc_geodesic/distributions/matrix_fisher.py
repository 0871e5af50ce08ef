#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The matrix Fisher distribution of rotations of space."""

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from pytensor.tensor.linalg import eigh
from pytensor.tensor.variable import TensorVariable

from pymc_geodesic.distributions.base import RandomGraph, on_manifold, on_support, with_signature
from pymc_geodesic.distributions.coordinates import davenport, quaternion_to_matrix
from pymc_geodesic.distributions.frames import (
    RotationDistribution,
    check_parameter,
    check_shape,
    log_rotations_area,
)
from pymc_geodesic.distributions.matrix_constant import log_mean_over_rotations
from pymc_geodesic.distributions.transforms import rotation
from pymc_geodesic.distributions.validation import as_float_tensor, static_shape
from pymc_geodesic.manifolds import SpecialOrthogonal
from pymc_geodesic.manifolds.orthonormal import is_rotation

__all__ = ["MatrixFisher", "MatrixFisherRV"]

# At least 45 per cent of the proposals are accepted (Kent, Ganeiber and Mardia 2018), so that all
# are rejected with probability below 3e-17.
N_PROPOSALS = 64
# Newton's method for the envelope: any b gives exact draws, the best b accepts most proposals.
N_NEWTON = 6


def _draw_quaternions(parameter: TensorVariable, size, rng):
    """Draw Bingham quaternions under an angular central Gaussian envelope."""
    values, vectors = eigh(davenport(parameter))
    # exp(-y'Ly) with y in the eigenvectors and the smallest of L zero.
    costs = values[..., -1:] - values
    b = pt.ones_like(costs[..., :1])
    for _ in range(N_NEWTON):
        shares = 1 / (b + 2 * costs)
        b = b + (shares.sum(axis=-1, keepdims=True) - 1) / (shares**2).sum(axis=-1, keepdims=True)
    scale = (1 + 2 * costs / b)[..., None, :]
    shape = (*tuple(size), N_PROPOSALS)
    rng, noise = pm.Normal.dist(size=(*shape, 4), rng=rng, return_next_rng=True)
    y = noise / pt.sqrt(scale)
    y = y / pt.sqrt((y * y).sum(axis=-1, keepdims=True))
    cost = (costs[..., None, :] * y * y).sum(axis=-1)
    log_ratio = -cost + 2 * pt.log((scale * y * y).sum(axis=-1))
    log_bound = -(4 - b) / 2 + 2 * pt.log(4 / b)
    rng, uniform = pm.Uniform.dist(size=shape, rng=rng, return_next_rng=True)
    first = pt.argmax(pt.lt(pt.log(uniform), log_ratio - log_bound), axis=-1)[..., None, None]
    chosen = pt.take_along_axis(y, first, axis=-2)[..., 0, :]
    return (vectors * chosen[..., None, :]).sum(axis=-1), rng


class MatrixFisherRV(RandomGraph):
    """Random graph of :class:`MatrixFisher`."""

    extended_signature = "[rng],[size],(n,n)->[rng],(n,n)"

    @classmethod
    def draw(cls, parameter, *, size, rng):
        """Return the generator's next state and draws."""
        quaternions, next_rng = _draw_quaternions(parameter, size, rng)
        draws = quaternion_to_matrix(quaternions)
        return next_rng, draws


@with_signature()
class MatrixFisher(RotationDistribution):
    r"""
    Matrix Fisher distribution of rotations of three-dimensional space.

    The last two axes are a matrix X of shape (3, 3) with :math:`X^\top X = I` and determinant 1.
    The density is with respect to the surface (Hausdorff) measure in the space of all matrices,
    whose total is :math:`16 \sqrt 2\, \pi^2`:

    .. math::

        f(X \mid F) = \frac{e^{\operatorname{tr} F^\top X}}{16 \sqrt 2\, \pi^2\, c(F)}, \qquad
        c(F) = E_X e^{\operatorname{tr} F^\top X} \text{ over uniform rotations.}

    Its unit quaternions have a Bingham distribution.

    ========  ==========================================
    Support   :math:`X \in \mathbb{R}^{3 \times 3}, X^\top X = I, \det X = 1`
    Mode      the rotation nearest to F
    ========  ==========================================

    Parameters
    ----------
    F : tensor_like of float, shape (..., 3, 3)
        Any matrix; with zero the distribution is uniform.

    Raises
    ------
    ValueError
        If F does not end in axes of (3, 3), known values of F are not finite, or ``observed`` does
        not hold rotations.

    Notes
    -----
    The constant is one integral with a relative error below 1e-8 up to singular values of 1,000.
    Draws are exact up to an event of probability below 3e-17. The log density of a matrix that is
    not a rotation is -inf. The default transform is
    :class:`~pymc_geodesic.distributions.transforms.RotationTransform`.

    References
    ----------
    .. [1] Lee, T. (2018). Bayesian attitude estimation with the matrix Fisher distribution on
           SO(3). IEEE Transactions on Automatic Control 63. DOI 10.1109/TAC.2018.2797162
    .. [2] Kent, J. T., Ganeiber, A. M. and Mardia, K. V. (2018). A new unified approach for the
           simulation of a wide class of directional distributions. Journal of Computational and
           Graphical Statistics 27. DOI 10.1080/10618600.2017.1390468

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> data = np.stack([np.eye(3), np.diag([1.0, -1.0, -1.0])])
    >>> with pm.Model():
    ...     attitude = pmg.UniformRotation("attitude")
    ...     x = pmg.MatrixFisher("x", 50.0 * attitude, observed=data)
    >>> x.type.shape
    (2, 3, 3)
    """

    rv_type = MatrixFisherRV

    def __new__(cls, name: str, *args, observed: Any = None, **kwargs) -> TensorVariable:
        """Add the variable to the model on the context stack."""
        rv = super().__new__(cls, name, *args, observed=observed, **kwargs)
        if observed is not None:
            check_shape({"observed": static_shape(observed)}, (3, 3), "MatrixFisher")
        return rv

    @classmethod
    def dist(cls, F: Any, **kwargs) -> TensorVariable:
        """Return a variable that is not registered in a model."""
        parameter = as_float_tensor(F)
        check_parameter(parameter, "MatrixFisher")
        shapes = {"F": parameter.type.shape}
        if isinstance(shape := kwargs.get("shape"), tuple | list):
            shapes["shape"] = shape
        check_shape(shapes, (3, 3), "MatrixFisher")
        return super().dist([parameter], **kwargs)

    def support_point(rv, size, parameter) -> TensorVariable:
        """Return the mode, the rotation of the leading eigenvector of the quaternions."""
        mode = quaternion_to_matrix(eigh(davenport(parameter))[1][..., -1])
        return pt.broadcast_to(mode, rv.shape)

    def logp(value, parameter) -> TensorVariable:
        """Return the log density with respect to the surface measure."""
        check_shape({"the value": value.type.shape}, (3, 3), "MatrixFisher")
        trace = (parameter * value).sum(axis=(-1, -2))
        log_area = np.asarray(log_rotations_area(3), value.dtype)
        log_density = trace - log_mean_over_rotations(parameter) - log_area
        return on_support(log_density, value, is_rotation)


on_manifold(MatrixFisher, SpecialOrthogonal(), rotation)
