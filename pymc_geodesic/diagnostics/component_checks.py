#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A check that chains have found the same components, such as topics, whatever their numbers."""

from __future__ import annotations

from collections.abc import Mapping

from pymc_geodesic.component_order import DIFFERENT, are_alike, match_chains
from pymc_geodesic.diagnostics.findings import Finding
from pymc_geodesic.diagnostics.label_checks import Components

__all__ = ["check_components"]


def check_components(components: Mapping[str, Components]) -> list[Finding]:
    """Look for components that some chains have and others do not.

    Parameters
    ----------
    components : mapping of str to Components
        Sets of components that are known to have no order.
    """
    findings = []
    for name, parts in components.items():
        if min(len(parts.draws), parts.draws.shape[2]) == 1:
            continue
        alike = are_alike(parts.draws, match_chains(*parts), parts.geometry)
        if not alike.all():
            sentence = (
                f"The chains have found different components of {name}: {alike.sum()} of "
                f"{len(alike)} are alike in all chains, and means over chains mix the others."
            )
            evidence = {"variable": name, "n_components": int((~alike).sum())}
            found = Finding("different_components", "warning", sentence, DIFFERENT, evidence)
            findings.append(found)
    return findings
