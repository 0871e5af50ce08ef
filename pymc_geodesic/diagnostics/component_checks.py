#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Checks that chains have found the same components, such as topics, and have settled on them."""

from __future__ import annotations

from collections.abc import Mapping

from pymc.model import Model

from pymc_geodesic.component_order import DIFFERENT, are_alike, match_chains
from pymc_geodesic.diagnostics.findings import Finding
from pymc_geodesic.diagnostics.label_checks import Components
from pymc_geodesic.runs.components import LONGER, unsettled

__all__ = ["check_components"]


def check_components(components: Mapping[str, Components], *, model: Model | None) -> list[Finding]:
    """Look for components that still improve, and that some chains have and others do not.

    Parameters
    ----------
    components : mapping of str to Components
        Sets of components that are known to have no order.
    model : Model, optional
        The model, whose data they predict.
    """
    findings = []
    for name, parts in components.items():
        if model is not None:
            findings += [
                Finding("not_stationary", "error", text, LONGER, {"variable": name})
                for text in unsettled(model, name, parts.draws)
            ]
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
