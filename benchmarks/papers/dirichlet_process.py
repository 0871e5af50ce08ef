#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A truncated Dirichlet process of von Mises-Fisher distributions, beside EM.

Rows of four components, and a mixture of ten whose weights are broken sticks. EM maximises the
likelihood with the true number of components, and with all ten.
"""

from __future__ import annotations

import logging
import warnings

from typing import Any

import numpy as np
import pymc as pm

from scipy.special import logsumexp

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.harness.statistics import mcse

BENCHMARK = Benchmark(
    question="Does a Dirichlet process of directions find the density and the components?",
    asked=(
        "In each of three seeds: log density of new rows not below EM's with all ten components by "
        "more than two standard errors of the difference, and below the true one by at most 0.02 "
        "and four; median of the components above two per cent from 4 to 7."
    ),
    fixed="2026-11-22",
    seeds=(1, 2, 3),
)

N_ROWS, N_NEW, N_COMPONENTS, BATCH_SIZE = 2000, 2000, 10, 200
CENTERS = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, -1, 0.3]])
CENTERS = CENTERS / np.linalg.norm(CENTERS, axis=1, keepdims=True)
WEIGHTS, KAPPAS = np.array([0.4, 0.3, 0.2, 0.1]), np.array([30.0, 20.0, 40.0, 25.0])
LEAST_SHARE = 0.02
# About the curvature of a component of 500 rows; of components without rows it is the prior's.
MASS = {"mu": 1e4, "kappa": 500.0, "v": 300.0, "alpha": 2.0}


def make_rows(n: int, seed: int) -> np.ndarray:
    """Draw unit vectors of the four components."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(len(WEIGHTS), n, p=WEIGHTS)
    x = pmg.VonMisesFisher.dist(CENTERS[labels], KAPPAS[labels])
    return pm.draw(x, random_seed=int(rng.integers(2**31)))


def log_density(x: np.ndarray, w: np.ndarray, mu: np.ndarray, kappa: np.ndarray) -> np.ndarray:
    """Log density of every row."""
    log_c = np.log(kappa / (2 * np.pi)) - kappa - np.log1p(-np.exp(-2 * kappa))
    return logsumexp(np.log(w) + log_c + kappa * (x @ mu.T), axis=-1)


def by_em(x: np.ndarray, k: int, *, n_starts: int, n_iterations: int) -> tuple[np.ndarray, ...]:
    """Weights, mean directions and concentrations of the largest likelihood."""
    fits = []
    for seed in range(n_starts):
        mu = x[np.random.default_rng(seed).choice(len(x), k, replace=False)]
        w, kappa = np.full(k, 1 / k), np.full(k, 5.0)
        for _ in range(n_iterations):
            log_c = np.log(kappa / (2 * np.pi)) - kappa - np.log1p(-np.exp(-2 * kappa))
            parts = np.log(w) + log_c + kappa * (x @ mu.T)
            share = np.exp(parts - logsumexp(parts, axis=1, keepdims=True))
            total = share.T @ x
            length = np.linalg.norm(total, axis=1)
            mu, w = total / length[:, None], share.mean(axis=0)
            r = np.minimum(length / share.sum(axis=0), 0.9999)
            kappa = r * (3 - r**2) / (1 - r**2)
        fits.append((w, mu, kappa))
    return max(fits, key=lambda fit: log_density(x, *fit).sum())


def build_model(x: np.ndarray) -> pm.Model:
    """Write the mixture, whose data are minibatches."""
    with pm.Model() as model:
        alpha = pm.Gamma("alpha", 2.0, 2.0)
        v = pm.Beta("v", 1.0, alpha, shape=N_COMPONENTS - 1)
        w = pm.Deterministic("w", pmg.stick_breaking(v))
        mu = pmg.SphericalUniform("mu", shape=(N_COMPONENTS, 3))
        kappa = pm.Gamma("kappa", 2.0, 0.05, shape=N_COMPONENTS)
        batch = pm.Minibatch(x, batch_size=BATCH_SIZE)
        component = pmg.VonMisesFisher.dist(mu, kappa)
        pm.Mixture("x", w, component, observed=batch, total_size=len(x))
    return model


def sample(x: np.ndarray, seed: int, draws: int) -> Any:
    """Sample by gSGNHT with steps of a tenth of the scale of a component."""
    start = {"mu": pmg.initial_directions(x, N_COMPONENTS, random_seed=seed)}
    with build_model(x), warnings.catch_warnings():
        # Labels of components differ between chains.
        warnings.simplefilter("ignore", UserWarning)
        step = pmg.gSGNHT(step_size=0.1, diffusion=1.0, n_steps=20, mass=MASS)
        return pmg.sample(
            draws,
            tune=draws,
            chains=2,
            step=step,
            initvals=start,
            random_seed=seed,
            progressbar=False,
            compute_convergence_checks=False,
        )


def predictive(idata: Any, new: np.ndarray) -> np.ndarray:
    """Log of the mean density of new rows, over every tenth draw."""
    parts = [idata.posterior[name].values[:, ::10] for name in ("w", "mu", "kappa")]
    flat = [part.reshape(-1, *part.shape[2:]) for part in parts]
    logs = [log_density(new, *draw) for draw in zip(*flat, strict=True)]
    return logsumexp(logs, axis=0) - np.log(len(logs))


def compared(gap: np.ndarray) -> tuple[float, float]:
    """Mean over rows, and its standard error."""
    return float(gap.mean()), float(gap.std(ddof=1) / np.sqrt(len(gap)))


def main() -> None:
    quick = arguments(__doc__.splitlines()[0]).quick
    logging.getLogger("pymc").setLevel(logging.ERROR)
    x, new = make_rows(N_ROWS, 1), make_rows(N_NEW, 2)
    truth = log_density(new, WEIGHTS, CENTERS, KAPPAS)
    rows, checks = [], []
    for k in (4, N_COMPONENTS):
        fit = log_density(new, *by_em(x, k, n_starts=3, n_iterations=100))
        gap, error = compared(fit - truth)
        rows.append([f"EM, {k} components", "", f"{gap:+.4f} ({error:.4f})", k, "", ""])
    for seed in BENCHMARK.seeds:
        idata = sample(x, seed, 200 if quick else 1000)
        found = predictive(idata, new)
        used = (idata.posterior["w"].values > LEAST_SHARE).sum(axis=-1)
        temperature = float(idata.sample_stats["configurational_temperature"].mean())
        gap, error = compared(found - truth)
        ahead, error_ahead = compared(found - fit)
        name = f"Dirichlet process, seed {seed}"
        mean_used = f"{used.mean():.1f} ({mcse(used.astype(float)):.1f})"
        ahead_text = f"{ahead:+.4f} ({error_ahead:.4f})"
        rows.append([name, ahead_text, f"{gap:+.4f} ({error:.4f})", mean_used])
        rows[-1] += [int(np.median(used)), f"{temperature:.2f}"]
        good = ahead > -2 * error_ahead and gap > -0.02 - 4 * error
        good &= 4 <= np.median(used) <= 7
        text = f"{ahead_text} over EM, {gap:+.4f} over the truth, {int(np.median(used))} used"
        checks.append(Check(name, text, "not below EM, -0.02, 4 to 7", good))
    header = ["fit", "over EM with ten (error)", "over the truth (error)", "components (error)"]
    header += ["median", "temperature"]
    table("Log density of new rows", header, rows)
    report("dirichlet_process", checks, about=BENCHMARK, quick=quick, header=header, rows=rows)


if __name__ == "__main__":
    main()
