#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Bayesian principal components of scikit-learn's digits: minibatches beside all rows.

1,797 images of 64 pixels, five orthonormal loadings, their scales and the noise. SGGMC with batches
of 100 images tunes itself, a second time with 500 transitions per draw also while tuning; GMC with
all rows is the truth, with a mass from the asymptotic widths of principal components; NUTS has the
package's QR transform and all rows. Draws are aligned to classical principal components, up to
signs and order. Asked for: means of all entries equal to those of GMC within errors, at most one in
a hundred beyond three and none beyond five, and, of the minibatches, standard deviations within a
tenth. NUTS has too few draws for these.
"""

from __future__ import annotations

import time

from typing import NamedTuple

import numpy as np
import pymc as pm

from principal_components import N_COMPONENTS, build_model, make_data, principal_axes
from sklearn.decomposition import PCA

import pymc_geodesic as pmg

from benchmarks.harness.console import parser, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.parts import part_of
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import SamplingClock, sample
from benchmarks.harness.statistics import effective_samples, mcse
from pymc_geodesic.diagnostics import align_frames

BENCHMARK = Benchmark(
    question="Do minibatches find the posterior of orthonormal loadings?",
    asked="Means of all entries as by GMC, within errors.",
    fixed="2026-11-22",
    seeds=(1,),
    measures=("manifolds", "mass", "algorithms", "tuning"),
)

N_LEAPFROG = 40
# Radians in which a rotation counts as free.
WIDEST = 0.25
MOST_BEYOND_THREE, LARGEST_Z, LARGEST_RATIO = 0.01, 5.0, 0.1


def frame_entries(draws: dict[str, np.ndarray]) -> np.ndarray:
    """Loadings in the coordinates of the classical axes, all variances in order, and the noise."""
    classical = np.linalg.svd(make_data(), full_matrices=True)[2].T
    reference = principal_axes(make_data())
    x = align_frames(draws["loadings"], reference, symmetry="permutations")
    x = (classical.T @ x).reshape(*x.shape[:2], -1)
    scales = np.sort(draws["scales"], axis=-1)
    return np.concatenate([x, scales, draws["noise"][..., None]], axis=-1)


def masses() -> dict[str, object]:
    r"""Return masses from the asymptotic widths of principal components.

    With the eigenvalues :math:`\lambda_i` of the covariance of n rows, and the noise's variance
    :math:`\sigma^2` as that of all other axes, the angle between two of them has the width
    :math:`\sqrt{\lambda_i \lambda_j / n} / |\lambda_i - \lambda_j|` and the logarithm of a scale
    :math:`1 / \sqrt{2 n}` per independent number. T. W. Anderson (1963), Asymptotic theory for
    principal component analysis, Annals of Mathematical Statistics 34.
    """
    pictures = make_data()
    n, size = pictures.shape
    values = np.linalg.svd(pictures, compute_uv=False) ** 2 / n
    found, noise = values[:N_COMPONENTS], values[N_COMPONENTS:].mean()
    products, differences = np.outer(found, found), np.abs(np.subtract.outer(found, found))
    np.fill_diagonal(differences, np.inf)
    turns = np.minimum(np.sqrt(products / n) / differences, WIDEST)
    np.fill_diagonal(turns, WIDEST)
    columns = np.sqrt(found * noise / n) / (found - noise)
    # The mass of the frame makes its widest part, and hence everything, this wide.
    of_scales = WIDEST**2 * 2 * n
    return {
        "loadings": pmg.FrameMass(columns, turns),
        "scales": of_scales,
        "noise": of_scales * (size - N_COMPONENTS),
    }


# Model, step, draws and chains.
METHODS = {
    "GMC, all rows": (
        None,
        lambda: pmg.GMC(n_leapfrog=N_LEAPFROG, mass=masses(), backend="jax"),
        2000,
        2,
    ),
    "SGGMC, batches of 100": (100, lambda: pmg.SGGMC(backend="jax"), 7500, 2),
    "SGGMC, 500 transitions per draw": (
        100,
        lambda: pmg.SGGMC(n_steps=500, backend="jax"),
        2000,
        2,
    ),
    "NUTS, QR, all rows": (None, lambda: pm.NUTS(compile_kwargs={"mode": "JAX"}), 300, 2),
}
TRUTH, MINE, LONGER, NUTS = METHODS
HEADER = ["method", "steps per draw", "least ESS", "seconds", "in all", "per second"]


class Found(NamedTuple):
    """Steps of a draw, effective samples, seconds of the draws and in all, and moments."""

    n_steps: float
    least: float
    seconds: float
    every: float
    means: list[float]
    errors: list[float]
    sds: list[float]


def main() -> None:
    reader = parser(__doc__)
    reader.add_argument("--only", choices=METHODS, nargs="+", help="the only methods to run now")
    options = reader.parse_args()
    found, rows = {}, []
    for name in METHODS:
        part = part_of(
            "bayesian_pca",
            name,
            lambda name=name: moments(name, quick=options.quick),
            about=BENCHMARK,
            now=not options.only or name in options.only,
            quick=options.quick,
        )
        found[name] = None if part is None else Found(*part)
        if part is not None:
            n_steps, least, seconds, every, *_ = part
            rows.append([name, n_steps, least, seconds, every, least / seconds])
    began = time.process_time()
    PCA(N_COMPONENTS).fit(make_data())
    classical = time.process_time() - began
    rows.append(["sklearn PCA, a point", np.nan, np.nan, classical, classical, np.nan])
    checks = [
        *compare("SGGMC", found[MINE], found[TRUTH]),
        compare_widths("SGGMC", found[MINE], found[TRUTH]),
        *compare("SGGMC, 500 transitions", found[LONGER], found[TRUTH]),
        compare_widths("SGGMC, 500 transitions", found[LONGER], found[TRUTH]),
        *compare("NUTS", found[NUTS], found[TRUTH]),
    ]
    table("Digits", HEADER, rows)
    report("bayesian_pca", checks, about=BENCHMARK, quick=options.quick, header=HEADER, rows=rows)


def moments(name: str, *, quick: bool) -> Found:
    """Run a method."""
    batch_size, step, draws, chains = METHODS[name]
    clock, began = SamplingClock(), time.process_time()
    run = sample(
        build_model(batch_size),
        step,
        draws=100 if quick else draws,
        tune=100 if quick else 300,
        chains=chains,
        random_seed=1,
        callback=clock,
    )
    x = frame_entries(run.draws)
    errors = [mcse(x[..., i]) for i in range(x.shape[-1])]
    means, sds = x.mean((0, 1)).tolist(), x.std((0, 1)).tolist()
    every = time.process_time() - began
    n_steps = float(np.mean(run.stats.get("n_steps", N_LEAPFROG)))
    return Found(n_steps, effective_samples(x), clock.seconds, every, means, errors, sds)


def compare(name: str, found: Found | None, truth: Found | None) -> list[Check]:
    """Compare means in standard errors of both."""
    shares, largest = f"{name}: share of means beyond 3 errors", f"{name}: largest |z|"
    if found is None or truth is None:
        return [
            Check(shares, "", f"<= {MOST_BEYOND_THREE}", None),
            Check(largest, "", f"<= {LARGEST_Z}", None),
        ]
    z = np.abs(np.subtract(found.means, truth.means)) / np.hypot(found.errors, truth.errors)
    beyond = float((z > 3).mean())
    return [
        Check(shares, f"{beyond:.3f}", f"<= {MOST_BEYOND_THREE}", beyond <= MOST_BEYOND_THREE),
        Check(largest, f"{z.max():.2f}", f"<= {LARGEST_Z}", bool(z.max() <= LARGEST_Z)),
    ]


def compare_widths(name: str, found: Found | None, truth: Found | None) -> Check:
    """Compare standard deviations."""
    what = f"{name}: largest deviation of an sd's ratio from 1"
    if found is None or truth is None:
        return Check(what, "", f"<= {LARGEST_RATIO}", None)
    ratio = np.divide(found.sds, truth.sds)
    worst = float(np.abs(ratio - 1).max())
    figure = f"{worst:.3f}, median {np.median(ratio):.3f}"
    return Check(what, figure, f"<= {LARGEST_RATIO}", worst <= LARGEST_RATIO)


if __name__ == "__main__":
    main()
