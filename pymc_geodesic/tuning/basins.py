#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Which ends of descents lie in one basin, and which are the same mode with other labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.tuning.many_descents import Descents, Frame, descend_together

__all__ = ["Basins"]

# Nats by which the energy must rise on the way from one end to another. It never rises on a
# straight way between two points of a density whose logarithm is concave. Chains cross a lower
# barrier easily.
BARRIER = 1.0
# Points on the way to the middle, and from there.
N_ON_THE_WAY = 6
# In posterior standard deviations. Ends so near each other are one.
SAME = 1.0
# Nats. Energies of different modes differ by several, and those of one mode with other labels only
# by what is left at the ends of descents.
EQUAL = 0.01
# Steps of descents that only remove a tilt.
MOST_STEPS = 100
# Of the distance between a number and its negative.
NEGATIVE = 0.05
# Off the chord, in units of the embedding: the middle between opposite unit vectors is nowhere.
ASIDE = 1e-3


class Basins:
    """Tell ends of descents apart.

    Parameters
    ----------
    frame : Frame
        The coordinates, and the rows at which energies are evaluated.
    rng : Generator
        For ways between opposite points.

    Attributes
    ----------
    n_copies : int
        Ends that were another one with other labels or signs.
    """

    def __init__(self, frame: Frame, *, rng: np.random.Generator) -> None:
        self._frame, self._rng, self.n_copies = frame, rng, 0
        factors, shapes = frame.gradient.manifold.factors, frame.gradient.manifold.shapes
        pairs = list(zip(factors, shapes, strict=True))
        repeated = [np.full(shape, factor.is_flat).ravel() for factor, shape in pairs]
        self._is_flat = np.concatenate(repeated)
        alone = [np.full(shape, factor.is_flat and shape == ()).ravel() for factor, shape in pairs]
        self._is_number = np.concatenate(alone)

    def distinct(self, ends: Descents, *, most: int) -> list[int]:
        """Return the numbers of ends in different basins: the first end, then the lowest ones.

        Of a mode and its copies with other labels only one counts. But a single number with the
        other sign is another answer to the question what it is.
        """
        lowest = [i for i in np.argsort(ends.energies) if i != 0 and np.isfinite(ends.energies[i])]
        kept = [0]
        for i in lowest:
            if len(kept) == most:
                break
            if not self._is_known(ends, i, kept):
                kept.append(int(i))
        return kept

    def _is_known(self, ends: Descents, i: int, kept: Sequence[int]) -> bool:
        here, others = ends.vectors[i], ends.vectors[list(kept)]
        moves = self._frame.whitened(others - here)
        if np.any(np.einsum("ij,ij->i", moves, moves) < SAME**2):
            return True
        energies = ends.energies[list(kept)]
        # A tilt is not the same for other labels.
        if self._frame.tilt is None and self._is_copy(here, ends.energies[i], others, energies):
            self.n_copies += 1
            return True
        highest = self._highest(here, others)
        return bool(np.any(highest - np.maximum(energies, ends.energies[i]) < BARRIER))

    def without_copies(self, ends: Descents, kept: Sequence[int]) -> list[int]:
        """Leave out ends that without a tilt are an earlier one with other labels."""
        if self._frame.tilt is None:
            return list(kept)
        plain = descend_together(
            self._frame.without_tilt(), ends.vectors[list(kept)], most=MOST_STEPS
        )
        chosen = [0]
        for i in range(1, len(kept)):
            here, others = plain.vectors[i], plain.vectors[chosen]
            # Near modes of all rows may be one of some rows.
            moves = self._frame.whitened(others - here)
            apart = np.einsum("ij,ij->i", moves, moves) > SAME**2
            energies = np.where(apart, plain.energies[chosen], np.inf)
            if self._is_copy(here, plain.energies[i], others, energies):
                self.n_copies += 1
            else:
                chosen.append(i)
        return [kept[i] for i in chosen]

    def _is_copy(
        self, here: np.ndarray, energy: float, others: np.ndarray, energies: np.ndarray
    ) -> bool:
        """Return whether a point is one of some others with other labels."""
        equal = others[np.abs(energies - energy) < EQUAL]
        return not all(self._has_other_sign(here, there) for there in equal)

    def _has_other_sign(self, here: np.ndarray, there: np.ndarray) -> bool:
        """Return whether a variable that is a single number has become its negative."""
        a, b = here[self._is_number], there[self._is_number]
        far = np.abs(self._frame.whitened((there - here)[None])[0][self._is_number]) > SAME
        return bool(np.any(far & (np.abs(a + b) < NEGATIVE * np.abs(a - b))))

    def _highest(self, here: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Return the highest energy on the way from one point to each of some others."""
        middles = (here + others) / 2
        noise = self._rng.standard_normal(middles.shape)
        middles = self._frame.projected(middles + ASIDE * ~self._is_flat * noise)
        shares = (np.arange(N_ON_THE_WAY) + 1)[:, None, None] / N_ON_THE_WAY
        ways = [
            end + shares * (middles - end) for end in (np.broadcast_to(here, others.shape), others)
        ]
        points = np.concatenate(ways)
        energies = self._frame.energies(points.reshape(-1, points.shape[-1]))
        return energies.reshape(len(points), len(others)).max(axis=0)
