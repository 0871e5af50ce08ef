#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Figure 1 of Patterson and Teh (2013): effective sample size against step size, and the bias.

Dirichlet(0.1) with ten entries and the counts 90, 5, 5, 0, ...; 110,000 iterations, 10,000 of them
discarded, thinned by 100. The paper plots the effective sample size alone. The bias of an empty
entry's mean, whose exact value is 0.1 / 101, stands beside it here. Figures are medians of seeds.
"""

from __future__ import annotations

import arviz as az
import matplotlib
import numpy as np
import pymc as pm

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import ROOT, Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import Run, sample, set_step_size
from benchmarks.harness.statistics import median_and_range

BENCHMARK = Benchmark(
    question=(
        "Patterson and Teh (2013), Figure 1: effective samples by step size, and the bias beside "
        "them."
    ),
    asked="Expanded mean without a test near 1,000 at 0.01 and 0.1; no NaN.",
    fixed="2026-11-21",
    seeds=(1, 2, 3),
)

matplotlib.use("Agg")

COUNTS = np.array([90, 5, 5, 0, 0, 0, 0, 0, 0, 0])
ALPHA, THIN, DRAWS, BURN_IN, N_CHAINS = 0.1, 100, 1000, 100, 4
STEP_SIZES = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
METHODS = {
    "expanded mean, Fisher": {"parameterization": "expanded_mean", "dynamics": "euler"},
    "reduced natural": {"parameterization": "reduced_natural", "metric": "identity"},
    "expanded natural": {"parameterization": "expanded_natural", "metric": "identity"},
}
FORMS = {
    "mean ESS": ".0f",
    "median ESS": ".0f",
    "empty": ".4f",
    "first": ".3f",
    "acceptance": ".3f",
}
EXACT = (ALPHA + COUNTS) / (ALPHA * len(COUNTS) + COUNTS.sum())
PICTURE = ROOT / "docs" / "_static" / "simplex_figure1.png"


def effective_sizes(p: np.ndarray) -> np.ndarray:
    """Effective sample size of each entry, averaged over the chains."""
    sizes = [
        [float(az.ess(chain[None, :, k], method="mean")) for k in range(p.shape[-1])] for chain in p
    ]
    return np.mean(sizes, axis=0)


def draw_picture(figures: dict) -> None:
    import matplotlib.pyplot as plt

    fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    colours = dict(zip(METHODS, ("C0", "C1", "C2"), strict=True))
    for (name, metropolis), lines in figures.items():
        style = {"color": colours[name], "ls": "--" if metropolis else "-", "marker": "o", "ms": 4}
        label = name + (", Metropolis" if metropolis else "")
        axes[0].semilogx(
            STEP_SIZES, [np.median(line["mean ESS"]) for line in lines], label=label, **style
        )
        axes[1].loglog(STEP_SIZES, [np.median(line["empty"]) for line in lines], **style)
    axes[1].axhline(EXACT[-1], color="0.4", lw=1)
    axes[1].annotate("exact", (STEP_SIZES[0], EXACT[-1]), (0, 3), textcoords="offset points")
    axes[0].set(xlabel="step size", ylabel="effective sample size (mean)")
    axes[1].set(xlabel="step size", ylabel="mean of an empty entry")
    axes[0].set_ylim(0, 1050)
    fig.legend(loc="outside lower center", ncols=3, fontsize="small")
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(PICTURE, dpi=150)


def build_model() -> pm.Model:
    with pm.Model() as model:
        p = pm.Dirichlet("p", np.full(len(COUNTS), ALPHA))
        pm.Multinomial("x", COUNTS.sum(), p, observed=COUNTS)
    return model


def figures_of(run: Run) -> dict[str, float]:
    """Effective samples, means of empty entries and of the first, and how many were accepted."""
    p = run.draws["p"]
    sizes = effective_sizes(p)
    return {
        "mean ESS": float(sizes.mean()),
        "median ESS": float(np.median(sizes)),
        "empty": float(p[..., 3:].mean()),
        "first": float(p[..., 0].mean()),
        "acceptance": float(run.stats["acceptance_rate"].mean()),
        "finite": bool(np.isfinite(p).all()) and not run.stats["diverging"].any(),
    }


def main() -> None:
    quick = arguments(__doc__.splitlines()[0]).quick
    draws, burn_in = (50, 10) if quick else (DRAWS, BURN_IN)
    seeds = BENCHMARK.seeds[:1] if quick else BENCHMARK.seeds
    options = {"draws": draws, "tune": burn_in, "chains": N_CHAINS}
    model = build_model()
    rows, figures, checks, all_finite = [], {}, [], True
    for metropolis in (False, True):
        for name, coordinates in METHODS.items():
            # Compiled once: the step size is an input of the kernel.
            step = pmg.SGRLD(
                model=model,
                step_size=STEP_SIZES[0],
                n_steps=THIN,
                variance_reduction=None,
                metropolis=metropolis,
                **coordinates,
            )
            lines = figures[name, metropolis] = []
            for step_size in STEP_SIZES:
                set_step_size(step, step_size)
                each = [
                    figures_of(sample(model, lambda step=step: step, random_seed=seed, **options))
                    for seed in seeds
                ]
                line = {key: [one[key] for one in each] for key in FORMS}
                lines.append(line)
                finite = all(one["finite"] for one in each)
                all_finite &= finite
                cells = [median_and_range(line[key], form) for key, form in FORMS.items()]
                rows.append([name, metropolis, f"{step_size:g}", *cells, finite])
                if name.startswith("expanded mean") and not metropolis and step_size >= 0.01:
                    checks.append(
                        Check(
                            f"{name}, unadjusted, step {step_size:g}: mean ESS of 1,000",
                            cells[0],
                            "near 1,000 (>= 900)",
                            min(line["mean ESS"]) >= 900,
                        )
                    )
    checks.append(Check("all draws finite", str(all_finite), "True", all_finite))
    header = ["method", "Metropolis", "step", "mean ESS", "median ESS", "mean of an empty entry"]
    header += ["mean of the first", "acceptance", "finite"]
    exact = f"exact means: empty {EXACT[-1]:.6f}, first {EXACT[0]:.4f}; ESS of {draws} draws"
    table(exact, header, rows)
    report("simplex_figure1", checks, about=BENCHMARK, quick=quick, header=header, rows=rows)
    if not quick:
        draw_picture(figures)


if __name__ == "__main__":
    main()
