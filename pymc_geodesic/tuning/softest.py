#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The softest direction that a mass has left, as draws show it."""

from __future__ import annotations

import numpy as np

__all__ = ["softest_curvature"]

# Draws used: the largest eigenvalue of their products costs their number squared.
MOST_DRAWS = 400
# Variances by chance have a sharp upper end if draws are independent. Autocorrelation blurs it.
BEYOND_CHANCE = 2.0
# A window of draws cannot show more of a direction that the chain has not crossed.
SOFTEST = 0.01


def softest_curvature(frame: np.ndarray) -> float:
    r"""Estimate the smallest curvature in the frame, or one if there is no sign of a smaller one.

    The variance of n draws along the best of d directions is about :math:`(1 + \sqrt{d / n})^2` by
    chance. A direction of the variance :math:`\ell` shows :math:`\ell + \ell d / n (\ell - 1)`
    (Baik and Silverstein 2006), and has the curvature :math:`1 / \ell`.

    Parameters
    ----------
    frame : ndarray, shape (n_draws, d)
        Draws in the frame.

    Returns
    -------
    float
        Between 0.01 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from pymc_geodesic.tuning.softest import softest_curvature
    >>> draws = np.random.default_rng(1).normal(size=(300, 50))
    >>> softest_curvature(draws)
    1.0
    >>> 0.03 < softest_curvature(draws * np.append(5.0, np.ones(49))) < 0.05
    True
    """
    thinned = frame[:: -(-len(frame) // MOST_DRAWS)]
    centered = thinned - thinned.mean(axis=0)
    n, d = centered.shape
    largest = float(np.linalg.eigvalsh(centered @ centered.T)[-1]) / n
    if not largest > BEYOND_CHANCE * (1 + np.sqrt(d / n)) ** 2:
        return 1.0
    return float(np.clip(1 / (largest - d / n), SOFTEST, 1.0))
