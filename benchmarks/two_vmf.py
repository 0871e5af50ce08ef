#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The posterior of two directions of Liu, Zhu and Song (2016), section 5.2, from minibatches."""

from __future__ import annotations

import numpy as np
import pymc as pm

from common import (
    Check,
    angle,
    arguments,
    histogram,
    mcse,
    report,
    sample,
    table,
    total_variation,
)
from scipy.special import i0

import pymc_geodesic as pmg

KAPPA, N_ROWS, BATCH_SIZE = 20.0, 100, 10
LEARNING_RATE, MOMENTUM_DECAY = 5e-4, 0.1
ANGLES = (-np.pi / 24, np.pi / 8)
EDGES = np.arange(-1.5, 1.5001, 0.05)


def make_data() -> np.ndarray:
    """Draw the data as the paper does: half from ``v1``, half from the middle of the two."""
    rng = np.random.default_rng(20161)
    centres = np.array([ANGLES[0], np.mean(ANGLES)])
    angles = rng.vonmises(centres[rng.integers(0, 2, N_ROWS)], KAPPA)
    return np.c_[np.cos(angles), np.sin(angles)]


def posterior_model(data: np.ndarray, batch_size: int | None) -> pm.Model:
    with pm.Model() as model:
        v1 = pmg.VonMisesFisher("v1", mu=[1, 0], kappa=KAPPA)
        v2 = pmg.VonMisesFisher("v2", mu=[1, 0], kappa=KAPPA)
        total = v1 + v2
        middle = total / pm.math.sqrt((total**2).sum())
        components = [
            pmg.VonMisesFisher.dist(mu=v1, kappa=KAPPA),
            pmg.VonMisesFisher.dist(mu=middle, kappa=KAPPA),
        ]
        observed = data if batch_size is None else pm.Minibatch(data, batch_size=batch_size)
        pm.Mixture(
            "x", w=[0.5, 0.5], comp_dists=components, observed=observed, total_size=len(data)
        )
    return model


def grid_posterior(data: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Angles of the grid, and the posterior of the two angles on it."""
    grid = np.arange(EDGES[0] + 0.00125, EDGES[-1], 0.0025)
    x = angle(data)
    a, b = grid[:, None], grid[None, :]
    # The mixture depends on v2 by the middle angle alone: the sum of unit vectors bisects them.
    first = np.exp(KAPPA * np.cos(x[:, None] - grid)) / (2 * np.pi * i0(KAPPA))
    log_posterior = KAPPA * (np.cos(a) + np.cos(b))
    for i, x_i in enumerate(x):
        second = np.exp(KAPPA * np.cos(x_i - (a + b) / 2)) / (2 * np.pi * i0(KAPPA))
        log_posterior = log_posterior + np.log(0.5 * first[i][:, None] + 0.5 * second)
    posterior = np.exp(log_posterior - log_posterior.max())
    return grid, posterior / posterior.sum()


def correlation(grid: np.ndarray, posterior: np.ndarray) -> float:
    p, q = posterior.sum(axis=1), posterior.sum(axis=0)
    a, b = grid - p @ grid, grid - q @ grid
    return float(a @ posterior @ b / np.sqrt((p @ a**2) * (q @ b**2)))


def main() -> None:
    quick = arguments(__doc__).quick
    draws, n_steps = (500, 10) if quick else (10_000, 200)
    data = make_data()
    grid, posterior = grid_posterior(data)
    bins = [posterior.sum(axis=axis).reshape(len(EDGES) - 1, -1).sum(axis=1) for axis in (1, 0)]
    true_correlation = correlation(grid, posterior)

    def step(model, **options):
        return lambda: pmg.SGGMC.from_learning_rate(
            LEARNING_RATE, MOMENTUM_DECAY, model=model, n_steps=n_steps, **options
        )

    minibatch, full = posterior_model(data, BATCH_SIZE), posterior_model(data, None)
    step_size = float(np.sqrt(LEARNING_RATE / N_ROWS))
    methods = {
        "fresh batches, Fisher": (minibatch, step(minibatch, gradient_noise="fisher")),
        "fresh batches, V ignored": (minibatch, step(minibatch)),
        "10 transitions a batch, Fisher": (
            minibatch,
            step(minibatch, gradient_noise="fisher", steps_per_batch=10),
        ),
        "full batch": (
            full,
            lambda: pmg.SGGMC(
                step_size=step_size,
                friction=MOMENTUM_DECAY / step_size,
                n_steps=n_steps,
                model=full,
            ),
        ),
    }
    paper = {
        "fresh batches, Fisher": 1.013,
        "fresh batches, V ignored": 1.15,
        "10 transitions a batch, Fisher": 2.06,
        "full batch": 0.997,
    }
    rows, checks = [], []
    for seed, (name, (model, build)) in enumerate(methods.items()):
        run = sample(model, build, draws=draws, tune=500, chains=4, random_seed=seed + 1)
        angles = [angle(run.draws[variable]) for variable in ("v1", "v2")]
        distances = [
            total_variation(histogram(a, EDGES), p) for a, p in zip(angles, bins, strict=True)
        ]
        r = float(np.corrcoef(angles[0].ravel(), angles[1].ravel())[0, 1])
        temperature = float(run.stats["kinetic_temperature"].mean())
        ess = [float((a.std() / mcse(a)) ** 2) for a in angles]
        rows.append([name, *distances, r, r - true_correlation, temperature, paper[name]])
        rows[-1] += [round(min(ess)), run.seconds]
        if name == "fresh batches, Fisher":
            checks += [
                Check(f"{name}: total variation, {v}", f"{d:.4f}", "<= 0.05", d <= 0.05)
                for v, d in zip(("v1", "v2"), distances, strict=True)
            ]
            error = abs(r - true_correlation)
            checks += [
                Check(
                    f"{name}: correlation",
                    f"{r:.3f}",
                    f"{true_correlation:.3f} +- 0.05",
                    error <= 0.05,
                ),
                Check(
                    f"{name}: temperature",
                    f"{temperature:.4f}",
                    "1 +- 0.05",
                    abs(temperature - 1) <= 0.05,
                ),
            ]
    header = ["method", "TV v1", "TV v2", "correlation", "error", "temperature"]
    header += ["before", "smallest ESS", "seconds"]
    table(f"Correlation by the grid: {true_correlation:.3f}", header, rows)
    report("two_vmf", checks, quick=quick, header=header, rows=rows)


if __name__ == "__main__":
    main()
