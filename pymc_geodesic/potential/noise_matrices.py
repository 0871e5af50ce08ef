#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Models of gradient noise that entries share: a known covariance, or the matrix of scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pymc_geodesic import arrays
from pymc_geodesic.arrays import Array
from pymc_geodesic.manifolds import Point
from pymc_geodesic.potential.entry_matrices import (
    EntryArray,
    has_matrix,
    read_entries,
)
from pymc_geodesic.potential.noise_models import FisherNoise, averaged, share_left
from pymc_geodesic.potential.potential import Potential
from pymc_geodesic.potential.variables import SampledVariable
from pymc_geodesic.validation import definite

__all__ = ["FISHER_MATRIX", "FisherMatrix", "KnownCovariance", "is_noise_matrix"]

FISHER_MATRIX = "fisher_matrix"


def is_noise_matrix(gradient_noise: Any, variables: Sequence[EntryArray]) -> bool:
    """Return whether the user's ``gradient_noise`` has covariances between entries."""
    if isinstance(gradient_noise, str):
        return gradient_noise == FISHER_MATRIX
    return has_matrix(gradient_noise, variables)


class KnownCovariance:
    """Gradient noise of a given covariance between the entries of all variables.

    Parameters
    ----------
    variables : sequence of SampledVariable
        The variables, on Euclidean space.
    covariance : array or mapping of str to array
        In units of the gradient squared: a matrix over the entries of all variables in order, or
        one per variable by name, where a number or an array is a diagonal and the rest is zero.

    Raises
    ------
    ValueError
        If it is not symmetric or has a negative eigenvalue, has a wrong shape, or for a variable on
        a curved manifold.
    """

    def __init__(self, variables: Sequence[SampledVariable], *, covariance: Any) -> None:
        _require_flat(variables)
        matrix = read_entries("gradient_noise", covariance, variables, missing=0.0)
        definite("gradient_noise", matrix, strictly=False)
        self.matrix = matrix.astype(variables[0].position.dtype)

    def initial(self) -> list[np.ndarray]:  # noqa: D102
        return []

    def largest(self, memory: Sequence[np.ndarray]) -> float:
        """Largest variance in any direction."""
        return float(np.linalg.eigvalsh(self.matrix)[-1])

    def update(self, memory, position, indices, width, *, center=None, potential):
        """Return the covariance."""
        return self.matrix, memory


class FisherMatrix:
    r"""Covariance of the gradient, from the spread of the scores of single rows.

    The matrix :math:`\hat V` over the entries of all variables, of which
    :class:`~pymc_geodesic.potential.noise_models.FisherNoise` uses the diagonal.

    Parameters
    ----------
    potential : Potential
        The potential whose rows are scored.
    replacement : bool, default True
        Whether the rows of a batch are drawn with replacement.

    Raises
    ------
    ValueError
        As for the diagonal; also for a variable on a curved manifold.
    """

    def __init__(self, potential: Potential, *, replacement: bool = True) -> None:
        self.diagonal = FisherNoise(potential, replacement=replacement)
        _require_flat(potential.variables)

    def initial(self) -> list[np.ndarray]:
        """Return a covariance of zero and a count of zero transitions."""
        *variances, count = self.diagonal.initial()
        size = sum(variance.size for variance in variances)
        return [np.zeros((size, size), dtype=count.dtype), count]

    def largest(self, memory: Sequence[np.ndarray]) -> float:
        """Largest variance in any direction."""
        return float(np.linalg.eigvalsh(memory[0])[-1])

    def update(self, memory, position, indices, width, *, center=None, potential):
        """Mix the covariance of the batch into the running mean."""
        mean, count = memory
        scores = self.diagonal.scores(position, indices, width, center=center, potential=potential)
        pairs = zip(scores, self.diagonal.finite, strict=True)
        estimate = sum(_covariance(source, n_rows) for source, n_rows in pairs)
        [mean], count = averaged([mean], [estimate], count)
        return mean, (mean, count)


def _covariance(scores: Point, n_rows: int | None) -> Array:
    n = scores[0].shape[0]
    rows = arrays.concatenate([part.reshape((n, -1)) for part in scores], axis=1)
    apart = rows - rows.mean(axis=0)
    n = arrays.size_along(rows, 0)
    return share_left(n, n_rows) * arrays.dot(apart.T, apart) / (n * (n - 1))


def _require_flat(variables: Sequence[SampledVariable]) -> None:
    for variable in variables:
        if not variable.is_flat:
            raise ValueError(
                "`gradient_noise` expected variances for each point, because a covariance between "
                f"entries would have to turn with `{variable.name}`, which is on a "
                f"{variable.manifold.name.lower()}; got a matrix. Use 'fisher', or a dict of "
                "variances by variable name."
            )
