#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Means and covariances: which are corrected, by which map, and the figures before and after."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import xarray as xr

from pymc_geodesic.monte_carlo import mcse
from pymc_geodesic.refinement.control_variates import Estimates

__all__ = ["FIGURES", "Correction", "Figures", "correction_of", "largest_changes"]


# The share of the variance that a regression may leave where it is to move what it contradicts:
# a bias of the draws remains in about its root.
MOST_LEFT = 0.25
# Standard errors of a difference that is significant.
SIGNIFICANT = 4.0
# Least variance along a direction, of that of the draws.
LEAST_VARIANCE = 0.01


class Correction(NamedTuple):
    """An affine map of draws in the coordinates of a frame, with the errors of its moments.

    Attributes
    ----------
    mean, mean_error : ndarray, shape (coordinate,)
        The corrected mean of the draws, whose mean is zero, and its standard error.
    cov, cov_error : ndarray, shape (coordinate, coordinate) or (coordinate,)
        The same of covariances, which are one; only of variances where coordinates are many.
    is_moved, is_scaled : ndarray of bool
        Which of them come from gradients; the others are those of the draws.
    """

    mean: np.ndarray
    mean_error: np.ndarray
    cov: np.ndarray
    cov_error: np.ndarray
    is_moved: np.ndarray
    is_scaled: np.ndarray

    @property
    def is_any(self) -> bool:
        """Whether anything is corrected."""
        return bool(self.is_moved.any() or self.is_scaled.any())

    @property
    def largest(self) -> tuple[float, float]:
        """The largest shift, and change of a deviation, both in deviations of the draws."""
        variances = self.cov if self.cov.ndim == 1 else np.diagonal(self.cov)
        return float(np.abs(self.mean).max()), float(np.abs(np.sqrt(variances) - 1).max())

    def of(self, place: slice) -> Correction:
        """Return the correction of some coordinates."""
        return Correction(*(x[place] if x.ndim == 1 else x[place, place] for x in self))

    def __call__(self, y: np.ndarray) -> np.ndarray:
        """Return draws with the corrected moments."""
        if self.cov.ndim == 1:
            return self.mean + y * np.sqrt(self.cov)
        values, vectors = np.linalg.eigh(self.cov)
        return self.mean + y @ ((vectors * np.sqrt(values)) @ vectors.T)


def correction_of(y: np.ndarray, found: Estimates) -> Correction:
    """Choose the moments that are more precise than those of the draws, or contradict them.

    Parameters
    ----------
    y : ndarray, shape (chain, draw, coordinate)
        All draws, in coordinates in which they have unit variances.
    found : Estimates
        Moments by gradients at some of them.
    """
    mean_error, square_error = _error(y), _error(y**2)
    is_moved = _is_better(found.mean, found.mean_error, found.mean_left, mean_error)
    if found.cov.ndim == 1:
        of_draws, drawn_error = np.ones_like(found.cov), square_error
    else:
        of_draws = np.cov(y.reshape(-1, y.shape[-1]), rowvar=False, bias=True)
        # Products of independent normal numbers have half the variance of their squares.
        drawn_error = np.sqrt(np.outer(square_error, square_error) / 2)
        drawn_error[np.diag_indices_from(drawn_error)] = square_error
    difference = found.cov - of_draws
    is_scaled = _is_better(difference, found.cov_error, found.cov_left, drawn_error)
    cov = np.where(is_scaled, found.cov, of_draws)
    return Correction(
        mean=np.where(is_moved, found.mean, 0.0),
        mean_error=np.where(is_moved, found.mean_error, mean_error),
        cov=_positive(cov),
        cov_error=np.where(is_scaled, found.cov_error, drawn_error),
        is_moved=is_moved,
        is_scaled=is_scaled,
    )


def _is_better(
    difference: np.ndarray, error: np.ndarray, left: np.ndarray, drawn_error: np.ndarray
) -> np.ndarray:
    is_wrong = (np.abs(difference) > SIGNIFICANT * error) & (left < MOST_LEFT)
    return np.isfinite(difference) & ((error < drawn_error) | is_wrong)


def _error(y: np.ndarray) -> np.ndarray:
    independent = y.std(axis=(0, 1)) / np.sqrt(y.shape[0] * y.shape[1])
    return np.fmax(mcse(y), independent)


def _positive(cov: np.ndarray) -> np.ndarray:
    """Return the nearest covariance whose directions are not much narrower than the draws."""
    if cov.ndim == 1:
        return np.maximum(cov, LEAST_VARIANCE)
    values, vectors = np.linalg.eigh(0.5 * (cov + cov.T))
    return (vectors * np.maximum(values, LEAST_VARIANCE)) @ vectors.T


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
        share = (rest.std(axis=(0, 1)) / safe) ** 2
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
