#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Maximum likelihood of the Kent distribution."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numpy.typing import ArrayLike

from pymc_geodesic.distributions.kent import kent_log_normalizer
from pymc_geodesic.distributions.maximum_likelihood import (
    as_rows,
    fit_von_mises_fisher,
    with_gradient,
)

__all__ = ["KentFit", "fit_kent"]


# Three of the frame, the concentration and the ovalness.
N_PARAMETERS = 5
# Least ratio of the variances across the mean direction, above the rounding of their sums.
LEAST_SPREAD = 1e-10


class KentFit(NamedTuple):
    """Parameters of :class:`~pymc_geodesic.Kent`.

    Attributes
    ----------
    frame : ndarray
        Mean direction, major and minor axis, in its columns.
    kappa : float
        Concentration.
    beta : float
        Ovalness.
    """

    frame: np.ndarray
    kappa: float
    beta: float


def fit_kent(X: ArrayLike) -> KentFit:
    r"""Fit a Kent distribution.

    Start at Kent's moment estimate and maximise the likelihood, also over frames.

    Parameters
    ----------
    X : array_like, shape (N, 3)
        Unit vectors, one per row.

    Returns
    -------
    KentFit
        ``frame``, a rotation, with ``kappa`` and ``beta``.

    Raises
    ------
    ValueError
        If the rows are not unit vectors of length three, or cancel, or are fewer than the five
        parameters, or lie on one great circle, where the likelihood has no maximum.

    References
    ----------
    Kent, J. T. (1982). The Fisher-Bingham distribution on the sphere. Journal of the Royal
    Statistical Society B 44.

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> X = pm.draw(pmg.Kent.dist(np.eye(3), 20.0, 5.0, size=1000), random_seed=1)
    >>> fit = pmg.fit_kent(X)
    """
    # Imported on first use, because it takes long.
    from scipy.optimize import minimize

    X = as_rows(X)
    if X.shape[1] != 3:
        raise ValueError(f"`X` expected unit vectors of length three, got length {X.shape[1]}.")
    if len(X) < N_PARAMETERS:
        raise ValueError(
            f"`X` expected {N_PARAMETERS} rows or more, as many as a Kent distribution has "
            f"parameters, got {len(X)}. `pmg.fit_von_mises_fisher` needs fewer."
        )
    mean, second = X.mean(axis=0), X.T @ X / len(X)
    first = fit_von_mises_fisher(X)
    start = _moment_frame(first.mu, second)
    _, major, minor = np.einsum("ji,jk,ki->i", start, second, start)
    if minor <= LEAST_SPREAD * major:
        raise ValueError(
            "`X` expected rows that scatter in two directions, got rows along one great circle, "
            "for which the likelihood has no maximum. Add rows."
        )
    log_c = with_gradient(lambda p: kent_log_normalizer(p[0], p[1]), (2,))

    def parameters(p):
        kappa = np.exp(p[3])
        return start @ _rotation(p[:3] / np.sqrt(first.kappa)), kappa, 0.5 * p[4] * kappa

    def loss(p):
        frame, kappa, beta = parameters(p)
        squares = np.einsum("ji,jk,ki->i", frame, second, frame)
        fit = kappa * frame[:, 0] @ mean + beta * (squares[1] - squares[2])
        return -fit - float(log_c(np.array([kappa, beta]))[0])

    spread = np.sort(np.linalg.eigvalsh(second - np.outer(mean, mean)))
    ratio = float(np.clip((spread[-1] - spread[-2]) / spread[-1], 0.05, 0.9))
    p = np.array([0.0, 0.0, 0.0, np.log(first.kappa), ratio])
    bounds = [(None, None)] * 4 + [(0.0, 1e3)]
    # Twice: the second search starts with a fresh approximation of the curvature.
    for _ in range(2):
        p = minimize(loss, p, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-15}).x
    frame, kappa, beta = parameters(p)
    return KentFit(frame, float(kappa), float(beta))


def _rotation(vector: np.ndarray) -> np.ndarray:
    """Return the rotation about a vector by its length (Rodrigues' formula)."""
    angle = float(np.linalg.norm(vector))
    if angle == 0:
        return np.eye(3)
    x, y, z = vector / angle
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def _moment_frame(mu: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return Kent's moment estimate: the mean direction and the axes of the spread across it."""
    across = np.eye(3) - np.outer(mu, mu)
    _, vectors = np.linalg.eigh(across @ second @ across + 2.0 * np.outer(mu, mu))
    minor, major = vectors[:, 0], vectors[:, 1]
    frame = np.stack([mu, major, minor], axis=-1)
    return frame * [1.0, 1.0, np.sign(np.linalg.det(frame))]
