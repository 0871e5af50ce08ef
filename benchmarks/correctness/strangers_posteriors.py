#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Posteriors that strangers met and that were once wrong without a word, with their moments.

Every case is a model with minibatches and the means and deviations of some entries of its draws.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pymc as pm

from scipy.special import expit, i0e, log_expit

import pymc_geodesic as pmg

from benchmarks.correctness.strangers_truths import (
    Moments,
    gamma_moments,
    grid_moments,
    logistic_moments,
    softmax_moments,
)
from benchmarks.harness.sampling import flat

__all__ = ["POSTERIORS", "Posterior"]

BATCH_SIZE = 300


class Posterior(NamedTuple):
    """A model, how it is sampled, and what its draws should be.

    Parameters
    ----------
    model : Model
        With minibatches.
    entries : callable
        Turns the draws into what is compared, ``(chain, draw, entry)``.
    moments : Moments
        Their means and deviations.
    sample : callable
        Draws, by default ``pmg.sample`` with nothing but a seed.
    bias, ratios : float, tuple of float
        What is right: the largest bias in deviations, and ratios of deviations.
    must_speak : bool
        Whether it has several modes, of which a run must speak: whatever the shares of its chains,
        they are not those of the posterior.
    """

    model: pm.Model
    entries: Callable[[dict[str, np.ndarray]], np.ndarray]
    moments: Moments
    sample: Callable[..., Any] = pmg.sample
    bias: float = 0.15
    ratios: tuple[float, float] = (0.85, 1.15)
    must_speak: bool = False


def of(*names: str) -> Callable[[dict[str, np.ndarray]], np.ndarray]:
    return lambda draws: flat(draws, names)


def matrix_noise(**step: Any) -> Posterior:
    """A direction whose rows lie ten times as wide in one direction as in the other."""
    rng, kappa, n = np.random.default_rng(4), 10.0, 1_000
    x = np.column_stack([0.5 * rng.normal(size=n), 0.05 * rng.normal(size=n), np.ones(n)])
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    total = x.sum(axis=0)
    length = np.linalg.norm(total)
    mu, c = total / length, kappa * length
    first = np.array([1.0, 0.0, 0.0]) - mu * mu[0]
    first /= np.linalg.norm(first)
    across = np.column_stack([first, np.cross(mu, first)])
    with pm.Model() as model:
        m = pmg.VonMisesFisher("m", mu=[0, 0, 1.0], kappa=0.0)
        batch = pm.Minibatch(x, batch_size=100)
        pmg.VonMisesFisher("x", mu=m, kappa=kappa, observed=batch, total_size=n)
    sd = np.sqrt((1 / np.tanh(c) - 1 / c) / c)

    def sample(*, model: pm.Model, random_seed: int) -> Any:
        step_class = step.get("step", pmg.gSGNHT)
        options = {key: value for key, value in step.items() if key != "step"}
        return pmg.sample(
            3_000,
            tune=500,
            chains=2,
            step=step_class(**options, model=model),
            random_seed=random_seed,
            model=model,
            progressbar=False,
        )

    return Posterior(
        model,
        lambda draws: draws["m"] @ across,
        Moments(np.zeros(2), np.full(2, sd)),
        sample,
        # Variances within a tenth.
        ratios=(0.95, 1.05),
    )


def seam(centre: float) -> Posterior:
    """An angle whose posterior lies around ``centre``, and a concentration."""
    y = np.random.default_rng(1).vonmises(0.0, 0.8, 400)
    y = y - np.angle(np.exp(1j * y).mean()) + centre
    y = (y + np.pi) % (2 * np.pi) - np.pi
    with pm.Model() as model:
        k, a = pm.HalfNormal("k", 5.0), pm.VonMises("a", 0.0, 0.01)
        pm.VonMises("y", a, k, observed=pm.Minibatch(y, batch_size=100), total_size=len(y))
    turns, ks = np.linspace(-0.6, 0.6, 241), np.linspace(0.3, 1.5, 241)
    t, kappa = np.meshgrid(turns, ks, indexing="ij")
    log_density = kappa * (
        np.cos(y - centre).sum() * np.cos(t) + np.sin(y - centre).sum() * np.sin(t)
    )
    log_density -= len(y) * (np.log(i0e(kappa)) + kappa) + 0.5 * (kappa / 5.0) ** 2
    log_density += 0.01 * np.cos(t + centre)

    def entries(draws: dict[str, np.ndarray]) -> np.ndarray:
        turned = (draws["a"] - centre + np.pi) % (2 * np.pi) - np.pi
        return np.stack([turned, draws["k"]], axis=-1)

    return Posterior(model, entries, grid_moments([t, kappa], log_density))


def two_modes(prior_mean: float) -> Posterior:
    """A square that is observed: its root may have either sign."""
    y = np.random.default_rng(1).normal(1.5**2, 1.0, 1_000)
    with pm.Model() as model:
        t = pm.Normal("t", prior_mean, 1.0)
        pm.Normal("y", t**2, 1.0, observed=pm.Minibatch(y, batch_size=100), total_size=len(y))
    grid = np.linspace(-2.0, 2.0, 40_001)
    log_density = -0.5 * len(y) * (grid**2 - y.mean()) ** 2 - 0.5 * (grid - prior_mean) ** 2
    return Posterior(model, of("t"), grid_moments([grid], log_density), must_speak=True)


def spike_and_slab() -> Posterior:
    """A coefficient that is nearly zero or not, and the data do not say which."""
    rng, n = np.random.default_rng(3), 4_000
    x = rng.normal(size=n)
    y = rng.normal(size=n)
    y += (0.058 - x @ y / (x @ x)) * x
    with pm.Model() as model:
        parts = [pm.Normal.dist(0.0, 0.01), pm.Normal.dist(0.0, 2.0)]
        b = pm.Mixture("b", w=[0.5, 0.5], comp_dists=parts)
        xb, yb = pm.Minibatch(x, y, batch_size=100)
        pm.Normal("y", b * xb, 1.0, observed=yb, total_size=n)
    grid = np.linspace(-0.15, 0.25, 40_001)
    prior = np.exp(-0.5 * (grid / 0.01) ** 2) / 0.01 + np.exp(-0.5 * (grid / 2.0) ** 2) / 2.0
    log_density = np.log(prior) - 0.5 * (x @ x) * (grid - 0.058) ** 2
    return Posterior(model, of("b"), grid_moments([grid], log_density))


def product() -> Posterior:
    """Two factors whose product is observed: two branches."""
    y = np.random.default_rng(5).normal(1.0, 1.0, 1_000)
    with pm.Model() as model:
        a, b = pm.Normal("a"), pm.Normal("b")
        pm.Normal("y", a * b, 1.0, observed=pm.Minibatch(y, batch_size=100), total_size=len(y))
    a, b = np.meshgrid(*[np.linspace(-4.5, 4.5, 2_001)] * 2, indexing="ij")
    log_density = -0.5 * len(y) * (a * b - y.mean()) ** 2 - 0.5 * (a**2 + b**2)
    moments = grid_moments([a, b], log_density)
    return Posterior(model, of("a", "b"), moments, must_speak=True)


def rare_events() -> Posterior:
    """Ten events in a million rows, and a flag that one row in a hundred has."""
    rng, n = np.random.default_rng(6), 1_000_000
    flag = (rng.uniform(size=n) < 0.01).astype("float64")
    y = np.zeros(n, "int32")
    y[rng.choice(np.flatnonzero(flag == 0), 7, replace=False)] = 1
    y[rng.choice(np.flatnonzero(flag == 1), 3, replace=False)] = 1
    with pm.Model() as model:
        xb, yb = pm.Minibatch(flag, y, batch_size=BATCH_SIZE)
        a, b = pm.Normal("a", 0.0, 10.0), pm.Normal("b", 0.0, 5.0)
        pm.Bernoulli("y", logit_p=a + b * xb, observed=yb, total_size=n)
    a, b = np.meshgrid(np.linspace(-14.0, -9.5, 601), np.linspace(-1.0, 8.0, 601), indexing="ij")
    n_flagged = flag.sum()
    log_density = 7 * log_expit(a) + (n - n_flagged - 7) * log_expit(-a)
    log_density += 3 * log_expit(a + b) + (n_flagged - 3) * log_expit(-a - b)
    log_density -= 0.5 * (a / 10.0) ** 2 + 0.5 * (b / 5.0) ** 2
    return Posterior(model, of("a", "b"), grid_moments([a, b], log_density))


def fraud(n_components: int, amount: float) -> Posterior:
    """Four events in a thousand rows, and a column with a heavy tail, as it comes."""
    rng, n = np.random.default_rng(2), 284_807
    v = rng.standard_t(4, (n, n_components)) * np.linspace(2, 0.5, n_components)
    time = np.sort(rng.uniform(0, 172_792, n))
    money = np.exp(rng.normal(3, amount, n)).round(2).clip(0, 25_691)
    effects = np.resize([-0.4, 0.3, -0.5, 0.5, -0.2, 0, 0.3, 0, 0, 0.2], n_components)
    eta = -8.2 + v[:, :10] @ effects[:10] + 1e-4 * money
    x = np.column_stack([time, v, money])
    y = (rng.uniform(size=n) < expit(eta)).astype("int32")
    with pm.Model() as model:
        xb, yb = pm.Minibatch(x, y, batch_size=BATCH_SIZE)
        a, b = pm.Normal("a", 0, 10), pm.Normal("b", 0, 10, shape=x.shape[1])
        pm.Bernoulli("y", logit_p=a + xb @ b, observed=yb, total_size=n)
    return Posterior(model, of("a", "b"), logistic_moments(x, y, prior_sd=10.0))


def severity() -> Posterior:
    """Sizes of claims with a logarithmic link, and the sum insured as it comes."""
    rng, n, n_shops = np.random.default_rng(24), 120_000, 40
    x = np.column_stack([np.exp(rng.normal(11, 1.2, n)).round(), rng.gamma(2, 4, n).round()])
    shop = rng.choice(n_shops, n, p=rng.dirichlet(np.full(n_shops, 0.4)))
    effects = rng.normal(0, 0.2, n_shops)
    mean = np.exp(6.8 + x @ [2e-7, -0.02] + effects[shop])
    y = rng.gamma(0.9, mean / 0.9).clip(1).round(2)
    with pm.Model() as model:
        c, xb, yb = pm.Minibatch(shop, x, y, batch_size=BATCH_SIZE)
        a, b = pm.Normal("a", 0, 10), pm.Normal("b", 0, 1, shape=2)
        tau, k = pm.HalfNormal("tau", 1), pm.Exponential("k", 1)
        u = pm.Normal("u", 0, tau, shape=n_shops)
        rate = k / pm.math.exp(a + u[c] + xb @ b)
        pm.Gamma("y", alpha=k, beta=rate, observed=yb, total_size=n)
    return Posterior(model, of("b"), gamma_moments(x, shop, y, group_sd=0.2))


def soft_directions() -> Posterior:
    """Softmax without a reference class: the mean of all classes is known to the prior alone."""
    rng, n, n_classes = np.random.default_rng(7), 20_000, 4
    x = np.column_stack([np.ones(n), rng.normal(size=(n, 5)) * [1, 1, 1, 1, 4]])
    logits = x @ rng.normal(0, 0.5, (6, n_classes))
    y = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1).astype("int32")
    with pm.Model() as model:
        xb, yb = pm.Minibatch(x, y, batch_size=BATCH_SIZE)
        w = pm.Normal("w", 0.0, 2.0, shape=(6, n_classes))
        pm.Categorical("y", logit_p=xb @ w, observed=yb, total_size=n)
    return Posterior(model, of("w"), softmax_moments(x, y, n_classes, prior_sd=2.0))


def without_replacement() -> Posterior:
    """Rows that are taken without replacement, and no control variates."""
    rng, n = np.random.default_rng(8), 6_400
    x = np.column_stack([np.ones(n), rng.normal(size=(n, 3))])
    y = (rng.uniform(size=n) < expit(x @ [-0.5, 1.0, -0.5, 0.2])).astype("int32")
    with pm.Model() as model:
        xb, yb = pm.Minibatch(x[:, 1:], y, batch_size=100)
        a, b = pm.Normal("a", 0, 10), pm.Normal("b", 0, 10, shape=3)
        pm.Bernoulli("y", logit_p=a + xb @ b, observed=yb, total_size=n)

    def sample(*, model: pm.Model, random_seed: int) -> Any:
        step = pmg.SGNHT(replacement=False, variance_reduction=None, model=model)
        return pmg.sample(step=step, random_seed=random_seed, model=model, progressbar=False)

    return Posterior(model, of("a", "b"), logistic_moments(x[:, 1:], y, prior_sd=10.0), sample)


GIVEN = {"step_size": 0.001, "n_steps": 50}
POSTERIORS: dict[str, Callable[[], Posterior]] = {
    "noise with a direction, SGGMC, given": lambda: matrix_noise(
        step=pmg.SGGMC, friction=150.0, gradient_noise="fisher", **GIVEN
    ),
    "noise with a direction, gSGNHT, given": lambda: matrix_noise(diffusion=150.0, **GIVEN),
    "noise with a direction, gSGNHT, tuned": matrix_noise,
    "noise with a direction, gSGNHT, no control variates": lambda: matrix_noise(
        variance_reduction=None
    ),
    "noise with a direction, SGGMC, no control variates": lambda: matrix_noise(
        step=pmg.SGGMC, gradient_noise="fisher", variance_reduction=None
    ),
    "angle around 0": lambda: seam(0.0),
    "angle around pi": lambda: seam(3.1416),
    "two equal modes": lambda: two_modes(0.0),
    "two modes of unequal weight": lambda: two_modes(0.3),
    "spike and slab": spike_and_slab,
    "product of two factors": product,
    "10 events in 1,000,000 rows": rare_events,
    "fraud, 10 components": lambda: fraud(10, 1.6),
    "fraud, 28 components, milder amounts": lambda: fraud(28, 1.0),
    "severity of claims": severity,
    "softmax without a reference": soft_directions,
    "without replacement or control variates": without_replacement,
}
