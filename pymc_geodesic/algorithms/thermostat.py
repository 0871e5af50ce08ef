#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Nose-Hoover thermostats: frictions that control the kinetic temperature."""

from __future__ import annotations

from typing import Literal

import numpy as np

from pymc_geodesic import arrays
from pymc_geodesic.arrays import Array
from pymc_geodesic.manifolds import Point, Product

__all__ = ["Grouping", "Thermostat"]

Grouping = Literal["shared", "per_variable", "per_point"]


class Thermostat:
    r"""The frictions xi and how they are shared among velocities.

    .. math::

        \dot\xi_g = \frac{1}{m_g} \sum_{i \in g} |v_i|^2 - 1,

    where m_g is the *intrinsic* dimension of group g: n - 1 for a point of the sphere in R^n.

    Parameters
    ----------
    manifold : Product
        The manifold on which the velocities live.
    grouping : {"shared", "per_variable", "per_point"}
        One thermostat for all, one for each random variable, or one for each point (each unit
        vector or probability vector; each entry of a Euclidean variable).

    """

    def __init__(self, manifold: Product, *, grouping: Grouping = "shared") -> None:
        self.manifold = manifold
        self.grouping = grouping

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shape of each array of thermostats."""
        if self.grouping == "shared":
            return ((),)
        if self.grouping == "per_variable":
            return tuple(() for _ in self.manifold.factors)
        return self.manifold.batch_shapes

    def temperature(self, velocity: Point) -> tuple[Array, ...]:
        """Kinetic temperature ``v.v / m`` of each group; its expectation is one."""
        squares = self.manifold.squared_norm(velocity)
        # As floats, because large integers would widen single precision.
        if self.grouping == "shared":
            return (sum(square.sum() for square in squares) / float(self.manifold.dim),)
        if self.grouping == "per_variable":
            pairs = zip(squares, self.manifold.dims, strict=True)
            return tuple(square.sum() / float(dim) for square, dim in pairs)
        pairs = zip(squares, self.manifold.point_dims, strict=True)
        return tuple(square / float(dim) for square, dim in pairs)

    def heat(
        self,
        thermostat: tuple[Array, ...],
        velocity: Point,
        time: Array,
        *,
        tuning: Array | None = None,
    ) -> tuple[Array, ...]:
        """Advance xi by ``time (v.v / m - 1)``, the thermostat's share of the A piece.

        While ``tuning`` is not zero, xi moves faster by a factor of ``max(1, xi^2 / 4)``. The plain
        thermostat needs of the order of ``1 / step_size^2`` transitions to find a friction of the
        order of ``1 / step_size``, more than most chains make. The factor is below ``xi^2 / 2``, at
        which friction and temperature would begin to oscillate. It is so small that xi changes by
        at most an eighth at zero temperature, and by half at high temperature.
        """
        groups = zip(thermostat, self.temperature(velocity), strict=True)
        if tuning is None:
            return tuple(xi + time * (temperature - 1) for xi, temperature in groups)

        def gain(xi):
            fast = arrays.minimum(0.25 * xi**2, arrays.abs(xi) / (8 * time))
            return arrays.where(tuning > 0, arrays.maximum(1.0, fast), 1.0)

        def excess(temperature):
            # Single transitions from a poor start can be extremely hot.
            return arrays.where(tuning > 0, arrays.minimum(temperature - 1, 4.0), temperature - 1)

        return tuple(xi + time * gain(xi) * excess(temperature) for xi, temperature in groups)

    def friction(self, thermostat: tuple[Array, ...]) -> tuple[Array, ...]:
        """One friction per variable, broadcastable to its velocity."""
        if self.grouping == "shared":
            return thermostat * len(self.manifold.factors)
        if self.grouping == "per_variable":
            return thermostat
        return tuple(
            factor.along_core(xi)
            for factor, xi in zip(self.manifold.factors, thermostat, strict=True)
        )

    @property
    def group_dims(self) -> tuple[int, ...]:
        """Degrees of freedom of one thermostat in each array."""
        if self.grouping == "shared":
            return (self.manifold.dim,)
        per_variable = self.grouping == "per_variable"
        return self.manifold.dims if per_variable else self.manifold.point_dims

    def initial(self, diffusion: float) -> list[np.ndarray]:
        """Thermostats at their value for exact gradients."""
        return [np.full(shape, diffusion) for shape in self.shapes]
