#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What can be looked at in the draws of any sampler."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pymc_geodesic.diagnostics.findings import Finding

__all__ = ["check_divergences", "check_finite"]


def check_finite(variables: Mapping[str, np.ndarray]) -> list[Finding]:
    """Look for draws that are not finite, of which nothing else can be said.

    Parameters
    ----------
    variables : mapping of str to ndarray
        Draws of each variable, ``(chain, draw, *shape)``.
    """
    counts = {
        name: (int(np.count_nonzero(bad)), bad.size)
        for name, x in variables.items()
        for bad in [~np.isfinite(x.reshape(*x.shape[:2], -1)).all(axis=-1)]
        if bad.any()
    }
    if not counts:
        return []
    named = ", ".join(f"{n} of {size} draws of `{name}`" for name, (n, size) in counts.items())
    sentence = f"Draws are not finite: {named} hold NaN or infinity."
    advice = (
        "Leave these draws out, or find their cause: `model.debug()` at such a draw names the "
        "variable."
    )
    evidence = {name: n for name, (n, _) in counts.items()}
    return [Finding("draws_not_finite", "error", sentence, advice, evidence)]


def check_divergences(stats: Mapping[str, np.ndarray]) -> list[Finding]:
    """Count the divergences of a step that is not of this package.

    Parameters
    ----------
    stats : mapping of str to ndarray
        Sample statistics, ``(chain, draw)``.
    """
    share = float(np.mean(stats.get("diverging", 0.0)))
    if not share:
        return []
    sentence = f"{100 * share:.3g} per cent of the draws diverged."
    advice = "Increase `target_accept`, or write the model with other parameters."
    return [Finding("divergences", "error", sentence, advice, {"diverging": share})]
