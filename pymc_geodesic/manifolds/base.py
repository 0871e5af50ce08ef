#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The geometry that every sampler needs, and nothing else."""

from __future__ import annotations

import math

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Literal

import numpy as np

from numpy.typing import ArrayLike

from pymc_geodesic import arrays
from pymc_geodesic.arrays import Array
from pymc_geodesic.manifolds.fields import Visit, Work

__all__ = ["Manifold", "MassKind", "Shape"]

MassKind = Literal["number", "diagonal", "matrix"]
"""The most general mass that keeps velocities tangent."""

Shape = tuple[int, ...]


class Manifold(ABC):
    """A manifold embedded isometrically in a space of real arrays, batched over leading axes.

    All methods are stateless functions of arrays of NumPy or JAX, or of tensors of PyTensor; they
    take their functions from ``pymc_geodesic.arrays``. Arguments ``x`` (a point), ``v`` (a
    tangent vector at ``x``) and ``u`` (any vector of the embedding) have shape
    ``(*batch, *core)``: one point has ``ndim_core`` axes, leading axes are independent points.
    Times ``t`` are scalars, or have the axes of ``v`` with cores of one entry.

    A new manifold is a subclass in its own file and one registration with
    :func:`pymc_geodesic.manifolds.register_manifold`.

    Attributes
    ----------
    name : str
        Name in messages and in records of runs.
    ndim_core : int
        Axes of one point: 0 for a half-line of numbers, 1 for unit vectors, 2 for matrices.
    mass : {"number", "diagonal", "matrix"}
        What a mass may be. A number for each point suits every manifold; one for each entry, or a
        matrix, only where velocities stay tangent with it.
    is_flat : bool
        Whether the space has neither curvature nor boundary, so that variables are moved along
        straight lines in PyMC's own unconstrained coordinates.
    is_compact : bool
        Whether points have nowhere to run to. The manifold's own size is then a scale that no step
        exceeds.
    bounds : tuple of array_like, optional
        Least and largest values, where a variable is made of numbers between walls.
    is_stretched_linearly : bool
        Whether a matrix L of the space maps the manifold onto itself by ``x -> Q(L x)``, where Q
        makes columns orthonormal; see :class:`pymc_geodesic.manifolds.stretched.Stretched`.
    has_geodesics : bool
        Whether points can follow geodesics; else only dynamics with coordinates of their own move
        them.
    poles_below : float
        Concentration of a Dirichlet distribution below which its density on the manifold is
        infinite somewhere; zero if there is none.

    Notes
    -----
    Samplers work with densities with respect to the surface (Hausdorff) measure of the embedding
    (Byrne and Girolami 2013, section 2). When a random variable's own density refers to another
    measure, :meth:`log_volume` is the term that turns one into the other.
    """

    name: str = "manifold"
    ndim_core: int = 1
    mass: MassKind = "number"
    is_flat: bool = False
    is_compact: bool = False
    bounds: tuple[ArrayLike, ArrayLike] | None = None
    is_stretched_linearly: bool = False
    has_geodesics: bool = True
    poles_below: float = 0.0

    @abstractmethod
    def dim(self, core_shape: Shape) -> int:
        """Intrinsic dimension of one point of this shape, which has ``ndim_core`` axes."""

    @abstractmethod
    def to_tangent(self, x: Array, u: Array) -> Array:
        """Project the vector ``u`` orthogonally onto the tangent space at ``x``."""

    @abstractmethod
    def geodesic(self, x: Array, v: Array, t: Array) -> tuple[Array, Array]:
        """Follow the geodesic that leaves ``x`` with velocity ``v`` for time ``t``."""

    @abstractmethod
    def project(self, x: Array) -> Array:
        """Return the point of the manifold nearest to ``x``, to remove rounding drift."""

    def random_point(self, noise: Array) -> Array:
        """Turn independent standard normals of the points' shape into random points.

        They are uniform where :meth:`project` maps the normal distribution to the uniform one, as
        on spheres and Stiefel manifolds.
        """
        return self.project(noise)

    def embed(self, value: Array) -> Array:
        """Map a value of the random variable to its point in the embedding."""
        return value

    def unembed(self, x: Array) -> Array:
        """Map a point of the embedding back to a value of the random variable."""
        return x

    def fold(self, x: Array, v: Array) -> tuple[Array, Array]:
        """Choose one representative of the points that mean the same value.

        The same isometry maps ``v``. Afterwards ``embed(unembed(x)) == x`` holds.
        """
        return x, v

    @property
    def covering(self) -> Manifold:
        """The manifold to use if a model's density distinguishes points that ``fold`` merges.

        It is the manifold itself if all points that ``fold`` merges have the same value, and
        hence the same density.
        """
        return self

    def align(self, u: Array, at: Array, x: Array) -> Array:
        """Carry the vector ``u`` at one point to the representative of that point nearest to ``x``.

        Control variates use it to compare gradients at two points.
        """
        return u

    def nearest(self, x: Array, reference: Array) -> Array:
        """Return the representative of ``x`` nearest to a reference, perhaps off the manifold.

        ``x`` may have a further axis in front, for many draws. Tuning, convergence checks and
        running means use these representatives around the center of all draws, so that nothing
        depends on where coordinates jump. A manifold whose coordinates never jump returns ``x``
        itself.
        """
        return x

    def log_volume(self, x: Array) -> Array | None:
        """Log density of the value's own reference measure with respect to surface measure.

        Shape ``(...)``, up to a constant; None if it is constant.
        """
        return None

    def soften(self, x: Array, width: Array) -> Array:
        """Move ``x`` away, by about ``width``, from where densities on the manifold have poles.

        An unadjusted integrator evaluates its gradient at the moved point, so that a pole within
        one step cannot make the chain diverge. It is the identity if no density has a pole.
        """
        return x

    def squared_norm(self, v: Array) -> Array:
        """Squared length of every tangent vector, shape ``(...)``."""
        return self.over_core(v * v)

    def envelope(self, variance: Array) -> Array:
        """Bound a diagonal covariance by one that commutes with :meth:`to_tangent`.

        Broadcastable to ``variance``: the largest entry of each point.
        """
        axes = core_axes(min(self.ndim_core, variance.ndim))
        return variance.max(axis=axes, keepdims=True) if axes else variance

    def gradient_variance(self, variance: np.ndarray, shape: Shape) -> np.ndarray:
        """Variance in these coordinates of independent noise in the gradient of the value.

        ``shape`` is that of the points. The same by default.
        """
        return variance

    def laplacian(self, x: Array) -> Array | None:
        """Laplace-Beltrami operator of every coordinate of the embedding, for checks of draws.

        None by default: directions are then not checked.
        """
        return None

    def stein_functions(self, x: Array, gradient: Array) -> tuple[Array, Array, Array] | None:
        r"""Write functions h of points, whose means gradients of the log density correct.

        For points of shape ``(n, *core)`` with the gradient of the potential energy U: the
        functions, ``(n, k)``, their forces :math:`\nabla h \cdot \nabla U - \Delta h`, which have
        mean zero for draws of :math:`\exp(-U)`, and the inner products of their gradients,
        ``(n, k, k)``. The coordinates of the embedding by default, if their Laplacians are known;
        otherwise None.
        """
        laplacian = self.laplacian(x)
        if laplacian is None:
            return None
        size = math.prod(arrays.static_shape(x)[1:])
        units = np.eye(size, dtype=x.dtype).reshape(size, 1, *arrays.static_shape(x)[1:])
        products = arrays.moveaxis(self.to_tangent(x, units).reshape((size, -1, size)), 0, 1)
        force = self.to_tangent(x, gradient) - laplacian
        return x.reshape((-1, size)), force.reshape((-1, size)), products

    def moved_along(self, x: Array, weights: Array) -> Array:
        """Move points by small steps along the gradients of the functions, with these weights."""
        return self.project(x + self.to_tangent(x, weights.reshape(x.shape)))

    def field_shapes(self, shape: Shape) -> list[Shape]:
        """Shapes of the moments that choose the field of :meth:`field_work` for one variable.

        None by default: the manifold then has no configurational temperature.
        """
        return []

    def field_moments(self, x: Array) -> list[Array]:
        """Write the quantities whose means are the moments, one array for each shape."""
        return [x for _ in self.field_shapes(arrays.static_shape(x))]

    def field_work(self, visit: Visit, moments: Sequence[Array], *, dim: float) -> Work:
        r"""Write the work and the divergence of a vector field F at a visited point.

        ``dim`` is the intrinsic dimension of the variable, summed over its points.

        For a field that does not depend on the chain, on a manifold without boundary or vanishing
        there, :math:`E[F \cdot \nabla U] = T E[\operatorname{div} F]` under the density
        :math:`\exp(-U / T)`. F is evaluated at the start of the transition. NaN by default.
        """
        nan = np.asarray(np.nan, dtype=visit.position.dtype)
        return Work(nan, nan, nan)

    def check(self, value) -> str | None:
        """Return why the array ``value`` is not on the manifold, or None if it is."""
        return None

    def embedded_shape(self, shape: Shape) -> Shape:
        """Shape of the array of points for a random variable of this shape."""
        return shape

    def batch_shape(self, shape: Shape) -> Shape:
        """Shape of the array of points in a variable of this shape."""
        return tuple(shape[: len(shape) - self.ndim_core])

    def core_shape(self, shape: Shape) -> Shape:
        """Shape of one point of a variable of this shape."""
        return tuple(shape[len(shape) - self.ndim_core :])

    def mass_shape(self, shape: Shape) -> Shape:
        """Shape of the most detailed diagonal mass of a variable of this shape.

        One number for each point where a mass may be no more than that, else one for each entry.
        """
        if self.mass != "number":
            return tuple(shape)
        return (*self.batch_shape(shape), *(1,) * self.ndim_core)

    def dim_of(self, shape: Shape) -> int:
        """Intrinsic dimension of a variable of this shape, summed over its points."""
        return self.dim(self.core_shape(shape)) * math.prod(self.batch_shape(shape))

    def over_core(self, u, *, keepdims: bool = False):
        """Sum the entries of every point of an array or a tensor."""
        axes = core_axes(self.ndim_core)
        return u.sum(axis=axes, keepdims=keepdims) if axes else u

    def along_core(self, per_point):
        """Give an array or a tensor with one entry for every point the axes of its points."""
        return per_point[(..., *[None] * self.ndim_core)] if self.ndim_core else per_point

    def __repr__(self) -> str:
        """Name the manifold."""
        return f"{type(self).__name__}()"


def core_axes(ndim_core: int) -> tuple[int, ...]:
    """Return the last axes, as many as a point has."""
    return tuple(range(-ndim_core, 0))
