#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Common parts of the fits of distributions of unit vectors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytensor
import pytensor.tensor as pt

from numpy.typing import ArrayLike
from pytensor.compile.mode import Mode
from pytensor.tensor.variable import TensorVariable

from pymc_geodesic.distributions.validation import check_unit_vectors

__all__ = ["as_rows", "increasing_root", "second_moments", "with_gradient"]

# Above it the data are a point up to rounding, and a concentration is meaningless.
LARGEST_KAPPA = 1e12


def as_rows(X: ArrayLike) -> np.ndarray:
    """Return unit vectors as the rows of a matrix, or raise a ValueError."""
    X = np.asarray(X, dtype=float)
    if X.ndim != 2 or len(X) < 2:
        raise ValueError(
            "`X` expected a matrix of two or more unit vectors, one per row; got an array of shape "
            f"{X.shape}."
        )
    check_unit_vectors(X, "X", "maximum likelihood")
    return X


def second_moments(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvalues of the second moments, the smallest first, and their vectors."""
    shares, vectors = np.linalg.eigh(X.T @ X / len(X))
    if shares[0] <= 1e-12:
        raise ValueError(
            "`X` expected rows that span the space, got a smallest share of the second moments of "
            f"{shares[0]:.3g}: the rows lie in a subspace. Leave out constant coordinates, or add "
            "rows."
        )
    return shares, vectors


def increasing_root(function: Callable[[float], float], known: float, start: float) -> float:
    """Find the zero of an increasing function on the side of ``known`` where ``start`` is."""
    # Imported on first use, because it takes long.
    from scipy.optimize import brentq

    far = start
    while abs(far) < LARGEST_KAPPA and np.sign(function(far)) != np.sign(far):
        far *= 2
    # Rounding may make the function zero, or change its sign, at the known end.
    if np.sign(function(known)) in (0, np.sign(far)):
        return known
    return float(brentq(function, known, far, xtol=1e-14, rtol=1e-13))


def with_gradient(
    graph: Callable[[TensorVariable], TensorVariable], shape: tuple[int, ...] = ()
) -> Callable:
    """Make a function of a graph with one input, a number or an array, and its gradient.

    It is interpreted, not compiled, because it is called only tens of times.
    """
    x = pt.tensor("x", dtype="float64", shape=shape)
    value = graph(x)
    mode = Mode(linker="py", optimizer="fast_compile")
    return pytensor.function([x], [value, pt.grad(value, x)], mode=mode)
