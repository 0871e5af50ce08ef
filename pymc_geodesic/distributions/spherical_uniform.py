#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The uniform distribution on the unit sphere."""

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from pymc.distributions.distribution import Continuous, SymbolicRandomVariable
from pymc.distributions.shape_utils import get_support_shape, rv_size_is_none
from pymc.pytensorf import constant_fold, normalize_rng_param
from pytensor.tensor.random.utils import normalize_size_param
from pytensor.tensor.variable import TensorVariable

from pymc_geodesic.distributions.signatures import with_signature
from pymc_geodesic.distributions.support import on_support
from pymc_geodesic.distributions.unit_vectors import on_sphere
from pymc_geodesic.distributions.validation import check_unit_vectors, has_unit_norm
from pymc_geodesic.manifolds import Sphere

__all__ = ["SphericalUniform", "SphericalUniformRV"]


class SphericalUniformRV(SymbolicRandomVariable):
    """Random graph of :class:`SphericalUniform`."""

    name = "SphericalUniform"
    extended_signature = "[rng],[size],(s)->[rng],(n)"
    _print_name = ("SphericalUniform", "\\operatorname{SphericalUniform}")

    @classmethod
    def rv_op(cls, support_shape, *, size=None, rng=None):
        """Build the random variable."""
        support_shape = pt.as_tensor(support_shape, dtype="int64", ndim=1)
        rng = normalize_rng_param(rng)
        size = normalize_size_param(size)
        full_size = () if rv_size_is_none(size) else tuple(size)
        next_rng, noise = pm.Normal.dist(
            size=(*full_size, support_shape[0]), rng=rng, return_next_rng=True
        )
        draws = noise / pt.sqrt((noise * noise).sum(axis=-1, keepdims=True))
        return cls(
            inputs=[rng, size, support_shape],
            outputs=[next_rng, draws],
        )(rng, size, support_shape)


@with_signature()
class SphericalUniform(Continuous):
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

    def __new__(
        cls, name: str, *args, support_shape=None, dims=None, observed: Any = None, **kwargs
    ) -> TensorVariable:
        """Add the variable to the model on the context stack."""
        if observed is not None:
            check_unit_vectors(observed, "observed", "SphericalUniform")
        if dims is not None or observed is not None:
            support_shape = get_support_shape(
                support_shape=support_shape,
                shape=None,  # checked by `dist`
                dims=dims,
                observed=observed,
            )
        return super().__new__(
            cls, name, *args, support_shape=support_shape, dims=dims, observed=observed, **kwargs
        )

    @classmethod
    def dist(cls, *, support_shape: Any = None, **kwargs) -> TensorVariable:
        """Return a variable that is not registered in a model."""
        support_shape = get_support_shape(
            support_shape=support_shape, shape=kwargs.get("shape"), ndim_supp=1
        )
        if support_shape is None:
            raise ValueError(
                "`SphericalUniform` expected the dimension n of its space, got none. Pass `shape`, "
                "`dims`, `observed` or `support_shape`; the last element is n."
            )
        support_shape = pt.as_tensor(support_shape, dtype="int64", ndim=1)
        [known] = constant_fold([support_shape], raise_not_constant=False)
        if isinstance(known, np.ndarray) and np.any(known < 2):
            raise ValueError(
                "`SphericalUniform` expected unit vectors of two or more elements in the last "
                f"axis, got length {known[-1]}. End `shape` or `dims` with 2 or more."
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


on_sphere(SphericalUniform, Sphere())
