#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Draws the picture of the first page, ``python docs/draw_home.py``.

The figures are those of the record ``benchmarks/results/scaling.json``.
"""

from __future__ import annotations

import json

from pathlib import Path

import matplotlib

from matplotlib.figure import Figure

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "_static" / "home.png"
# Color, label, the point beside which it stands, its offset in points and its alignment.
STYLES = {
    "NUTS (nutpie)": ("#D55E00", "NUTS, all rows", 2, (-9, 4), "right"),
    "SGNHT, plain gradients": ("#E69F00", "minibatches", 2, (9, -9), "left"),
    "SGNHT, control variates": ("#0072B2", "pymc_geodesic", 2, (0, 12), "center"),
}


def seconds_per_effective_sample(method: str) -> tuple[list[float], list[float]]:
    """Read the numbers of rows and the seconds of a method, medians of seeds, from the record."""
    record = json.loads((ROOT / "benchmarks" / "results" / "scaling.json").read_text())
    found = [row[:3] for row in record["tables"][0]["rows"] if row[1] == method]
    return [float(row[0]) for row in found], [float(row[2].split(" ")[0]) for row in found]


def draw() -> Figure:
    """Draw seconds per effective sample against the number of rows."""
    figure = Figure(figsize=(4.6, 4.2), layout="constrained")
    ax = figure.subplots()
    for method, (color, label, place, offset, side) in STYLES.items():
        rows, seconds = seconds_per_effective_sample(method)
        ax.loglog(rows, seconds, "o-", color=color, linewidth=2)
        at = {"xytext": offset, "textcoords": "offset points", "ha": side, "fontsize": 11}
        ax.annotate(label, (rows[place], seconds[place]), color=color, **at)
    ax.set(xlabel="rows", ylabel="seconds per effective sample", xlim=(500, 2e7))
    ax.grid(alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)
    return figure


if __name__ == "__main__":
    matplotlib.use("Agg")
    draw().savefig(PICTURE, dpi=200)
