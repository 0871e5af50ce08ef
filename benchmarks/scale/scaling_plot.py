#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The picture of seconds against rows, from the record of ``scaling``.

python -m benchmarks.scale.scaling_plot
"""

from __future__ import annotations

import json

import matplotlib
import numpy as np

from benchmarks.harness.declared import ROOT
from benchmarks.harness.records import RESULTS

__all__ = ["LABELS", "plot"]

PLOT = ROOT / "docs" / "_static" / "scaling.png"
LABELS = {
    "controlled": "SGNHT, control variates",
    "plain": "SGNHT, plain gradients",
    "nuts": "NUTS (nutpie)",
}
# Effective samples below which a point is mostly chance.
ENOUGH = 100


def plot(header: list[str], rows: list[list[str | float]]) -> None:
    """Draw both kinds of seconds against the number of rows, from the table of the record.

    Points that rest on few effective samples are hollow.
    """
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    wanted = ["N", "effective", "s per effective", "fixed s"]
    columns = [next(i for i, title in enumerate(header) if title.startswith(w)) for w in wanted]
    for i, label in enumerate(LABELS.values()):
        mine = [row for row in rows if row[header.index("method")] == label]
        sizes, effective, marginal, fixed = np.array(
            [[_number(row[c]) for c in columns] for row in mine]
        ).T
        for axes, seconds in zip(panels, (marginal, fixed + 1_000 * marginal), strict=True):
            axes.plot(sizes, seconds, color=f"C{i}", label=label)
            for enough in (True, False):
                shown = (effective >= ENOUGH) == enough
                face = f"C{i}" if enough else "white"
                axes.plot(sizes[shown], seconds[shown], "o", color=f"C{i}", markerfacecolor=face)
    panels[0].set_title("Seconds per effective sample")
    panels[1].set_title("Seconds to 1,000 of them, with tuning")
    for axes in panels:
        axes.set(xscale="log", yscale="log", xlabel="rows")
        axes.grid(alpha=0.3)
    panels[1].plot(
        [],
        [],
        "o",
        color="0.4",
        markerfacecolor="white",
        label=f"fewer than {ENOUGH} effective samples",
    )
    panels[1].legend(fontsize="small")
    figure.savefig(PLOT, dpi=120)


def _number(value: str | float) -> float:
    """Read a number, which its range may follow."""
    return float(str(value).split(" ")[0].replace(",", ""))


if __name__ == "__main__":
    found = json.loads((RESULTS / "scaling.json").read_text(encoding="utf-8"))["tables"][0]
    plot(found["header"], found["rows"])
