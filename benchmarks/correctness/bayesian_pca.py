#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Bayesian principal components of scikit-learn's digits: minibatches beside all rows.

1,797 images of 64 pixels, five orthonormal loadings, their scales and the noise. SGGMC with batches
of 100 images tunes itself; GMC with all rows is the truth; NUTS has the package's QR transform and
all rows. Draws are aligned to classical principal components, up to signs and order. Asked for:
means of all entries equal to those of GMC within errors, at most one in a hundred beyond three and
none beyond five, and, of the minibatches, standard deviations within a tenth. NUTS has too few
draws for these.
"""

from __future__ import annotations

import time

import numpy as np
import pymc as pm

from principal_components import N_COMPONENTS, build_model, make_data, principal_axes
from sklearn.decomposition import PCA

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import SamplingClock, sample
from benchmarks.harness.statistics import effective_samples, mcse
from pymc_geodesic.diagnostics import align_frames

BENCHMARK = Benchmark(
    question="Do minibatches find the posterior of orthonormal loadings?",
    asked="Means of all entries as by GMC, within errors.",
    fixed="2026-11-22",
    seeds=(1,),
    measures=("manifolds", "algorithms", "tuning"),
)

MOST_BEYOND_THREE, LARGEST_Z, LARGEST_RATIO = 0.01, 5.0, 0.1


def frame_entries(draws: dict[str, np.ndarray]) -> np.ndarray:
    """Loadings in the coordinates of the classical axes, all variances in order, and the noise."""
    classical = np.linalg.svd(make_data(), full_matrices=True)[2].T
    reference = principal_axes(make_data())
    x = align_frames(draws["loadings"], reference, symmetry="permutations")
    x = (classical.T @ x).reshape(*x.shape[:2], -1)
    scales = np.sort(draws["scales"], axis=-1)
    return np.concatenate([x, scales, draws["noise"][..., None]], axis=-1)


def quick_or(quick: bool, draws: int) -> int:
    return 100 if quick else draws


def main() -> None:
    quick = arguments(__doc__).quick
    methods = {
        "SGGMC, batches of 100": (build_model(), lambda: pmg.SGGMC(backend="jax"), 1500, 2),
        "GMC, all rows": (
            build_model(None),
            lambda: pmg.GMC(n_leapfrog=20, n_steps=2, backend="jax"),
            1200,
            2,
        ),
        "NUTS, QR, all rows": (
            build_model(None),
            lambda: pm.NUTS(compile_kwargs={"mode": "JAX"}),
            300,
            2,
        ),
    }
    found, rows = {}, []
    for name, (model, step, draws, chains) in methods.items():
        clock, began = SamplingClock(), time.process_time()
        run = sample(
            model,
            step,
            draws=quick_or(quick, draws),
            tune=quick_or(quick, 300),
            chains=chains,
            random_seed=1,
            callback=clock,
        )
        found[name] = frame_entries(run.draws)
        least = effective_samples(found[name])
        every = time.process_time() - began
        rows.append([name, least, clock.seconds, every, least / clock.seconds])
        table("So far", ["method", "least ESS", "seconds", "in all", "per second"], rows[-1:])
    mine, truth, nuts = (found[name] for name in methods)
    checks = [*compare("SGGMC", mine, truth), compare_widths("SGGMC", mine, truth)]
    checks += compare("NUTS", nuts, truth)
    began = time.process_time()
    PCA(N_COMPONENTS).fit(make_data())
    rows.append(["sklearn PCA, a point", np.nan, time.process_time() - began, np.nan, np.nan])
    header = ["method", "least ESS", "seconds", "seconds with compilation and tuning", "per second"]
    table("Digits", header, rows)
    report("bayesian_pca", checks, about=BENCHMARK, quick=quick, header=header, rows=rows)


def compare(name: str, draws: np.ndarray, truth: np.ndarray) -> list[Check]:
    """Compare means in standard errors of both."""
    n = draws.shape[-1]
    errors = [np.hypot(mcse(draws[..., i]), mcse(truth[..., i])) for i in range(n)]
    z = np.abs(draws.mean((0, 1)) - truth.mean((0, 1))) / errors
    beyond = float((z > 3).mean())
    return [
        Check(
            f"{name}: share of {n} means beyond 3 errors",
            f"{beyond:.3f}",
            f"<= {MOST_BEYOND_THREE}",
            beyond <= MOST_BEYOND_THREE,
        ),
        Check(f"{name}: largest |z|", f"{z.max():.2f}", f"<= {LARGEST_Z}", z.max() <= LARGEST_Z),
    ]


def compare_widths(name: str, draws: np.ndarray, truth: np.ndarray) -> Check:
    """Compare standard deviations."""
    ratio = draws.std((0, 1)) / truth.std((0, 1))
    worst = float(np.abs(ratio - 1).max())
    return Check(
        f"{name}: largest deviation of an sd's ratio from 1",
        f"{worst:.3f}, median {np.median(ratio):.3f}",
        f"<= {LARGEST_RATIO}",
        worst <= LARGEST_RATIO,
    )


if __name__ == "__main__":
    main()
