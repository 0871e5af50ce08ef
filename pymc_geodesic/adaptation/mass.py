#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Masses as arrays: what the compiled kernels are given, and momenta from velocities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from pytensor.tensor import TensorVariable
from scipy.linalg import solve_triangular

from pymc_geodesic.manifolds.weighted import Frame, JointFrame, Scaling, VariableFrames, Whitening

__all__ = ["JointMass", "Mass", "VariableMasses", "inverse_cholesky"]


class Mass(Protocol):
    """A positive definite mass of a product of variables."""

    @property
    def arrays(self) -> list[np.ndarray]:
        """Inverse factors of the mass, the inputs of the kernel."""
        ...

    @property
    def is_diagonal(self) -> bool:
        """Whether every entry has a mass of its own."""
        ...

    def frame(self, arrays: Sequence[TensorVariable]) -> Frame:
        """Write the map to the frame of unit mass for symbolic ``arrays``."""
        ...

    def momentum(self, velocity: Sequence[np.ndarray]) -> np.ndarray:
        """Map velocities held in the frame of unit mass to one vector of momenta."""
        ...


def inverse_cholesky(matrix: np.ndarray) -> np.ndarray:
    """Inverse of the lower Cholesky factor of ``matrix``."""
    factor = np.linalg.cholesky(matrix)
    return solve_triangular(factor, np.eye(len(matrix)), lower=True)


class VariableMasses:
    """A mass for each variable by itself.

    Parameters
    ----------
    masses : sequence of ndarray
        One a variable: an array that broadcasts to it, its diagonal mass, or a matrix.
    dense : sequence of bool
        Which of them are matrices, acting along their variable's last axis.
    dtype : str
        Type of the variables.
    """

    def __init__(self, masses: Sequence[np.ndarray], *, dense: Sequence[bool], dtype: str) -> None:
        self.dense = tuple(dense)
        self._inverses = [
            (inverse_cholesky(m) if matrix else 1 / np.sqrt(m)).astype(dtype)
            for m, matrix in zip(masses, self.dense, strict=True)
        ]

    @property
    def arrays(self) -> list[np.ndarray]:  # noqa: D102
        return self._inverses

    @property
    def is_diagonal(self) -> bool:  # noqa: D102
        return not any(self.dense)

    def frame(self, arrays: Sequence[TensorVariable]) -> Frame:  # noqa: D102
        pairs = zip(arrays, self.dense, strict=True)
        return VariableFrames([Whitening(w) if dense else Scaling(w) for w, dense in pairs])

    def momentum(self, velocity: Sequence[np.ndarray]) -> np.ndarray:  # noqa: D102
        parts = [
            np.linalg.solve(w, v[..., None])[..., 0] if dense else v / w
            for w, v, dense in zip(self._inverses, velocity, self.dense, strict=True)
        ]
        return np.concatenate([part.ravel() for part in parts])


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
        self.shapes = tuple(shapes)
        self._inverse = inverse_cholesky(matrix).astype(dtype)

    @property
    def arrays(self) -> list[np.ndarray]:  # noqa: D102
        return [self._inverse]

    def frame(self, arrays: Sequence[TensorVariable]) -> Frame:  # noqa: D102
        [inverse] = arrays
        return JointFrame(inverse, shapes=self.shapes)

    def momentum(self, velocity: Sequence[np.ndarray]) -> np.ndarray:  # noqa: D102
        joined = np.concatenate([v.ravel() for v in velocity])
        return solve_triangular(self._inverse, joined, lower=True)
