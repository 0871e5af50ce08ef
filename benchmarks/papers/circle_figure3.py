#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Figure 3 of Liu, Zhu and Song (2016), section 5.1, at the paper's length: with GMC beside it.

The density on the circle has two modes; gradients have noise of variance 1000. Each chain makes
10,000 draws of 30 transitions or leapfrogs. GMC has the exact gradient.
"""

from __future__ import annotations

import numpy as np
import pymc as pm

from noisy_circle import DIFFUSION as FRICTION
from noisy_circle import NOISE, STEP_SIZE, build_model, log_density
from two_directions import angle

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import of_seeds
from benchmarks.harness.statistics import histogram, mcse, total_variation
from benchmarks.papers.circle import EDGES, truth
from benchmarks.papers.pictures import EXACT, panels, save, steps

BENCHMARK = Benchmark(
    question=(
        "Liu, Zhu and Song (2016), Figure 3: the circle at the paper's 300,000 transitions, with "
        "GMC."
    ),
    asked=(
        "For GMC, SGGMC with known noise and gSGNHT, three chains together: total variation at "
        "most 0.06, and at most half of that of SGGMC that ignores the noise; |z| at most 4."
    ),
    fixed="2026-11-22",
    seeds=(1, 2, 3),
)

IGNORED = "SGGMC, V ignored"


def exact_model() -> pm.Model:
    """Write the density without noise."""
    with pm.Model() as model:
        x = pmg.SphericalUniform("x", shape=2)
        pm.Potential("target", log_density(x, pm.math.logaddexp))
    return model


def methods(length: int) -> dict:
    """Return the model of each method and the step that samples it."""
    noisy = build_model()
    common = {"step_size": STEP_SIZE, "n_steps": length, "model": noisy}
    exact = exact_model()
    gmc = pmg.GMC(step_size=STEP_SIZE, n_leapfrog=length, jitter=0.0, model=exact)
    return {
        "GMC, exact gradients": (exact, gmc),
        "SGGMC, V known": (
            noisy,
            pmg.SGGMC(friction=FRICTION, gradient_noise=NOISE, **common),
        ),
        "gSGNHT, V unknown": (noisy, pmg.gSGNHT(diffusion=FRICTION, **common)),
        IGNORED: (noisy, pmg.SGGMC(friction=FRICTION, **common)),
    }


def chains(model: pm.Model, step, draws: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Draws and temperatures of one chain a seed, and the seconds of all."""
    runs = of_seeds(model, step, BENCHMARK.seeds, draws=draws, tune=500)
    x = np.concatenate([run.draws["x"] for run in runs])
    temperature = np.concatenate([run.stats["kinetic_temperature"] for run in runs])
    return x, temperature, sum(run.seconds for run in runs)


def draw(shares: dict[str, np.ndarray], bins: np.ndarray) -> None:
    """Draw the densities by angle, one panel a method."""
    figure, axes = panels(1, len(shares), sharey=True)
    for ax, (name, found) in zip(axes[0], shares.items(), strict=True):
        steps(ax, EDGES, found, fill=True, color="#0072B2", alpha=0.4)
        ax.plot((EDGES[:-1] + EDGES[1:]) / 2, bins / np.diff(EDGES), **EXACT)
        ax.set_title(name, fontsize=9)
        ax.set_xlabel("angle", fontsize=8)
    axes[0, 0].set_ylabel("density (line: exact)", fontsize=8)
    save(figure, "circle_figure3")


def main() -> None:
    quick = arguments(__doc__.splitlines()[0]).quick
    bins, cosine, sine = truth()
    rows, z, distances, shares = [], {}, {}, {}
    for name, (model, step) in methods(30).items():
        x, temperature, seconds = chains(model, step, 500 if quick else 10_000)
        shares[name] = histogram(angle(x), EDGES)
        distances[name] = total_variation(shares[name], bins)
        single = [total_variation(histogram(angle(chain), EDGES), bins) for chain in x]
        z[name] = [
            (x[..., i].mean() - exact) / mcse(x[..., i]) for i, exact in enumerate((cosine, sine))
        ]
        each = " to ".join(f"{value:.3f}" for value in (min(single), max(single)))
        rows.append(
            [name, round(distances[name], 4), each, *(f"{value:+.1f}" for value in z[name])]
        )
        rows[-1] += [f"{temperature.mean():.3f}", f"{seconds:.0f}"]
    header = ["method", "total variation", "of one chain", "z of E cos", "z of E sin"]
    header += ["temperature", "s"]
    table("Three chains of 300,000 transitions", header, rows)
    checks, limit = [], distances.pop(IGNORED) / 2
    for name, distance in distances.items():
        good, largest = distance <= 0.06, max(map(abs, z[name]))
        checks.append(Check(f"{name}: total variation", f"{distance:.3f}", "<= 0.06", good))
        asked = f"<= {limit:.3f}, half of that with the noise ignored"
        checks.append(Check(f"{name}: the same again", f"{distance:.3f}", asked, distance <= limit))
        checks.append(Check(f"{name}: largest |z|", f"{largest:.1f}", "<= 4", largest <= 4))
    report("circle_figure3", checks, about=BENCHMARK, quick=quick, header=header, rows=rows)
    if not quick:
        draw(shares, bins)


if __name__ == "__main__":
    main()
