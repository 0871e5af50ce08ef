#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""What the checks of draws ask of a manifold: test functions, kernel factors, a mean.

For draws of :math:`\exp(-U)` on a manifold without boundary, or where the flux of f through the
boundary vanishes, :math:`E[\Delta f - \nabla f \cdot \nabla U] = 0` with the Laplace-Beltrami
operator.

On a manifold embedded in R^n with tangent projection :math:`\Lambda`, a vector field
:math:`\Lambda h` has the Stein operator :math:`b \cdot h + \sum_i (\Lambda \nabla h_i)_i` with
:math:`b = -\Lambda \nabla U + \operatorname{div} \Lambda`. For h whose entries are
independent functions of a kernel k the Stein kernel is

.. math::

    b_x \cdot b_y k + b_x \cdot \Lambda_y \nabla_y k + b_y \cdot \Lambda_x \nabla_x k
    + \operatorname{tr}(\Lambda_x \nabla_x \nabla_y k \Lambda_y).

On flat space it is the usual Stein kernel. A kernel of the distance :math:`|x - y|` needs
only the inner products in :class:`Products`, which add up over the factors of a product.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import singledispatch
from itertools import combinations
from typing import Any, Protocol

import numpy as np

from pymc_geodesic.entry_names import entry_name
from pymc_geodesic.manifolds import Manifold

__all__ = [
    "Factor",
    "FlatFactor",
    "Products",
    "SphereFactor",
    "kernel_factors",
    "label",
    "labels_of",
    "located",
    "pairs_of",
    "points_of",
    "positive",
    "product_label",
    "stein_values",
]


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


@singledispatch
def located(manifold: Any, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean of draws, and the draws about it.

    Those of the package are in ``diagnostics/rules.py``. All others have the mean
    of the entries.

    Parameters
    ----------
    manifold : Manifold or None
        Where the draws lie; None is flat space.
    draws : ndarray, shape (S, ...)
        The draws, along the first axis.

    Returns
    -------
    mean, draws : ndarray
        Draws that are the same point in several ways, such as angles and axes, are written as those
        next to the mean.
    """
    return draws.mean(axis=0, dtype=float), draws


@dataclass
class Products:
    """Inner products between draws, arrays ``(draw, draw)``; d is the difference x - y.

    Attributes
    ----------
    scores : ndarray
        ``b_x . b_y``.
    drift : ndarray
        ``b_x . Lambda_y d``.
    trace : ndarray or float
        Trace of ``Lambda_x Lambda_y``.
    bend : ndarray
        ``d Lambda_y Lambda_x d``.
    distance : ndarray
        ``d . d``.
    """

    scores: np.ndarray
    drift: np.ndarray
    trace: np.ndarray | float
    bend: np.ndarray
    distance: np.ndarray

    def __add__(self, other: Products) -> Products:
        """Combine the factors of a product."""
        mine, its = vars(self), vars(other)
        return Products(**{name: mine[name] + its[name] for name in mine})


@dataclass(frozen=True)
class FlatFactor:
    """Points of flat space of dimension ``dim``, standardised, with ``b = -dU``.

    They may lie in a subspace; ``score`` is then tangent to it.
    """

    points: np.ndarray
    score: np.ndarray
    dim: int

    def products(self, length: float) -> Products:
        """Measure in units of ``length``."""
        x, b = self.points / length, self.score * length
        along = (b * x).sum(axis=1)[:, None] - b @ x.T
        distance = _square_distance(x)
        return Products(b @ b.T, along, float(self.dim), distance, distance)


@dataclass(frozen=True)
class SphereFactor:
    """Unit vectors with the tangent score ``-Lambda dU``; distances are in units of ``spread``."""

    points: np.ndarray
    score: np.ndarray
    spread: float

    def products(self, length: float) -> Products:
        """Measure in units of ``length``, on a sphere of radius ``1 / (spread * length)``."""
        x, n = self.points, self.points.shape[1]
        unit = self.spread * length
        b = unit * (self.score - (n - 1) * x)
        cosine = x @ x.T
        drift = ((b * x).sum(axis=1)[:, None] - (b @ x.T) * cosine) / unit
        return Products(
            scores=b @ b.T,
            drift=drift,
            trace=n - 2 + cosine**2,
            bend=cosine * (1 - cosine**2) / unit**2,
            distance=_square_distance(x) / unit**2,
        )


class Factor(Protocol):
    """The points of one variable, with the quantities that the kernel needs."""

    def products(self, length: float) -> Products:
        """Measure in units of ``length``."""
        ...


@singledispatch
def kernel_factors(manifold: Manifold, x: np.ndarray, gradient: np.ndarray) -> Iterator[Factor]:
    """Split a variable, ``(draw, *shape)``, into points with scores, each in its own scale."""
    raise NotImplementedError(
        f"A kernel Stein discrepancy expected a manifold with factors, got {manifold!r}. "
        "Register them with `pymc_geodesic.diagnostics.harmonics.kernel_factors.register`."
    )


def _square_distance(x: np.ndarray) -> np.ndarray:
    squares = (x * x).sum(axis=1)
    return np.maximum(squares[:, None] + squares - 2 * (x @ x.T), 0)


def positive(scale: np.ndarray) -> np.ndarray:
    """Replace zero scales, of a chain that does not move, by one."""
    return np.where(scale > 0, scale, 1.0)
