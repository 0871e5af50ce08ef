#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Effects that are divided by their deviation: the density, its gradient, and control variates."""

import numpy as np
import pymc as pm
import pytest

from pymc_geodesic.kernel.host_functions import Change
from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.potential import Potential
from pymc_geodesic.potential.centered_effects import centered_effects
from pymc_geodesic.potential.centering import inside, outside
from pymc_geodesic.tuning.rare_entries import gradients_of_batches

REGION = np.array([0, 0, 1, 1, 1])
N = 600
SHARES = {"region": np.array([0.0, 0.3]), "store": np.array([0.0, 0.0, 0.2, 0.9, 1.0])}


def nested():
    """Write stores within regions, both centred."""
    rng = np.random.default_rng(2)
    store, y = rng.integers(0, len(REGION), N), rng.standard_normal(N)
    with pm.Model() as model:
        g, outcome = pm.Minibatch(store, y, batch_size=50)
        mu, tau = pm.Normal("mu"), pm.HalfNormal("tau")
        region = pm.Normal("region", mu, tau, shape=2)
        sigma = pm.Uniform("sigma", 0.0, 10.0)
        effect = pm.Normal("store", region[REGION], sigma, shape=len(REGION))
        pm.Normal("y", effect[g], 1.0, observed=outcome, total_size=N)
    return model


def potential_of(model, shares):
    return Potential(model, model.value_vars, initial_point=model.initial_point(), centering=shares)


def maps_of(potential):
    """Return the maps from PyMC's values to those inside of a sampler, and back."""
    values = [variable.value for variable in potential.variables]
    outer = outside(potential.variables, values)
    inner = inside(potential.variables, values)
    return Change(values, inner), Change(values, [outer[value] for value in values])


def a_point(potential, seed):
    rng = np.random.default_rng(seed)
    return [0.5 * rng.standard_normal(shape) for shape in potential.manifold.shapes]


def test_means_and_deviations_of_effects():
    model = nested()
    found = centered_effects(model, model.continuous_value_vars)
    assert list(found) == ["region", "store"]
    point = {x.name: np.full(x.type.shape, 0.4) for x in model.value_vars}
    of_store = found["store"]
    given = {x: point[x.name] for x in model.value_vars}
    np.testing.assert_allclose(of_store.mean.eval(given, on_unused_input="ignore"), 0.4)
    sigma = 10 / (1 + np.exp(-0.4))
    np.testing.assert_allclose(
        of_store.log_scale.eval(given, on_unused_input="ignore"), np.log(sigma)
    )


def test_effects_with_a_known_deviation_or_a_transform_are_left_as_they_are():
    with pm.Model() as model:
        mu, tau = pm.Normal("mu"), pm.HalfNormal("tau")
        pm.Normal("known", mu, 2.0, shape=3)
        pm.LogNormal("skewed", mu, tau, shape=3)
        pm.Normal("sorted", mu, tau, shape=3, transform=pm.distributions.transforms.ordered)
        pm.Normal("of_either_sign", mu, pm.math.sqr(mu) - 1.0, shape=3)
    assert centered_effects(model, model.continuous_value_vars) == {}


def test_values_inside_and_outside_are_inverse_to_each_other():
    potential = potential_of(nested(), SHARES)
    names = [variable.name for variable in potential.variables]
    given, (to_inside, to_outside) = a_point(potential, 1), maps_of(potential)
    found = to_outside(given)
    for x, y in zip(to_inside(found), given, strict=True):
        np.testing.assert_allclose(x, y)
    w, values = dict(zip(names, given, strict=True)), dict(zip(names, found, strict=True))
    # A region with a = 0 is standard normal, and stores see the value of their region.
    region = values["mu"] + np.exp(w["tau"]) * w["region"][0]
    assert values["region"][0] == pytest.approx(float(region))
    sigma = 10 / (1 + np.exp(-w["sigma"]))
    assert values["store"][0] == pytest.approx(float(region + sigma * w["store"][0]))
    assert values["store"][-1] == pytest.approx(w["store"][-1])


def test_energy_and_gradient_are_those_of_the_changed_variables():
    model = nested()
    plain, moved = potential_of(model, {}), potential_of(model, SHARES)
    rows, there, (_, to_outside) = [np.arange(50)], HostGradient(plain), maps_of(moved)
    here = HostGradient(moved)

    def flat(point):
        return np.concatenate([np.ravel(x) for x in point])

    def split(vector):
        ends = np.cumsum([int(np.prod(shape)) for shape in plain.manifold.shapes])[:-1]
        parts = np.split(vector, ends)
        return [x.reshape(s) for x, s in zip(parts, plain.manifold.shapes, strict=True)]

    def plain_values(vector):
        return flat(to_outside(split(vector)))

    def jacobian(vector):
        steps = 1e-6 * np.eye(len(vector))
        return np.array(
            [(plain_values(vector + s) - plain_values(vector - s)) / 2e-6 for s in steps]
        ).T

    def energy(vector):
        volume = np.linalg.slogdet(jacobian(vector))[1]
        return there(split(plain_values(vector)), rows).energy - volume

    w = flat(a_point(moved, 3))
    found = here(split(w), rows)
    assert found.energy == pytest.approx(energy(w), abs=1e-6)
    for i, step in enumerate(1e-3 * np.eye(len(w))):
        expected = (energy(w + step) - energy(w - step)) / 2e-3
        assert flat(found.gradient)[i] == pytest.approx(expected, rel=1e-3, abs=1e-3)
    # What is carried is the gradient by the variables, times the derivatives at the position.
    other = flat(a_point(moved, 4))
    vector = np.random.default_rng(5).standard_normal(len(w))
    carried = here.carried(*split(vector), *split(w), *split(other))
    of_values = np.linalg.solve(jacobian(w).T, vector)
    np.testing.assert_allclose(flat(carried), jacobian(other).T @ of_values, rtol=1e-5, atol=1e-6)


def test_what_effects_are_divided_by_adds_no_noise_to_control_variates():
    # A deviation that differs from the center's by a factor of five.
    moved = potential_of(nested(), {"store": np.zeros(len(REGION))})
    gradient, rng = HostGradient(moved), np.random.default_rng(6)
    names = [variable.name for variable in moved.variables]
    center = [np.zeros(shape) for shape in moved.manifold.shapes]
    center[names.index("sigma")] = np.array(-4.0)
    point = [x.copy() for x in center]
    point[names.index("sigma")] = np.array(-5.6)
    point[names.index("store")] = 0.1 * rng.standard_normal(len(REGION))
    options = {"center": center, "n": 50, "rng": rng}
    plain, changes = gradients_of_batches(gradient, point, **options)
    i = names.index("store")

    def noise(found):
        return np.var([one[i] for one in found], axis=0).sum()

    # Gradients of normal rows change by nothing but numbers of rows.
    assert noise(changes) < 0.01 * noise(plain)
