#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Masses: the law does not depend on them, what Monte Carlo EM learns, and what collapses."""

from __future__ import annotations

import numpy as np
import pymc as pm

from gradient_noise import add_gradient_noise, gradient_noise_rows

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import Run, sample
from benchmarks.harness.statistics import mcse, median_and_range
from pymc_geodesic.tuning.mass_adaptation import MassAdaptation

BENCHMARK = Benchmark(
    question="Is the distribution the same whatever the mass, and what does Monte Carlo EM learn?",
    asked=(
        "Variances within 4 Monte Carlo standard errors; with EM 1 within 3 per cent, mass ratio "
        "20."
    ),
    fixed="2026-11-21",
    seeds=(1, 2, 3),
)

STEPS = {
    "SGHMC": (pmg.SGHMC, {"friction": 1.0}),
    "SGNHT": (pmg.SGNHT, {"diffusion": 1.0}),
    "GMC": (pmg.GMC, {"n_leapfrog": 5}),
    "SGNPHMC": (pmg.SGNPHMC, {"n_leapfrog": 10}),
}
NOISE = np.array([200.0, 10.0])
# Momenta an M step, as many as the M step's own default in two dimensions.
SAMPLES = 50


def gaussian(n: int) -> tuple[pm.Model, np.ndarray]:
    """Standard deviations 1 and 1/2 by turns, neighbours correlated by 0.4."""
    scales = np.where(np.arange(n) % 2, 0.5, 1.0)
    correlation = 0.4 ** np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    with pm.Model() as model:
        pm.MvNormal("x", mu=np.zeros(n), cov=correlation * np.outer(scales, scales), shape=n)
    return model, scales


def invariance(draws: int, seeds: tuple[int, ...]) -> tuple[list[list], list[Check]]:
    """Standardised squares of the entries of mass 1 and of mass 9, for frozen masses."""
    rows = []
    for n in (1, 2, 10, 50):
        model, scales = gaussian(n)
        diagonal = np.where(np.arange(n) % 2, 9.0, 1.0)
        rotation = np.linalg.qr(np.random.default_rng(1).standard_normal((n, n)))[0]
        masses = {"diagonal": diagonal, "dense": rotation * diagonal @ rotation.T}
        for name, (cls, options) in STEPS.items():
            if cls is pmg.SGNPHMC:
                options = options | {"thermal_mass": float(n)}
            for kind, mass in masses.items():
                with model:
                    step = cls(step_size=0.1, n_steps=10, mass=mass, **options)
                found = []
                for seed in seeds:
                    run = once(model, step, draws=draws, tune=200, seed=seed)
                    squares = (run.draws["x"] / scales) ** 2
                    groups = [squares[..., i::2].mean(axis=-1) for i in range(min(n, 2))]
                    worst = max(abs(g.mean() - 1) / mcse(g) for g in groups)
                    ratios = [float(g.mean()) for g in groups] + [float("nan")] * (2 - len(groups))
                    temperature = float(run.stats["kinetic_temperature"].mean())
                    found.append([*ratios, float(worst), temperature])
                one, nine, error, temperature = np.median(found, axis=0).tolist()
                worst = max(row[2] for row in found)
                rows.append([n, name, kind, one, nine, error, worst, temperature])
    n, name, kind, *_, worst, _ = max(rows, key=lambda row: row[6])
    where = f"{worst:.2f}, {name}, n = {n}, {kind}"
    what = f"largest error of a variance in {len(rows)} cases and all seeds, in MCSE"
    return rows, [Check(what, where, "<= 4", worst <= 4)]


def once(model: pm.Model, step, *, draws: int, tune: int, seed: int) -> Run:
    """Run four chains of a step that is compiled already."""
    return sample(model, lambda: step, draws=draws, tune=tune, chains=4, random_seed=seed)


def printed_form(n_steps: int, seeds: tuple[int, ...]) -> tuple[list[list], list[Check]]:
    """Variance ratios of the entries of mass 1 and of mass 9 in the form first published."""
    ratios = np.array([printed_thermostat(n_steps, seed) for seed in seeds])
    near = np.allclose(ratios, [1.26, 0.75], atol=0.02)
    found = [median_and_range(each, ".3f") for each in ratios.T]
    rows = [[mass, each] for mass, each in zip((1, 9), found, strict=True)]
    what = "the printed form: variance ratios"
    return rows, [Check(what, ", ".join(found), "1.26, 0.75", near)]


def printed_thermostat(n_steps: int, seed: int) -> list[float]:
    """Variance ratios of the form first published: friction xi M^-1 p and noise 2 A I."""
    mass, precision = np.array([1.0, 9.0]), np.array([1.0, 4.0])
    rng, h, diffusion, n_chains = np.random.default_rng(seed), 0.01, 1.0, 4_000
    theta, p = rng.standard_normal((2, n_chains, 2)) / np.sqrt(precision)
    xi, total = np.full((n_chains, 1), diffusion), np.zeros(2)
    discard = n_steps // 5
    for t in range(n_steps):
        noise = np.sqrt(2 * diffusion * h) * rng.standard_normal(p.shape)
        p = p - xi * p / mass * h - precision * theta * h + noise
        theta = theta + p / mass * h
        xi = xi + h * ((p**2 / mass).mean(axis=1, keepdims=True) - 1)
        if t >= discard:
            total += (theta**2 * precision).mean(axis=0)
    return [float(ratio) for ratio in total / (n_steps - discard)]


def learning(draws: int, tune: int, seeds: tuple[int, ...]) -> tuple[list[list], list[Check]]:
    """SGNHT under gradient noise that differs between coordinates, without and with EM."""
    with pm.Model() as model:
        x = pm.Normal("x", shape=2)
        rows = gradient_noise_rows(400_000, NOISE, seed=0)
        add_gradient_noise("noise", x, rows)
    table_rows, checks = [], []
    for kind in (None, "diag", "dense"):
        mass = None if kind is None else pmg.MonteCarloEM(kind=kind)
        with model:
            step = pmg.SGNHT(step_size=0.05, diffusion=1.0, n_steps=20, mass=mass)
        runs = [once(model, step, draws=draws, tune=tune, seed=seed) for seed in seeds]
        squares = [run.draws["x"] ** 2 for run in runs]
        ratios = np.array([square.mean(axis=(0, 1)) for square in squares])
        error = max(mcse(square[..., i]) for square in squares for i in range(2))
        table_rows.append([kind or "none", *(median_and_range(r, ".3f") for r in ratios.T), error])
        if kind is None:
            table_rows[-1].append("")
            continue
        learned = [float(np.mean(run.stats["mass_ratio"][:, -1])) for run in runs]
        table_rows[-1].append(median_and_range(learned, ".1f"))
        off = float(np.abs(ratios - 1).max())
        what = f"EM, {kind}: variances away from 1 by, worst seed"
        checks.append(Check(what, f"{off:.3f}, MCSE {error:.3f}", "<= 0.03", off <= 0.03))
        near = max(abs(ratio / 20 - 1) for ratio in learned) <= 0.1
        checks.append(Check(f"EM, {kind}: mass ratio", table_rows[-1][-1], "20", near))
    return table_rows, checks


def collapse(n_updates: int, seeds: tuple[int, ...]) -> tuple[list[list], list[Check]]:
    """Log determinants after many M steps on exact momenta, replaced and averaged."""
    rows, checks = [], []
    for size in (2, 10, 50):
        samples = max(SAMPLES, 2 * size)
        replaced, steps = zip(
            *(replacement(size, samples, n_updates, seed) for seed in seeds), strict=True
        )
        eigenvalues = np.array([averaged(size, samples, n_updates, seed) for seed in seeds])
        smallest = median_and_range(eigenvalues.min(axis=1), ".3f")
        rows.append([size, samples, median_and_range(replaced, ".0f"), min(steps)])
        rows[-1].append(median_and_range(np.log(eigenvalues).sum(axis=1), ".2f"))
        rows[-1] += [smallest, median_and_range(eigenvalues.max(axis=1), ".3f")]
        what = f"D = {size}: smallest eigenvalue after {n_updates} M steps"
        checks.append(Check(what, smallest, "> 0", bool(eigenvalues.min() > 0.02)))
    return rows, checks


def averaged(size: int, samples: int, n_updates: int, seed: int) -> np.ndarray:
    """Eigenvalues of a mass after M steps with decaying weights."""
    scheme = pmg.MonteCarloEM(kind="dense", growth=1.0, normalize=False)
    learner = MassAdaptation(scheme, shapes=[(size,)], dtype="float64")
    rng = np.random.default_rng(seed)
    for _ in range(n_updates):
        momenta = rng.standard_normal((samples, size)) @ np.linalg.cholesky(learner.matrix).T
        learner.square, learner.count = momenta.T @ momenta, samples
        learner.update()
    return np.linalg.eigvalsh(learner.matrix)


def replacement(size: int, samples: int, n_updates: int, seed: int) -> tuple[float, int]:
    """Log determinant of a mass that each M step replaces, and the M steps it survived."""
    rng, root, log_determinant = np.random.default_rng(seed), np.eye(size), 0.0
    for step in range(n_updates):
        momenta = rng.standard_normal((samples, size)) @ root.T
        # A QR factor of the momenta is a Cholesky factor of their second moments.
        root = np.linalg.qr(momenta / np.sqrt(samples), mode="r").T
        diagonal = np.abs(np.diag(root))
        if not np.all(diagonal > np.finfo(float).tiny ** 0.5):
            return log_determinant, step
        log_determinant = 2 * float(np.log(diagonal).sum())
    return log_determinant, n_updates


def main() -> None:
    quick = arguments(__doc__).quick
    seeds = BENCHMARK.seeds[:1] if quick else BENCHMARK.seeds
    parts = {
        "Frozen masses diag(1, 9) and dense: variances over the target's": (
            ["n", "step", "mass", "variance, mass 1", "mass 9", "error (MCSE)", "worst", "temp."],
            invariance(200 if quick else 5_000, seeds),
        ),
        "The form first published": (
            ["mass", "variance over the true one"],
            printed_form(500 if quick else 12_000, seeds),
        ),
        "SGNHT, gradient noise V = (200, 10)": (
            ["EM", "variance 1", "variance 2", "MCSE", "mass ratio"],
            learning(*((500, 1_000) if quick else (60_000, 40_000)), seeds),
        ),
        "M steps on exact momenta": (
            ["D", "S", "log det, replaced", "M steps", "log det, averaged", "smallest", "largest"],
            collapse(100 if quick else 10_000, seeds),
        ),
    }
    tables = [(title, header, rows) for title, (header, (rows, _)) in parts.items()]
    for each in tables:
        table(*each)
    checks = [check for _, (_, more) in parts.values() for check in more]
    report("mass", checks, about=BENCHMARK, quick=quick, tables=tables)


if __name__ == "__main__":
    main()
