#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Variables between walls, on request: exact moments, also of the mass next to a wall.

Step sizes are a share of the width of the target, as in test_targets.py.
"""

from typing import NamedTuple

import numpy as np
import pymc as pm
import pytest

from chains import chain_averages, run
from exact_moments import assert_moments, assert_moments_by_gmc, direction, stochastic_step
from scipy import stats

import pymc_geodesic as pmg

from pymc_geodesic.distributions.bessel import bessel_ratio

N_POINTS = 200
SHARE = 0.1


class Target(NamedTuple):
    """A distribution, the same of SciPy, its walls, and a width."""

    make: object
    exact: object
    box: pmg.Box
    width: float


TARGETS = {
    "uniform": Target(
        lambda n: pm.Uniform("x", 1, 3, shape=n), stats.uniform(1, 2), pmg.Box(1, 3), 0.5
    ),
    "half-normal": Target(
        lambda n: pm.HalfNormal("x", 2.0, shape=n), stats.halfnorm(0, 2), pmg.Box(), 1.0
    ),
    "exponential": Target(
        lambda n: pm.Exponential("x", 1.0, shape=n), stats.expon(), pmg.Box(), 0.5
    ),
    "truncated": Target(
        lambda n: pm.TruncatedNormal("x", 1.0, 1.0, lower=-0.5, upper=1.5, shape=n),
        stats.truncnorm(-1.5, 0.5, loc=1.0),
        pmg.Box(-0.5, 1.5),
        0.5,
    ),
    "below": Target(
        lambda n: pm.TruncatedNormal("x", 0.0, 1.0, upper=0.5, shape=n),
        stats.truncnorm(-np.inf, 0.5),
        pmg.Box(-np.inf, 0.5),
        0.5,
    ),
    "no mass at the walls": Target(
        lambda n: pm.Beta("x", 5.0, 4.0, shape=n), stats.beta(5, 4), pmg.Box(0, 1), 0.1
    ),
}
FAST = {"exponential", "truncated"}
GRID = [pytest.param(name, marks=() if name in FAST else pytest.mark.slow) for name in TARGETS]


def model_of(name, n_points):
    with pm.Model() as model:
        TARGETS[name].make(n_points)
    return model


def moments(name, model):
    """Mean, square, and a tenth of the mass, that next to a wall."""
    target, transform = TARGETS[name], model.rvs_to_transforms[model["x"]]
    [value] = model.value_vars
    # Compiled once: a moment is taken at every draw.
    x = transform.backward(value, *model["x"].owner.inputs)
    to_x = pm.compile([value], x, mode="FAST_COMPILE")
    is_above = np.isfinite(target.box.lower)
    end = target.exact.ppf(SHARE) if is_above else target.exact.isf(SHARE)
    statistics = {
        "mean": lambda point: to_x(point[value.name]),
        "square": lambda point: to_x(point[value.name]) ** 2,
        "near": lambda point: (to_x(point[value.name]) < end) == is_above,
    }
    return statistics, {
        "mean": target.exact.mean(),
        "square": target.exact.moment(2),
        "near": SHARE,
    }


def request(name):
    return {"manifolds": {"x": TARGETS[name].box}}


@pytest.mark.parametrize("method", [pmg.SGGMC, pmg.gSGNHT])
@pytest.mark.parametrize("name", GRID)
def test_exact_moments(name, method):
    model = model_of(name, N_POINTS)
    step_size = 0.15 * TARGETS[name].width
    step = stochastic_step(method, model, step_size=step_size, damping=0.2, **request(name))
    assert_moments(step, *moments(name, model), draws=150)


@pytest.mark.parametrize("name", GRID)
def test_exact_moments_by_gmc(name):
    model = model_of(name, 4)
    step_size = 0.5 * TARGETS[name].width
    assert_moments_by_gmc(model, *moments(name, model), step_size=step_size, **request(name))


def test_the_bias_is_of_order_two_where_the_density_has_a_slope_at_the_wall():
    biases = []
    for step_size in (0.8, 0.4):
        step = pmg.SGGMC(
            model=model_of("exponential", 4_000),
            manifolds={"x": pmg.Box()},
            step_size=step_size,
            friction=0.5,
            n_steps=int(40 / step_size),
        )
        statistics = {"mean": lambda point: np.exp(point["x_log__"])}
        averages, _ = chain_averages(
            step, step.model.initial_point(), statistics, draws=40, discard=4
        )
        biases.append(averages["mean"].mean() - 1)
    # Known to three parts in a hundred.
    assert biases[0] == pytest.approx(0.2, abs=0.02)
    assert 2.8 < biases[0] / biases[1] < 5


def ball(n, kappa, n_points):
    """The density exp(kappa mu.x), whose mean cosine is that of directions in n + 2 dimensions."""
    mu = direction(n)
    with pm.Model() as model:
        x = pmg.UniformBall("x", n, shape=(n_points, n))
        pm.Potential("tilt", kappa * (x * mu).sum(-1))

    def cosine(point):
        y = point["x_ball__"]
        return y @ mu / np.sqrt(1 + (y * y).sum(-1))

    ratio = float(bessel_ratio(n + 2, kappa).eval())
    statistics = {"mean": cosine, "square": lambda point: cosine(point) ** 2}
    return model, statistics, {"mean": ratio, "square": 1 - (n + 1) * ratio / kappa}


def ball_rate(n, kappa):
    """One over the width across the sphere, where the density falls off like exp(-kappa x)."""
    return np.sqrt(n / 3 + 1) + kappa / 2


BALLS = [
    pytest.param(n, kappa, marks=() if (n, kappa) == (3, 5.0) else pytest.mark.slow)
    for n in (2, 3, 10, 50)
    for kappa in (0.5, 5.0, 50.0)
]


@pytest.mark.parametrize("method", [pmg.SGGMC, pmg.gSGNHT])
@pytest.mark.parametrize(("n", "kappa"), BALLS)
def test_exact_moments_in_the_ball(n, kappa, method):
    model, *exact = ball(n, kappa, N_POINTS)
    step_size = 0.07 / ball_rate(n, kappa)
    options = {"manifolds": {"x": pmg.Ball()}, "n_steps": 50}
    step = stochastic_step(method, model, step_size=step_size, **options)
    assert_moments(step, *exact, draws=150, discard=50)


@pytest.mark.parametrize(("n", "kappa"), BALLS)
def test_exact_moments_in_the_ball_by_gmc(n, kappa):
    model, *exact = ball(n, kappa, 4)
    step_size = 0.25 / ball_rate(n, kappa)
    assert_moments_by_gmc(model, *exact, step_size=step_size, manifolds={"x": pmg.Ball()})


def furthest_out(n_transitions):
    """How far values ever lie outside."""
    with pm.Model() as model:
        pm.Exponential("e", 3.0)
        pm.Uniform("u", -1, 3)
        x = pmg.UniformBall("b", 3)
        pm.Potential("tilt", 5.0 * x[0])
    manifolds = {"e": pmg.Box(), "u": pmg.Box(-1, 3), "b": pmg.Ball()}
    step = pmg.SGGMC(model=model, manifolds=manifolds, step_size=0.3, friction=0.5, n_steps=1000)
    worst = 0.0
    for _ in run(step, model.initial_point(), draws=n_transitions // 1000):
        e, u, b = step.chain.state.position
        outside = (-e, -1 - u, u - 3, np.linalg.norm(b) - 1)
        worst = max(worst, *map(float, outside))
    return worst


def test_points_stay_between_their_walls():
    assert furthest_out(10_000) < 1e-12


@pytest.mark.slow
def test_points_stay_between_their_walls_for_a_million_transitions():
    assert furthest_out(1_000_000) < 1e-12
