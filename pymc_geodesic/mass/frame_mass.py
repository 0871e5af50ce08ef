#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A mass of frames that differs between columns and between rotations of columns."""

from __future__ import annotations

import numpy as np

from numpy.typing import ArrayLike

from pymc_geodesic.manifolds import Manifold
from pymc_geodesic.manifolds.scaled_stiefel import ScaledStiefel
from pymc_geodesic.mass.tangent import SMALLEST_WIDTH, WIDEST

__all__ = ["FrameMass", "symmetric"]


class FrameMass:
    r"""A mass for a frame of n rows and p < n columns whose posterior has unequal widths.

    A frame X moves by rotations of its columns among each other and out of the space that they
    span. Loadings of principal components, for example, are known well as a space, but components
    of similar variance can rotate into each other. The mass is one number for each pair of columns
    and one for each column, the inverse squares of the widths. Draws follow the same distribution
    whatever the widths are; see :class:`pymc_geodesic.manifolds.scaled_stiefel.ScaledStiefel`.

    Parameters
    ----------
    columns : array_like, shape (p,)
        Width of the posterior of each column, in directions outside the space of all columns.
    rotations : array_like, shape (p, p)
        Width of the angle, in radians, by which each pair of columns is rotated in its plane.
        Symmetric; the diagonal is not used. Only ratios of all widths matter.

    Raises
    ------
    ValueError
        If shapes do not fit, the matrix is not symmetric, or a width is not positive.

    Notes
    -----
    Every step with velocities takes it as an entry of ``mass``; the tuning phase then adapts one
    number by which it is multiplied. Without it, steps that tune themselves find the mass of a
    frame of up to ten columns, if the widths of its posterior differ by a factor of five or more.

    See Also
    --------
    TangentMass : Widths that differ between directions of the space, but not between rotations.

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> with pm.Model():
    ...     x = pmg.MatrixLangevin("x", F=np.diag([500.0, 450.0, 1.0])[:, :2])
    ...     mass = {"x": pmg.FrameMass([0.05, 0.05], [[1.0, 0.03], [0.03, 1.0]])}
    ...     step = pmg.SGGMC(mass=mass)
    ...     idata = pmg.sample(200, step=step, random_seed=1, progressbar=False)
    >>> idata.posterior["x"].shape
    (4, 200, 3, 2)
    """

    def __init__(self, columns: ArrayLike, rotations: ArrayLike) -> None:
        columns, rotations = np.array(columns, dtype=float), np.array(rotations, dtype=float)
        p = columns.size
        if columns.ndim != 1 or p < 2 or rotations.shape != (p, p):
            raise ValueError(
                "`columns` expected the widths of two or more columns and `rotations` a square "
                f"matrix of as many rows, got shapes {columns.shape} and {rotations.shape}."
            )
        np.fill_diagonal(rotations, 1.0)
        widths = np.concatenate([columns, rotations[np.triu_indices(p, 1)]])
        if not np.all(np.isfinite(widths)) or np.any(widths <= 0):
            raise ValueError(f"`columns` and `rotations` expected positive widths, got {widths}.")
        if not np.allclose(rotations, rotations.T):
            raise ValueError("`rotations` expected a symmetric matrix.")
        shares = np.maximum(widths / widths.max(), SMALLEST_WIDTH)
        self.columns, self.rotations = shares[:p], symmetric(shares[p:], p)

    @classmethod
    def from_draws(cls, x: ArrayLike) -> FrameMass:
        """Return the mass that fits draws of an earlier run.

        Parameters
        ----------
        x : array_like, shape (..., n, p)
            Draws of one frame in which columns have the same signs and order; see
            :func:`pymc_geodesic.diagnostics.align_frames`. Leading axes are chains and draws.

        Notes
        -----
        Widths are measured around the mean frame. None is larger than a quarter of a radian: a
        frame that can rotate freely has no width.
        """
        x = np.asarray(x, dtype=float)
        n, p = x.shape[-2:]
        rows = x.reshape(-1, n, p)
        left, _, right = np.linalg.svd(rows.mean(axis=0), full_matrices=False)
        mean = left @ right
        inner = mean.T @ rows
        across = ((rows - mean @ inner) ** 2).sum(axis=1).mean(axis=0) / (n - p)
        turns = (0.25 * (inner - inner.swapaxes(-1, -2)) ** 2).mean(axis=0)
        np.fill_diagonal(turns, 1.0)
        return cls(np.minimum(np.sqrt(across), WIDEST), np.minimum(np.sqrt(turns), WIDEST))

    def coordinates(self, manifold: Manifold, name: str) -> Manifold:
        """Return the manifold on which a variable moves.

        Raises
        ------
        ValueError
            If it is not a Stiefel manifold.
        """
        if not manifold.is_stretched_linearly or manifold.ndim_core != 2:
            raise ValueError(
                f"`mass` expected a frame for a `FrameMass`, got `{name}` on {manifold!r}. Pass a "
                "number for it."
            )
        return ScaledStiefel(self.columns, self.rotations)


def symmetric(pairs: np.ndarray, p: int) -> np.ndarray:
    """Return the symmetric matrix with numbers for the pairs of columns, and ones."""
    matrix = np.eye(p)
    matrix[np.triu_indices(p, 1)] = pairs
    return np.asarray(np.triu(matrix) + np.triu(matrix, 1).T)
