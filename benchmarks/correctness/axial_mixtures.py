#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Mixtures of Watson and of Kent distributions by minibatches, beside maximum likelihood.

Three components, 5,000 rows to fit and 5,000 held out. The maximum of the likelihood of all rows is
the limit of EM; L-BFGS finds it from the same start, clusters around `initial_directions`.
Asked for: the predictive log density of held-out rows within 0.01 nats of that of the maximum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt

from scipy.optimize import minimize
from scipy.special import logsumexp

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import sample
from benchmarks.harness.statistics import median_and_range
from pymc_geodesic.distributions.kent_constant import kent_log_normalizer
from pymc_geodesic.distributions.watson import watson_log_normalizer

BENCHMARK = Benchmark(
    question="Do mixtures of axes by minibatches predict as well as maximum likelihood?",
    asked="Within 0.01 nats per held-out row.",
    fixed="2026-11-22",
    seeds=(1, 2, 3),
)

N_ROWS, BATCH, K, ASKED = 5000, 200, 3, 0.01
WEIGHTS = np.array([0.5, 0.3, 0.2])
KAPPA = {"Watson": np.array([40.0, 15.0, 8.0]), "Kent": np.array([60.0, 30.0, 15.0])}
BETA = np.array([25.0, 8.0, 3.0])
N_POSTERIOR = 100


class Mixture(NamedTuple):
    """A model, a start by the names of its variables, and the log density of rows."""

    build: Callable[[np.ndarray], pm.Model]
    start: Callable[[np.ndarray], dict[str, np.ndarray]]
    log_density: Callable[[dict[str, np.ndarray], np.ndarray], np.ndarray]


def frame_of(k: int) -> np.ndarray:
    """Return one frame of determinant 1, its columns in another order for each component."""
    frame = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    return np.roll(frame * np.sign(np.linalg.det(frame)), k, axis=1)


def data(component: Callable[[int], pt.TensorVariable], seed: int) -> np.ndarray:
    labels = np.random.default_rng(seed).choice(K, N_ROWS, p=WEIGHTS)
    parts = [
        pm.draw(component(k), int((labels == k).sum()), random_seed=seed + k, mode="FAST_COMPILE")
        for k in range(K)
    ]
    return np.random.default_rng(seed).permutation(np.concatenate(parts))


def watson_model(x: np.ndarray) -> pm.Model:
    with pm.Model() as model:
        batch = pm.Minibatch(x, batch_size=BATCH)
        w = pm.Dirichlet("w", np.ones(K))
        mu = pmg.Watson("mu", [0.0, 0.0, 1.0], 0.0, shape=(K, 3))
        kappa = pm.HalfNormal("kappa", 100.0, shape=K)
        components = pmg.Watson.dist(mu, kappa)
        pm.Mixture("x", w=w, comp_dists=components, observed=batch, total_size=len(x))
    return model


def kent_model(x: np.ndarray) -> pm.Model:
    with pm.Model() as model:
        batch = pm.Minibatch(x, batch_size=BATCH)
        w = pm.Dirichlet("w", np.ones(K))
        frame = pmg.UniformRotation("frame", 3, shape=(K, 3, 3))
        kappa = pm.HalfNormal("kappa", 100.0, shape=K)
        ratio = pm.Uniform("ratio", 0.0, 1.0, shape=K)
        components = pmg.Kent.dist(frame, kappa, 0.5 * ratio * kappa)
        pm.Mixture("x", w=w, comp_dists=components, observed=batch, total_size=len(x))
    return model


def clusters(x: np.ndarray, *, axial: bool) -> list[np.ndarray]:
    directions = pmg.initial_directions(x, K, axial=axial, random_seed=1)
    cosines = x @ directions.T
    nearest = (np.abs(cosines) if axial else cosines).argmax(axis=1)
    return [x[nearest == k] for k in range(K)]


def watson_start(x: np.ndarray) -> dict[str, np.ndarray]:
    parts = clusters(x, axial=True)
    fits = [pmg.fit_watson(part) for part in parts]
    return {
        "w": np.array([len(part) for part in parts]) / len(x),
        "mu": np.stack([fit.mu for fit in fits]),
        "kappa": np.maximum([fit.kappa for fit in fits], 1.0),
    }


def kent_start(x: np.ndarray) -> dict[str, np.ndarray]:
    parts = clusters(x, axial=False)
    fits = [pmg.fit_kent(part) for part in parts]
    frame = np.stack([fit.frame for fit in fits])
    frame[..., -1] *= np.sign(np.linalg.det(frame))[:, None]
    kappa = np.array([fit.kappa for fit in fits])
    ratio = np.clip([2 * fit.beta / fit.kappa for fit in fits], 0.05, 0.95)
    weights = np.array([len(part) for part in parts]) / len(x)
    return {"w": weights, "frame": frame, "kappa": kappa, "ratio": ratio}


def compiled(function, n_arguments: int):
    arguments = [pt.vector() for _ in range(n_arguments)]
    return pytensor.function(arguments, function(*arguments), mode="FAST_COMPILE")


WATSON_CONSTANT = compiled(lambda kappa: watson_log_normalizer(3, kappa), 1)
KENT_CONSTANT = compiled(kent_log_normalizer, 2)


def watson_log_density(p: dict[str, np.ndarray], x: np.ndarray) -> np.ndarray:
    logs = WATSON_CONSTANT(p["kappa"]) + p["kappa"] * (x @ p["mu"].T) ** 2
    return logsumexp(np.log(p["w"]) + logs, axis=-1)


def kent_log_density(p: dict[str, np.ndarray], x: np.ndarray) -> np.ndarray:
    beta = 0.5 * p["ratio"] * p["kappa"]
    parts = np.einsum("ni,kij->nkj", x, p["frame"])
    logs = KENT_CONSTANT(p["kappa"], beta) + p["kappa"] * parts[..., 0]
    logs = logs + beta * (parts[..., 1] ** 2 - parts[..., 2] ** 2)
    return logsumexp(np.log(p["w"]) + logs, axis=-1)


def watson_from(z: np.ndarray) -> dict[str, np.ndarray]:
    """Parameters from unconstrained numbers: softmax, projection, exponential."""
    w, mu, kappa = np.exp(z[:K] - logsumexp(z[:K])), z[K : 4 * K].reshape(K, 3), np.exp(z[4 * K :])
    return {"w": w, "mu": mu / np.linalg.norm(mu, axis=1, keepdims=True), "kappa": kappa}


def watson_to(p: dict[str, np.ndarray]) -> np.ndarray:
    return np.concatenate([np.log(p["w"]), p["mu"].ravel(), np.log(p["kappa"])])


def kent_from(z: np.ndarray) -> dict[str, np.ndarray]:
    w, frame = np.exp(z[:K] - logsumexp(z[:K])), z[K : 10 * K].reshape(K, 3, 3)
    left, _, right = np.linalg.svd(frame)
    ratio = 1 / (1 + np.exp(-z[11 * K :]))
    return {"w": w, "frame": left @ right, "kappa": np.exp(z[10 * K : 11 * K]), "ratio": ratio}


def kent_to(p: dict[str, np.ndarray]) -> np.ndarray:
    odds = np.log(p["ratio"] / (1 - p["ratio"]))
    return np.concatenate([np.log(p["w"]), p["frame"].ravel(), np.log(p["kappa"]), odds])


CASES = {
    "Watson": (
        Mixture(watson_model, watson_start, watson_log_density),
        lambda k: pmg.Watson.dist(frame_of(k)[:, 0], KAPPA["Watson"][k]),
        watson_from,
        watson_to,
    ),
    "Kent": (
        Mixture(kent_model, kent_start, kent_log_density),
        lambda k: pmg.Kent.dist(frame_of(k), KAPPA["Kent"][k], BETA[k]),
        kent_from,
        kent_to,
    ),
}


def maximum(mixture: Mixture, x: np.ndarray, start, read, write) -> dict[str, np.ndarray]:
    """Maximise the likelihood of all rows, with differences as gradients."""
    loss = lambda z: -mixture.log_density(read(z), x).mean()  # noqa: E731
    options = {"maxiter": 500, "maxfun": 100_000, "ftol": 1e-13, "gtol": 1e-7}
    return read(minimize(loss, write(start), method="L-BFGS-B", options=options).x)


def predictive(mixture: Mixture, draws: dict[str, np.ndarray], x: np.ndarray) -> float:
    """Mean log of the posterior's predictive density."""
    flat = {name: values.reshape(-1, *values.shape[2:]) for name, values in draws.items()}
    chosen = np.linspace(0, len(flat["w"]) - 1, N_POSTERIOR).astype(int)
    logs = [mixture.log_density({n: v[i] for n, v in flat.items()}, x) for i in chosen]
    return float(logsumexp(logs, axis=0, b=1 / N_POSTERIOR).mean())


def main() -> None:
    quick = arguments(__doc__).quick
    draws, tune = (100, 100) if quick else (1000, 500)
    seeds = BENCHMARK.seeds[:1] if quick else BENCHMARK.seeds
    options = {"draws": draws, "tune": tune, "chains": 2}
    rows, checks = [], []
    for name, (mixture, component, read, write) in CASES.items():
        x, unseen = data(component, 1), data(component, 101)
        start = mixture.start(x)
        best = maximum(mixture, x, start, read, write)
        model = mixture.build(x)
        with model:
            step = pmg.gSGNHT()
        runs = [
            sample(model, lambda step=step: step, random_seed=seed, initvals=start, **options)
            for seed in seeds
        ]
        of_start, of_best = (mixture.log_density(p, unseen).mean() for p in (start, best))
        found = [predictive(mixture, run.draws, unseen) for run in runs]
        gaps = [each - of_best for each in found]
        gap = median_and_range(gaps, "+.4f")
        rows.append([name, of_start, of_best, float(np.median(found)), gap])
        rows[-1].append(sum(run.seconds for run in runs))
        checks.append(
            Check(
                f"{name}: nats from maximum likelihood, held out",
                gap,
                f"within {ASKED}",
                max(map(abs, gaps)) <= ASKED,
            )
        )
    header = ["mixture", "start", "maximum likelihood", "posterior", "difference", "seconds"]
    table(f"Nats per held-out row, {N_ROWS:,} rows in batches of {BATCH}, medians", header, rows)
    report("axial_mixtures", checks, about=BENCHMARK, quick=quick, header=header, rows=rows)


if __name__ == "__main__":
    main()
