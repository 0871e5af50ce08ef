#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Groups within groups that are not centred move as the sum that the data determine."""

import numpy as np
import pymc as pm
import pytest

from pymc_geodesic.potential.scaled_products import scaled_products
from tests.potential.changed_variables import check_energy_and_gradient

N_COUNTIES, N = 6, 60
STATE = np.array([0, 0, 1, 1, 1, 2])
SOIL = np.linspace(-1.0, 1.0, N_COUNTIES)
RNG = np.random.default_rng(1)
# The last county has no rows.
COUNTY, X, Y = RNG.integers(0, N_COUNTIES - 1, N), RNG.normal(size=N), RNG.normal(size=N)


def within_states(tau, z, mean):
    return mean[STATE] + tau * z


def by_soil(tau, z, mean):
    return mean[0] + (tau * z + mean[1] * SOIL)


FORMS = [within_states, by_soil]


def written(form, *, dims=False):
    with pm.Model(coords={"state": range(3), "county": range(N_COUNTIES)}) as model:
        tau, sigma = pm.HalfNormal("tau"), pm.HalfNormal("sigma")
        mean = pm.Normal("mu") + sigma * pm.Normal("of_state", dims="state")
        z = pm.Normal("z", **({"dims": "county"} if dims else {"shape": N_COUNTIES}))
        effects = pm.Deterministic("effects", form(tau, z, mean))
        pm.Normal("y", effects[COUNTY] + pm.Normal("slope") * X, 1.0, observed=Y)
    return model


def chosen_first(form):
    """Write the model of a batch, whose rows choose counties before anything is added."""
    with pm.Model() as model:
        columns = (COUNTY, STATE[COUNTY], SOIL[COUNTY], X, Y)
        county, state, soil, x, y = pm.Minibatch(*columns, batch_size=4)
        tau, sigma = pm.HalfNormal("tau"), pm.HalfNormal("sigma")
        mean = pm.Normal("mu") + sigma * pm.Normal("of_state", shape=3)
        z = pm.Normal("z", shape=N_COUNTIES)
        more = mean[state] if form is within_states else mean[1] * soil
        rows = tau * z[county] + more + mean[0] + pm.Normal("slope") * x
        pm.Normal("y", rows, 1.0, observed=y, total_size=N)
    return model


def values_of(model, found):
    point = {name: np.full_like(x, 0.4) for name, x in model.initial_point().items()}
    point["of_state"] = np.array([0.3, -0.2, 0.9])
    given = {x: point[x.name] for x in model.value_vars}
    return found.mean.eval(given, on_unused_input="ignore"), 0.4 + np.exp(0.4) * point["of_state"]


@pytest.mark.parametrize("form", FORMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("is_batch", [False, True], ids=["all rows", "batch"])
def test_what_a_product_is_added_to(form, is_batch):
    model = chosen_first(form) if is_batch else written(form)
    found = scaled_products(model, model.continuous_value_vars)["z"]
    means, of_state = values_of(model, found)
    # What is the same for all entries stays outside.
    expected = of_state[STATE] if form is within_states else of_state[1] * SOIL
    # A batch knows nothing of a county without rows.
    known = slice(None, -1) if is_batch else slice(None)
    np.testing.assert_allclose(means[known], expected[known])


@pytest.mark.parametrize("dims", [False, True])
@pytest.mark.parametrize("exponent", [0.0, 0.7, 1.0])
def test_energy_and_gradient_are_those_of_the_changed_variable(exponent, dims):
    model = written(within_states, dims=dims)
    exponents = {"z": np.full(N_COUNTIES, exponent), "of_state": np.array([0.2, 0.9, 1.0])}
    check_energy_and_gradient(model, exponents)


def test_means_do_not_depend_on_each_other():
    """Of two products that are added, one moves as the sum."""
    with pm.Model() as model:
        first = pm.HalfNormal("s1") * pm.Normal("z1", shape=N_COUNTIES)
        second = pm.HalfNormal("s2") * pm.Normal("z2", shape=N_COUNTIES)
        pm.Normal("y", (first + second)[COUNTY], 1.0, observed=Y)
    found = scaled_products(model, model.continuous_value_vars)
    assert sorted(x.mean is None for x in found.values()) == [False, True]
    check_energy_and_gradient(model, {name: np.full(N_COUNTIES, 0.8) for name in ("z1", "z2")})


def test_what_depends_on_rows_or_is_the_same_for_all_entries_stays_outside():
    with pm.Model() as model:
        county, other, x, y = pm.Minibatch(COUNTY, COUNTY[::-1].copy(), X, Y, batch_size=4)
        mean = pm.Normal("mu")
        z = pm.Normal("z", shape=N_COUNTIES)
        more = pm.Normal("slope") * x + pm.Normal("others", shape=N_COUNTIES)[other]
        product = pm.HalfNormal("tau") * z[county]
        pm.Normal("y", mean + product + more, 1.0, observed=y, total_size=N)
    assert scaled_products(model, model.continuous_value_vars)["z"].mean is None
