#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Directions to start the components of a mixture from: spherical k-means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from scipy import sparse

from pymc_geodesic.validation import UNIT_NORM_TOLERANCE

__all__ = ["initial_directions"]

# Largest number of clustered rows: means of clusters of hundreds of rows are good enough starts.
MOST_ROWS = 20_000
N_STARTS, MOST_ITERATIONS = 20, 100


def initial_directions(
    X: Any,
    k: int,
    *,
    axial: bool = False,
    random_seed: int | np.random.Generator | None = None,
) -> np.ndarray:
    r"""Find ``k`` directions in the data, as a start for the components of a mixture.

    Spherical k-means maximises the sum of cosines between rows and the nearest direction,

    .. math::

        \sum_i \max_j \mu_j^\top x_i, \qquad |\mu_j| = 1,

    by alternately assigning rows to their nearest directions and directions to the means of their
    rows. The best of 20 starts is returned. Each start draws its directions from the rows, with
    probability proportional to one minus the largest cosine (k-means++). At most 20,000 rows, drawn
    at random, are used.

    With ``axial`` rows x and -x are the same: squared cosines replace cosines, and the first
    eigenvector of the rows' second moments replaces their mean (diametrical clustering).

    Parameters
    ----------
    X : array or SciPy sparse matrix, shape (N, n)
        Unit vectors, one per row.
    k : int
        Number of directions, at most N.
    axial : bool
        Whether the rows are axes, for mixtures of Watson or Bingham distributions.
    random_seed : int or Generator, optional
        Makes the result reproducible.

    Returns
    -------
    ndarray, shape (k, n)
        Unit vectors, that of the largest cluster first.

    Raises
    ------
    ValueError
        If ``X`` is not a matrix of unit vectors, or ``k`` is not between 1 and N.

    Notes
    -----
    Weights and concentrations follow from the clusters. With the lengths :math:`R_j` of the mean
    vectors of the rows nearest to each direction, :math:`\kappa_j \approx R_j (n - R_j^2) /
    (1 - R_j^2)`.

    References
    ----------
    Banerjee, A., Dhillon, I. S., Ghosh, J. and Sra, S. (2005). Clustering on the unit hypersphere
    using von Mises-Fisher distributions. JMLR 6.

    Dhillon, I. S., Marcotte, E. M. and Roshan, U. (2003). Diametrical clustering for identifying
    anti-correlated gene clusters. Bioinformatics 19.

    Examples
    --------
    >>> import numpy as np, pymc_geodesic as pmg
    >>> rng = np.random.default_rng(1)
    >>> X = np.repeat(np.eye(3), [30, 20, 10], axis=0) + 0.01 * rng.normal(size=(60, 3))
    >>> X /= np.linalg.norm(X, axis=1, keepdims=True)
    >>> mu = pmg.initial_directions(X, 3, random_seed=1)
    >>> mu.round(1) + 0.0
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    >>> nearest = np.argmax(X @ mu.T, axis=1)
    >>> weights = np.bincount(nearest, minlength=3) / len(X)
    >>> R = np.array([np.linalg.norm(X[nearest == j].mean(axis=0)) for j in range(3)])
    >>> kappa = R * (X.shape[1] - R**2) / (1 - R**2)

    They are passed as ``pm.sample(initvals={"mu": mu, "weights": weights, "kappa": kappa}, ...)``.
    """
    X = _checked(X)
    n_rows = X.shape[0]
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= n_rows:
        raise ValueError(
            f"`k` expected a number of directions between 1 and the number of rows, {n_rows}; got "
            f"{k!r}. Pass a whole number in that range."
        )
    rng = np.random.default_rng(random_seed)
    if n_rows > MOST_ROWS:
        X = X[np.sort(rng.choice(n_rows, max(MOST_ROWS, int(k)), replace=False))]
    near, centers = (_squares, _principal_axes) if axial else (_cosines, _means)
    runs = [_k_means(X, _spread_rows(X, int(k), rng, near), near, centers) for _ in range(N_STARTS)]
    directions = max(runs, key=lambda found: near(X, found).max(axis=1).sum())
    sizes = np.bincount(near(X, directions).argmax(axis=1), minlength=k)
    return directions[np.argsort(-sizes, kind="stable")]


def _checked(X: Any):
    X = X.tocsr() if sparse.issparse(X) else np.asarray(X, dtype=float)
    if X.ndim != 2 or X.shape[1] < 2:
        raise ValueError(
            "`X` expected a matrix of unit vectors of length two or more, one per row; got an "
            f"array of shape {X.shape}. Pass the data of the mixture."
        )
    squares = X.multiply(X).sum(axis=1) if sparse.issparse(X) else (X * X).sum(axis=1)
    norms = np.sqrt(np.asarray(squares)).ravel()
    if not np.all(np.abs(norms - 1) <= UNIT_NORM_TOLERANCE):
        raise ValueError(
            f"`X` expected unit vectors in its rows, got norms in [{np.min(norms):.6g}, "
            f"{np.max(norms):.6g}]. Divide every row by its norm."
        )
    return X


def _cosines(X, directions: np.ndarray) -> np.ndarray:
    return np.asarray(X @ directions.T)


def _squares(X, directions: np.ndarray) -> np.ndarray:
    return _cosines(X, directions) ** 2


def _rows(X, indices: Sequence[int]) -> np.ndarray:
    chosen = X[indices]
    return chosen.toarray() if sparse.issparse(chosen) else chosen


def _spread_rows(X, k: int, rng: np.random.Generator, near: Callable) -> np.ndarray:
    """Draw rows far from each other."""
    n_rows = X.shape[0]
    chosen = [rng.integers(n_rows)]
    largest = np.full(n_rows, -1.0)
    for _ in range(k - 1):
        largest = np.maximum(largest, near(X, _rows(X, chosen[-1:]))[:, 0])
        distance = np.maximum(1 - largest, 0.0)
        total = distance.sum()
        chosen.append(rng.choice(n_rows, p=distance / total if total > 0 else None))
    return _rows(X, chosen)


def _k_means(X, directions: np.ndarray, near: Callable, centers: Callable) -> np.ndarray:
    """Give rows to their nearest direction, and directions to the center of their rows, in turn."""
    nearest: np.ndarray | None = None
    for _ in range(MOST_ITERATIONS):
        before, nearest = nearest, near(X, directions).argmax(axis=1)
        if before is not None and np.array_equal(before, nearest):
            break
        directions = centers(X, nearest, directions)
    return directions


def _means(X, nearest: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Return the mean direction of the rows of each cluster."""
    return _weighted_directions(X, nearest, directions, np.ones(X.shape[0]))


def _principal_axes(X, nearest: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Move each axis towards the first eigenvector of its rows, by one step of the power method."""
    cosines = np.take_along_axis(_cosines(X, directions), nearest[:, None], axis=1)[:, 0]
    return _weighted_directions(X, nearest, directions, cosines)


def _weighted_directions(
    X, nearest: np.ndarray, directions: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    n_rows, k = X.shape[0], len(directions)
    member = sparse.csr_array((weights, (nearest, np.arange(n_rows))), (k, n_rows))
    totals = member @ X
    totals = totals.toarray() if sparse.issparse(totals) else totals
    lengths = np.linalg.norm(totals, axis=1, keepdims=True)
    # A direction without rows, or whose rows cancel, does not change.
    return np.where(lengths > 0, totals / np.maximum(lengths, 1e-300), directions)
