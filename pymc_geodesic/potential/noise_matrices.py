#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Models of gradient noise that entries share: a known covariance, or the matrix of scores."""

from __future__ import annotations

import math

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.linalg

from pymc_geodesic import arrays
from pymc_geodesic.arrays import Array
from pymc_geodesic.manifolds import Point
from pymc_geodesic.potential.noise_models import (
    FisherNoise,
    KnownNoise,
    NoiseModel,
    averaged,
    share_left,
)
from pymc_geodesic.potential.potential import Potential
from pymc_geodesic.potential.variables import SampledVariable
from pymc_geodesic.validation import definite

__all__ = [
    "FISHER_MATRIX",
    "FisherMatrix",
    "KnownCovariance",
    "finite_array",
    "is_noise_matrix",
    "noise_model",
    "read_entries",
]


FISHER_MATRIX = "fisher_matrix"


def is_noise_matrix(gradient_noise: Any, variables: Sequence[SampledVariable]) -> bool:
    """Return whether the user's ``gradient_noise`` has covariances between entries."""
    if isinstance(gradient_noise, str):
        return gradient_noise == FISHER_MATRIX
    return _has_matrix(gradient_noise, variables)


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


def _has_matrix(given: Any, variables: Sequence[SampledVariable]) -> bool:
    """Return whether a matrix over entries is given, for all variables or for one of them."""
    if isinstance(given, Mapping):
        return any(v.name in given and _is_matrix(given[v.name], [v]) for v in variables)
    return _is_matrix(given, variables)


def _is_matrix(given: Any, variables: Sequence[SampledVariable]) -> bool:
    if given is None or isinstance(given, str):
        return False
    size = sum(math.prod(variable.shape) for variable in variables)
    # An array that broadcasts to the variables has one number per entry. Only a single entry could
    # have both shapes, with the same meaning.
    return size > 1 and np.shape(given) == (size, size)


def read_entries(
    argument: str, given: Any, variables: Sequence[SampledVariable], *, missing: float | None
) -> np.ndarray:
    """Return one number per entry, or a matrix, over the entries of all variables in order.

    Parameters
    ----------
    argument : str
        Name of the user's argument, for messages.
    given : number, array or mapping of str to either
        The user's value.
    variables : sequence of SampledVariable
        The variables.
    missing : float, optional
        Value for variables that a mapping leaves out; without it they raise an error.

    Raises
    ------
    ValueError
        For unknown or missing names, wrong shapes, and numbers that are not finite.
    """
    if not isinstance(given, Mapping):
        return _of_all(argument, given, variables)
    names = [variable.name for variable in variables]
    absent = [] if missing is not None else sorted(set(names) - set(given))
    if unknown := sorted(set(given) - set(names)):
        raise ValueError(f"`{argument}` expected variables among {names}, got {unknown}.")
    if absent:
        raise ValueError(
            f"`{argument}` expected a value for each of {names}, got none for {absent}."
        )
    parts = [_of_variable(argument, given.get(v.name, missing), v) for v in variables]
    if all(part.ndim == 1 for part in parts):
        return np.concatenate(parts)
    return scipy.linalg.block_diag(*[np.diag(p) if p.ndim == 1 else p for p in parts])


def _of_variable(argument: str, given: Any, variable: SampledVariable) -> np.ndarray:
    array, size = finite_array(argument, given), math.prod(variable.shape)
    if _is_matrix(array, [variable]):
        return array
    try:
        return np.broadcast_to(array, variable.shape).ravel()
    except ValueError:
        raise ValueError(
            f"`{argument}` of `{variable.name}` expected a number, an array that broadcasts to "
            f"shape {variable.shape}, or a matrix of shape {(size, size)} over its entries; got "
            f"shape {array.shape}."
        ) from None


def _of_all(argument: str, given: Any, variables: Sequence[SampledVariable]) -> np.ndarray:
    array, size = finite_array(argument, given), sum(math.prod(v.shape) for v in variables)
    if array.shape == (size, size):
        return array
    if array.shape in ((), (size,)):
        return np.broadcast_to(array, (size,))
    raise ValueError(
        f"`{argument}` expected a number, {size} numbers or a matrix of shape {(size, size)}, for "
        f"the entries of {', '.join(f'`{v.name}`' for v in variables)} in this order; got shape "
        f"{array.shape}. Pass a dict by variable name for one value per variable."
    )


def finite_array(argument: str, given: Any) -> np.ndarray:
    """Return the user's numbers as an array of floats."""
    try:
        array = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        array = np.asarray(np.nan)
    if not np.all(np.isfinite(array)):
        raise ValueError(f"`{argument}` expected finite numbers, got {given!r}.")
    return array


def noise_model(
    potential: Potential, gradient_noise: Any, *, replacement: bool = True
) -> NoiseModel:
    """Return the noise model: of variances or a covariance, known or from scores."""
    if isinstance(gradient_noise, str):
        if gradient_noise not in ("fisher", FISHER_MATRIX):
            raise ValueError(
                "`gradient_noise` expected None, a number, an array, a mapping, 'fisher' or "
                f"'{FISHER_MATRIX}', got {gradient_noise!r}."
            )
        model = FisherMatrix if gradient_noise == FISHER_MATRIX else FisherNoise
        return model(potential, replacement=replacement)
    if is_noise_matrix(gradient_noise, potential.variables):
        return KnownCovariance(potential.variables, covariance=gradient_noise)
    return KnownNoise(potential, variance=gradient_noise)
