#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A check that chains which are far apart are in different modes, and not in one that is wide."""

from __future__ import annotations

from collections.abc import Sequence

from pymc_geodesic.diagnostics.findings import Finding
from pymc_geodesic.diagnostics.gradients import ModelPoints
from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.tuning.barrier import BARRIER, barrier_between, farthest_means

__all__ = ["judged_modes"]


def judged_modes(findings: Sequence[Finding], known: ModelPoints) -> list[Finding]:
    """Return findings in which chains are in different modes only if a barrier separates them.

    Parameters
    ----------
    findings : sequence of Finding
        What draws alone have shown.
    known : ModelPoints
        The draws as points of the model.
    """
    if known.conditioned or all(found.name != "different_modes" for found in findings):
        return list(findings)
    chains = [list(parts) for parts in zip(*known.points, strict=True)]
    barrier = barrier_between(HostGradient(known.potential), *farthest_means(chains))
    if barrier > BARRIER:
        return list(findings)
    return [_unmixed(x) if x.name == "different_modes" else x for x in findings]


def _unmixed(found: Finding) -> Finding:
    sentence = (
        f"The chains have not mixed: R-hat of {found.evidence['variable']} is "
        f"{found.evidence['r_hat']:.2f}, although the log density hardly dips between them. They "
        "explore one mode slowly."
    )
    advice = (
        "Increase `tune` and `draws`, or `n_steps`, or reparametrise the model. Discard these "
        "draws."
    )
    return Finding("not_stationary", "error", sentence, advice, found.evidence)
