#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A warning about chains that are tuned together but have found different modes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.mass import Mass
from pymc_geodesic.sampling.log import log
from pymc_geodesic.tuning.agreement import FARTHEST_MEANS, distance_of_means

__all__ = ["warn_if_apart"]


def warn_if_apart(name: str, mass: Mass, windows: Sequence[Sequence[Sequence[np.ndarray]]]) -> None:
    """Warn if the means of the chains of a step are far apart; ``windows`` has their draws."""
    if (distance := distance_of_means(mass, windows)) > FARTHEST_MEANS:
        log.warning(
            f"The chains of {name} disagree after most of the tuning phase: their means are "
            f"{distance:.2g} standard deviations apart, so the tuning they share fits none of "
            "them. They may be in different modes: compare them with `az.plot_trace`, and start "
            "all chains in one mode with `initvals`, or increase `tune`."
        )
