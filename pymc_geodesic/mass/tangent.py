#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Masses of unit vectors and of frames that differ between directions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from numpy.typing import ArrayLike

from pymc_geodesic.manifolds import Manifold
from pymc_geodesic.manifolds.scaled_stiefel import ScaledStiefel
from pymc_geodesic.manifolds.stretched import Stretched
from pymc_geodesic.validation import definite

__all__ = ["SMALLEST_WIDTH", "WIDEST", "FrameMass", "TangentMass", "separated", "symmetric"]


# Narrowest width that is corrected, as a share of the widest: beyond it rounding is visible.
SMALLEST_WIDTH = 1e-5
# Largest width, in radians, that narrow directions are given. The map is linear in tangents of
# angles: a posterior as wide as the sphere would have tails that are too steep for any step.
WIDEST = 0.25


class TangentMass:
    r"""A mass for a unit vector or a frame whose posterior has unequal widths.

    The sampler moves z with :math:`x = Q(L z)` instead of x, where :math:`L L^\top` is the scatter
    matrix and Q makes columns orthonormal. On the sphere, :math:`x = L z / |L z|`. A posterior
    around one direction with the tangent covariance of the scatter matrix is then round in z, as
    with a dense mass in flat space. The map is one to one and its volume enters the
    density, so the target does not depend on the scatter matrix.

    Parameters
    ----------
    scatter : array_like, shape (n, n)
        Symmetric and positive definite, up to a factor. It describes the widths of the posterior,
        like the scatter matrix of an angular central Gaussian distribution. The identity has no
        effect.

    Raises
    ------
    ValueError
        If the matrix is not symmetric or not positive definite.

    Notes
    -----
    For frames it equalises widths between directions of space, but not between rotations of the
    columns among each other; for these see :class:`FrameMass`. Every step with velocities takes it
    as an entry of ``mass``. Tuning still finds a number for the same variable.

    Steps that tune themselves find the tangent mass of a unit vector of up to 50 entries by
    themselves, if the widths of its posterior differ by a factor of five or more.

    References
    ----------
    Tyler, D. E. (1987). Statistical analysis for the angular central Gaussian distribution on the
    sphere. Biometrika 74. DOI 10.1093/biomet/74.3.579

    Examples
    --------
    >>> import pymc as pm, pymc_geodesic as pmg
    >>> with pm.Model():
    ...     x = pmg.Bingham("x", A=[[0.0, 0, 0], [0, 50, 0], [0, 0, 500]])
    ...     pilot = pmg.sample(200, step=pmg.SGGMC, random_seed=1, progressbar=False)
    ...     mass = {"x": pmg.TangentMass.from_draws(pilot.posterior["x"])}
    ...     step = pmg.SGGMC(mass=mass)
    ...     idata = pmg.sample(200, step=step, random_seed=1, progressbar=False)
    >>> idata.posterior["x"].shape
    (4, 200, 3)
    """

    def __init__(self, scatter: ArrayLike) -> None:
        scatter = np.asarray(scatter, dtype=float)
        if scatter.ndim != 2 or len(scatter) != scatter.shape[1]:
            raise ValueError(f"`scatter` expected a square matrix, got shape {scatter.shape}.")
        values, vectors = np.linalg.eigh(definite("scatter", scatter))
        self.factor = (vectors * np.sqrt(values / values[-1])) @ vectors.T

    @classmethod
    def from_draws(cls, x: ArrayLike, *, columns: int = 1) -> TangentMass:
        r"""Return the mass that fits draws of an earlier run.

        Parameters
        ----------
        x : array_like, shape (..., n) or (..., n, p)
            Draws of one unit vector, or of one frame with ``columns=p``; leading axes are chains
            and draws.
        columns : int
            Columns of a frame.

        Notes
        -----
        With the eigenvalues :math:`s_1 \ge \dots` of the second moments the scatter matrix has
        the eigenvalues :math:`\min(1, s_k / \min(s_{p + 1}, 1 / 16))`: the widest direction across
        the mean is unchanged and the others are widened to its width, or to a quarter of a radian
        if that direction is wider. For a girdle, whose first two eigenvalues are about equal, the
        normal of its plane is widened.
        """
        x = np.asarray(x, dtype=float)
        x = x[..., None] if columns == 1 and x.shape[-1] != 1 else x
        rows = x.reshape(-1, *x.shape[-2:])
        values, vectors = np.linalg.eigh(np.einsum("sia,sja->ij", rows, rows) / len(rows))
        widest = min(values[-columns - 1], WIDEST**2)
        shares = np.clip(values / widest, SMALLEST_WIDTH**2, 1.0)
        return cls((vectors * shares) @ vectors.T)

    def coordinates(self, manifold: Manifold, name: str) -> Manifold:
        """Return the manifold on which a variable moves.

        Raises
        ------
        ValueError
            If it is neither a sphere nor a Stiefel manifold.
        """
        if not manifold.is_stretched_linearly:
            raise ValueError(
                f"`mass` expected a unit vector or a frame for a `TangentMass`, got `{name}` on "
                f"{manifold!r}. Pass a number for it."
            )
        return Stretched(manifold, self.factor)


def separated(mass: Any, names: Sequence[str]) -> tuple[Any, dict[str, Any]]:
    """Split the user's ``mass`` into the masses of frames of unit mass and the tangent masses.

    Raises
    ------
    ValueError
        If a tangent mass is not given by the name of a variable.
    """
    if is_tangent(mass):
        raise ValueError(f"`mass` expected a dict by variable name for a `{type(mass).__name__}`.")
    if not isinstance(mass, Mapping):
        return mass, {}
    tangent = {name: m for name, m in mass.items() if is_tangent(m)}
    if unknown := set(tangent) - set(names):
        raise ValueError(f"`mass` expected variables among {list(names)}, got {sorted(unknown)}.")
    rest = {name: m for name, m in mass.items() if name not in tangent}
    return (rest or None) if tangent else mass, tangent


def is_tangent(mass: Any) -> bool:
    """Return whether a mass is given by other coordinates: a `TangentMass` or a `FrameMass`."""
    return hasattr(mass, "coordinates")


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
