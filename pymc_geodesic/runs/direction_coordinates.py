#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Coordinates of draws in which directions of all variables together are compared.

A real variable has its entries, in the coordinates in which it is sampled. A point of a curved
manifold has its components in the tangent space at the mean. For fixed vectors a and b there, the
field :math:`F = (a \cdot x) \Lambda(x) b` has the divergence :math:`a \cdot \Lambda(x) b + (a \cdot
x) (b \cdot \Delta x)`, so that Stein's identity for F needs only the projector and the Laplacian of
the coordinates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from pymc_geodesic.entry_names import entry_name
from pymc_geodesic.kernel.representatives import without_seam
from pymc_geodesic.manifolds import Manifold
from pymc_geodesic.potential.variables import SampledVariable

__all__ = ["MOST_COORDINATES", "DirectionDraws", "direction_draws", "has_directions"]

# Coordinates of a variable from which on its directions are not compared.
MOST_COORDINATES = 2000
# Entries of a point whose projectors are held at every draw.
LARGEST_POINT = 50


class DirectionDraws(NamedTuple):
    """Draws of all variables together.

    Attributes
    ----------
    owners, names : list of str
        The variable of each coordinate, and the entry, or the curved point.
    everywhere : ndarray, shape (chain, draw, coordinate)
        All draws.
    here : ndarray, shape (chain, draw of a gradient, coordinate)
        Those at which there is a gradient.
    slopes, laplacians : ndarray
        Of the same shape: the gradient of the potential energy, and the Laplacian of the
        coordinates.
    projectors : list of (slice, ndarray)
        Of each curved point, at the same draws, with the slice of its coordinates; the others'
        are one.
    """

    owners: list[str]
    names: list[str]
    everywhere: np.ndarray
    here: np.ndarray
    slopes: np.ndarray
    laplacians: np.ndarray
    projectors: list[tuple[slice, np.ndarray]]

    def forces(self) -> np.ndarray:
        """Return gradients whose mean products with the coordinates are one, or zero.

        Those of curved points are measured by the mean of the projector.
        """
        forces = self.slopes - self.laplacians
        for place, projector in self.projectors:
            forces[..., place] = forces[..., place] @ np.linalg.inv(projector.mean(axis=(0, 1)))
        return forces


def direction_draws(
    variables: Sequence[SampledVariable],
    points: Sequence[np.ndarray],
    gradients: Sequence[np.ndarray],
    everywhere: Sequence[np.ndarray],
    *,
    most: int = MOST_COORDINATES,
) -> DirectionDraws | None:
    """Return the draws of variables whose directions can be compared; None without any.

    Parameters
    ----------
    variables : sequence of SampledVariable
        The variables.
    points, gradients : sequence of ndarray
        Some draws of each in the embedding, ``(chain, draw, *shape)``, with gradients of the
        potential energy.
    everywhere : sequence of ndarray
        All draws, in the same form.
    most : int
        Coordinates of a variable from which on it is left out.
    """
    owners: list[str] = []
    names: list[str] = []
    columns: list[list[np.ndarray]] = []
    projectors: list[tuple[slice, np.ndarray]] = []
    for variable, x, gradient, far in zip(variables, points, gradients, everywhere, strict=True):
        manifold = variable.manifold
        if np.prod(x.shape[2:]) > most:
            continue
        if manifold.is_flat:
            flat = [_flat(a) for a in (far, x, gradient)]
            columns.append([*flat, np.zeros_like(flat[1])])
            owners += [variable.name] * flat[1].shape[-1]
            names += [entry_name(variable.name, index) for index in np.ndindex(x.shape[2:])]
            continue
        if not has_directions(variable):
            continue
        batch = np.ndindex(manifold.batch_shape(x.shape[2:]))
        for index, of_point in zip(batch, _curved(manifold, x, gradient, far), strict=True):
            *found, projector = of_point
            n, m = len(owners), found[0].shape[-1]
            projectors.append((slice(n, n + m), projector))
            columns.append(found)
            owners += [variable.name] * m
            names += [entry_name(variable.name, index)] * m
    if not owners:
        return None
    z, here, slopes, laplacians = (
        np.concatenate(parts, axis=-1) for parts in zip(*columns, strict=True)
    )
    return DirectionDraws(owners, names, z, here, slopes, laplacians, projectors)


def has_directions(variable: SampledVariable) -> bool:
    """Return whether the directions of a variable can be compared."""
    manifold = variable.manifold
    core = manifold.core_shape(variable.shape)
    if manifold.is_flat or np.prod(core) > LARGEST_POINT:
        return manifold.is_flat
    return manifold.laplacian(np.zeros((1, *core))) is not None


def _flat(x: np.ndarray) -> np.ndarray:
    return x.reshape(*x.shape[:2], -1)


def _curved(
    manifold: Manifold, x: np.ndarray, gradient: np.ndarray, everywhere: np.ndarray
) -> Iterator[tuple[np.ndarray, ...]]:
    """Yield all draws, draws, slopes, Laplacians and projectors of each point of a variable."""
    shape = x.shape[2:]
    core, n_batch = manifold.core_shape(shape), len(manifold.batch_shape(shape))
    size = int(np.prod(core))
    units = np.eye(size, dtype=x.dtype).reshape(size, 1, *core)

    def projector(at: np.ndarray) -> np.ndarray:
        return np.moveaxis(manifold.to_tangent(at, units).reshape((size, -1, size)), 0, 1)

    both = np.concatenate([everywhere, x], axis=1)
    aligned = without_seam(manifold, both)
    far, near = aligned[:, : everywhere.shape[1]], aligned[:, everywhere.shape[1] :]
    for index in np.ndindex(shape[:n_batch]):
        at_point = (slice(None), slice(None), *index)
        z, here, *rest = (a[at_point] for a in (far, near, x, gradient))
        flat, given, gradients = (a.reshape(-1, *core) for a in (here, *rest))
        slopes = manifold.to_tangent(flat, manifold.align(gradients, given, flat))
        laplacians = manifold.laplacian(flat)
        assert laplacians is not None, "directions of the manifold can be compared"
        middle = manifold.project(z.mean(axis=(0, 1))[None])
        values, vectors = np.linalg.eigh(projector(middle)[0])
        basis = vectors[:, values > 0.5]
        inside = basis.T @ projector(flat) @ basis
        rows = [a.reshape(*a.shape[:2], size) @ basis for a in (z, here)]
        rows += [a.reshape(*here.shape[:2], size) @ basis for a in (slopes, laplacians)]
        yield *rows, inside.reshape(*here.shape[:2], *inside.shape[-2:])
