#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Statistics of frames and rotations: their mean frame, and the distances of draws from it."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import xarray as xr

from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment

from pymc_geodesic.validation import one_of

__all__ = ["Symmetry", "align_frames", "column_angles", "frame_statistics", "mean_frame"]


Symmetry = Literal["signs", "permutations", "rotations"]

# Rounds of aligning to the mean of the aligned draws; the mean hardly moves after the first.
N_ROUNDS = 20


def mean_frame(x: ArrayLike) -> np.ndarray:
    r"""Mean of frames, the one with the least sum of squared distances in the embedding.

    This Frechet mean is the polar factor of the arithmetic mean, :math:`\bar X (\bar X^\top \bar
    X)^{-1/2}`. For rotations it is the nearest rotation.

    Parameters
    ----------
    x : array_like, shape (draws, ..., n, p)
        Draws along the first axis.

    Returns
    -------
    ndarray, shape (..., n, p)
        Not unique where a singular value of the arithmetic mean is zero.

    Examples
    --------
    >>> turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    >>> mean_frame([turn, turn.T])
    array([[1., 0.],
           [0., 1.]])
    """
    x = np.asarray(x, dtype=float)
    left, _, right = np.linalg.svd(x.mean(axis=0), full_matrices=False)
    if x.shape[-1] == x.shape[-2] and np.all(np.linalg.det(x) > 0):
        # The last singular value is the smallest.
        left[..., -1] *= np.linalg.det(left @ right)[..., None]
    return left @ right


def column_angles(x: ArrayLike, center: ArrayLike) -> np.ndarray:
    """Return the angles between the columns of frames and those of another, in radians.

    Parameters
    ----------
    x, center : array_like, shape (..., n, p)
        They broadcast against each other.

    Returns
    -------
    ndarray, shape (..., p)
        One angle for each column, from 0 to pi.

    Examples
    --------
    >>> column_angles([[0.0], [1.0]], [[1.0], [0.0]]).round(4)
    array([1.5708])
    """
    # Half the chord keeps small angles to the last digit.
    chord = np.linalg.norm(np.asarray(x, dtype=float) - np.asarray(center), axis=-2)
    return 2 * np.arcsin(np.minimum(chord / 2, 1.0))


def align_frames(
    x: ArrayLike, reference: ArrayLike | None = None, *, symmetry: Symmetry = "signs"
) -> np.ndarray:
    """Align draws of frames that a model determines only up to a symmetry of their columns.

    Every draw X is replaced by the X Q nearest to a reference, with Q from a group. Without it
    chains that have found the same loadings with other signs seem to disagree.

    Parameters
    ----------
    x : array_like, shape (draws, n, p) or (chains, draws, n, p)
        Draws.
    reference : array_like, shape (n, p), optional
        Reference of the alignment; by default the mean of the aligned draws, found by iteration
        from the last draw.
    symmetry : {"signs", "permutations", "rotations"}
        Whether columns are determined up to their signs, as principal components are; up to signs
        and order, as independent components; or up to rotations among each other, as the factors of
        a factor analysis with equal variances.

    Returns
    -------
    ndarray
        Aligned draws, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``symmetry`` is not one of the three, or there are fewer than three axes.

    References
    ----------
    Papastamoulis, P. and Ntzoufras, I. (2022). On the identifiability of Bayesian factor analytic
    models. Statistics and Computing 32. DOI 10.1007/s11222-022-10084-4

    Examples
    --------
    >>> x = np.array([[[1.0], [0.0]], [[-0.8], [0.6]]])
    >>> align_frames(x, [[1.0], [0.0]])[:, :, 0]
    array([[ 1. ,  0. ],
           [ 0.8, -0.6]])
    """
    one_of("symmetry", symmetry, get_args(Symmetry))
    x = np.asarray(x, dtype=float)
    if x.ndim < 3:
        raise ValueError(f"`x` expected draws of matrices, got shape {x.shape}.")
    flat = x.reshape(-1, *x.shape[-2:])
    if reference is not None:
        return _aligned(flat, np.asarray(reference, dtype=float), symmetry).reshape(x.shape)
    center = flat[-1]
    for _ in range(N_ROUNDS):
        aligned = _aligned(flat, center, symmetry)
        moved = mean_frame(aligned)
        if np.allclose(moved, center):
            break
        center = moved
    return aligned.reshape(x.shape)


def _aligned(x: np.ndarray, reference: np.ndarray, symmetry: Symmetry) -> np.ndarray:
    inner = x.mT @ reference
    if symmetry == "rotations":
        left, _, right = np.linalg.svd(inner)
        return x @ (left @ right)
    if symmetry == "permutations":
        orders = np.array([linear_sum_assignment(-np.abs(one.T))[1] for one in inner])
        x = np.take_along_axis(x, orders[:, None, :], axis=-1)
        inner = x.mT @ reference
    signs = np.where(np.diagonal(inner, axis1=-2, axis2=-1) < 0, -1.0, 1.0)
    return x * signs[:, None, :]


def frame_statistics(draws: xr.DataArray, *, axial: bool = False) -> dict[str, np.ndarray]:
    """Describe the mean frames of draws, with the dimensions (chain, draw, ..., n, p).

    With ``axial`` the signs of columns are chosen to agree first.
    """
    import arviz_stats as az

    if axial:
        draws = draws.copy(data=_with_signs(draws.values))
    x = draws.values.reshape(-1, *draws.shape[2:]).astype(float)
    mean = mean_frame(x)
    angle = np.sqrt(np.mean(column_angles(x, mean) ** 2, axis=0))
    length = np.linalg.norm(x.mean(axis=0), axis=-2)
    # Coordinates along the mean frame and in its complement do not depend on the axes of space.
    basis = np.linalg.svd(mean, full_matrices=True)[0]
    turned = draws.copy(data=(basis.mT @ draws.values))
    tangent = draws.copy(data=_tangent(mean, draws.values))
    axes = draws.dims[-2:]
    found = {
        "ess_bulk": az.ess(turned, method="bulk").min(axes),
        "ess_tail": az.ess(turned, method="tail").min(axes),
        "r_hat": az.rhat(turned).max(axes),
    }
    statistics = {name: value.values[..., None, None] for name, value in found.items()}
    with np.errstate(divide="ignore", invalid="ignore"):
        error = az.mcse(tangent, method="mean").values / length[..., None, :]
    return statistics | {
        "mean": mean,
        "mcse_mean": error,
        "angular_sd": angle[..., None, :],
        "resultant_length": length[..., None, :],
    }


def _with_signs(x: np.ndarray) -> np.ndarray:
    """Align the draws of every frame of a variable."""
    aligned = np.empty_like(x, dtype=float)
    for point in np.ndindex(x.shape[2:-2]):
        where = (slice(None), slice(None), *point)
        aligned[where] = align_frames(x[where], symmetry="signs")
    return aligned


def _tangent(mean: np.ndarray, x: np.ndarray) -> np.ndarray:
    inner = mean.mT @ x
    return x - mean @ (0.5 * (inner + inner.mT))
