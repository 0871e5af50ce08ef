#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Figure 1b of Patterson and Teh (2013): traces of the methods at their best step sizes.

Dirichlet(0.1) with ten entries and the counts 90, 5, 5, 0, ...; 110,000 iterations, 10,000 of them
discarded, thinned by 100.
"""

from __future__ import annotations

import numpy as np

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import of_seeds
from benchmarks.papers.pictures import EXACT, panels, save
from benchmarks.papers.simplex_figure1 import (
    BURN_IN,
    DRAWS,
    METHODS,
    THIN,
    build_model,
    effective_sizes,
)
from benchmarks.papers.simplex_figure1 import (
    EXACT as MEANS,
)

BENCHMARK = Benchmark(
    question="Patterson and Teh (2013), Figure 1b: traces, and what they hide.",
    asked=(
        "Expanded mean without a test: mean ESS of three chains of 1,000 draws at least 900, as "
        "published; with a test, or in natural coordinates with one, below it; mean of an empty "
        "entry within a factor of 2 of the exact one."
    ),
    fixed="2026-11-22",
    seeds=(1, 2, 3),
)

# Method, whether a test follows, and the step size at which Figure 1a is best for it.
SHOWN = (
    ("expanded mean, Fisher", False, 1e-2),
    ("expanded mean, Fisher", True, 1e-3),
    ("reduced natural", True, 1e-1),
    ("expanded natural", True, 1e-1),
)


def draw(traces: dict[str, np.ndarray]) -> None:
    """Draw the first entry above, and an empty one below."""
    figure, axes = panels(2, len(traces), sharey="row", sharex=True)
    for (above, below), (name, p) in zip(axes.T, traces.items(), strict=True):
        above.plot(p[:, 0], lw=0.5, color="#0072B2")
        above.axhline(MEANS[0], **EXACT)
        below.semilogy(np.maximum(p[:, -1], 1e-12), lw=0.5, color="#0072B2")
        below.axhline(MEANS[-1], **EXACT)
        above.set_title(name, fontsize=9)
        below.set_xlabel("draw", fontsize=8)
    axes[0, 0].set_ylabel("first entry (line: its mean)", fontsize=8)
    axes[1, 0].set_ylabel("an empty entry", fontsize=8)
    save(figure, "simplex_figure1b")


def main() -> None:
    quick = arguments(__doc__.splitlines()[0]).quick
    draws, burn_in = (50, 10) if quick else (DRAWS, BURN_IN)
    model = build_model()
    rows, traces, checks = [], {}, []
    for method, metropolis, step_size in SHOWN:
        step = pmg.SGRLD(
            model=model,
            step_size=step_size,
            n_steps=THIN,
            variance_reduction=None,
            metropolis=metropolis,
            **METHODS[method],
        )
        runs = of_seeds(model, step, BENCHMARK.seeds, draws=draws, tune=burn_in)
        p = np.concatenate([run.draws["p"] for run in runs])
        name = method.split(",")[0] + (", Metropolis" if metropolis else "")
        traces[f"{name}, {step_size:g}"] = p[0]
        size, ratio = float(effective_sizes(p).mean()), float(p[..., 3:].mean() / MEANS[-1])
        each = p[..., 3:].mean(axis=(1, 2)) / MEANS[-1]
        acceptance = np.mean([run.stats["acceptance_rate"].mean() for run in runs])
        rows.append([name, f"{step_size:g}", f"{size:.0f}", f"{ratio:.2f}"])
        rows[-1] += [f"{each.min():.2f} to {each.max():.2f}", f"{acceptance:.3f}"]
        good = size < 900 if metropolis else size >= 900
        asked = "< 900" if metropolis else ">= 900"
        checks.append(Check(f"{name}: mean ESS of 1,000", f"{size:.0f}", asked, good))
        what = f"{name}: mean of an empty entry, over the exact one"
        checks.append(Check(what, f"{ratio:.2f}", "0.5 to 2", 0.5 <= ratio <= 2))
    header = ["method", "step size", "mean ESS", "empty entry / exact", "of one chain"]
    header += ["acceptance"]
    table("Three chains of 110,000 iterations", header, rows)
    report("simplex_figure1b", checks, about=BENCHMARK, quick=quick, header=header, rows=rows)
    if not quick:
        draw(traces)


if __name__ == "__main__":
    main()
