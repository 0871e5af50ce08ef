#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A warning about chains that are tuned together but disagree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.mass import Mass
from pymc_geodesic.sampling.log import log
from pymc_geodesic.tuning.agreement import FARTHEST_MEANS, distance_of_means
from pymc_geodesic.tuning.barrier import BARRIER, barrier_between, farthest_means

__all__ = ["warn_if_apart"]


def warn_if_apart(
    name: str,
    mass: Mass,
    windows: Sequence[Sequence[Sequence[np.ndarray]]],
    gradient: HostGradient,
) -> None:
    """Warn if the means of the chains of a step are far apart, and tell why.

    Parameters
    ----------
    name : str
        Name of the step.
    mass : Mass
        In whose frame chains are compared.
    windows : sequence of sequence of draws
        Draws of each chain.
    gradient : HostGradient
        Energies of the model.
    """
    if (distance := distance_of_means(mass, windows)) <= FARTHEST_MEANS:
        return
    chains = [[np.array(x) for x in zip(*window, strict=True)] for window in windows]
    barrier = barrier_between(gradient, *farthest_means(chains))
    if barrier > BARRIER:
        why = (
            f"The log density dips by {barrier:.2g} between them, so they may be in different "
            "modes: compare them with `az.plot_trace`, and start all chains in one mode with "
            "`initvals`."
        )
    else:
        why = (
            "The log density hardly dips between them: they have not mixed yet. Increase `tune`, "
            "or reparametrise the model."
        )
    log.warning(
        f"The chains of {name} disagree after most of the tuning phase: their means are "
        f"{distance:.2g} standard deviations apart, so the tuning they share may fit none of "
        f"them. {why}"
    )
