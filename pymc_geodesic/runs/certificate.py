#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What is certain of the draws that a run returns, from the log density of all rows."""

from __future__ import annotations

import logging

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import xarray as xr

from pymc_geodesic.kernel.all_rows import AllRows, Differences
from pymc_geodesic.potential.variables import SampledVariable
from pymc_geodesic.refinement.frame import Frame, frame_of
from pymc_geodesic.refinement.importance import (
    LARGEST_K_HAT,
    Evaluated,
    Judged,
    largest_share,
    proposed,
    weighted_moments,
)
from pymc_geodesic.runs.gradients_at_draws import GradientsAt, second_time, seconds_of_one
from pymc_geodesic.runs.refined import RAW
from pymc_geodesic.stages import stage

__all__ = [
    "NEVER_TOO_MUCH",
    "VERDICT",
    "Certificate",
    "Verdict",
    "certified",
    "certified_before",
    "judged",
]

Verdict = Literal["certified", "not certified", "corrected, not certified", "do not use"]

# Attributes of the group of the draws.
VERDICT, REASON = "verdict", "verdict_reason"
# What is certified at least: means in standard deviations, and standard deviations. A standard
# deviation that is 5 per cent off, or a mean that is .1 off, is then not, whatever the noise.
MEAN_WITHIN, SD_WITHIN = 0.075, 0.04
# What is said at least: of a normal posterior errors are those of rounding.
LEAST = 1e-3
# Standard errors that are added to a deviation, and that a wrong one exceeds.
SURELY, SIGNIFICANT = 2.0, 4.0
# Half a second is never too much.
NEVER_TOO_MUCH = 0.5
# Points: with fewer than the last k-hat says nothing, and more than the first gain little. In
# steps, so that a verdict seldom depends on how fast a run happened to be.
N_POINTS = (2_000, 1_000, 500, 250, 100)
FEWEST = N_POINTS[-1]
# Draws for each point.
DRAWS_EACH = 0.25
# Share of the weight that one of the first points has where more of them would tell no more. With
# k-hat below .7 it was less, in 10 to 1,900 dimensions; with .9 and more it is larger in most runs.
HOPELESS = 0.5
# Variance of the noise of log weights, which leaves four fifths of the points' information.
MOST_NOISE = 0.2
SEED = 0
# Estimates of variances may be negative.
LEAST_VARIANCE = 1e-6
NOTHING = (
    "importance weights around the draws say nothing here, as usual in many dimensions and far "
    "from a normal distribution"
)
CONTRADICTED = "gradients of all rows at the draws contradict them"
CORRECTED = (
    "before they were corrected the draws did not follow the posterior, and nothing shows that "
    "they do now"
)
# Of the same points, numbers that are held at once.
MOST_NUMBERS = 5 * 10**6


class Certificate(NamedTuple):
    """What is certain of draws.

    Attributes
    ----------
    verdict : str
        ``"certified"``, ``"corrected, not certified"``, ``"not certified"`` or ``"do not use"``.
    reason : str
        Why, as a sentence without its full stop.
    """

    verdict: Verdict
    reason: str

    @property
    def level(self) -> int:
        """How it is logged."""
        return logging.WARNING if self.verdict == "do not use" else logging.INFO

    @property
    def sentence(self) -> str:
        """The verdict and the reason."""
        return f"{self.verdict[0].upper()}{self.verdict[1:]}: {self.reason}."

    def on(self, idata: xr.DataTree) -> xr.DataTree:
        """Return a run with this verdict on it."""
        found = {VERDICT: self.verdict, REASON: self.reason}
        tree = idata.copy(deep=False)
        tree["posterior"] = xr.DataTree(tree["posterior"].to_dataset().assign_attrs(found))
        return tree


def certified_before(idata: xr.DataTree) -> str:
    """Return the verdict that is on a run as a sentence; empty if none is."""
    attrs = idata["posterior"].attrs
    return Certificate(attrs[VERDICT], attrs[REASON]).sentence if VERDICT in attrs else ""


@stage("Certifying the draws")
def certified(
    idata: xr.DataTree,
    evaluate: GradientsAt,
    *,
    seconds: float,
    is_wrong: bool,
    disagree: bool = False,
) -> Certificate:
    """Judge the draws of a run by importance sampling around them.

    Parameters
    ----------
    idata : DataTree
        The run as it is returned.
    evaluate : GradientsAt
        Points of the draws, and the potential energy there.
    seconds : float
        What it may take.
    is_wrong : bool
        Whether gradients show that the draws are wrong, or were before they were corrected.
    disagree : bool
        Whether chains are so far apart that they have not mixed.
    """
    if disagree:
        return Certificate("do not use", "the chains disagree")
    found, reason = _found(idata, evaluate, seconds)
    verdict: Verdict | None = None
    if found is not None:
        verdict, said = judged(found, _names(evaluate.maps.variables))
        reason = said + reason
    is_corrected = RAW in idata.children
    if verdict is None and is_wrong:
        return Certificate("do not use", CORRECTED if is_corrected else CONTRADICTED)
    unsure: Verdict = "corrected, not certified" if is_corrected else "not certified"
    return Certificate(verdict or unsure, reason)


def judged(found: Judged, names: Sequence[str]) -> tuple[Verdict | None, str]:
    """Return a verdict on draws, None without one, and a reason as part of a sentence.

    Parameters
    ----------
    found : Judged
        Moments of the posterior in standard deviations of the draws about their means.
    names : sequence of str
        Of the directions; those behind them are any others.
    """
    if not found.k_hat < LARGEST_K_HAT:
        shape = f"k-hat {found.k_hat:.2g}, from {LARGEST_K_HAT} on unreliable"
        # Without a shape one weight is all that is not zero.
        shape = "one point has all of the weight" if np.isnan(found.k_hat) else shape
        return None, f"{NOTHING} ({shape})"
    # Those of the draws relative to the posterior's.
    variance = np.maximum(found.variance, LEAST_VARIANCE)
    sd = np.sqrt(variance)
    means, mean_errors = np.abs(found.mean) / sd, found.mean_error / sd
    sds, sd_errors = np.abs(1 / sd - 1), found.variance_error / (2 * variance * np.minimum(sd, 1))
    named = [f"`{name}`" for name in names] + ["a direction of all variables"] * 2
    parts = [
        ("mean", " sd", means, mean_errors, MEAN_WITHIN, 1),
        ("standard deviation", " per cent", sds, sd_errors, SD_WITHIN, 100),
    ]
    for what, unit, off, error, within, factor in parts:
        i = int((off - SIGNIFICANT * error).argmax())
        if off[i] - SIGNIFICANT * error[i] > within:
            by = f"{_digits(factor * off[i])}{unit} (standard error {factor * error[i]:.1g})"
            return "do not use", f"the {what} of {named[i]} is wrong by {by}"
    most = [off + SURELY * error for _, _, off, error, _, _ in parts]
    if max(x.max() for x in most) > 1:
        return None, f"{NOTHING} (their error is larger than the standard deviation)"
    worst = [int(x.argmax()) for x in most]
    said = (
        f"means within {max(most[0].max(), LEAST):.2g} sd ({named[worst[0]]}), standard deviations "
        f"within {100 * max(most[1].max(), LEAST):.2g} per cent ({named[worst[1]]}), "
        f"k-hat {found.k_hat:.2g}"
    )
    if most[0].max() < MEAN_WITHIN and most[1].max() < SD_WITHIN:
        return "certified", said
    return None, f"importance weights are sure of no more than {said}"


def _found(idata: xr.DataTree, evaluate: GradientsAt, seconds: float) -> tuple[Judged | None, str]:
    """Return moments of the posterior in a frame of the draws, and of what they are.

    Without them, the reason is the whole of what is said.
    """
    maps, gradient = evaluate.maps, evaluate.gradient
    if not all(variable.is_flat for variable in maps.variables):
        return None, "importance weights are for variables on flat space"
    everywhere = maps.points(idata, max_draws=max(1, MOST_NUMBERS // maps.size))
    x = np.concatenate([a.reshape(*a.shape[:2], -1).astype(float) for a in everywhere], axis=-1)
    frame = frame_of(x)
    if frame is None:
        return None, "some entries do not move"
    shapes = [a.shape[2:] for a in everywhere]
    [center] = _split(frame.mean[None], shapes)
    at: AllRows | Differences = AllRows(gradient)
    each = seconds_of_one(gradient, center)
    seconds /= 1 + DRAWS_EACH
    n = _affordable(seconds / each, x.shape[-1])
    if not n and each < seconds and Differences.are_possible(gradient):
        at = Differences(gradient, center)
        n = _affordable(seconds / second_time(lambda: at([center])), x.shape[-1])
    if not n:
        return None, f"the log density of all rows takes {each:.2g} s for each point"
    return _weighted(at, frame, n, x.reshape(-1, x.shape[-1]), shapes)


def _affordable(n: float, d: int) -> int:
    """Return the number of points if there is time for n of so many entries; zero if too few."""
    return next((x for x in N_POINTS if x <= min(n, MOST_NUMBERS / d)), 0)


def _weighted(
    at: AllRows | Differences,
    frame: Frame,
    n: int,
    draws: np.ndarray,
    shapes: Sequence[tuple[int, ...]],
) -> tuple[Judged | None, str]:
    def evaluated(z: np.ndarray) -> tuple[Evaluated, np.ndarray]:
        energy, noise, flat = at(_split(frame.out_of(z), shapes))
        return Evaluated(z, energy, frame.force(flat)), noise

    def is_noisy() -> bool:
        weights = np.exp(points.log_weights - points.log_weights.max())
        return bool(weights @ noise > MOST_NOISE * weights.sum())

    z = proposed(np.random.default_rng(SEED), n, len(frame.mean))
    points, noise = evaluated(z[:FEWEST])
    if n > FEWEST and largest_share(points.log_weights) < HOPELESS and not is_noisy():
        more, of_more = evaluated(z[FEWEST:])
        points = Evaluated(*map(np.concatenate, zip(points, more, strict=True)))
        noise = np.append(noise, of_more)
    if np.isfinite(points.energy).sum() < FEWEST:
        return None, "the log density is not finite around the draws"
    if is_noisy():
        return None, f"log densities from {at.rows} are too noisy"
    every = -(-len(draws) // int(DRAWS_EACH * len(noise)))
    some, _ = evaluated(frame.into(draws[::every]))
    found = weighted_moments(points, some, directions=frame.root)
    return found, "" if isinstance(at, AllRows) else f", from {at.rows}"


def _digits(x: float) -> str:
    """Write two digits, without an exponent."""
    return f"{float(f'{x:.2g}'):g}"


def _split(x: np.ndarray, shapes: Sequence[tuple[int, ...]]) -> list[list[np.ndarray]]:
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    columns = np.split(x, ends[:-1], axis=1)
    return [
        [part[i].reshape(shape) for part, shape in zip(columns, shapes, strict=True)]
        for i in range(len(x))
    ]


def _names(variables: Sequence[SampledVariable]) -> list[str]:
    found = []
    for variable in variables:
        for index in np.ndindex(variable.shape):
            at = f"[{', '.join(map(str, index))}]" if index else ""
            found.append(f"{variable.name}{at}")
    return found
