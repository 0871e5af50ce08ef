#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The circle experiment of Liu, Zhu and Song (2016), section 5.1: strong gradient noise."""

from __future__ import annotations

import numpy as np
import pymc as pm

from common import (
    Check,
    angle,
    arguments,
    gradient_noise_rows,
    histogram,
    mcse,
    report,
    sample,
    table,
    total_variation,
)

import pymc_geodesic as pmg

STEP_SIZE, FRICTION, NOISE = 0.01, 10.0, 1000.0
MODES = np.array([[np.cos(np.pi / 3), np.sin(np.pi / 3)], [np.cos(np.pi / 3), -np.sin(np.pi / 3)]])
EDGES = np.linspace(-np.pi, np.pi, 64)  # bins of 0.0997


def log_density(x, log_add_exp):
    return log_add_exp(5 * x @ MODES[0], np.log(2) + 5 * x @ MODES[1])


def truth():
    """Probability of each bin, E cos and E sin by the midpoint rule."""
    per_bin = 1000
    fine = -np.pi + (np.arange((len(EDGES) - 1) * per_bin) + 0.5) * (EDGES[1] - EDGES[0]) / per_bin
    density = np.exp(log_density(np.c_[np.cos(fine), np.sin(fine)], np.logaddexp))
    density /= density.sum()
    bins = density.reshape(-1, per_bin).sum(axis=1)
    return bins, (density * np.cos(fine)).sum(), (density * np.sin(fine)).sum()


def circle_model(n_rows: int) -> pm.Model:
    with pm.Model() as model:
        x = pmg.SphericalUniform("x", shape=2)
        pm.Potential("target", log_density(x, pm.math.logaddexp))
        rows = gradient_noise_rows(n_rows, np.full(2, NOISE), seed=1)
        pm.Potential("noise", (pm.Minibatch(rows, batch_size=1) @ x).sum())
    return model


def main() -> None:
    quick = arguments(__doc__).quick
    draws, n_steps = (500, 20) if quick else (10_000, 100)
    model = circle_model(100_000)
    common = {"step_size": STEP_SIZE, "n_steps": n_steps, "backend": "jax"}
    methods = {
        "SGGMC, V known": lambda: pmg.SGGMC(friction=FRICTION, gradient_noise=NOISE, **common),
        "gSGNHT, V unknown": lambda: pmg.gSGNHT(diffusion=FRICTION, **common),
        "SGGMC, V ignored": lambda: pmg.SGGMC(friction=FRICTION, **common),
    }
    paper = {"SGGMC, V known": 0.011, "gSGNHT, V unknown": 0.006, "SGGMC, V ignored": 0.100}
    bins, cosine, sine = truth()
    rows, checks = [], []
    for seed, (name, step) in enumerate(methods.items()):
        run = sample(model, step, draws=draws, tune=500, chains=4, random_seed=seed + 1)
        x = run.draws["x"]
        distance = total_variation(histogram(angle(x), EDGES), bins)
        z_cos = (x[..., 0].mean() - cosine) / mcse(x[..., 0])
        z_sin = (x[..., 1].mean() - sine) / mcse(x[..., 1])
        temperature = run.stats["kinetic_temperature"].mean()
        thermostat = run.stats.get("thermostat", np.array(np.nan)).mean()
        rows.append([name, distance, paper[name], x[..., 0].mean(), z_cos, x[..., 1].mean(), z_sin])
        rows[-1] += [temperature, thermostat, run.seconds]
        if name != "SGGMC, V ignored":
            checks += [
                Check(f"{name}: total variation", f"{distance:.4f}", "<= 0.03", distance <= 0.03),
                Check(f"{name}: E cos, in MCSE", f"{z_cos:+.2f}", "within 4", abs(z_cos) <= 4),
                Check(f"{name}: E sin, in MCSE", f"{z_sin:+.2f}", "within 4", abs(z_sin) <= 4),
            ]
    header = ["method", "TV", "TV before", "E cos", "z", "E sin", "z", "temperature"]
    header += ["thermostat", "seconds"]
    table(f"Truth: E cos {cosine:.6f}, E sin {sine:.6f}; thermostat 15 in theory", header, rows)
    report("circle", checks, quick=quick, header=header, rows=rows)


if __name__ == "__main__":
    main()
