#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Masses as arrays: the inputs of compiled kernels, and maps of velocities and gradients."""

from __future__ import annotations

import math

from collections.abc import Sequence
from copy import copy
from itertools import accumulate, pairwise
from typing import Any, Literal, Protocol

import numpy as np

from scipy.linalg import solve_triangular

from pymc_geodesic.arrays import Array
from pymc_geodesic.manifolds import Manifold
from pymc_geodesic.mass.frames import Frame, JointFrame, Scaling, VariableFrames, Whitening

__all__ = [
    "LARGEST_DENSE",
    "JointMass",
    "Mass",
    "MassForm",
    "VariableMasses",
    "averaged",
    "inverse_cholesky",
    "joined",
    "mass_form",
    "n_flat_entries",
    "split",
]


class Mass(Protocol):
    """A positive definite mass of a product of variables."""

    @property
    def arrays(self) -> list[np.ndarray]:
        """Inverse factors of the mass, the inputs of the kernel."""
        ...

    @property
    def form(self) -> dict[str, Any]:
        """What a kernel is compiled for: all but the values of the arrays."""
        ...

    @property
    def is_diagonal(self) -> bool:
        """Whether the mass is diagonal."""
        ...

    @property
    def is_one(self) -> bool:
        """Whether the mass is exactly one."""
        ...

    def frame(self, arrays: Sequence[Array]) -> Frame:
        """Write the map to the frame of unit mass for symbolic ``arrays``."""
        ...

    def rate(self, velocity: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Map velocities of the frame to the rates at which positions move."""
        ...

    def force(self, gradient: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Map gradients to the frame of unit mass."""
        ...

    def whiten(self, displacement: Sequence[np.ndarray]) -> np.ndarray:
        """Map displacements to the frame, as one vector: the inverse of :meth:`rate`."""
        ...

    def refined(self, covariance: np.ndarray) -> Mass:
        """Return the mass in whose frame a covariance, given in the present frame, is the identity.

        A vector is the diagonal of a covariance. Entries that share a number in the mass get the
        mean of their variances.
        """
        ...


def inverse_cholesky(matrix: np.ndarray) -> np.ndarray:
    """Inverse of the lower Cholesky factor of ``matrix``."""
    factor = np.linalg.cholesky(matrix)
    return solve_triangular(factor, np.eye(len(matrix)), lower=True)


def joined(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Put the entries of several arrays into one vector."""
    return np.concatenate(parts, axis=None)


def split(vector: np.ndarray, shapes: Sequence[tuple[int, ...]]) -> list[np.ndarray]:
    """Cut a vector, or each row of a matrix, into arrays: the inverse of :func:`joined`."""
    # A model may have a hundred variables, for which NumPy's function takes ten times as long.
    ends = list(accumulate(map(math.prod, shapes), initial=0))
    parts, rows = pairwise(ends), vector.shape[:-1]
    return [
        vector[..., start:end].reshape((*rows, *shape))
        for (start, end), shape in zip(parts, shapes, strict=True)
    ]


def averaged(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Average an array over the axes along which an array of another shape would be repeated."""
    longer = (1,) * (x.ndim - len(shape)) + tuple(shape)
    axes = tuple(i for i, (one, n) in enumerate(zip(longer, x.shape, strict=True)) if one != n)
    return x.mean(axis=axes, keepdims=True).reshape(shape) if axes else x.reshape(shape)


class VariableMasses:
    """A separate mass for each variable.

    Parameters
    ----------
    masses : sequence of ndarray
        One per variable: an array that broadcasts to it, its diagonal mass, or a matrix.
    dense : sequence of bool
        Whether each is a matrix, which acts along the last axis of its variable.
    shapes : sequence of tuple of int
        Shape of each variable.
    dtype : str
        Type of the variables.
    """

    def __init__(
        self,
        masses: Sequence[np.ndarray],
        *,
        dense: Sequence[bool],
        shapes: Sequence[tuple[int, ...]],
        dtype: str,
    ) -> None:
        self.dense, self.shapes, self.dtype = tuple(dense), tuple(shapes), dtype
        self._inverses = [
            np.asarray(inverse_cholesky(m) if matrix else 1 / np.sqrt(m), dtype=dtype)
            for m, matrix in zip(masses, self.dense, strict=True)
        ]

    def regrouped(
        self,
        arrays: Sequence[np.ndarray],
        *,
        dense: Sequence[bool],
        shapes: Sequence[tuple[int, ...]],
    ) -> VariableMasses:
        """Return the same masses for other arrays of the same variables."""
        other = copy(self)
        other._inverses = list(arrays)
        other.dense, other.shapes = tuple(dense), tuple(shapes)
        return other

    @property
    def arrays(self) -> list[np.ndarray]:  # noqa: D102
        return self._inverses

    @property
    def form(self) -> dict[str, Any]:  # noqa: D102
        return {"dense": self.dense, "shapes": self.shapes}

    @property
    def is_diagonal(self) -> bool:  # noqa: D102
        return not any(self.dense)

    @property
    def is_one(self) -> bool:  # noqa: D102
        pairs = zip(self._inverses, self.dense, strict=True)
        return all(np.array_equal(w, np.eye(len(w)) if m else np.ones_like(w)) for w, m in pairs)

    def frame(self, arrays: Sequence[Array]) -> Frame:  # noqa: D102
        pairs = zip(arrays, self.dense, strict=True)
        return VariableFrames([Whitening(w) if dense else Scaling(w) for w, dense in pairs])

    def rate(self, velocity: Sequence[np.ndarray]) -> list[np.ndarray]:  # noqa: D102
        terms = zip(self._inverses, velocity, self.dense, strict=True)
        return [v @ w if dense else w * v for w, v, dense in terms]

    def force(self, gradient: Sequence[np.ndarray]) -> list[np.ndarray]:  # noqa: D102
        terms = zip(self._inverses, gradient, self.dense, strict=True)
        return [g @ w.T if dense else w * g for w, g, dense in terms]

    def whiten(self, displacement: Sequence[np.ndarray]) -> np.ndarray:  # noqa: D102
        terms = zip(self._inverses, displacement, self.dense, strict=True)
        return joined([x @ np.linalg.inv(w) if dense else x / w for w, x, dense in terms])

    def refined(self, covariance: np.ndarray) -> VariableMasses:  # noqa: D102
        variances = split(covariance, self.shapes)
        masses = [
            1 / (w**2 * averaged(variance, np.shape(w)))
            for w, variance in zip(self._inverses, variances, strict=True)
        ]
        return type(self)(masses, dense=self.dense, shapes=self.shapes, dtype=self.dtype)


class JointMass:
    """A dense mass of the entries of all variables, one after the other.

    Parameters
    ----------
    matrix : ndarray
        Symmetric and positive definite.
    shapes : sequence of tuple of int
        Shape of each variable.
    dtype : str
        Type of the variables.
    """

    is_diagonal = False

    def __init__(
        self, matrix: np.ndarray, *, shapes: Sequence[tuple[int, ...]], dtype: str
    ) -> None:
        self.shapes, self.dtype = tuple(shapes), dtype
        self._inverse = inverse_cholesky(matrix).astype(dtype)

    def reshaped(self, shapes: Sequence[tuple[int, ...]]) -> JointMass:
        """Return the same mass for other arrays of the same entries in the same order."""
        other = copy(self)
        other.shapes = tuple(shapes)
        return other

    @property
    def arrays(self) -> list[np.ndarray]:  # noqa: D102
        return [self._inverse]

    @property
    def form(self) -> dict[str, Any]:  # noqa: D102
        return {"shapes": self.shapes}

    @property
    def is_one(self) -> bool:  # noqa: D102
        return np.array_equal(self._inverse, np.eye(len(self._inverse)))

    def frame(self, arrays: Sequence[Array]) -> Frame:  # noqa: D102
        [inverse] = arrays
        return JointFrame(inverse, shapes=self.shapes)

    def rate(self, velocity: Sequence[np.ndarray]) -> list[np.ndarray]:  # noqa: D102
        return split(joined(velocity) @ self._inverse, self.shapes)

    def force(self, gradient: Sequence[np.ndarray]) -> list[np.ndarray]:  # noqa: D102
        return split(self._inverse @ joined(gradient), self.shapes)

    def whiten(self, displacement: Sequence[np.ndarray]) -> np.ndarray:  # noqa: D102
        return solve_triangular(self._inverse, joined(displacement), lower=True, trans="T")

    def refined(self, covariance: np.ndarray) -> JointMass:  # noqa: D102
        factor = solve_triangular(self._inverse, np.eye(len(self._inverse)), lower=True)
        precision = np.linalg.inv(covariance)
        return JointMass(factor @ precision @ factor.T, shapes=self.shapes, dtype=self.dtype)


# A dense mass costs a matrix product per transition: up to here less than a batch's gradient.
LARGEST_DENSE = 100

MassForm = Literal["diagonal", "dense", "low_rank"]
"""A mass for each entry, of all entries, or for each entry and a few directions."""


def mass_form(factors: Sequence[Manifold], shapes: Sequence[tuple[int, ...]]) -> MassForm:
    """Choose the form of the mass: dense if possible, else with the directions of flat variables.

    Parameters
    ----------
    factors : sequence of Manifold
        One per variable.
    shapes : sequence of tuple of int
        Shape of each variable.
    """
    n_flat = n_flat_entries(factors, shapes)
    if all(factor.mass == "matrix" for factor in factors) and n_flat <= LARGEST_DENSE:
        return "dense"
    return "low_rank" if n_flat > 1 else "diagonal"


def n_flat_entries(factors: Sequence[Manifold], shapes: Sequence[tuple[int, ...]]) -> int:
    """Count the entries for which a mass may be any matrix.

    Parameters
    ----------
    factors : sequence of Manifold
        One per variable.
    shapes : sequence of tuple of int
        Shape of each variable.
    """
    pairs = zip(factors, shapes, strict=True)
    return sum(math.prod(shape) for factor, shape in pairs if factor.mass == "matrix")
