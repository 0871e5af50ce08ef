#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Entries of a position that few batches concern, and the noise of their gradients.

Without a row of such an entry, batches have the same gradient for it. So the gradients of two
batches agree, to the last bit, as often as neither holds one. Where rows are alike, batches that
hold as many agree too, and up to about four rows in a batch count as less than one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.algorithms.demands import FEW_ROWS, RareEntries
from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.manifolds import Product
from pymc_geodesic.mass.arrays import Mass, joined, split
from pymc_geodesic.mass.low_rank import LowRankMass

__all__ = ["PairsOfBatches", "along_directions", "gradients_of_batches", "in_frame"]


# By how much the noise of such an entry may exceed what a few hits showed, in excess of one.
UNCERTAIN = 1.0
# Entries of a variable with as many rows, up to this factor in all, have about the same noise, so
# that its mean over them is used. The largest of thousands of estimates is far too large: with
# 3,000 counties of two rows and more it was nine times the largest noise.
ALIKE = 1.5


class PairsOfBatches:
    r"""Gradients of batches, compared two by two.

    Of all pairs the share :math:`e^{-2 a}` agrees in an entry that a rows of a batch concern.

    Parameters
    ----------
    manifold : Product
        Only its flat variables are compared.
    """

    def __init__(self, manifold: Product) -> None:
        pairs = zip(manifold.factors, manifold.shapes, strict=True)
        self._shapes, self._is_flat = manifold.shapes, [factor.is_flat for factor, _ in pairs]
        self._n, self._same, self._squares = 0, np.zeros(0), np.zeros(0)

    def add(self, gradients: Sequence[Sequence[np.ndarray]]) -> None:
        """Compare the gradients of batches at one place; of an odd number, not the last."""
        for a, b in zip(gradients[::2], gradients[1::2], strict=False):
            difference = joined(a) - joined(b)
            if not self._n:
                self._same, self._squares = np.zeros((2, len(difference)))
            self._n += 1
            self._same += difference == 0
            self._squares += 0.5 * difference**2

    def are_rare(self) -> list[np.ndarray]:
        """Return for every variable, in its shape, which entries few batches concern."""
        are_rare = split(self._n_rows() < FEW_ROWS, self._shapes)
        pairs = zip(are_rare, self._is_flat, strict=True)
        return [is_rare.astype(bool) & is_flat for is_rare, is_flat in pairs]

    def rare(
        self,
        points: Sequence[Sequence[np.ndarray]],
        *,
        of_large: Sequence[np.ndarray],
        weight: float,
    ) -> RareEntries:
        """Return the entries that few batches concern.

        Their variance is at most 1 / a: so much noise have rows that alone determine an entry.
        Larger values come from draws that ran off.

        Parameters
        ----------
        points : sequence of sequence of ndarray
            Places where gradients were compared, whose spread is the scale of every entry.
        of_large : sequence of ndarray
            The variance of the gradients of a batch as large ones show it; empty if there are none.
        weight : float
            Rows of all large batches over those of the batches compared; zero if there are none.
        """
        variance, n_rows = self._squares / self._n, self._n_rows()
        if of_large:
            variance = (variance + weight * joined(of_large)) / (1 + weight)
        variance = variance * np.var([joined(point) for point in points], axis=0)
        parts = zip(
            *(split(of_entries, self._shapes) for of_entries in (variance, n_rows)),
            self.are_rare(),
            strict=True,
        )
        found = [_among_alike(v[is_rare], n[is_rare]) for v, n, is_rare in parts]
        n_rows = n_rows[joined(self.are_rare())]
        return RareEntries(n_rows, np.minimum(np.concatenate(found), 1 / n_rows))

    def _n_rows(self) -> np.ndarray:
        # If all pairs agree, or none, the share is only known to be beyond half a pair.
        share = np.clip(self._same / self._n, 0.5 / self._n, 1 - 0.5 / self._n)
        return -0.5 * np.log(share)


def _among_alike(variance: np.ndarray, n_rows: np.ndarray) -> np.ndarray:
    """Average the noise of entries over those with about as many rows, and allow for its error."""
    # One that is not finite would spoil all sums after it; see the largest in ``rare``.
    variance = np.where(np.isfinite(variance), variance, 1 / n_rows)
    order, logs = np.argsort(n_rows), np.sort(np.log(n_rows))
    total = np.append(0.0, np.cumsum(variance[order]))
    half = 0.5 * np.log(ALIKE)
    first = np.searchsorted(logs, logs - half, side="left")
    last = np.searchsorted(logs, logs + half, side="right")
    count = last - first
    found = np.empty_like(variance)
    found[order] = (total[last] - total[first]) / count * (1 + UNCERTAIN / np.sqrt(count))
    return found


def gradients_of_batches(
    gradient: HostGradient,
    point: Sequence[np.ndarray],
    *,
    center: Sequence[np.ndarray] | None,
    n: int,
    rng: np.random.Generator,
    size: int | None = None,
) -> tuple[list[list[np.ndarray]], list[list[np.ndarray]]]:
    """Return the gradients of n batches, and if there is a center their changes from there.

    Parameters
    ----------
    gradient : HostGradient
        Gradients of the model.
    point : sequence of ndarray
        Where to evaluate them.
    center : sequence of ndarray or None
        Center of the control variates.
    n : int
        Number of batches.
    rng : numpy.random.Generator
        Draws the rows.
    size : int, optional
        Rows of a batch, which are then all different; by default those of the model.

    Returns
    -------
    list of list of ndarray
        For each batch its gradient, one array for each variable.
    list of list of ndarray
        Its change from the center; empty without a center.
    """
    rows = [gradient.rows(rng, size) for _ in range(n)]
    here = [found.gradient for found in gradient.many([point] * n, rows)]
    if center is None:
        return here, []
    nearest = gradient.representatives.of_point(center, point)
    there = [found.gradient for found in gradient.many([nearest] * n, rows)]
    if gradient.carried is not None:
        there = [gradient.carried(*one, *nearest, *point) for one in there]
    pairs = zip(here, there, strict=True)
    return here, [[a - b for a, b in zip(*pair, strict=True)] for pair in pairs]


def in_frame(gradient: HostGradient, point, vector, mass: Mass) -> list[np.ndarray]:
    """Map a gradient to the frame, followed by its components along the mass's directions."""
    force = mass.force(gradient.to_tangent(*point, *vector))
    return [*force, along_directions(force, mass)]


def along_directions(vector: Sequence[np.ndarray], mass: Mass | None) -> np.ndarray:
    """Return the components of a vector of the frame along the directions of a mass, if any."""
    return joined(vector) @ mass.directions if isinstance(mass, LowRankMass) else np.zeros(0)
