#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Latent Dirichlet allocation with softmax topics: the thermostat beside a fixed friction.

The experiment of Ding et al. (2014), Table 2 and Figure 3, fourth row: 765 abstracts of about 2,000
words and 44,000 tokens, four fifths of the documents to learn from, 30 topics with normal priors
N(0.1, 1) on the softmax coordinates, alpha = 0.1, batches of 100 documents, 10,000 transitions
thrown away and 40,000 kept, learning rates of 2e-5 to 8e-5 and the injected noises .01 and .1.
Their abstracts of ICML cannot be had; here are as many of arXiv, with their most frequent words. A
fifth of every test document's tokens is predicted from the others, by averages over draws.

Their learning rate is the square of the step size here, and their a the step size times the
diffusion of SGNHT or the friction of SGHMC, which knows nothing of the gradient's noise. Two
learning rates above theirs are added, at which that noise matters more.

    python -m benchmarks.papers.softmax_topics [--quick] [--resume] [--first N]

A run takes three minutes, and there are 60: ``--first`` takes settings in the order of the table,
and ``--resume`` keeps what earlier runs of the same code have found.

The counts are read from ``arxiv/arxiv250k.npz`` in the folder that the environment variable
PYMC_GEODESIC_DATA names.
"""

from __future__ import annotations

import itertools
import time
import warnings

from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import pymc as pm
import pytensor
import scipy.sparse as sp

from scipy.special import softmax

import pymc_geodesic as pmg

from benchmarks.harness.console import parser, table
from benchmarks.harness.data import data_file
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.parts import part_of
from benchmarks.harness.records import Check, report
from benchmarks.harness.sampling import set_step_size
from benchmarks.papers.pictures import panels, save
from benchmarks.topics.lda_baselines import read_counts
from pymc_geodesic.topic_models import document_completion_perplexity, split_tokens

BENCHMARK = Benchmark(
    question="Ding et al. (2014), Table 2 and Figure 3: topics by softmax coordinates.",
    asked=(
        "The lowest perplexity of SGNHT at most that of SGHMC within the paper's settings; at no "
        "setting above it by more than two standard errors of three seeds."
    ),
    fixed="2026-11-25",
    seeds=(1, 2, 3),
)

N_DOCUMENTS, N_TEST, N_WORDS = 765, 153, 2000
N_TOPICS, ALPHA, BATCH_SIZE, SWEEPS = 30, 0.1, 100, 4
RATES, INJECTED = (2e-5, 4e-5, 6e-5, 8e-5), (0.01, 0.1)
# Above those of the paper, with the smaller injected noise.
LARGE_RATES = (1.28e-3, 5.12e-3)
N_STEPS, TUNE, DRAWS = 50, 200, 800
# Each costs Gibbs sweeps over the test documents.
N_SCORED, TEST_SWEEPS = 40, 40
METHODS = {"SGNHT": (pmg.SGNHT, "diffusion"), "SGHMC": (pmg.SGHMC, "friction")}
PAPER = {"SGNHT": 1102.7, "SGHMC": 1125.2}
HEADER = ["a", "learning rate", "SGNHT", "SGHMC", "SGHMC less SGNHT"]
HEADER += ["temperature, SGNHT", "temperature, SGHMC", "CPU s a run"]


class Abstracts(NamedTuple):
    """Documents to learn from, and both parts of those to predict."""

    train: sp.csr_array
    observed: sp.csr_array
    held_out: sp.csr_array


def abstracts() -> Abstracts:
    """Read as many abstracts as the paper has, which are in random order."""
    counts = read_counts(data_file("arxiv", "arxiv250k.npz"))[:N_DOCUMENTS]
    frequent = np.argsort(-counts.sum(axis=0), kind="stable")[:N_WORDS]
    counts = sp.csr_array(counts.tocsc()[:, np.sort(frequent)])
    return Abstracts(counts[N_TEST:], *split_tokens(counts[:N_TEST], fraction=0.2, rng=1))


@cache
def step_of(method: str, n_steps: int) -> Any:
    """Compile a step, which serves all settings."""
    train = abstracts().train
    step_class, noise = METHODS[method]
    with pytensor.config.change_flags(floatX="float32"), pm.Model():
        batch = pm.Minibatch(pmg.BagOfWords(train), batch_size=BATCH_SIZE)
        coordinates = pm.Normal("coordinates", 0.1, 1.0, shape=(N_TOPICS, train.shape[1]))
        topics = pm.math.softmax(coordinates, axis=-1)
        pmg.LatentDirichletAllocation(
            "w", topics, ALPHA, observed=batch, total_size=train.shape[0], sweeps=SWEEPS
        )
        return step_class(step_size=1e-3, n_steps=n_steps, **{noise: 1.0})


def run(method: str, setting: tuple[float, float], *, seed: int, quick: bool) -> dict[str, Any]:
    """Sample from a draw of the prior, and predict the test documents."""
    (rate, injected), noise, begun = setting, METHODS[method][1], time.process_time()
    n_steps, tune, draws = (2, 4, 8) if quick else (N_STEPS, TUNE, DRAWS)
    step = step_of(method, n_steps)
    set_step_size(step, np.sqrt(rate), **{noise: injected / np.sqrt(rate)})
    step.setup_chain(np.random.default_rng(seed), tune=0, draws=tune + draws)
    point = step.model.initial_point()
    start = np.random.default_rng(100 + seed).normal(0.1, 1.0, point["coordinates"].shape)
    point["coordinates"] = start.astype(point["coordinates"].dtype)
    scored = set(np.linspace(tune, tune + draws - 1, min(N_SCORED, draws)).astype(int))
    kept, temperatures = [], []
    for draw in range(tune + draws):
        point, [statistics] = step.step(point)
        if draw >= tune:
            temperatures.append(statistics["kinetic_temperature"])
        if draw in scored:
            kept.append(softmax(point["coordinates"].astype("float64"), axis=-1))
    found = abstracts()
    perplexity = document_completion_perplexity(
        np.stack(kept),
        observed=found.observed,
        held_out=found.held_out,
        alpha=ALPHA,
        sweeps=TEST_SWEEPS,
        rng=1,
    ).value
    return {
        "perplexity": float(perplexity),
        "temperature": float(np.mean(temperatures)),
        "seconds": time.process_time() - begun,
    }


def settings(*, quick: bool) -> list[tuple[float, float]]:
    """List learning rates and injected noises, the best of Table 2 first."""
    of_paper = [(rate, injected) for injected in reversed(INJECTED) for rate in RATES]
    return of_paper[:1] if quick else of_paper + [(rate, INJECTED[0]) for rate in LARGE_RATES]


def name_of(setting: tuple[float, float]) -> str:
    """Name a setting."""
    return f"{setting[1]:g}, {setting[0]:g}"


def of(runs: list[dict[str, Any]], name: str) -> np.ndarray:
    """Gather a figure of the seeds."""
    return np.array([run[name] for run in runs])


def error_of(values: np.ndarray) -> float:
    """Estimate the standard error of a mean over seeds."""
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def gain(runs: dict[str, list[dict[str, Any]]]) -> tuple[float, float]:
    """Perplexity of SGHMC less that of SGNHT, and its standard error over seeds."""
    ours, theirs = (of(runs[method], "perplexity") for method in METHODS)
    return float(theirs.mean() - ours.mean()), float(np.hypot(error_of(ours), error_of(theirs)))


def row_of(name: str, runs: dict[str, list[dict[str, Any]]]) -> list[str]:
    """Write means over seeds, and the difference with its standard error."""
    perplexities = [f"{of(runs[method], 'perplexity').mean():,.1f}" for method in METHODS]
    temperatures = [f"{of(runs[method], 'temperature').mean():.3f}" for method in METHODS]
    seconds = np.median([one["seconds"] for each in runs.values() for one in each])
    difference = "{:.1f} +- {:.1f}".format(*gain(runs))
    return [*name.split(", "), *perplexities, difference, *temperatures, f"{seconds:.0f}"]


def draw(runs: dict[str, dict[str, list[dict[str, Any]]]]) -> None:
    """Draw perplexities with standard errors by learning rate, a panel for each injected noise."""
    figure, axes = panels(1, len(INJECTED), sharex=True, sharey=True)
    for ax, injected in zip(axes[0], INJECTED, strict=True):
        rates = [rate for rate, noise in settings(quick=False) if noise == injected]
        for method in METHODS:
            values = [of(runs[name_of((rate, injected))][method], "perplexity") for rate in rates]
            means = [each.mean() for each in values]
            errors = [error_of(each) for each in values]
            ax.errorbar(rates, means, errors, fmt="o-", capsize=3, label=method)
        ax.axvspan(RATES[0] / 1.2, RATES[-1] * 1.2, color="0.93", zorder=0)
        ax.set(xscale="log")
        ax.set_title(f"a = {injected:g}", fontsize=9)
        ax.set_xlabel("learning rate (grey: the paper's)", fontsize=8)
    axes[0, 0].set_ylabel("perplexity of held-out tokens", fontsize=8)
    axes[0, 0].legend(fontsize=8)
    save(figure, "softmax_topics")


def checks_of(runs: dict[str, dict[str, list[dict[str, Any]]]]) -> list[Check]:
    """Compare the methods at their best, and at each setting."""
    of_paper = [name_of(setting) for setting in settings(quick=False)[: -len(LARGE_RATES)]]
    # A part of the grid has no best setting.
    whole = set(of_paper) <= set(runs)
    best = {
        method: min(of(runs[name][method], "perplexity").mean() for name in of_paper)
        for method in METHODS
        if whole
    }
    checks = [
        Check(
            "lowest perplexity of SGNHT within the paper's settings",
            f"{best['SGNHT']:,.1f}; the paper's {PAPER['SGNHT']:,}" if whole else "",
            f"<= SGHMC's, {best['SGHMC']:,.1f}; the paper's {PAPER['SGHMC']:,}" if whole else "",
            bool(best["SGNHT"] <= best["SGHMC"]) if whole else None,
        )
    ]
    for name, found in runs.items():
        difference, error = gain(found)
        checks.append(
            Check(
                f"a, learning rate {name}: SGHMC less SGNHT",
                f"{difference:.1f} +- {error:.1f}",
                "not below 0 by more than two errors",
                bool(difference >= -2 * error),
            )
        )
    return checks


def main() -> None:
    # JAX says that it takes indices as int32, which it does for all of single precision.
    warnings.filterwarnings("ignore", "Explicitly requested dtype", UserWarning)
    reader = parser(__doc__.splitlines()[0])
    reader.add_argument("--resume", action="store_true", help="run only what is not there yet")
    reader.add_argument("--first", type=int, default=None, help="settings to run; all by default")
    given = reader.parse_args()
    runs: dict[str, dict[str, list[dict[str, Any]]]] = {}
    chosen = settings(quick=given.quick)
    for setting in chosen:
        found = {
            method: [
                part_of(
                    "softmax_topics",
                    f"{method}, {name_of(setting)} {seed}",
                    partial(run, method, setting, seed=seed, quick=given.quick),
                    now=setting in chosen[: given.first],
                    quick=given.quick,
                    resume=given.resume,
                )
                for seed in BENCHMARK.seeds
            ]
            for method in METHODS
        }
        if None not in itertools.chain(*found.values()):
            runs[name_of(setting)] = found
            print(row_of(name_of(setting), found), flush=True)
    rows = [row_of(*pair) for pair in runs.items()]
    table("Perplexity of held-out tokens, means over seeds", HEADER, rows)
    kept = {"about": BENCHMARK, "quick": given.quick, "header": HEADER, "rows": rows, "runs": runs}
    report("softmax_topics", checks_of(runs), **kept)
    if not given.quick and len(runs) == len(chosen):
        draw(runs)


if __name__ == "__main__":
    main()
