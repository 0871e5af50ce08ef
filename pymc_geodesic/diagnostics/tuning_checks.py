#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A check that the chains of a run tuned to the same posterior."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pymc_geodesic.diagnostics.findings import Finding
from pymc_geodesic.monte_carlo import effective_draws

__all__ = ["check_tuning"]

# Step sizes that chains tune on the same posterior differ by tens of per cent.
LARGEST_RATIO = 3.0
# In standard errors, which are estimated too, between the mean energies of two chains.
SIGNIFICANT = 8.0
# Between mean energies, in standard deviations of the energy over a Gaussian posterior. The
# difference is the log of the ratio of the densities at the draws of the two chains.
APART = 3.0


def check_tuning(stats: Mapping[str, np.ndarray], *, n_entries: int) -> list[Finding]:
    """Compare step sizes and mean energies of the chains.

    Chains that explore one posterior, or copies of it with other labels, have the same mean energy,
    and chains that tuned themselves have about the same step size. Otherwise they have found
    different modes, of which at most one matters.

    Parameters
    ----------
    stats : mapping of str to ndarray
        Sample statistics, ``(chain, draw)``.
    n_entries : int
        Number of entries of the sampled variables: energies vary by the square root of half of it.
    """
    found = _step_sizes(stats["step_size"]) + _energies(stats.get("potential_estimate"), n_entries)
    if not found:
        return []
    figures = " and ".join(text for text, _ in found)
    evidence = {name: value for _, values in found for name, value in values.items()}
    sentence = f"The chains tuned to different posteriors: {figures}."
    advice = (
        "Keep the chains of the lowest energy, or start all chains near one mode with `initvals`; "
        "`pmg.initial_directions` finds a start for mixtures of unit vectors. Do not average these "
        "chains."
    )
    return [Finding("chains_tuned_apart", "error", sentence, advice, evidence)]


def _step_sizes(step_size: np.ndarray) -> list[tuple[str, dict]]:
    if step_size.ndim != 2 or len(step_size) < 2:
        return []
    sizes = np.median(step_size, axis=1)
    if not np.all(sizes > 0) or sizes.max() <= LARGEST_RATIO * sizes.min():
        return []
    return [(f"step sizes are {_listed(sizes)}", {"step_sizes": sizes.tolist()})]


def _energies(energy: np.ndarray | None, n_entries: int) -> list[tuple[str, dict]]:
    if energy is None or energy.ndim != 2 or len(energy) < 2 or not np.isfinite(energy).all():
        return []
    means = energy.mean(axis=1)
    low, high = int(means.argmin()), int(means.argmax())
    distance = float(means[high] - means[low])
    if distance <= APART * np.sqrt(max(n_entries, 2) / 2):
        return []
    variances = [
        chain.var() / max(effective_draws(chain[None]), 1.0) for chain in energy[[low, high]]
    ]
    if distance <= SIGNIFICANT * np.sqrt(sum(variances)):
        return []
    text = f"mean energies (`potential_estimate`) are {_listed(means)}"
    return [(text, {"mean_energies": means.tolist()})]


def _listed(values: np.ndarray) -> str:
    return ", ".join(f"{value:.6g}" for value in values)
