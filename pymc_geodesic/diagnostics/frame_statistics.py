#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Summary statistics of frames: their mean frame, and the distances of draws from it."""

from __future__ import annotations

import numpy as np
import xarray as xr

from pymc_geodesic.diagnostics.frames import align_frames, column_angles, mean_frame

__all__ = ["frame_statistics"]


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
