#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Low-order test functions f with their Stein operators, one family per manifold.

For draws of :math:`\exp(-U)` on a manifold without boundary, or where the flux of f through the
boundary vanishes, :math:`E[\Delta f - \nabla f \cdot \nabla U] = 0` with the Laplace-Beltrami
operator.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch
from itertools import combinations

import numpy as np

from pymc_geodesic.entry_names import entry_name
from pymc_geodesic.manifolds import Manifold

__all__ = ["label", "labels_of", "pairs_of", "points_of", "product_label", "stein_values"]

# Largest number of entries whose products are tested: the number of products is quadratic in it.
LARGEST_PAIRED = 10

Identity = tuple[str, np.ndarray]
"""Name of a test function of a variable called ``{}``, and the operator's values at the draws."""


@singledispatch
def stein_values(
    manifold: Manifold, x: np.ndarray, gradient: np.ndarray, *, order: int
) -> Iterator[Identity]:
    """Evaluate the Stein operator on test functions of degree one, and two if ``order`` is two.

    Parameters
    ----------
    manifold : Manifold
        The manifold of the points.
    x, gradient : ndarray
        Points and gradients of the potential energy in the embedding, ``(chain, draw, *shape)``.
    order : {1, 2}
        Largest degree.

    Yields
    ------
    str, ndarray
        The function's name, with ``{}`` for that of the variable, and values ``(chain, draw)``
        whose mean is zero.
    """
    raise NotImplementedError(
        f"A Stein check expected a manifold with test functions, got {manifold!r}. Register test "
        "functions with `pymc_geodesic.diagnostics.harmonics.stein_values.register`."
    )


def pairs_of(n: int) -> list[tuple[int, int]]:
    """Pairs of different entries, if there are not too many."""
    return list(combinations(range(n), 2)) if n <= LARGEST_PAIRED else []


def points_of(
    *arrays: np.ndarray,
) -> Iterator[tuple[tuple[int, ...], list[np.ndarray]]]:
    """Yield the points of a variable whose points are vectors along the last axis."""
    for prefix in np.ndindex(arrays[0].shape[2:-1]):
        yield prefix, [array[(slice(None), slice(None), *prefix)] for array in arrays]


def label(*index: int) -> str:
    """Write an index as it is printed after a name."""
    return entry_name("", index)


def labels_of(shape: tuple[int, ...]) -> list[str]:
    """Label every entry of an array of this shape."""
    return [label(*index) for index in np.ndindex(shape)]


def product_label(prefix: tuple[int, ...], i: int, j: int) -> str:
    """Label the product of two entries of one point."""
    first, second = label(*prefix, i), label(*prefix, j)
    return f"{{}}{first}^2" if i == j else f"{{}}{first} {{}}{second}"
