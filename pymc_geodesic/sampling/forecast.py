#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The expected cost of draws, reported when the tuning phase ends: before the wait."""

from __future__ import annotations

import time

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pymc_geodesic.mass import JointMass, LowRankMass, Mass
from pymc_geodesic.sampling.larger_batches import is_noticeable
from pymc_geodesic.tuning.spacing import autocorrelation_time
from pymc_geodesic.tuning.whitening import whitened

__all__ = ["Clock", "News", "forecast", "noise_warning"]

# With fewer draws neither their time nor their correlation can be estimated.
FEWEST_DRAWS = 20
# Up to so many entries the slowest one is told.
FEW_ENTRIES = 10
# Gradients that NUTS with a diagonal mass needs for an effective draw: at least so many, and two
# for each step along the longest direction in units of the shortest.
FEWEST_GRADIENTS = 10
# Time of a gradient of NUTS over that of a gradient that takes its rows by their indices, which is
# measured. For four models of 30,000 rows the latter took .3 to 2.3 times what NumPy took, with
# which .2 gave .6 to 2.1 times the time of nutpie, compilation and tuning included. The factor of
# which users are told leaves room.
BY_NUTS, UNCERTAIN = 0.3, 3


class News(NamedTuple):
    """A sentence for the user.

    Attributes
    ----------
    text : str
        The sentence.
    is_warning : bool
        Whether something is amiss.
    """

    text: str
    is_warning: bool = False


class Clock(NamedTuple):
    """When a chain had made so many draws.

    Attributes
    ----------
    time : float
        In seconds since the epoch.
    n_drawn : int
        Draws of each chain.
    n_chains : int
        Chains that are moved together.
    processor : float
        Seconds of the processor that this process had used, whatever else runs on the machine.
    began : float
        The same when tuning began.
    """

    time: float
    n_drawn: int
    n_chains: int = 1
    processor: float = 0.0
    began: float = 0.0

    @classmethod
    def started(cls, n_drawn: int, *, n_chains: int, began: float) -> Clock:
        """Return a clock that starts now."""
        return cls(time.time(), n_drawn, n_chains, time.process_time(), began)


def forecast(
    clock: Clock | None,
    window: Sequence[Sequence[np.ndarray]],
    *,
    n_drawn: int,
    mass: Mass,
    seconds_per_pass: float,
) -> str:
    """Return sentences on what draws will cost, and on NUTS where it should be faster.

    Parameters
    ----------
    clock : Clock or None
        When the last choice of the tuning phase was made.
    window : sequence of sequence of ndarray
        Draws of the tuning phase, the last of which came after.
    n_drawn : int
        Draws so far.
    mass : Mass
        In whose frame draws are looked at.
    seconds_per_pass : float
        Seconds of the processor for a gradient of all rows; not a number if it was
        not measured.
    """
    n = 0 if clock is None else n_drawn - clock.n_drawn
    if clock is None or n < FEWEST_DRAWS or len(window) < n:
        return ""
    seconds = 1_000 * (time.time() - clock.time) / n
    frame = whitened(mass, window[-n:])
    # The largest of many estimates is too large by far.
    is_few = frame.shape[1] <= FEW_ENTRIES
    time_of = autocorrelation_time(frame, quantile=1.0 if is_few else 0.9)
    worth = 1_000 * clock.n_chains / time_of
    chains = f" of each of {clock.n_chains} chains" if clock.n_chains > 1 else ""
    text = (
        f". 1,000 draws{chains} take about {_rounded(seconds)} s and are worth about "
        f"{_rounded(worth)} independent ones"
    )
    if not is_few:
        text += " for nine in ten of their entries, and fewer for the slowest"
    by_nuts = worth * gradients_by_nuts(mass) * seconds_per_pass * BY_NUTS
    now = time.process_time()
    # What NUTS takes includes its tuning, and so does what is compared with it.
    by_this = now - clock.began + 1_000 * (now - clock.processor) / n
    if by_nuts < by_this:
        text += (
            ". NUTS on all rows is probably faster for this model: `pmg.sample(model=model, "
            f"exact='nuts')` should take about {_rounded(by_nuts)} s of one processor for as many, "
            f"tuning included, within a factor of {UNCERTAIN}; this step takes about "
            f"{_rounded(by_this)} s of one, its own tuning included"
        )
    return text


def noise_warning(share: float, *, n_entries: int) -> str:
    """Return sentences on what gradient noise may do to thousands of entries together.

    The arguments are those of
    :func:`~pymc_geodesic.sampling.larger_batches.is_noticeable`, which decides whether to write
    them.
    """
    if not is_noticeable(share, n_entries=n_entries):
        return ""
    return (
        f". Gradient noise supplies {share:.0%} of the kinetic energy. Single entries are hardly "
        "affected, but a scale that many entries share, such as that of a hierarchy, may be off by "
        "several tenths of its standard deviation; larger batches reduce this"
    )


def _rounded(number: float) -> str:
    """Write a number with two digits that count."""
    return f"{float(f'{number:.2g}'):,g}"


def gradients_by_nuts(mass: Mass) -> float:
    """Estimate the gradients that NUTS with a diagonal mass needs for an effective draw."""
    if isinstance(mass, LowRankMass):
        curvatures = np.append(mass.curvatures, 1.0)
    elif isinstance(mass, JointMass):
        [inverse] = mass.arrays
        covariance = inverse.T @ inverse
        scales = np.sqrt(np.diag(covariance))
        curvatures = 1 / np.linalg.eigvalsh(covariance / np.outer(scales, scales))
    else:
        curvatures = np.ones(1)
    return max(FEWEST_GRADIENTS, 2 * float(np.sqrt(curvatures.max() / curvatures.min())))
