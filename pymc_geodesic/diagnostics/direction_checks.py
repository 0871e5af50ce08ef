#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A check of the directions in which positions are widest and narrowest, by gradients."""

from __future__ import annotations

from pymc_geodesic.diagnostics.findings import Finding
from pymc_geodesic.runs.direction_coordinates import DirectionDraws
from pymc_geodesic.runs.directions import extremes

__all__ = ["check_directions"]


def check_directions(draws: DirectionDraws) -> list[Finding]:
    """Look for directions along which positions are too wide or too narrow.

    Parameters
    ----------
    draws : DirectionDraws
        The draws, some of them with gradients.

    Returns
    -------
    list of Finding
        ``directions_too_wide`` or ``directions_too_narrow``, for the temperature furthest off.
    """
    wrong = [x for x in extremes(draws) if x.is_wrong]
    if not wrong:
        return []
    worst = max(wrong, key=lambda x: abs(x.temperature - 1))
    width = "wide" if worst.temperature > 1 else "narrow"
    named = " and ".join(f"{x.temperature:.3g}, mostly of `{x.owner}`" for x in wrong)
    sentence = (
        f"Positions are too {width} along a direction: configurational temperatures of the widest "
        f"and narrowest directions should be 1, but are {named}."
    )
    advice = (
        "Noise of gradients may prefer directions: use larger batches, control variates, or a "
        "smaller `accuracy` or `step_size`."
    )
    evidence = {"temperatures": [x.temperature for x in wrong], "errors": [x.error for x in wrong]}
    return [Finding(f"directions_too_{width}", "error", sentence, advice, evidence)]
