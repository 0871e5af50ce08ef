#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Means and standard deviations before and after a correction, with their standard errors."""

from __future__ import annotations

import numpy as np
import xarray as xr

from pymc_geodesic.monte_carlo import mcse
from pymc_geodesic.refinement.moments import Correction

__all__ = ["FIGURES", "Figures", "largest_changes"]

FIGURES = ("mean_drawn", "mean", "mcse_mean", "sd_drawn", "sd", "mcse_sd")
"""The figures of each entry, along the dimension ``figure``."""
# Draws for each coordinate that determine how a function depends on it.
DRAWS_EACH = 10


class Figures:
    """Standard errors of functions of corrected draws.

    To first order a function is linear in the coordinates, whose means and covariances have known
    errors. The rest has the error of an average over draws.

    Parameters
    ----------
    correction : Correction
        The correction.
    y : ndarray, shape (chain, draw, coordinate)
        The draws in its coordinates.
    """

    def __init__(self, correction: Correction, y: np.ndarray) -> None:
        self._correction = correction
        flat = y.reshape(-1, y.shape[-1])
        self._y = flat if len(flat) >= DRAWS_EACH * flat.shape[1] else flat[:, :0]
        self._inverse = np.linalg.pinv(self._y) if self._y.size else self._y.T

    def of(self, raw: xr.Dataset, corrected: xr.Dataset) -> xr.Dataset:
        """Return the figures of every variable of a result."""
        found = {}
        for name, drawn in raw.data_vars.items():
            if drawn.dtype.kind != "f":
                continue
            before, after = (
                x.transpose("chain", "draw", ...).to_numpy() for x in (drawn, corrected[name])
            )
            entries = [x.reshape(*x.shape[:2], -1).astype(float) for x in (before, after)]
            figures = np.stack(self._of_entries(*entries)).reshape(-1, *before.shape[2:])
            dims = [dim for dim in drawn.dims if dim not in ("chain", "draw")]
            found[name] = (["figure", *dims], figures)
        coords = {k: v for k, v in raw.coords.items() if k not in ("chain", "draw")}
        return xr.Dataset(found, coords={"figure": list(FIGURES), **coords})

    def _of_entries(self, before: np.ndarray, after: np.ndarray) -> list[np.ndarray]:
        sd = after.std(axis=(0, 1))
        flat = after.reshape(-1, after.shape[-1])
        flat = flat - flat.mean(axis=0)
        slopes = self._inverse @ flat
        rest = (flat - self._y @ slopes).reshape(after.shape)
        found, n = self._correction, self._y.shape[1]
        mean_variance = (found.mean_error[:n] ** 2) @ slopes**2 + _errors(rest) ** 2
        if found.cov.ndim == 2:
            of_square = np.einsum("km,kl,lm->m", slopes**2, found.cov_error[:n, :n] ** 2, slopes**2)
        else:
            of_square = (found.cov_error[:n] ** 2) @ slopes**4
        safe = np.maximum(sd, np.finfo(float).tiny)
        share = rest.var(axis=(0, 1)) / safe**2
        sd_error = np.hypot(
            np.sqrt(of_square) / (2 * safe), share * _errors(flat_square(after)) / (2 * safe)
        )
        return [
            before.mean(axis=(0, 1)),
            after.mean(axis=(0, 1)),
            np.sqrt(mean_variance),
            before.std(axis=(0, 1)),
            sd,
            sd_error,
        ]


def largest_changes(figures: xr.Dataset) -> tuple[tuple[float, str], tuple[float, str]]:
    """Return the largest shift in standard deviations and change of one, each with its entry."""
    shift, change = (0.0, ""), (0.0, "")
    for name, found in figures.data_vars.items():
        by_name = dict(zip(FIGURES, found.to_numpy(), strict=True))
        sd = np.maximum(by_name["sd"], np.finfo(float).tiny)
        moved = np.abs(by_name["mean"] - by_name["mean_drawn"]) / sd
        scaled = np.abs(by_name["sd_drawn"] / sd - 1)
        shift = max(shift, _largest(str(name), moved), key=lambda x: x[0])
        change = max(change, _largest(str(name), scaled), key=lambda x: x[0])
    return shift, change


def _largest(name: str, x: np.ndarray) -> tuple[float, str]:
    x = np.where(np.isfinite(x), x, 0.0)
    if not x.size:
        return 0.0, ""
    place = np.unravel_index(int(x.argmax()), x.shape)
    text = f"[{', '.join(str(int(i)) for i in place)}]" if place else ""
    return float(x[place]), name + text


def flat_square(x: np.ndarray) -> np.ndarray:
    """Return squared deviations from the mean."""
    return (x - x.mean(axis=(0, 1))) ** 2


def _errors(x: np.ndarray) -> np.ndarray:
    """Return Monte Carlo errors of means; zero where nothing moves."""
    moves = x.std(axis=(0, 1)) > 0
    found = np.zeros(x.shape[-1])
    if moves.any():
        found[moves] = mcse(x[..., moves])
    return found
