#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Order of the integrators: how their error grows with the step size.

Three measures. Without noise the dynamics are differential equations, and the error at a fixed
time is that of a deterministic integrator, curvature and thermostat included. On a Gaussian target
without thermostat a transition is linear, and its covariance solves Lyapunov's equation. The bias
of long runs (slow) is the thing itself, on a sphere and with a thermostat.
"""

from dataclasses import replace

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest

from chains import chain_averages
from pytensor.compile.mode import Mode
from scipy.linalg import solve_discrete_lyapunov

import pymc_geodesic as pmg

from pymc_geodesic.algorithms import gsgnht, sggmc, sgld
from pymc_geodesic.algorithms.gsgnht import euler_transition
from pymc_geodesic.manifolds import Product
from pymc_geodesic.potential.estimate import Estimate

INTERPRETED = Mode(linker="py", optimizer="fast_run")


def slope(step_sizes, errors):
    return np.polyfit(np.log(step_sizes), np.log(errors), 1)[0]


def compiled(dynamics, manifold, gradient, *, n, thermostat=False, **parameters):
    """One transition as a function of arrays: position, velocity, thermostat, noise, step size."""
    shape = n if isinstance(n, tuple) else (n,)
    product = Product([manifold], shapes=[shape])
    x, v, z = (pt.tensor(name, shape=shape, dtype="float64") for name in "xvz")
    xi, step_size = pt.scalar("xi"), pt.scalar("step_size")

    def estimator(position):
        return Estimate((gradient(position[0]),), (None,))

    if thermostat:
        parameters["grouping"] = "shared"
        state = gsgnht.State((x,), (v,), (xi,))
    elif dynamics is sgld.transition:
        state = sgld.State((x,))
    else:
        state = sggmc.State((x,), (v,))
    new = dynamics(state, estimator, (z,), manifold=product, step_size=step_size, **parameters)
    outputs = [part for parts in new for part in parts]
    return pytensor.function(
        [x, v, xi, z, step_size], outputs, mode=INTERPRETED, on_unused_input="ignore"
    )


# An asymmetric well, steep on one side.
def flat_gradient(x):
    return x**3 + x - 0.7 + 0.3 * x[::-1]


def sphere_gradient(x):
    return -pt.constant([1.0, 2.0, -0.5]) * (1 + x)


def frame_gradient(x):
    n, p = x.type.shape
    return -pt.constant(np.arange(1.0, n * p + 1).reshape(n, p) / (2 * p)) * (1 + x)


def start_of(manifold):
    """A point and a tangent velocity."""
    if manifold.ndim_core < 2:
        return np.array([0.6, 0.0, 0.8]), np.array([0.8, 1.0, -0.6])
    p = 3 if isinstance(manifold, pmg.SpecialOrthogonal) else 2
    turn = np.array([[0, 0.5, -0.8], [-0.5, 0, 0.6], [0.8, -0.6, 0]])
    return np.eye(3)[:, :p], turn[:, :p]


DETERMINISTIC = {
    "SGGMC, flat": (sggmc.transition, pmg.Euclidean(), flat_gradient, False),
    "SGGMC, sphere": (sggmc.transition, pmg.Sphere(), sphere_gradient, False),
    "gSGNHT, flat": (gsgnht.transition, pmg.Euclidean(), flat_gradient, True),
    "gSGNHT, sphere": (gsgnht.transition, pmg.Sphere(), sphere_gradient, True),
    "SGGMC, frames": (sggmc.transition, pmg.Stiefel(), frame_gradient, False),
    "gSGNHT, frames": (gsgnht.transition, pmg.Stiefel(), frame_gradient, True),
    "SGGMC, rotations": (sggmc.transition, pmg.SpecialOrthogonal(), frame_gradient, False),
    "gSGNHT, rotations": (gsgnht.transition, pmg.SpecialOrthogonal(), frame_gradient, True),
    "Euler SGNHT": (euler_transition, pmg.Euclidean(), flat_gradient, True),
}


def position_at(transition, start, time, n_steps):
    state = [*start, 0.5]
    for _ in range(n_steps):
        new = transition(*state, np.zeros_like(start[0]), time / n_steps)
        state = [*new, 0.5] if len(new) == 2 else new
    return state[0]


@pytest.mark.parametrize("case", DETERMINISTIC)
def test_order_of_the_path_without_noise(case):
    dynamics, manifold, gradient, thermostat = DETERMINISTIC[case]
    parameter = {"diffusion": 0.5} if thermostat else {"friction": 0.5}
    start = start_of(manifold)
    transition = compiled(
        dynamics, manifold, gradient, n=start[0].shape, thermostat=thermostat, **parameter
    )
    exact = position_at(transition, start, 2.0, 8192 if dynamics is euler_transition else 512)
    n_steps = np.array([16, 32, 64])
    errors = [np.linalg.norm(position_at(transition, start, 2.0, n) - exact) for n in n_steps]
    order = slope(2.0 / n_steps, errors)
    if dynamics is euler_transition:
        assert 0.8 < order < 1.3
    else:
        assert 1.8 < order < 2.2


def stationary_covariance(transition, step_size, *, has_velocity):
    """Covariance of position and velocity under a linear transition, from its columns."""

    def moved(x, v, z):
        return np.concatenate(transition(x, v, 0.0, z, step_size))

    one, zero = np.ones(1), np.zeros(1)
    columns = [moved(one, zero, zero)]
    if has_velocity:
        columns.append(moved(zero, one, zero))
    injected = moved(zero, zero, one)[:, None]
    return solve_discrete_lyapunov(np.stack(columns, axis=1), injected @ injected.T)


@pytest.mark.parametrize("friction", [0.3, 1.0, 3.0])
def test_sggmc_has_the_exact_covariance_of_a_gaussian(friction):
    """Position and velocity, at any step size up to the limit of stability and any friction."""
    transition = compiled(
        sggmc.transition, pmg.Euclidean(), lambda x: 4.0 * x, n=1, friction=friction
    )
    for step_size in [0.05, 0.2, 0.8]:
        covariance = stationary_covariance(transition, step_size, has_velocity=True)
        assert covariance[0, 0] == pytest.approx(1 / 4, rel=1e-10)
        assert covariance[0, 1] == pytest.approx(0, abs=1e-10)


def test_stationary_bias_of_sgld_is_of_first_order():
    transition = compiled(sgld.transition, pmg.Euclidean(), lambda x: 4.0 * x, n=1)
    step_sizes = [0.01, 0.02, 0.04]
    errors = [
        abs(
            4.0
            * stationary_covariance(transition_of_position(transition), h, has_velocity=False)[0, 0]
            - 1
        )
        for h in step_sizes
    ]
    assert 0.9 < slope(step_sizes, errors) < 1.1


def transition_of_position(transition):
    return lambda *arguments: transition(*arguments)[:1]


@pytest.mark.parametrize("damping", [0.1, 0.5, 1.0, 2.0])
def test_friction_does_not_cool_where_there_is_no_force(damping):
    """B, O, B keeps a unit velocity exactly, whatever friction times step size."""
    step_size = 0.3
    transition = compiled(
        sggmc.transition, pmg.Euclidean(), lambda x: 0.0 * x, n=1, friction=damping / step_size
    )
    moved = [
        transition(np.zeros(1), v, 0.0, z, step_size)[1]
        for v, z in (([1.0], [0.0]), ([0.0], [1.0]))
    ]
    kept, injected = (float(v[0]) for v in moved)
    assert kept**2 + injected**2 == pytest.approx(1, abs=1e-12)


# Step sizes large enough for the bias to stand out of the noise, small enough for its first term to
# lead; how small depends on the sampler.
RUNS = {
    "SGGMC, flat": (pmg.SGGMC, {"friction": 1.0}, "flat", (0.2, 0.4)),
    "SGGMC, sphere": (pmg.SGGMC, {"friction": 1.0}, "sphere", (0.3, 0.6)),
    "gSGNHT, sphere": (pmg.gSGNHT, {"diffusion": 1.0}, "sphere", (0.15, 0.3)),
    "splitting SGNHT": (pmg.SGNHT, {"diffusion": 1.0}, "flat", (0.2, 0.4)),
    # At 0.2 a few of the many chains become unstable in the time they have.
    "Euler SGNHT": (pmg.SGNHT, {"diffusion": 1.0, "integrator": "euler"}, "flat", (0.05, 0.1)),
}
TIME = {"flat": 240, "sphere": 60}
M = 4000


def long_run_model(space):
    """A logistic distribution, or a von Mises-Fisher distribution, with its exact second moment."""
    with pm.Model() as model:
        if space == "flat":
            x = pm.Flat("x", shape=(M, 1))
            pm.Potential("well", -2.0 * pt.log(pt.cosh(x)).sum())
            grid = np.linspace(-20, 20, 20_001)
            density = np.cosh(grid) ** -2.0
            exact = (grid**2 * density).sum() / density.sum()
            return model, lambda values: values[:, 0] ** 2, exact
        kappa = 4.0
        pmg.VonMisesFisher("x", np.tile([0.0, 0.6, 0.8], (M, 1)), kappa)
    exact = 1 / np.tanh(kappa) - 1 / kappa
    return model, lambda values: values @ [0.0, 0.6, 0.8], exact


@pytest.mark.slow
@pytest.mark.parametrize("case", RUNS)
def test_order_of_the_stationary_bias(case):
    method, options, space, step_sizes = RUNS[case]
    if method is not pmg.SGGMC:
        options = options | {"thermostat": "per_point"}
    model, moment, exact = long_run_model(space)
    biases, errors = [], []
    n_steps = 25
    step = method(model=model, step_size=step_sizes[0], n_steps=n_steps, **options)
    name = step.vars[0].name
    for step_size in step_sizes:
        schedule = pmg.ConstantSchedule(step_size)
        step.sampler.settings = replace(step.sampler.settings, schedule=schedule)
        draws = round(TIME[space] / step_size)
        averages, _ = chain_averages(
            step,
            model.initial_point() | {name: model.initial_point()[name] + (space == "flat") * 0.5},
            {"moment": lambda point: moment(point[name])},
            draws=draws,
            discard=draws // 10,
        )
        biases.append(abs(averages["moment"].mean() - exact))
        errors.append(averages["moment"].std() / np.sqrt(M))
    report = f"biases {biases} +- {errors}"
    assert all(bias > 4 * error for bias, error in zip(biases, errors, strict=True)), report
    order = slope(step_sizes, biases)
    assert order < 1.3 if case == "Euler SGNHT" else order > 1.7, report
