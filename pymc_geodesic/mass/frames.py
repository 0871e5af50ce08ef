#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""A product of manifolds with a mass.

With mass :math:`M = L L^\top` the momentum p has the distribution N(0, M). The state contains
:math:`v = L^{-1} p` instead, with distribution N(0, I). In this frame kinetic energy, friction,
noise and thermostats are the same as without a mass, and only two things change: the position moves
by :math:`M^{-1} p = L^{-\top} v`, and the gradient g enters as :math:`L^{-1} g`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pymc_geodesic import arrays
from pymc_geodesic.arrays import Array
from pymc_geodesic.manifolds.product import Point, Product, joined_entries, split_entries
from pymc_geodesic.potential.estimate import Spectrum, Variance

__all__ = [
    "Frame",
    "JointFrame",
    "Scaling",
    "VariableFrames",
    "WeightedProduct",
    "Whitening",
    "weighted",
]


class Scaling:
    """A diagonal mass of one variable.

    Parameters
    ----------
    scale : array
        ``1 / sqrt(mass)``, broadcastable to the variable's shape.
    """

    def __init__(self, scale: Array) -> None:
        self.scale = scale

    def to_frame(self, gradient: Array) -> Array:
        """Multiply by ``1 / L``."""
        return self.scale * gradient

    def from_frame(self, velocity: Array) -> Array:
        """Multiply by the transpose of ``1 / L``."""
        return self.scale * velocity

    def variance(self, variance: Array | Spectrum) -> Array | Spectrum:
        """Variance in the frame of a gradient's noise, independent or of curved points."""
        if isinstance(variance, Spectrum):
            # The mass of a curved point is a number.
            scale = variance.of_points(self.scale)
            return variance.map(lambda values: scale**2 * values)
        return self.scale**2 * variance


class Whitening:
    """A dense mass along the last axis of one variable.

    Parameters
    ----------
    inverse : array
        The inverse of L, of shape ``(n, n)`` for a variable of shape ``(..., n)``.
    """

    def __init__(self, inverse: Array) -> None:
        self.inverse = inverse

    def to_frame(self, gradient: Array) -> Array:
        """Multiply by ``1 / L``."""
        return arrays.dot(gradient, self.inverse.T)

    def from_frame(self, velocity: Array) -> Array:
        """Multiply by the transpose of ``1 / L``."""
        return arrays.dot(velocity, self.inverse)


class Frame(Protocol):
    """The linear map between a product's coordinates and the frame in which the mass is one."""

    def to_frame(self, gradient: Point) -> Point:
        """Map a gradient to the frame."""
        ...

    def from_frame(self, velocity: Point) -> Point:
        """Map a velocity from the frame to the rate at which the position moves."""
        ...

    def variance(self, variance: Variance) -> Variance:
        """Map the variance of a gradient's noise to the frame."""
        ...

    def damp_directions(self, velocity: Point, exponents: Array) -> Point:
        """Multiply the components of a velocity along each direction by ``exp(-exponent)``."""
        ...

    def diagonal(self, index: int) -> Scaling:
        """Return the map of a variable whose mass is diagonal or a number."""
        ...


class VariableFrames:
    """Each variable with its own mass.

    Parameters
    ----------
    maps : sequence of Scaling or Whitening
        One per variable.
    """

    def __init__(self, maps: Sequence[Scaling | Whitening]) -> None:
        self.maps = tuple(maps)

    def to_frame(self, gradient: Point) -> Point:  # noqa: D102
        return tuple(m.to_frame(g) for m, g in zip(self.maps, gradient, strict=True))

    def from_frame(self, velocity: Point) -> Point:  # noqa: D102
        return tuple(m.from_frame(v) for m, v in zip(self.maps, velocity, strict=True))

    def variance(self, variance: Variance) -> Variance:  # noqa: D102
        parts = enumerate(variance)
        return tuple(None if v is None else self.diagonal(i).variance(v) for i, v in parts)

    def damp_directions(self, velocity: Point, exponents: Array) -> Point:  # noqa: D102
        return velocity

    def diagonal(self, index: int) -> Scaling:
        """Return the map of a variable with a diagonal mass.

        Steps raise an error for a dense mass of a curved variable, or with known noise.
        """
        found = self.maps[index]
        assert isinstance(found, Scaling)
        return found


class JointFrame:
    """A dense mass of all entries of all variables, which must be Euclidean.

    Parameters
    ----------
    inverse : array
        The inverse of L, of shape ``(D, D)`` for the D entries of all variables in order.
    shapes : sequence of tuple of int
        Shape of each variable.
    """

    def __init__(self, inverse: Array, *, shapes: Sequence[tuple[int, ...]]) -> None:
        self.inverse = inverse
        self.shapes = tuple(shapes)

    def to_frame(self, gradient: Point) -> Point:  # noqa: D102
        return split_entries(arrays.dot(self.inverse, joined_entries(gradient)), self.shapes)

    def from_frame(self, velocity: Point) -> Point:  # noqa: D102
        return split_entries(arrays.dot(joined_entries(velocity), self.inverse), self.shapes)

    def variance(self, variance: Variance) -> Variance:  # noqa: D102
        # Steps raise an error for a dense mass with known noise, which would no longer be diagonal.
        return variance

    def damp_directions(self, velocity: Point, exponents: Array) -> Point:  # noqa: D102
        return velocity

    def diagonal(self, index: int) -> Scaling:  # noqa: D102
        raise TypeError("A joint mass of all entries has no diagonal for one variable.")


class WeightedProduct(Product):
    """A product whose velocities are in the frame of unit mass.

    Parameters
    ----------
    product : Product
        The product without mass.
    frame : Frame
        The mass, of a kind that each factor takes; other masses do not keep velocities tangent.
    """

    def __init__(self, product: Product, *, frame: Frame) -> None:
        super().__init__(product.factors, shapes=product.shapes)
        self.frame = frame

    def geodesic(self, x: Point, v: Point, t: Array) -> tuple[Point, Point]:
        """Follow the geodesic; a factor of mass m moves as one of mass one does in t / sqrt(m)."""
        rates = self.frame.from_frame(v)
        moved = [
            (position + t * rate, velocity)
            if factor.is_flat
            else factor.geodesic(position, velocity, self._duration(t, i))
            for i, (factor, position, velocity, rate) in enumerate(
                zip(self.factors, x, v, rates, strict=True)
            )
        ]
        positions, velocities = zip(*moved, strict=True)
        return self.project(positions), velocities

    def lengths(self, time: Array) -> tuple[Array, ...]:  # noqa: D102
        return tuple(
            time if factor.is_flat else self._duration(time, i)
            for i, factor in enumerate(self.factors)
        )

    def to_frame(self, gradient: Point) -> Point:  # noqa: D102
        return self.frame.to_frame(gradient)

    def variance_to_frame(self, variance: Variance) -> Variance:  # noqa: D102
        return self.frame.variance(variance)

    def damp_directions(self, velocity: Point, exponents: Array) -> Point:  # noqa: D102
        return self.frame.damp_directions(velocity, exponents)

    def _duration(self, time: Array, index: int) -> Array:
        return time * self.frame.diagonal(index).scale


def weighted(manifold: Product, frame: Frame | None) -> Product:
    """Give a product the frame of a mass, if there is one."""
    return manifold if frame is None else WeightedProduct(manifold, frame=frame)
