#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Coordinates of flat variables that depend on the values of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pytensor.tensor as pt

from pytensor.tensor import TensorVariable

__all__ = ["Coordinate", "MatrixCoordinate", "ScaledCoordinate", "SummedCoordinate"]


class ScaledCoordinate(NamedTuple):
    """The coordinate ``(value - shift) * exp(log_ratio)``.

    Attributes
    ----------
    shift, log_ratio : TensorVariable
        Functions of PyMC's values of other flat variables; they broadcast to the variable.
    is_natural : bool
        Whether rows of the data depend on the coordinate as the model is written, and not on
        PyMC's value.
    """

    shift: TensorVariable
    log_ratio: TensorVariable
    is_natural: bool

    @property
    def parameters(self) -> list[TensorVariable]:
        """Graphs of other variables' values."""
        return [self.shift, self.log_ratio]

    def with_parameters(self, parameters: Sequence[TensorVariable]) -> ScaledCoordinate:
        """Return the same coordinate for other values of the other variables."""
        shift, log_ratio = parameters
        return self._replace(shift=shift, log_ratio=log_ratio)

    def inside(self, value: TensorVariable) -> TensorVariable:
        """Return the coordinate of PyMC's value."""
        return (value - self.shift) * pt.exp(self.log_ratio)

    def outside(self, coordinate: TensorVariable) -> TensorVariable:
        """Return PyMC's value."""
        return coordinate * pt.exp(-self.log_ratio) + self.shift


class MatrixCoordinate(NamedTuple):
    r"""The coordinate :math:`w_i = (1 - a_i) z_i + a_i \sum_{j \le i} M_{ij} z_j` of each vector z.

    The matrix is lower triangular with a positive diagonal, so that the coordinate determines z
    whatever the shares a between 0 and 1.

    Attributes
    ----------
    share : TensorVariable
        Shares a of all entries, of the variable's shape.
    matrix : TensorVariable, shape (d, d)
        Function of PyMC's values of other flat variables.
    axis : int
        The vectors' axis of the variable, which has two: 0 or 1.
    is_natural : bool
        Whether rows of the data depend on the coordinate as the model is written.
    """

    share: TensorVariable
    matrix: TensorVariable
    axis: int
    is_natural: bool = True

    @property
    def parameters(self) -> list[TensorVariable]:
        """Graphs of other variables' values."""
        return [self.matrix]

    def with_parameters(self, parameters: Sequence[TensorVariable]) -> MatrixCoordinate:
        """Return the same coordinate for other values of the other variables."""
        [matrix] = parameters
        return self._replace(matrix=matrix)

    @property
    def log_ratio(self) -> TensorVariable:
        """Logarithms of the derivative of each entry by its own value."""
        diagonal = pt.diagonal(self.matrix)
        along = diagonal if self.axis == 1 else diagonal[:, None]
        return pt.log1p(self.share * (along - 1))

    def inside(self, value: TensorVariable) -> TensorVariable:
        """Return the coordinate of PyMC's value."""
        product = value @ self.matrix.T if self.axis == 1 else self.matrix @ value
        return (1 - self.share) * value + self.share * product

    def outside(self, coordinate: TensorVariable) -> TensorVariable:
        """Return PyMC's value, by forward substitution."""
        entries: list[TensorVariable] = []
        ratios = pt.exp(self.log_ratio)
        for i in range(self.share.type.shape[self.axis]):
            at = (slice(None), i) if self.axis == 1 else i
            before = pt.add(*(self.matrix[i, j] * entries[j] for j in range(i)), 0.0)
            entries.append((coordinate[at] - self.share[at] * before) / ratios[at])
        return pt.stack(entries, axis=self.axis)


class SummedCoordinate(NamedTuple):
    r"""The coordinate :math:`w_i = (1 - a_i) z_i + a_i (m_i + \sum_{j \le i} s_j z_j)`.

    Attributes
    ----------
    share : TensorVariable
        Shares a of all entries, at least 0 and less than 1, of the variable's shape.
    mean, log_scale : TensorVariable
        Functions m and log s of PyMC's values of other flat variables; they broadcast to it.
    axis : int
        The axis of the sums.
    is_natural : bool
        Whether rows of the data depend on the coordinate as the model is written.
    """

    share: TensorVariable
    mean: TensorVariable
    log_scale: TensorVariable
    axis: int
    is_natural: bool = True

    @property
    def parameters(self) -> list[TensorVariable]:
        """Graphs of other variables' values."""
        return [self.mean, self.log_scale]

    def with_parameters(self, parameters: Sequence[TensorVariable]) -> SummedCoordinate:
        """Return the same coordinate for other values of the other variables."""
        mean, log_scale = parameters
        return self._replace(mean=mean, log_scale=log_scale)

    @property
    def log_ratio(self) -> TensorVariable:
        """Logarithms of the derivative of each entry by its own value."""
        return pt.log(1 - self.share + self.share * pt.exp(self.log_scale))

    def inside(self, value: TensorVariable) -> TensorVariable:
        """Return the coordinate of PyMC's value."""
        sums = pt.cumsum(value * pt.exp(self.log_scale), axis=self.axis)
        return (1 - self.share) * value + self.share * (self.mean + sums)

    def outside(self, coordinate: TensorVariable) -> TensorVariable:
        """Return PyMC's value, from the sums, of which each is a linear function of the last."""
        ratio = pt.exp(self.log_ratio)
        rest = (coordinate - self.share * self.mean) / ratio
        kept, sums = (1 - self.share) / ratio, rest * pt.exp(self.log_scale)
        # Each function takes in as many before it as it already stands for.
        n, length = self.share.type.shape[self.axis], 1
        while length < n:
            sums += kept * self._later(sums, length)
            kept *= self._later(kept, length)
            length *= 2
        return rest - self.share / ratio * self._later(sums, 1)

    def _later(self, x: TensorVariable, n: int) -> TensorVariable:
        """Return entries that are moved back along the axis, behind zeros."""
        along = pt.moveaxis(x, self.axis, 0)
        moved = pt.concatenate([pt.zeros_like(along[:n]), along[:-n]])
        return pt.moveaxis(moved, 0, self.axis)


type Coordinate = ScaledCoordinate | MatrixCoordinate | SummedCoordinate
"""How the position of a flat variable depends on its value."""
