#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""By how much the gradient of each row changes around a center, in the frame of a mass.

With control variates the noise of a batch is that of these changes, and it is least where rows are
drawn in proportion to their norms. For random directions z of the frame, the second difference of
the log likelihood :math:`f_i` of a row,

.. math::

    f_i(c + h z) + f_i(c - h z) - 2 f_i(c) \approx h^2 z^\top H_i z, \qquad
    E (z^\top H_i z)^2 = (\operatorname{tr} H_i)^2 + 2 \lVert H_i \rVert^2,

has a mean square of the order of :math:`\lVert H_i \rVert^2`. For generalised linear models it is
three times the square of the leverage. It needs the log likelihood of all rows at a few points, and
no gradients.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.kernel.host_gradient import HostGradient, TermsOfRows
from pymc_geodesic.mass.arrays import Mass
from pymc_geodesic.tuning.anchor import around
from pymc_geodesic.tuning.secants import HALF_WIDTH

__all__ = ["sizes_of_rows"]

# Pairs of points: they determine the size of a row to a third, which costs a tenth of the gain.
N_PAIRS = 8


def sizes_of_rows(
    gradient: HostGradient,
    point: Sequence[np.ndarray],
    *,
    mass: Mass,
    rng: np.random.Generator,
) -> np.ndarray | None:
    """Measure the changes of the gradients of all rows.

    Parameters
    ----------
    gradient : HostGradient
        The model, with its data in memory.
    point : sequence of ndarray
        The center.
    mass : Mass
        Gives the frame.
    rng : numpy.random.Generator
        Source of the directions.

    Returns
    -------
    ndarray or None
        One number for each row; None if the log likelihood is no sum over rows.
    """
    terms = gradient.terms_of_rows()
    if terms is None or not _belong_to_rows(terms, gradient, point):
        return None
    points = [point]
    for _ in range(N_PAIRS):
        noise = [HALF_WIDTH * rng.standard_normal(np.shape(x)) for x in point]
        for sign in (1, -1):
            moves = [np.asarray(sign * z, x.dtype) for z, x in zip(noise, point, strict=True)]
            points.append(around(gradient, point, mass, moves))
    with np.errstate(invalid="ignore"):
        parts = [_second_differences(terms, gradient, points, rows) for [rows] in gradient.chunks()]
    sizes = np.concatenate(parts)
    finite = np.isfinite(sizes)
    return np.where(finite, sizes, np.max(sizes, where=finite, initial=0.0))


def _second_differences(
    terms: TermsOfRows,
    gradient: HostGradient,
    points: Sequence[Sequence[np.ndarray]],
    rows: np.ndarray,
) -> np.ndarray:
    center, *ends = (terms(point, rows) for point in points)
    pairs = zip(ends[::2], ends[1::2], strict=True)
    squares = [(up + down - 2 * center) ** 2 for up, down in pairs]
    # Each part of the rows is scaled to all of them.
    share = len(rows) / gradient.n_rows[0]
    return share * np.sqrt(np.mean(squares, axis=0)) / HALF_WIDTH**2


def _belong_to_rows(
    terms: TermsOfRows, gradient: HostGradient, point: Sequence[np.ndarray]
) -> bool:
    """Return whether each term is that of one row, whatever other rows there are."""
    # As many as are evaluated at once in any case, so that nothing more is compiled.
    [rows] = next(gradient.chunks())
    others = np.append(rows[:-1], rows[0])
    whole, turned, changed = (terms(point, x) for x in (rows, rows[::-1].copy(), others))
    return (
        whole.shape == rows.shape
        and np.allclose(whole, turned[::-1], equal_nan=True)
        and np.allclose(whole[:-1], changed[:-1], equal_nan=True)
    )
