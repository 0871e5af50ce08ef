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
from benchmarks.harness.sampling import sample
from benchmarks.harness.statistics import mcse
from pymc_geodesic.tuning.mass_adaptation import MassAdaptation

BENCHMARK = Benchmark(
    question="Is the distribution the same whatever the mass, and what does Monte Carlo EM learn?",
    asked=(
        "Variances within 4 Monte Carlo standard errors; with EM 1 within 3 per cent, mass ratio "
        "20."
    ),
    fixed="2026-11-21",
    seeds=(1,),
    measures=("mass", "algorithms", "tuning/mass_adaptation", "tuning/monte_carlo_em"),
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


def invariance(draws: int) -> tuple[list[list], list[Check]]:
    """Standardised squares of the entries of mass 1 and of mass 9, for frozen masses."""
    rows, checks = [], []
    for n in (1, 2, 10, 50):
        model, scales = gaussian(n)
        diagonal = np.where(np.arange(n) % 2, 9.0, 1.0)
        rotation = np.linalg.qr(np.random.default_rng(1).standard_normal((n, n)))[0]
        masses = {"diagonal": diagonal, "dense": rotation * diagonal @ rotation.T}
        for name, (cls, options) in STEPS.items():
            for kind, mass in masses.items():

                def step(cls=cls, options=options, mass=mass):
                    return cls(step_size=0.1, n_steps=10, mass=mass, backend="jax", **options)

                run = sample(model, step, draws=draws, tune=200, chains=4, random_seed=1)
                squares = (run.draws["x"] / scales) ** 2
                groups = [squares[..., i::2].mean(axis=-1) for i in range(min(n, 2))]
                z = [(g.mean() - 1) / mcse(g) for g in groups]
                temperature = float(run.stats["kinetic_temperature"].mean())
                ratios = [float(g.mean()) for g in groups] + [float("nan")] * (2 - len(groups))
                rows.append([n, name, kind, *ratios, max(map(abs, z)), temperature])
    worst = max(row[5] for row in rows)
    checks.append(Check("largest error of a variance, in MCSE", f"{worst:.2f}", "<= 4", worst <= 4))
    return rows, checks


def printed_thermostat(n_steps: int) -> list[float]:
    """Variance ratios of the form first published: friction xi M^-1 p and noise 2 A I."""
    mass, precision = np.array([1.0, 9.0]), np.array([1.0, 4.0])
    rng, h, diffusion, n_chains = np.random.default_rng(1), 0.01, 1.0, 4_000
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


def learning(draws: int, tune: int) -> tuple[list[list], list[Check]]:
    """SGNHT under gradient noise that differs between coordinates, without and with EM."""
    with pm.Model() as model:
        x = pm.Normal("x", shape=2)
        rows = gradient_noise_rows(400_000, NOISE, seed=0)
        add_gradient_noise("noise", x, rows)
    table_rows, checks = [], []
    for kind in (None, "diag", "dense"):
        mass = None if kind is None else pmg.MonteCarloEM(kind=kind)

        def step(mass=mass):
            return pmg.SGNHT(step_size=0.05, diffusion=1.0, n_steps=20, mass=mass, backend="jax")

        run = sample(model, step, draws=draws, tune=tune, chains=4, random_seed=1)
        squares = run.draws["x"] ** 2
        ratios = [float(squares[..., i].mean()) for i in range(2)]
        errors = [mcse(squares[..., i]) for i in range(2)]
        learned = float(np.mean(run.stats["mass_ratio"][:, -1])) if kind else float("nan")
        table_rows.append([kind or "none", *ratios, max(errors), learned])
        if kind:
            off = max(abs(ratio - 1) for ratio in ratios)
            what = f"EM, {kind}: variances away from 1 by (MCSE {max(errors):.3f})"
            checks.append(Check(what, f"{off:.3f}", "<= 0.03", off <= 0.03))
            near = abs(learned / 20 - 1) <= 0.1
            checks.append(Check(f"EM, {kind}: mass ratio", f"{learned:.1f}", "20", near))
    return table_rows, checks


def collapse(n_updates: int) -> tuple[list[list], list[Check]]:
    """Log determinants after many M steps on exact momenta, replaced and averaged."""
    rows, checks = [], []
    for size in (2, 10, 50):
        samples = max(SAMPLES, 2 * size)
        replaced, steps = replacement(size, samples, n_updates)
        scheme = pmg.MonteCarloEM(kind="dense", growth=1.0, normalize=False)
        learner = MassAdaptation(scheme, shapes=[(size,)], dtype="float64")
        rng = np.random.default_rng(1)
        for _ in range(n_updates):
            momenta = rng.standard_normal((samples, size)) @ np.linalg.cholesky(learner.matrix).T
            learner.square, learner.count = momenta.T @ momenta, samples
            learner.update()
        eigenvalues = np.linalg.eigvalsh(learner.matrix)
        rows.append(
            [size, samples, replaced, steps, float(np.log(eigenvalues).sum()), *_ends(eigenvalues)]
        )
        alive = eigenvalues.min() > 0.02
        what = f"D = {size}: smallest eigenvalue after {n_updates} M steps"
        checks.append(Check(what, f"{eigenvalues.min():.3f}", "> 0", bool(alive)))
    return rows, checks


def replacement(size: int, samples: int, n_updates: int) -> tuple[float, int]:
    """Log determinant of a mass that each M step replaces, and the M steps it survived."""
    rng, root, log_determinant = np.random.default_rng(1), np.eye(size), 0.0
    for step in range(n_updates):
        momenta = rng.standard_normal((samples, size)) @ root.T
        # A QR factor of the momenta is a Cholesky factor of their second moments.
        root = np.linalg.qr(momenta / np.sqrt(samples), mode="r").T
        diagonal = np.abs(np.diag(root))
        if not np.all(diagonal > np.finfo(float).tiny ** 0.5):
            return log_determinant, step
        log_determinant = 2 * float(np.log(diagonal).sum())
    return log_determinant, n_updates


def _ends(values: np.ndarray) -> tuple[float, float]:
    return float(values.min()), float(values.max())


def main() -> None:
    quick = arguments(__doc__).quick
    rows, checks = invariance(200 if quick else 5_000)
    header = ["n", "step", "mass", "variance, mass 1", "mass 9", "largest error (MCSE)", "temp."]
    table("Frozen masses diag(1, 9) and dense: variances over the target's", header, rows)

    ratios = printed_thermostat(500 if quick else 12_000)
    near = np.allclose(ratios, [1.26, 0.75], atol=0.02)
    found = ", ".join(f"{ratio:.3f}" for ratio in ratios)
    checks.append(Check("the printed form: variance ratios", found, "1.26, 0.75", near))

    learned, more = learning(*((500, 1_000) if quick else (60_000, 40_000)))
    checks += more
    columns = ["EM", "variance 1", "variance 2", "MCSE", "mass ratio"]
    table("SGNHT, gradient noise V = (200, 10)", columns, learned)

    collapsed, more = collapse(100 if quick else 10_000)
    checks += more
    columns = ["D", "S", "log det, replaced", "M steps", "log det, averaged", "smallest", "largest"]
    table("M steps on exact momenta", columns, collapsed)
    report(
        "mass",
        checks,
        about=BENCHMARK,
        quick=quick,
        invariance=rows,
        learning=learned,
        collapse=collapsed,
    )


if __name__ == "__main__":
    main()
