#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Products with an unknown scale are found, and their coordinates leave the density as it is."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.potential import Potential
from pymc_geodesic.potential.scaled_products import scaled_products

GROUP = np.array([0, 1, 1, 2, 2, 2])
Y = np.array([0.3, -0.5, 1.2, 0.1, 0.8, -0.2])


def written(effect, *, more=lambda z: 0.0):
    """Write a model of three groups whose effects are a function of z and of a scale."""
    with pm.Model() as model:
        tau, slope = pm.HalfNormal("tau", 2.0), pm.Normal("slope")
        z = pm.Normal("z", 0.0, 1.5, shape=3)
        pm.Normal("y", effect(z, tau, slope) + more(z), 1.0, observed=Y)
    return model


def indexed_first(z, tau, slope):
    return slope + z[GROUP] * tau


def named(z, tau, slope):
    return slope + pm.Deterministic("effect", z * tau)[GROUP]


def several_factors(z, tau, slope):
    return (z * pt.exp(slope) * pt.sqrt(tau) / 2.0)[GROUP]


def halfway(z, tau, slope):
    return (z * slope * tau)[GROUP]


FOUND = {
    indexed_first: lambda tau, slope: np.log(tau),
    named: lambda tau, slope: np.log(tau),
    # A quotient is not followed: what comes before it is a factor, too.
    several_factors: lambda tau, slope: slope + 0.5 * np.log(tau),
    # A factor that may be negative is not part of the scale.
    halfway: lambda tau, slope: np.log(tau),
}


@pytest.mark.parametrize("effect", FOUND, ids=lambda f: f.__name__)
def test_the_logarithm_of_the_scale(effect):
    model = written(effect)
    [(name, found)] = scaled_products(model, model.continuous_value_vars).items()
    point = {"tau_log__": np.array(-0.7), "slope": np.array(0.4), "z": np.zeros(3)}
    log_scale = found.log_scale.eval(
        {x: point[x.name] for x in model.value_vars if x.name != "z"}, on_unused_input="ignore"
    )
    assert name == "z"
    np.testing.assert_allclose(found.deviation, 1.5)
    np.testing.assert_allclose(np.broadcast_to(log_scale, 3), FOUND[effect](np.exp(-0.7), 0.4))


COLUMNS = {
    "product first": lambda z, scale, x: (z * scale)[GROUP] * x,
    "rows first": lambda z, scale, x: z[GROUP] * scale * x,
    "data first": lambda z, scale, x: z[GROUP] * x * scale,
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_scales_of_the_columns_of_a_matrix(kind):
    x = np.random.default_rng(1).standard_normal((6, 2))
    with pm.Model() as model:
        scale, z = pm.HalfNormal("scale", shape=2), pm.Normal("z", shape=(3, 2))
        pm.Normal("y", COLUMNS[kind](z, scale, x).sum(axis=1), 1.0, observed=Y)
    found = scaled_products(model, model.continuous_value_vars)
    assert list(found) == ([] if kind == "data first" else ["z"])
    for one in found.values():
        assert one.shares_scales
        log_scale = one.log_scale.eval({model.rvs_to_values[scale]: [0.5, -1.0]})
        np.testing.assert_allclose(np.broadcast_to(log_scale, (3, 2)), [[0.5, -1.0]] * 3)


@pytest.mark.parametrize("columns", [1, 2])
def test_rows_of_one_entry_share_no_scale(columns):
    with pm.Model() as model:
        scale, z = pm.HalfNormal("scale", shape=(3, 1)), pm.Normal("z", shape=(3, columns))
        pm.Normal("y", (z * scale)[GROUP].sum(axis=1), 1.0, observed=Y)
    [found] = scaled_products(model, model.continuous_value_vars).values()
    assert found.shares_scales == (columns > 1)


def test_scales_of_the_columns_of_rows_beside_others_are_left_out():
    """They are longer than the variable, whose own length `dims` do not tell the graph."""
    with pm.Model(coords={"group": range(3), "of_group": range(2), "all": range(3)}) as model:
        scale, z = pm.HalfNormal("scale", dims="all"), pm.Normal("z", dims=("group", "of_group"))
        effects = pt.concatenate([z[GROUP], np.ones((6, 1))], axis=1) * scale
        pm.Normal("y", effects.sum(axis=1), 1.0, observed=Y)
    assert scaled_products(model, model.continuous_value_vars) == {}


def test_what_is_added_to_rows_beside_others_is_no_mean():
    with pm.Model() as model:
        group, y = pm.Minibatch(GROUP, Y, batch_size=4)
        tau, m, z = pm.HalfNormal("tau"), pm.Normal("m", shape=3), pm.Normal("z", shape=3)
        effects = pt.concatenate([tau * z[group], [0.0]]) + pt.concatenate([m[group], [0.0]])
        pm.Normal("y", effects[:-1], 1.0, observed=y, total_size=6)
    found = scaled_products(model, model.continuous_value_vars)
    assert found["z"].mean is None


SCALES = {
    "dims": lambda: pm.HalfNormal("scale", dims="group"),
    "between zero and a bound": lambda: pm.Uniform("scale", 0.0, 5.0),
    "a share": lambda: pm.Beta("scale", 2.0, 2.0),
}


@pytest.mark.parametrize("kind", [*SCALES, "between other bounds", "a scalar"])
def test_scales_and_variables_of_ordinary_kinds(kind):
    with pm.Model(coords={"group": range(3)}) as model:
        shape = {} if kind == "a scalar" else {"dims": "group"}
        scale = SCALES.get(kind, lambda: pm.Uniform("scale", -1.0, 5.0))()
        if kind == "a scalar":
            scale = pm.HalfNormal("tau")
        z = pm.Normal("z", **shape)
        effect = pm.Deterministic("effect", scale * z, **shape)
        pm.Normal("y", effect if kind == "a scalar" else effect[GROUP], 1.0, observed=Y)
    found = scaled_products(model, model.continuous_value_vars)
    assert list(found) == ([] if kind == "between other bounds" else ["z"])


def test_the_logarithm_of_a_scale_too_small_for_a_number():
    frequency = np.array([1.0, 10.0, 100.0])
    model = written(lambda z, tau, slope: (pt.exp(-0.5 * (tau * frequency) ** 2) * z)[GROUP])
    found = scaled_products(model, model.continuous_value_vars)["z"]
    [tau] = [x for x in model.value_vars if x.name == "tau_log__"]
    np.testing.assert_allclose(found.log_scale.eval({tau: 0.0}), -0.5 * frequency**2)


OTHERS = {
    "centred": lambda: written(lambda z, tau, slope: slope + z[GROUP]),
    "scale of either sign": lambda: written(lambda z, tau, slope: (z * slope)[GROUP]),
    "known scale": lambda: written(lambda z, tau, slope: (2.0 * z)[GROUP] + slope),
    "another use": lambda: written(indexed_first, more=lambda z: z.sum()),
    "products of two of them": lambda: written(lambda z, tau, slope: (z * pt.exp(z[::-1]))[GROUP]),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_variables_are_left_as_they_are(name):
    model = OTHERS[name]()
    assert scaled_products(model, model.continuous_value_vars) == {}


def test_scales_that_another_step_moves_are_left_out():
    model = written(indexed_first)
    values = [x for x in model.continuous_value_vars if x.name != "tau_log__"]
    assert scaled_products(model, values) == {}


@pytest.mark.parametrize("exponents", [[0.0, 0.0, 0.0], [1.0, 0.6, 0.0]])
def test_energy_and_gradient_are_those_of_the_changed_variable(exponents):
    model = written(named)
    a = np.array(exponents)
    potential = Potential(
        model, model.value_vars, initial_point=model.initial_point(), centering={"z": a}
    )
    gradient = HostGradient(potential)
    names = [variable.value.name for variable in potential.variables]
    tau, slope, moved = np.array(-0.7), np.array(0.4), np.array([0.5, -1.1, 0.9])
    logp = model.compile_logp()

    def energy(log_tau, slope, w):
        """U of w: the density of z, and the logarithm of the volume that z has for one of w."""
        point = {"tau_log__": log_tau, "slope": slope, "z": w * np.exp(-a * log_tau)}
        return -float(logp(point)) + a.sum() * float(log_tau)

    at = {"tau_log__": tau, "slope": slope, "z": moved}
    found = gradient([at[name] for name in names], [])
    places = (tau, slope, moved)
    # The potential leaves out no constants of this model.
    assert found.energy == pytest.approx(energy(*places), abs=1e-10)
    for name, slope_of in zip(names, found.gradient, strict=True):
        i = list(at).index(name)
        for entry in range(np.size(at[name])):
            step = np.zeros(np.size(at[name]))
            step[entry] = 1e-6
            step = step.reshape(np.shape(at[name]))
            ahead, behind = (
                energy(*(x + s * step if j == i else x for j, x in enumerate(places)))
                for s in (1, -1)
            )
            expected = (ahead - behind) / 2e-6
            assert np.ravel(slope_of)[entry] == pytest.approx(expected, abs=1e-6)


def test_single_precision_stays_single():
    with pytensor.config.change_flags(floatX="float32"):
        model = written(named)
        potential = Potential(
            model,
            model.value_vars,
            initial_point=model.initial_point(),
            centering={"z": np.ones(3)},
        )
        gradient = potential.gradient(potential.positions, [], width=0.0)
    assert {g.dtype for g in gradient} == {"float32"}


@pytest.mark.parametrize("kernel", ["ExpQuad", "Matern52", "Matern32"])
def test_the_scales_of_gaussian_processes_by_features(kernel):
    x = np.linspace(-1, 1, 20)[:, None] * [1.0, -0.5]
    with pm.Model() as model:
        eta, ls = pm.Exponential("eta", 1.0), pm.LogNormal("ls", 0.0, 1.0, shape=2)
        covariance = eta**2 * getattr(pm.gp.cov, kernel)(2, ls=ls)
        process = pm.gp.HSGP(m=[4, 3], L=[1.5, 1.2], cov_func=covariance)
        features, deviations = process.prior_linearized(x)
        beta = pm.Normal("beta", size=process.n_basis_vectors)
        pm.Normal("y", features @ (beta * deviations), 1.0, observed=np.zeros(20))
    found = scaled_products(model, model.continuous_value_vars)["beta"]
    point = {
        value: np.asarray(model.initial_point()[value.name])
        for value in model.value_vars
        if value.name != "beta"
    }
    [expected] = model.replace_rvs_by_values([deviations])
    np.testing.assert_allclose(found.log_scale.eval(point), np.log(expected.eval(point)))


def test_scales_that_depend_on_a_direction_are_left_out():
    with pm.Model() as model:
        mu = pmg.SphericalUniform("mu", shape=3)
        z = pm.Normal("z", shape=3)
        pm.Normal("y", (pt.exp(mu[0]) * z)[GROUP], 1.0, observed=Y)
    assert scaled_products(model, model.continuous_value_vars) == {}
