#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Points of curved manifolds whose gradients are noisier in one direction: both widths."""

from __future__ import annotations

import warnings

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pymc as pm

from scipy.special import ive

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report

BENCHMARK = Benchmark(
    question="Are widths right in the direction of the noise and across it?",
    asked="Within 3 Monte Carlo standard errors of the exact variance, three seeds together.",
    fixed="2026-11-26",
    seeds=(1, 2, 3),
)

N_ROWS, BATCH, KAPPA = 1000, 100, 10.0
# Deviations of the rows in the noisy direction and in all others. The variance of the gradient's
# noise is then 2.5e5 and 2.5e3, beside a curvature of 1e4.
NOISY, QUIET = 0.5, 0.05
# At the longest step the friction that thermostats need along the noise, with unscaled gradients,
# makes variances too large by 1.3 per cent, and the curvature too small by .3.
STEP_SIZES, FRICTION = (0.00025, 0.0005, 0.001), 200.0


class Space(NamedTuple):
    """A mode on a manifold, and two directions there; the first has the noise."""

    prior: Callable[[str], object]
    mode: np.ndarray
    noisy: np.ndarray
    quiet: np.ndarray
    # Of a coordinate in the tangent space.
    variance: float


def sphere(n: int) -> Space:
    """Unit vectors of n entries, with the exact variance."""
    axes, c = np.eye(n), KAPPA * N_ROWS
    width = float(ive(n / 2, c) / ive(n / 2 - 1, c)) / c
    noisy, quiet = (axes[1] + axes[2]) / np.sqrt(2), (axes[1] - axes[2]) / np.sqrt(2)
    return Space(lambda name: pmg.SphericalUniform(name, shape=n), axes[0], noisy, quiet, width)


def frames() -> Space:
    """Frames of two columns in four dimensions; the variance is right to a share of 1e-4."""
    noisy, quiet = (np.zeros((4, 2)) for _ in range(2))
    noisy[2, 0], noisy[3, 1], quiet[2, 0], quiet[3, 1] = np.array([1, 1, 1, -1]) / np.sqrt(2)
    width = 1 / (KAPPA * N_ROWS)
    return Space(
        lambda name: pmg.UniformStiefel(name, n=4, p=2), np.eye(4)[:, :2], noisy, quiet, width
    )


SPACES = {"S^2": sphere(3), "S^9": sphere(10), "St(4, 2)": frames()}


def build_model(space: Space) -> pm.Model:
    """Rows whose inner products with the point are their log densities; they add up to the mode."""
    rng = np.random.default_rng(1)
    rows = space.mode + QUIET * rng.normal(size=(N_ROWS, *space.mode.shape))
    along = (NOISY**2 - QUIET**2) ** 0.5 * rng.normal(size=N_ROWS)
    rows = rows + np.multiply.outer(along, space.noisy)
    rows += space.mode - rows.mean(axis=0)
    with pm.Model() as model:
        x = space.prior("x")
        batch = pm.Minibatch(rows, batch_size=BATCH)
        logp = lambda row, x: KAPPA * row * x  # noqa: E731
        pm.CustomDist("rows", x, logp=logp, observed=batch, total_size=N_ROWS)
    return model


def samplers(step_size: float) -> dict[str, Callable[[], pmg.SGGMC | pmg.gSGNHT]]:
    """Make the two samplers with everything given."""
    shared = {"step_size": step_size, "n_steps": 50}
    return {
        "SGGMC": lambda: pmg.SGGMC(friction=FRICTION, gradient_noise="fisher", **shared),
        "gSGNHT": lambda: pmg.gSGNHT(diffusion=FRICTION, **shared),
    }


def ratios(model: pm.Model, space: Space, step: Callable, seed: int, *, quick: bool) -> np.ndarray:
    """Mean squares along the two directions over their exact value, one for each chain."""
    with model, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        idata = pmg.sample(
            20 if quick else 400,
            tune=100,
            chains=16,
            step=step(),
            random_seed=seed,
            initvals={"x": space.mode},
            progressbar=False,
            compute_convergence_checks=False,
        )
    draws = idata["posterior"]["x"].to_numpy()
    axes = tuple(range(1, space.mode.ndim + 1))
    along = [
        np.tensordot(draws, u, (tuple(a + 1 for a in axes), range(space.mode.ndim)))
        for u in (space.noisy, space.quiet)
    ]
    return np.array([(y**2).mean(axis=1) for y in along]) / space.variance


def main() -> None:
    quick = arguments(__doc__).quick
    rows, checks = [], []
    for where, space in SPACES.items():
        model = build_model(space)
        for step_size in STEP_SIZES:
            for name, step in samplers(step_size).items():
                found = np.concatenate(
                    [ratios(model, space, step, s, quick=quick) for s in BENCHMARK.seeds], axis=1
                )
                means = found.mean(axis=1)
                errors = found.std(axis=1, ddof=1) / np.sqrt(found.shape[1])
                z = (means - 1) / errors
                rows.append([where, name, step_size, *np.ravel([means, errors], order="F")])
                print(rows[-1], flush=True)
                checks.append(
                    Check(
                        f"{where}, {name}, step {step_size:g}: noisy and quiet direction",
                        f"{means[0]:.3f} and {means[1]:.3f}, {z[0]:+.1f} and {z[1]:+.1f} MCSE",
                        "within 3",
                        bool(np.all(np.abs(z) <= 3)),
                    )
                )
    header = ["space", "sampler", "step", "noisy", "MCSE", "quiet", "MCSE"]
    table("Variance over the exact one", header, rows)
    report("matrix_noise", checks, about=BENCHMARK, quick=quick, header=header, rows=rows)


if __name__ == "__main__":
    main()
