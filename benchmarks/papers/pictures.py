#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Pictures in the style of the papers' figures, for the documentation."""

from __future__ import annotations

import matplotlib
import matplotlib.pyplot as plt
import numpy as np

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.harness.declared import ROOT

__all__ = ["EXACT", "panels", "save", "steps"]

matplotlib.use("Agg")

FOLDER = ROOT / "docs" / "_static" / "papers"
# The exact density, in all pictures.
EXACT = {"color": "0.35", "lw": 1.2}


def panels(n_rows: int, n_columns: int, **options) -> tuple[Figure, np.ndarray]:
    """Make a grid of small panels without boxes; the array has two axes."""
    size = (2.9 * n_columns, 2.3 * n_rows)
    figure, axes = plt.subplots(
        n_rows, n_columns, figsize=size, layout="constrained", squeeze=False, **options
    )
    for ax in axes.flat:
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(labelsize=8)
    return figure, axes


def steps(ax: Axes, edges: np.ndarray, shares: np.ndarray, **options) -> None:
    """Draw the density of a histogram from the shares of its bins."""
    ax.stairs(shares / np.diff(edges), edges, **options)


def save(figure: Figure, name: str) -> None:
    """Write a picture where the documentation looks for it."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    figure.savefig(FOLDER / f"{name}.png", dpi=130)
    plt.close(figure)
