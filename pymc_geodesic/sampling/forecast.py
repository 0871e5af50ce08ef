#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What draws will cost, said when the tuning phase ends: before the wait and not after it."""

from __future__ import annotations

import time

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pymc_geodesic.mass import JointMass, LowRankMass, Mass
from pymc_geodesic.tuning.self_tuner import autocorrelation_time, whitened

__all__ = ["Clock", "News", "forecast", "noise_felt"]

# Transitions per draw, and step sizes in posterior scales, from which something is amiss.
MANY_STEPS, SHORT_STEP = 200, 0.05
# Fewer draws tell neither their time nor how they are correlated.
FEWEST_DRAWS = 20
# What NUTS with a diagonal mass does for an effective draw: so many gradients at least, and two for
# each step along the longest direction in units of the shortest. Whether it is faster is only said
# where it is by far.
FEWEST_GRADIENTS, BY_FAR = 10, 2.0
# Share of the noise from which it is said. With nine per cent the scales of 2,000 logistic groups
# of 15 rows were off by six tenths of a standard deviation.
LEAST_SHARE = 0.03


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
        Draws.
    """

    time: float
    n_drawn: int


def forecast(
    clock: Clock | None,
    window: Sequence[Sequence[np.ndarray]],
    *,
    n_drawn: int,
    mass: Mass,
    seconds_per_pass: float,
) -> str:
    """Return the end of a sentence: what draws will cost, and whether NUTS would be faster.

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
        Time of a gradient of all rows; not a number if it was not measured.
    """
    n = 0 if clock is None else n_drawn - clock.n_drawn
    if clock is None or n < FEWEST_DRAWS or len(window) < n:
        return ""
    seconds = (time.time() - clock.time) / n
    share = 1 / autocorrelation_time(whitened(mass, window[-n:]), quantile=0.9)
    text = f"; 1,000 draws take about {_rounded(1_000 * seconds)} s"
    text += f", and {_rounded(1_000 * share)} of them are effective"
    by_nuts = gradients_by_nuts(mass) * seconds_per_pass
    if BY_FAR * by_nuts < seconds / share:
        text += (
            ". NUTS on all rows is probably faster for this model: `pm.sample("
            f"model=pmg.full_data(model))` takes about {_rounded(1_000 * by_nuts)} s for 1,000 "
            "effective draws"
        )
    return text


def noise_felt(share: float) -> str:
    """Return the end of a sentence: what gradient noise does to thousands of entries together.

    Parameters
    ----------
    share : float
        Of the noise in the heat of an entry. Its friction makes up for it on average, but not for
        how it depends on the entry.
    """
    if share < LEAST_SHARE:
        return ""
    return (
        f". Gradient noise makes {share:.0%} of the heat: single entries hardly feel it, but the "
        "scale that many of them have in common may be off by some tenths of its standard "
        "deviation. Larger batches lower it"
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
