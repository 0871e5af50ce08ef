#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""All variables of a model together, in coordinates in which their moments are corrected."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pymc_geodesic.potential.variables import SampledVariable
from pymc_geodesic.refinement.control_variates import SteinDraws
from pymc_geodesic.refinement.curved import PointFrame, PointMoves, moved_to, moves_of
from pymc_geodesic.refinement.frame import MOST_PAIRED, Frame, frame_of
from pymc_geodesic.refinement.moments import Correction

__all__ = ["Coordinates", "has_moves"]

type _Columns = Sequence[np.ndarray]


class Coordinates:
    """Coordinates of draws, which have mean zero and about unit covariance.

    Entries of flat variables are combined linearly. Points of curved manifolds have functions of
    their own, unless there are many coordinates, and stay as they are if they have none.

    Parameters
    ----------
    variables : sequence of SampledVariable
        The variables.
    everywhere : sequence of ndarray, shape (chain, draw, *shape)
        All draws of each, in the embedding.

    Attributes
    ----------
    left_out : list of str
        Variables that have none.
    """

    def __init__(self, variables: Sequence[SampledVariable], everywhere: _Columns) -> None:
        self._flat = [i for i, variable in enumerate(variables) if variable.is_flat]
        self._frame: Frame | None = None
        if self._flat:
            self._frame = frame_of(_joined([everywhere[i] for i in self._flat]))
        n_flat = 0 if self._frame is None else len(self._frame.mean)
        self._points: list[tuple[int, tuple[int, ...], PointFrame]] = []
        for i, variable in enumerate(variables):
            if not variable.is_flat:
                self._points += [(i, *found) for found in _points_of(variable, everywhere[i])]
        if n_flat + sum(frame.into.shape[1] for *_, frame in self._points) > MOST_PAIRED:
            self._points = []
        self._places = _places(n_flat, self._points)
        used = {i for i, *_ in self._points} | (set(self._flat) if n_flat else set())
        self.left_out = [v.name for i, v in enumerate(variables) if i not in used]
        self._everywhere = everywhere

    def __len__(self) -> int:
        """Return their number."""
        return self._places[-1].stop

    def of_all(self) -> np.ndarray:
        """Return the coordinates of all draws."""
        shape = self._everywhere[0].shape[:2]
        parts = []
        if self._frame is not None:
            parts.append(self._frame.into(_joined([self._everywhere[i] for i in self._flat])))
        for i, index, frame in self._points:
            x = _flatly(self._everywhere[i], index)
            parts.append(frame.at(x, np.zeros_like(x))[0].reshape(*shape, -1))
        return np.concatenate(parts, axis=-1)

    def with_forces(self, points: _Columns, gradients: _Columns) -> SteinDraws:
        """Return some draws with the forces there."""
        shape = points[0].shape[:2]
        ys, forces = [], []
        if self._frame is not None:
            x, g = (_joined([columns[i] for i in self._flat]) for columns in (points, gradients))
            ys, forces = [self._frame.into(x)], [self._frame.force(g)]
        if not self._points:
            return SteinDraws(ys[0], forces[0])
        products = np.zeros((*shape, len(self), len(self)))
        products[...] = np.eye(len(self))
        for (i, index, frame), place in zip(self._points, self._places[1:], strict=True):
            x, g = _flatly(points[i], index), _flatly(gradients[i], index)
            y, force, inner = (a.reshape(*shape, *a.shape[1:]) for a in frame.at(x, g))
            products[:, :, place, place] = inner
            ys.append(y)
            forces.append(force)
        return SteinDraws(np.concatenate(ys, axis=-1), np.concatenate(forces, axis=-1), products)

    def moved(self, y: np.ndarray, correction: Correction) -> list[np.ndarray]:
        """Return all draws with the moments of a correction, in the embedding."""
        found = list(self._everywhere)
        if self._frame is not None:
            part = correction.of(self._places[0])
            moved = self._frame.out_of(part(y[..., self._places[0]]))
            like = [self._everywhere[i] for i in self._flat]
            for i, x in zip(self._flat, _split(moved, like), strict=True):
                found[i] = x
        for (i, index, frame), place in zip(self._points, self._places[1:], strict=True):
            part = correction.of(place)
            if part.is_any:
                if found[i] is self._everywhere[i]:
                    found[i] = found[i].copy()
                there = found[i][_every_draw(index)]
                there[...] = moved_to(frame, _flatly(self._everywhere[i], index), part).reshape(
                    there.shape
                )
        return found


def has_moves(variable: SampledVariable) -> bool:
    """Return whether draws of a variable can be given other moments."""
    return variable.manifold.is_flat or _moves_of(variable) is not None


def _moves_of(variable: SampledVariable) -> PointMoves | None:
    manifold, shape = variable.manifold, variable.shape
    if np.prod(manifold.batch_shape(shape)) > MOST_PAIRED:
        return None
    return moves_of(manifold, manifold.core_shape(shape), str(variable.position.dtype))


def _points_of(
    variable: SampledVariable, x: np.ndarray
) -> Iterator[tuple[tuple[int, ...], PointFrame]]:
    """Yield the index of each point of a curved variable with its frame."""
    moves = _moves_of(variable)
    if moves is None:
        return
    for index in np.ndindex(variable.manifold.batch_shape(variable.shape)):
        frame = PointFrame.of(moves, _flatly(x, index))
        if frame is not None:
            yield index, frame


def _places(n_flat: int, points: Sequence[tuple[int, tuple[int, ...], PointFrame]]) -> list[slice]:
    places, start = [slice(0, n_flat)], n_flat
    for *_, frame in points:
        places.append(slice(start, start + frame.into.shape[1]))
        start = places[-1].stop
    return places


def _every_draw(index: tuple[int, ...]) -> tuple[Any, ...]:
    return (slice(None), slice(None), *index)


def _flatly(x: np.ndarray, index: tuple[int, ...]) -> np.ndarray:
    """Return the draws of one point of a variable along one axis."""
    point = x[_every_draw(index)]
    return np.ascontiguousarray(point.reshape(-1, *point.shape[2:]))


def _joined(columns: _Columns) -> np.ndarray:
    return np.concatenate([x.reshape(*x.shape[:2], -1).astype(float) for x in columns], axis=-1)


def _split(x: np.ndarray, like: _Columns) -> list[np.ndarray]:
    ends = np.cumsum([int(np.prod(part.shape[2:])) for part in like])
    return [
        x[..., end - int(np.prod(part.shape[2:])) : end].reshape(part.shape).astype(part.dtype)
        for end, part in zip(ends, like, strict=True)
    ]
