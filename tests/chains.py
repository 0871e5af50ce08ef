#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Many independent chains in one call of a kernel, and what their averages say.

A variable of shape (M, n) is M points that do not know of each other: M chains. Their averages over
time are independent, so that the Monte Carlo standard error needs no autocorrelation.
"""

import numpy as np
import pymc as pm

# A standard normal exceeds it once in 16,000; a test makes at most a few comparisons.
FOUR_ERRORS = 4.0
POSITIONS = "configurational_temperature"


def add_gradient_noise(name, x, rows):
    """Let a minibatch of one row add that row to the gradient of `x`.

    The log density of a row is its inner product with `x`, and of N rows each counts 1 / N.
    """
    n_rows = len(rows)
    batch = pm.Minibatch(rows, batch_size=1)
    logp = lambda row, x: row * x / n_rows  # noqa: E731
    pm.CustomDist(name, x, logp=logp, observed=batch, total_size=n_rows)


def run(step, point, *, draws, discard=0, seed=1, tune=0):
    """Yield the point and the statistics of every draw that is kept."""
    step.setup_chain(np.random.default_rng(seed), tune, draws)
    if tune == 0:
        step.stop_tuning()
    for draw in range(discard + draws):
        if tune and draw == tune:
            step.stop_tuning()
        point, [stats] = step.step(point)
        if draw >= discard:
            yield point, stats


def chain_averages(step, point, statistics, **options):
    """Average each statistic of the point over time, one number a chain, and each stat.

    Temperatures of positions are averaged over the draws that tell one, and are given a standard
    error, as ``NAME_error``.
    """
    totals, all_stats, n = {}, [], 0
    for new, stats in run(step, point, **options):
        for name, function in statistics.items():
            totals[name] = totals.get(name, 0) + function(new)
        all_stats.append(stats)
        n += 1
    stats = {
        name: np.mean([stat[name] for stat in all_stats])
        for name in all_stats[0]
        if name not in {"warning", "sampler"} and not name.startswith(POSITIONS)
    }
    for name in all_stats[0]:
        if name.startswith(POSITIONS):
            stats[name], stats[f"{name}_error"] = batch_mean([stat[name] for stat in all_stats])
    return {name: total / n for name, total in totals.items()}, stats


def batch_mean(values, *, n_batches=20):
    """Mean of the finite values and its standard error, from batches of consecutive ones."""
    values = np.asarray(values)[np.isfinite(values)]
    if len(values) < n_batches:
        return np.nan, np.inf
    batches = values[len(values) % n_batches :].reshape(n_batches, -1).mean(axis=1)
    return batches.mean(), batches.std(ddof=1) / np.sqrt(n_batches)


def assert_temperature_of_positions(stats, *, allowed, errors=5.0):
    """Assert that no temperature of positions differs from one by more than the step may.

    Five of the standard errors that 20 batches give are exceeded once in 10,000.
    """
    found = [name for name in stats if name.startswith(POSITIONS) and f"{name}_error" in stats]
    assert found
    for name in found:
        mean, error = stats[name], stats[f"{name}_error"]
        assert abs(mean - 1) < allowed + errors * error, f"{name}: {mean:.4f} +- {error:.4f}"


def assert_mean(averages, expected, *, errors=FOUR_ERRORS):
    """Assert that independent averages agree with their expectation within standard errors."""
    averages = np.ravel(averages)
    error = averages.std(ddof=1) / np.sqrt(averages.size)
    z = (averages.mean() - expected) / error
    assert abs(z) < errors, f"got {averages.mean():.5f} +- {error:.5f}, expected {expected:.5f}"


def batch_averages(values, *, n_batches=20):
    """Averages over batches of consecutive draws of ``(chain, draw, ...)``, nearly independent."""
    values = np.asarray(values)
    n_chains, n_draws = values.shape[:2]
    batches = values[:, n_draws % n_batches :]
    return batches.reshape(n_chains * n_batches, -1, *values.shape[2:]).mean(axis=1)


def assert_widths(scores, *, allowed=0.02, known_within=0.0125):
    """Assert that draws ``(chain, draw, entry)`` in exact standard deviations have variance one.

    A standard deviation that is off by 5 per cent is a variance of 1.10 or 0.90. The test fails
    at ``allowed`` and four standard errors. So these may not be larger than ``known_within``.
    """
    scores = np.asarray(scores)
    # Entries may depend on each other, so their mean is one average.
    averages = batch_averages((scores**2).mean(axis=tuple(range(2, scores.ndim))))
    error = averages.std(ddof=1) / np.sqrt(averages.size)
    found = f"variance {averages.mean():.4f} +- {error:.4f} of the exact one"
    assert error < known_within, found
    assert abs(averages.mean() - 1) < allowed + FOUR_ERRORS * error, found
