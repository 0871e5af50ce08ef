#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Which mass for badly scaled targets: effective samples per gradient of Gaussians.

For every sampler and mass a grid of frictions and step sizes is run; what counts is the best of
those whose variances are right. The gradient's noise has a covariance proportional to the
precision, as minibatches of a well specified model have.
"""

from __future__ import annotations

import itertools
import warnings

from typing import Any, NamedTuple

import arviz as az
import numpy as np
import pymc as pm

from gradient_noise import add_gradient_noise, gradient_noise_rows

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import set_step_size

BENCHMARK = Benchmark(
    question="Which mass is best for badly scaled targets?",
    asked=(
        "At least half of the true mass's figure with `position`; a condition number at least 3 "
        "times smaller by EM for SGNHT with noise."
    ),
    fixed="2026-11-21",
    seeds=(0, 1, 2, 3),
)

SIZE, N_CHAINS = 10, 4
CONDITIONS = (1e2, 1e4)
# Of any variance, relative, besides two standard errors.
SMALL_BIAS = 0.1
# A run whose own error of a variance is larger than this tells nothing.
LARGEST_ERROR = 0.15
# Gradient noise over the precision: rows in the data over rows in a batch, for a minibatch.
NOISE = 10.0
# Step sizes times the largest frequency, in the order they are tried, and frictions over the
# smallest.
LENGTHS, FRICTIONS = (1.2, 0.8, 0.4, 0.2, 0.1, 0.05, 0.025), (1.0, 4.0, 16.0)
# Trajectories: of GMC in leapfrog steps over the ratio of the extreme frequencies, of SGNPHMC in
# units of one over the smallest frequency; a quarter of a period is pi / 2.
LEAPFROGS, TRAJECTORIES, MOST_STEPS = (1.0, 2.0, 4.0), (1.5, 0.5), 300
# Trajectories of one length are nearly periodic in one coordinate or another. GMC tunes its step
# size to the jitter; those of SGNPHMC are taken from a grid that ends at what is stable.
JITTER = {"GMC": 0.5, "SGNPHMC": 0.2}
# EM learns from what heats the momenta, so at steps that are not too short.
LEARNING_LENGTH = 0.4
METHODS = {"SGNHT": pmg.SGNHT, "SGHMC": pmg.SGHMC, "SGNPHMC": pmg.SGNPHMC}


class Target(NamedTuple):
    """A Gaussian, and the variance of the noise of its gradient in every coordinate."""

    covariance: np.ndarray
    noise: np.ndarray | None = None

    @property
    def precision(self) -> np.ndarray:
        return np.linalg.inv(self.covariance)

    def model(self) -> pm.Model:
        with pm.Model() as model:
            x = pm.Flat("x", shape=SIZE, initval=np.sqrt(np.diag(self.covariance)))
            pm.Potential("target", -0.5 * (x * (self.precision @ x)).sum())
            if self.noise is not None:
                rows = gradient_noise_rows(10_000, self.noise, seed=1)
                add_gradient_noise("noise", x, rows)
        return model


class Found(NamedTuple):
    """What one run came to: effective samples are per 1,000 gradients."""

    ess: float
    bias: float
    error: float
    setting: str

    @property
    def is_right(self) -> bool:
        bounded = self.bias <= SMALL_BIAS + 2 * self.error and self.error <= LARGEST_ERROR
        return np.isfinite(self.ess) and bounded


class Jittered:
    """Step sizes that are spread evenly around one and change with every trajectory."""

    def __init__(self, step_size: float, n_leapfrog: int) -> None:
        self.step_size, self.n_leapfrog = step_size, n_leapfrog

    def __call__(self, transition: np.ndarray) -> np.ndarray:
        share = (transition // self.n_leapfrog) * (np.sqrt(5) - 1) / 2 % 1
        return self.step_size * (1 + JITTER["SGNPHMC"] * (2 * share - 1))


def variances(condition: float) -> np.ndarray:
    return np.geomspace(condition**-0.5, condition**0.5, SIZE)


def aligned(condition: float, noisy: bool) -> Target:
    scales = variances(condition)
    return Target(np.diag(scales), NOISE / scales if noisy else None)


def rotated(condition: float) -> Target:
    axes, _ = np.linalg.qr(np.random.default_rng(3).standard_normal((SIZE, SIZE)))
    return Target((axes * variances(condition)) @ axes.T)


def unit(mass: np.ndarray | None) -> np.ndarray:
    return np.ones(SIZE) if mass is None else mass


def frequencies(target: Target, mass: np.ndarray) -> tuple[float, float]:
    """Smallest and largest frequency of the motion with this mass, diagonal or a matrix."""
    inverse = np.diag(1 / mass) if mass.ndim == 1 else np.linalg.inv(mass)
    squares = np.linalg.eigvals(inverse @ target.precision).real
    return float(np.sqrt(squares.min())), float(np.sqrt(squares.max()))


def condition_number(target: Target, mass: np.ndarray | None) -> float:
    slow, fast = frequencies(target, unit(mass))
    return (fast / slow) ** 2


def chain(step, tune: int, draws: int, seed: int) -> np.ndarray:
    step.setup_chain(np.random.default_rng(seed), tune, draws)
    point, kept = step.model.initial_point(), []
    for draw in range(tune + draws):
        if draw == tune:
            step.stop_tuning()
        point, _ = step.step(point)
        if draw >= tune:
            kept.append(point["x"])
    return np.array(kept)


def measured(step, target: Target, tune: int, draws: int, gradients: int, setting: str) -> Found:
    """Run chains of draws of so many ``gradients`` each, and compare with the target."""
    x = np.array([chain(step, tune, draws, seed) for seed in range(N_CHAINS)])
    truth = np.diag(target.covariance)
    if not np.all(np.isfinite(x)) or np.any(x.var(axis=(0, 1)) == 0):
        return Found(np.nan, np.inf, 0.0, setting)
    of_mean = [float(az.ess(x[..., i], method="mean")) for i in range(SIZE)]
    of_square = [float(az.ess(x[..., i] ** 2, method="mean")) for i in range(SIZE)]
    biases = np.abs((x**2).mean(axis=(0, 1)) / truth - 1)
    worst = int(np.argmax(biases))
    ess = min(*of_mean, *of_square) / (N_CHAINS * draws * gradients) * 1000
    return Found(ess, float(biases[worst]), float(np.sqrt(2 / of_square[worst])), setting)


def draw_length(slow: float, fast: float) -> int:
    """Transitions a draw, short beside the autocorrelation time."""
    return int(np.clip(round(2 * fast / slow), 4, 60))


def built(method: str, target: Target, mass: Any, n_steps: int):
    known = target.noise if method != "SGNHT" else None
    options: dict[str, Any] = {} if known is None else {"gradient_noise": known}
    if method == "SGNPHMC":
        options |= {"n_leapfrog": n_steps, "thermal_mass": float(SIZE)}
    else:
        friction = "diffusion" if method == "SGNHT" else "friction"
        options |= {"n_steps": n_steps, friction: 1.0}
    return METHODS[method](model=target.model(), mass=mass, step_size=1e-3, **options)


def set_parameters(step, step_size: float, friction: float) -> None:
    """Change what is no part of the compiled kernel."""
    if isinstance(step, pmg.SGNPHMC):
        set_step_size(step, Jittered(step_size, step.sampler.settings.n_steps))
        return
    name = "diffusion" if isinstance(step, pmg.SGNHT) else "friction"
    set_step_size(step, step_size, **{name: friction})


class Setting(NamedTuple):
    """A step size, a friction if the method has one, and transitions a draw."""

    step_size: float
    friction: float
    n_steps: int

    def __str__(self) -> str:
        return f"{self.step_size:.3g}, {self.friction or self.n_steps:.3g}"


def settings(method: str, slow: float, fast: float) -> list[list[Setting]]:
    """Groups of settings; in each the step size falls, so that the first right one is the best."""
    step_sizes = [length / fast for length in LENGTHS]
    if method == "SGNPHMC":
        return [
            [Setting(h, 0.0, min(MOST_STEPS, round(t / (slow * h)) or 1)) for h in step_sizes]
            for t in TRAJECTORIES
        ]
    n_steps = draw_length(slow, fast)
    return [[Setting(h, c * slow, n_steps) for h in step_sizes] for c in FRICTIONS]


def best_setting(method: str, target: Target, mass: np.ndarray | None, draws: int):
    """Return the best run whose variances are right and its setting, if there is one."""
    steps: dict[int, Any] = {}
    best = None
    for group in settings(method, *frequencies(target, unit(mass))):
        for setting in group:
            if setting.n_steps not in steps:
                steps[setting.n_steps] = built(method, target, mass, setting.n_steps)
            step = steps[setting.n_steps]
            set_parameters(step, setting.step_size, setting.friction)
            found = measured(step, target, draws // 4, draws, setting.n_steps, str(setting))
            if found.is_right:
                if best is None or found.ess > best[0].ess:
                    best = found, setting
                break
    return best


def learned(method: str, target: Target, kind: str, setting: Setting, draws: int) -> np.ndarray:
    step = built(method, target, pmg.MonteCarloEM(kind=kind), setting.n_steps)
    set_parameters(step, setting.step_size, setting.friction)
    chain(step, draws, 0, seed=100)
    return step.mass_history[-1].mass


def learning_setting(method: str, target: Target, kind: str, right: Setting | None) -> Setting:
    """Positions need a setting that is right without mass; momenta one that heats them."""
    by_length = dict(
        zip(LENGTHS, settings(method, *frequencies(target, unit(None)))[0], strict=True)
    )
    if kind.endswith("position"):
        return right or by_length[LENGTHS[-1]]
    heating = by_length[LEARNING_LENGTH]
    return right if right and right.step_size > heating.step_size else heating


def stochastic(method: str, target: Target, masses: dict, draws: int) -> dict[str, tuple]:
    """The best run with every mass, and the condition number that the mass leaves."""
    found, right = {}, None
    for name, mass in masses.items():
        if isinstance(mass, str):
            setting = learning_setting(method, target, mass, right)
            mass = learned(method, target, mass, setting, 2 * draws)
        best = best_setting(method, target, mass, draws)
        if mass is None and best is not None:
            right = best[1]
        found[name] = None if best is None else best[0], condition_number(target, mass)
        print(method, name, found[name], flush=True)
    return found


def metropolis(target: Target, masses: dict, draws: int) -> dict[str, tuple]:
    """The same for GMC, which tunes its step size while it learns the mass."""
    found = {}
    for name, mass in masses.items():
        best = None
        for n_leapfrog in leapfrogs(target, mass):
            scheme = pmg.MonteCarloEM(kind=mass) if isinstance(mass, str) else mass
            step = pmg.GMC(
                model=target.model(),
                mass=scheme,
                n_leapfrog=n_leapfrog,
                jitter=JITTER["GMC"],
            )
            run = measured(step, target, 2 * draws, draws, n_leapfrog, "")
            if best is None or run.ess > best[0].ess:
                setting = f"{step.chain.step_size_adaptation.current(False):.3g}, {n_leapfrog}"
                got = step.mass_history[-1].mass if step.mass_history else mass
                best = run._replace(setting=setting), condition_number(target, got)
        found[name] = best
        print("GMC", name, found[name], flush=True)
    return found


def leapfrogs(target: Target, mass: Any) -> list[int]:
    """Lengths of trajectories that suit the mass, or the one that is to be expected of EM."""
    expected = {
        "diag": None,
        "dense": None,
        "position": 1 / np.diag(target.covariance),
        "dense_position": target.precision,
    }
    mass = expected[mass] if isinstance(mass, str) else mass
    slow, fast = frequencies(target, unit(mass))
    return [round(factor * fast / slow) for factor in LEAPFROGS]


def cells(quick: bool) -> dict[tuple[str, float], tuple[Target, dict, list[str]]]:
    """Targets with the masses and methods to be tried."""
    everything = {}
    conditions = CONDITIONS[:1] if quick else CONDITIONS
    for noisy, condition in itertools.product((False, True), conditions):
        target = aligned(condition, noisy)
        masses = {"none": None, "EM": "diag", "position": "position"}
        masses["true"] = np.diag(target.precision).copy()
        methods = [*METHODS] if noisy else [*METHODS, "GMC"]
        kind = "noisy gradients" if noisy else "exact gradients"
        everything[kind, condition] = target, masses, methods
    target = rotated(conditions[0])
    masses = {"none": None, "EM": "dense", "position": "dense_position"}
    masses |= {"position, diagonal": "position", "true": target.precision}
    everything["rotated, exact gradients", conditions[0]] = target, masses, ["SGNHT", "GMC"]
    return everything


def cell(found: tuple) -> str:
    run, condition = found
    shown = "none" if run is None else f"{run.ess:.3g} ({run.setting})"
    return f"{shown} [{condition:.3g}]"


def checks_of(runs: dict) -> list[Check]:
    """What the theory says: EM helps where there is noise to learn from, positions everywhere."""
    checks = []
    for (kind, condition, method), found in runs.items():
        ess = {name: 0.0 if run is None else run.ess for name, (run, _) in found.items()}
        what = f"{method}, {kind}, condition {condition:g}"
        ratio = ess["position"] / ess["true"] if ess["true"] else 0.0
        checks.append(Check(f"{what}: position over true", f"{ratio:.2f}", ">= 0.5", ratio >= 0.5))
        if method == "SGNHT" and kind.startswith("noisy"):
            ratio = found["none"][1] / found["EM"][1]
            checks.append(
                Check(f"{what}: condition without over with EM", f"{ratio:.3g}", ">= 3", ratio >= 3)
            )
    return checks


def main() -> None:
    warnings.simplefilter("ignore", UserWarning)
    quick = arguments(__doc__.splitlines()[0]).quick
    draws = 200 if quick else 1000
    runs: dict[tuple, dict] = {}
    for (kind, condition), (target, masses, methods) in cells(quick).items():
        print(kind, condition, flush=True)
        for method in methods:
            runs[kind, condition, method] = (
                metropolis(target, masses, draws)
                if method == "GMC"
                else stochastic(method, target, masses, draws)
            )
    names = ["none", "EM", "position", "position, diagonal", "true"]
    header = ["target", "condition", "method", *names]
    rows = [
        [kind, f"{condition:g}", method]
        + [cell(found[name]) if name in found else "" for name in names]
        for (kind, condition, method), found in runs.items()
    ]
    title = "effective samples per 1,000 gradients (step size, friction or leapfrogs) [condition]"
    table(title, header, rows)
    report("em_scales", checks_of(runs), about=BENCHMARK, quick=quick, header=header, rows=rows)


if __name__ == "__main__":
    main()
