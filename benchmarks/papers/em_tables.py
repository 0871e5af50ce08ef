#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""HMC, HMC-EM and Riemannian HMC on the synthetic data of Roychowdhury and Parthasarathy (2017).

The Riemannian sampler is the generalised leapfrog of the package mici, with the expected Fisher
information as metric and derivatives written by hand in NumPy. Times and effective samples are
medians of seeds with ranges, errors and acceptance medians; z is that of the worst seed.
"""

from __future__ import annotations

import time
import warnings

from collections.abc import Callable
from typing import Any, NamedTuple

import arviz as az
import numpy as np
import pymc as pm

from scipy import stats
from scipy.special import expit

import pymc_geodesic as pmg

from benchmarks.harness.console import arguments, table
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import sample
from benchmarks.harness.statistics import median_and_range

BENCHMARK = Benchmark(
    question="Roychowdhury and Parthasarathy (2017): HMC, HMC-EM and Riemannian HMC.",
    asked=(
        "HMC-EM at most 1.05 times HMC's time; Riemannian HMC at least 8 times that of HMC-EM; "
        "means right."
    ),
    fixed="2026-11-21",
    seeds=(1, 2, 3),
)

N_ROWS, N_LEAPFROG, N_CHAINS = 5_000, 10, 4
WEIGHTS = np.array([1.0, -1.0])
# Trajectories of 1.5, about a quarter of a period, where the metric makes the frequency one: a step
# of mici 0.4.1 moves by twice its size.
RIEMANNIAN_STEP = 0.075
METHODS = ("HMC", "HMC-EM", "Riemannian HMC")


class Posterior(NamedTuple):
    """A posterior in NumPy: density, derivatives and metric of the unconstrained parameters.

    The metric is a matrix if ``dense``, else a diagonal.
    """

    energy: Callable[[np.ndarray], float]
    gradient: Callable[[np.ndarray], np.ndarray]
    metric: Callable[[np.ndarray], np.ndarray]
    metric_vjp: Callable[[np.ndarray], Callable[[np.ndarray], np.ndarray]]
    dense: bool


class Case(NamedTuple):
    """A model, its data's parameters, its exact posterior, and what the poster found.

    ``collect`` makes ``(chain, draw, 2)`` of PyMC's draws, ``constrain`` of the unconstrained ones.
    """

    model: pm.Model
    posterior: Posterior
    step_size: float
    parameters: tuple[str, str]
    collect: Callable[[dict[str, np.ndarray]], np.ndarray]
    constrain: Callable[[np.ndarray], np.ndarray]
    mode: np.ndarray
    truth: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    published: tuple[tuple[float, float, float], ...]


def gaussian() -> Case:
    """mu | tau ~ N(0, 1 / tau), tau ~ Gamma(1, 1), which PyMC samples as log tau."""
    data = gaussian_data()
    with pm.Model() as model:
        tau = pm.Gamma("tau", 1.0, 1.0, initval=1.0)
        mu = pm.Normal("mu", 0.0, tau=tau, initval=0.0)
        pm.Normal("x", mu, tau=tau, observed=data)
    shape = 1 + N_ROWS / 2
    center = data.sum() / (N_ROWS + 1)
    rate = 1 + 0.5 * ((data - data.mean()) ** 2).sum()
    rate += 0.5 * N_ROWS * data.mean() ** 2 / (N_ROWS + 1)
    of_mu = stats.t(2 * shape, center, np.sqrt(rate / (shape * (N_ROWS + 1))))
    of_tau = stats.gamma(shape, scale=1 / rate)
    return Case(
        model,
        gaussian_posterior(data),
        step_size=0.003,
        parameters=("mu", "tau"),
        collect=lambda draws: np.stack([draws["mu"], draws["tau"]], axis=-1),
        constrain=lambda q: np.stack([q[..., 0], np.exp(q[..., 1])], axis=-1),
        mode=np.array([center, np.log(shape / rate)]),
        truth=np.array([0.0, 1.0]),
        mean=np.array([of_mu.mean(), of_tau.mean()]),
        sd=np.array([of_mu.std(), of_tau.std()]),
        published=((0.0196, 0.0197, 0.417), (0.0115, 0.0104, 0.423), (0.0111, 0.0089, 5.748)),
    )


def gaussian_data() -> np.ndarray:
    return np.random.default_rng(2017).standard_normal(N_ROWS)


def gaussian_posterior(data: np.ndarray) -> Posterior:
    """The posterior of mu and log tau; each evaluation passes over all rows."""
    shape = 1 + (N_ROWS + 1) / 2

    def sums(q):
        residual = data - q[0]
        return residual.sum() - q[0], 0.5 * (residual @ residual + q[0] ** 2) + 1, np.exp(q[1])

    def energy(q):
        _, spread, tau = sums(q)
        return tau * spread - shape * q[1]

    def gradient(q):
        residual, spread, tau = sums(q)
        return np.array([-tau * residual, tau * spread - shape])

    def metric(q):
        return np.array([(N_ROWS + 1) * np.exp(q[1]), shape])

    def metric_vjp(q):
        slope = (N_ROWS + 1) * np.exp(q[1])
        return lambda v: np.array([0.0, v[0] * slope])

    return Posterior(energy, gradient, metric, metric_vjp, dense=False)


def logistic() -> Case:
    """Labels of Bernoulli(sigmoid(w.x)), x of two normals about (-1, 1) and (1, -1)."""
    rng = np.random.default_rng(2017)
    x = rng.standard_normal((N_ROWS, 2)) + np.where(np.arange(N_ROWS) % 2, 1, -1)[:, None] * WEIGHTS
    y = rng.binomial(1, expit(x @ WEIGHTS))
    with pm.Model() as model:
        w = pm.Normal("w", 0.0, 1.0, shape=2, initval=np.zeros(2))
        pm.Bernoulli("y", logit_p=x @ w, observed=y)
    posterior = logistic_posterior(x, y)
    mean, sd = by_quadrature(posterior)
    return Case(
        model,
        posterior,
        step_size=0.007,
        parameters=("w0", "w1"),
        collect=lambda draws: draws["w"],
        constrain=lambda w: w,
        mode=mean,
        truth=WEIGHTS,
        mean=mean,
        sd=sd,
        published=((0.0456, 0.1290, 1.435), (0.0145, 0.0851, 1.428), (0.0091, 0.0574, 1550.0)),
    )


def logistic_posterior(x: np.ndarray, y: np.ndarray) -> Posterior:
    def energy(w):
        z = x @ w
        return np.logaddexp(0, z).sum() - y @ z + 0.5 * w @ w

    def gradient(w):
        return x.T @ (expit(x @ w) - y) + w

    def metric(w):
        s = expit(x @ w)
        return (x.T * (s * (1 - s))) @ x + np.eye(2)

    def metric_vjp(w):
        s = expit(x @ w)
        third = s * (1 - s) * (1 - 2 * s)
        return lambda v: x.T @ (third * np.einsum("ni,ni->n", x @ v, x))

    return Posterior(energy, gradient, metric, metric_vjp, dense=True)


def by_quadrature(posterior: Posterior) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of a posterior in two dimensions that is nearly normal."""
    w = WEIGHTS.copy()
    for _ in range(20):
        w = w - np.linalg.solve(posterior.metric(w), posterior.gradient(w))
    factor = np.linalg.cholesky(np.linalg.inv(posterior.metric(w)))
    ticks = np.linspace(-6, 6, 61)
    grid = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2) @ factor.T + w
    logp = -np.array([posterior.energy(point) for point in grid])
    weight = np.exp(logp - logp.max())
    weight /= weight.sum()
    mean = weight @ grid
    return mean, np.sqrt(weight @ (grid - mean) ** 2)


def expected_information(case: Case, counted: Callable[[Callable], Callable]) -> Any:
    """Return mici's system whose metric is the expected information."""
    import mici

    energy, gradient, metric, vjp = map(counted, case.posterior[:4])
    if case.posterior.dense:
        return mici.systems.DenseRiemannianMetricSystem(
            energy, metric, vjp_metric_func=vjp, grad_neg_log_dens=gradient
        )
    return mici.systems.DiagonalRiemannianMetricSystem(
        energy, metric, vjp_metric_diagonal_func=vjp, grad_neg_log_dens=gradient
    )


class Riemannian:
    """Trajectories of mici, one a call, and how often they evaluate what passes over the rows.

    ``make_system`` makes the system with the metric, of a case and of a function that counts.
    """

    def __init__(self, case: Case, make_system: Callable[..., Any] = expected_information) -> None:
        try:
            import mici
        except ImportError as error:
            raise SystemExit(
                "Riemannian HMC needs the package `mici`: pip install pymc_geodesic[bench]"
            ) from error
        self.evaluations = 0
        system = make_system(case, self._counted)
        integrator = mici.integrators.ImplicitLeapfrogIntegrator(system, RIEMANNIAN_STEP)
        self._transitions = (
            mici.transitions.IndependentMomentumTransition(system),
            mici.transitions.MetropolisStaticIntegrationTransition(system, integrator, N_LEAPFROG),
        )
        self._new_state = mici.states.ChainState
        # Far from the mode the fixed points of the implicit steps are not found.
        self._mode = case.mode
        self.start(seed=0)

    def _counted(self, function):
        def wrapped(q):
            self.evaluations += 1
            return function(q)

        return wrapped

    def start(self, *, seed: int) -> None:
        self._state = self._new_state(pos=self._mode, mom=None, dir=1)
        self._rng = np.random.default_rng(seed)

    def __call__(self) -> tuple[np.ndarray, float]:
        """Make a trajectory; return where it ends and its acceptance probability."""
        for transition in self._transitions:
            self._state, statistics = transition.sample(self._state, self._rng)
        return self._state.pos, statistics["accept_stat"]


def hmc(case: Case, mass: Any) -> pmg.GMC:
    return pmg.GMC(model=case.model, mass=mass, step_size=case.step_size, n_leapfrog=N_LEAPFROG)


def draws_of(
    case: Case, method: str, tune: int, draws: int, *, seed: int
) -> tuple[np.ndarray, float]:
    """Return draws ``(chain, draw, 2)`` and the mean acceptance probability."""
    if method == "Riemannian HMC":
        chains, accepted = [], []
        sampler = Riemannian(case)
        for chain in range(N_CHAINS):
            sampler.start(seed=N_CHAINS * (seed - 1) + chain)
            positions, rates = zip(*(sampler() for _ in range(tune + draws)), strict=True)
            chains.append(positions[tune:])
            accepted.append(rates[tune:])
        return case.constrain(np.array(chains)), float(np.mean(accepted))
    mass = pmg.MonteCarloEM() if method == "HMC-EM" else None
    run = sample(
        case.model,
        lambda: hmc(case, mass),
        draws=draws,
        tune=tune,
        chains=N_CHAINS,
        random_seed=seed,
    )
    return case.collect(run.draws), float(run.stats["acceptance_rate"].mean())


def iterations(case: Case) -> tuple[dict[str, Callable[[], Any]], Riemannian]:
    """One iteration of every method, from a state after many others."""
    calls: dict[str, Callable[[], Any]] = {}
    for name, mass, tune in (
        ("HMC", None, False),
        ("HMC-EM", pmg.MonteCarloEM(), False),
        ("HMC-EM, learning", pmg.MonteCarloEM(), True),
    ):
        step = hmc(case, mass)
        step.setup_chain(np.random.default_rng(1), 1000, 1000)
        point = step.model.initial_point()
        for _ in range(500):
            point, _ = step.step(point)
        if not tune:
            step.stop_tuning()
        calls[name] = lambda step=step, point=point: step.step(point)
    riemannian = Riemannian(case)
    for _ in range(50):
        riemannian()
    calls["Riemannian HMC"] = riemannian
    return calls, riemannian


def milliseconds(case: Case, repetitions: int) -> tuple[dict[str, np.ndarray], float]:
    """Processor times of short interleaved blocks; and evaluations of a Riemannian iteration."""
    calls, riemannian = iterations(case)
    names = list(calls)
    times = {name: np.zeros(repetitions) for name in names}
    riemannian.evaluations = 0
    for repetition in range(repetitions):
        for name in np.roll(names, repetition):
            count = 2 if name == "Riemannian HMC" else 20
            start = time.process_time()
            for _ in range(count):
                calls[name]()
            times[name][repetition] = (time.process_time() - start) / count * 1e3
    return times, riemannian.evaluations / (2 * repetitions)


def errors(case: Case, draws: np.ndarray) -> dict[str, np.ndarray]:
    """Root mean square errors: of draws, and of the mean of all draws so far, to the truth."""
    counts = np.arange(1, draws.shape[1] + 1)[:, None]
    running = draws.cumsum(axis=1) / counts
    return {
        "draw": np.sqrt(((draws - case.truth) ** 2).mean(axis=(0, 1))),
        "running": np.sqrt(((running - case.truth) ** 2).mean(axis=(0, 1))),
    }


def ess(draws: np.ndarray) -> float:
    """Effective samples a draw: the smaller of both parameters, of values and of squares."""
    centered = draws - draws.mean(axis=(0, 1))
    found = [
        float(az.ess(values[..., i], method="mean"))
        for values in (centered, centered**2)
        for i in range(2)
    ]
    return min(found) / draws[..., 0].size


class Found(NamedTuple):
    """What a method came to with one seed; errors are pairs, of both parameters."""

    accepted: float
    error: np.ndarray
    running: np.ndarray
    ess: float
    z: float


def found_of(case: Case, method: str, *, seed: int, quick: bool) -> Found:
    """Draw by a method and compare with the truth and with the exact posterior."""
    tune, draws = (100, 200) if quick else (1000, 5000)
    fewer = 10 if method == "Riemannian HMC" else 1
    found, accepted = draws_of(case, method, tune // fewer, draws // fewer, seed=seed)
    error, share = errors(case, found), ess(found)
    z = (found.mean(axis=(0, 1)) - case.mean) / (case.sd / np.sqrt(share * found[..., 0].size))
    return Found(accepted, error["draw"], error["running"], share, float(np.max(np.abs(z))))


def compare(name: str, case: Case, quick: bool) -> tuple[tuple[str, list, list], list[Check]]:
    """Compare all methods on a posterior; return a table and what was asked for."""
    seeds = BENCHMARK.seeds[:1] if quick else BENCHMARK.seeds
    measured = [milliseconds(case, 21 if quick else 201) for _ in seeds]
    medians = [
        {method: float(np.median(t)) for method, t in times.items()} for times, _ in measured
    ]
    rows, checks = [], timing_checks([times for times, _ in measured])
    for method, published in zip(METHODS, case.published, strict=True):
        found = [found_of(case, method, seed=seed, quick=quick) for seed in seeds]
        ms = [each[method] for each in medians]
        rows.append([method, float(np.median([each.accepted for each in found]))])
        rows[-1] += [*_typical([each.error for each in found]), *published[:2]]
        rows[-1] += _typical([each.running for each in found])
        rows[-1] += [median_and_range(ms, ".3g"), published[2]]
        rows[-1].append(median_and_range([each.ess for each in found]))
        speeds = [each.ess / t * 1e3 for each, t in zip(found, ms, strict=True)]
        rows[-1].append(median_and_range(speeds, ".3g"))
        worst = max(each.z for each in found)
        checks.append(Check(f"{method}: means, in MCSE", f"{worst:.1f}", "<= 4", worst <= 4))
    exact = np.sqrt(case.sd**2 + (case.mean - case.truth) ** 2)
    limit = np.abs(case.mean - case.truth)
    rows.append(["exact posterior", "", *exact, "", "", *limit, "", "", "", ""])
    kinds = ("RMSE", "published", "running mean")
    header = ["method", "accepts", *(f"{kind} {p}" for kind in kinds for p in case.parameters)]
    header += ["ms", "published ms", "ESS a draw", "ESS a second"]
    title = f"{name}; a Riemannian iteration makes {measured[0][1]:.0f} evaluations"
    table(title, header, rows)
    return (title, header, rows), [c._replace(what=f"{name}, {c.what}") for c in checks]


def _typical(pairs: list[np.ndarray]) -> list[float]:
    """Medians over seeds of what was found for both parameters."""
    return np.median(pairs, axis=0).tolist()


def timing_checks(measured: list[dict[str, np.ndarray]]) -> list[Check]:
    """Compare within each repetition: the machine's speed drifts."""

    def ratios(name: str, of: str) -> list[float]:
        return [float(np.median(times[name] / times[of])) for times in measured]

    checks = []
    for name in ("HMC-EM", "HMC-EM, learning"):
        found = ratios(name, "HMC")
        passed = float(np.median(found)) <= 1.05
        figure = median_and_range(found, ".3f")
        checks.append(Check(f"{name} over HMC, time", figure, "<= 1.05", passed))
    found = ratios("Riemannian HMC", "HMC-EM")
    passed = float(np.median(found)) >= 8
    figure = median_and_range(found, ".1f")
    return [*checks, Check("Riemannian HMC over HMC-EM, time", figure, ">= 8", passed)]


def main() -> None:
    warnings.simplefilter("ignore", UserWarning)
    quick = arguments(__doc__.splitlines()[0]).quick
    tables, checks = [], []
    for build in (gaussian, logistic):
        found, more = compare(build.__name__, build(), quick)
        tables.append(found)
        checks += more
    report("em_tables", checks, about=BENCHMARK, quick=quick, tables=tables)


if __name__ == "__main__":
    main()
