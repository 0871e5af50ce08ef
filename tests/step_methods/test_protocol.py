#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What PyMC asks of every step method. A new step is one line in STEPS."""

import cloudpickle
import numpy as np
import pymc as pm
import pytest

from pymc.step_methods.compound import Competence

import pymc_geodesic as pmg

from pymc_geodesic.sampling.inputs import Randomness
from pymc_geodesic.sampling.variables import value_variables

N = 60
DATA = np.random.default_rng(1).normal([0.5, 1.0], 1.0, (N, 2))
DIRECTIONS = DATA / np.linalg.norm(DATA, axis=1, keepdims=True)

PLAIN = {"variance_reduction": None, "n_steps": 1}
FLAT = {
    "SGNHT": (pmg.SGNHT, {"step_size": 0.02, "diffusion": 2.0}),
    "SGNHT-euler": (pmg.SGNHT, {"step_size": 0.02, "diffusion": 2.0, "integrator": "euler"}),
    "SGHMC": (pmg.SGHMC, {"step_size": 0.02, "friction": 2.0, "gradient_noise": 5.0}),
    "SGHMC-euler": (pmg.SGHMC, {"step_size": 0.02, "friction": 2.0, "integrator": "euler"}),
    "SGHMC-matrix": (
        pmg.SGHMC,
        {"step_size": 0.02, "friction": [2.0, 3.0], "gradient_noise": "fisher_matrix"},
    ),
    "SGNHT-matrix": (pmg.SGNHT, {"step_size": 0.02, "diffusion": 2.0, "thermostat": "matrix"}),
    "SGLD": (pmg.SGLD, {"step_size": pmg.PolynomialSchedule(1e-3, 100, 0.6), **PLAIN}),
}
CURVED = {
    "SGGMC": (pmg.SGGMC, {"step_size": 0.02, "friction": 2.0, "gradient_noise": "fisher"}),
    "gSGNHT": (pmg.gSGNHT, {"step_size": 0.02, "diffusion": 2.0, "thermostat": "per_variable"}),
    "gSGNHT-points": (pmg.gSGNHT, {"step_size": 0.02, "diffusion": 0.5, "thermostat": "per_point"}),
    "GMC": (pmg.GMC, {"n_leapfrog": 3}),
}
STEPS = CURVED | FLAT
STOCHASTIC = [name for name in STEPS if name != "GMC"]


def flat_model():
    with pm.Model() as model:
        batch = pm.Minibatch(DATA[:, 0], batch_size=5)
        location = pm.Normal("location", 0.0, 2.0)
        scale = pm.HalfNormal("scale", 2.0)
        pm.Normal("x", location, scale, observed=batch, total_size=N)
    return model


def curved_model():
    with pm.Model() as model:
        batch = pm.Minibatch(DIRECTIONS, batch_size=5)
        mu = pmg.VonMisesFisher("mu", [0.6, 0.8], 1.0)
        kappa = pm.HalfNormal("kappa", 5.0)
        pmg.VonMisesFisher("x", mu, kappa, observed=batch, total_size=N)
    return model


def model_for(name):
    return flat_model() if name in FLAT else curved_model()


def make(name, model=None, **keywords):
    step_class, options = STEPS[name]
    model = model or model_for(name)
    return step_class(model=model, **({} | options | keywords))


def draw(step, n, *, seed=1, tune=0, point=None):
    """Draw from a chain of one's own; return the last point and all statistics."""
    if seed is not None:
        step.setup_chain(np.random.default_rng(seed), tune, n)
        point = step.model.initial_point(random_seed=2)
    points, statistics = [], []
    for _ in range(n):
        point, [stats] = step.step(point)
        points.append(point)
        statistics.append(stats)
    return points, statistics


def stacked(points):
    return {name: np.stack([point[name] for point in points]) for name in points[0]}


def assert_same(actual, expected, **tolerance):
    actual, expected = stacked(actual), stacked(expected)
    assert set(actual) == set(expected)
    for name, values in expected.items():
        if tolerance:
            np.testing.assert_allclose(actual[name], values, **tolerance)
        else:
            np.testing.assert_array_equal(actual[name], values)


@pytest.fixture(scope="module", params=STEPS)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def step(name):
    return make(name, n_steps=2)


def test_statistics_are_declared_scalars_of_their_dtype(step):
    _, statistics = draw(step, 2)
    declared = step.stats_dtypes_shapes
    assert "tune" not in declared
    for stats in statistics:
        assert set(stats) == set(declared)
        for key, value in stats.items():
            dtype, shape = declared[key]
            if key == "sampler":
                assert isinstance(value, str)
            elif key != "warning":
                assert shape == []
                assert np.ndim(value) == 0
                assert np.asarray(value).dtype == dtype
    [dtypes] = step.stats_dtypes
    assert dtypes == {key: dtype for key, (dtype, _) in declared.items()}


def test_statistics_of_the_contract(name, step):
    declared = set(step.stats_dtypes_shapes)
    expected = {"step_size", "diverging", "warning", "sampler"}
    if name == "GMC":
        expected |= {"acceptance_rate", "accepted", "energy", "kinetic_temperature"}
        expected |= {"degrees_of_freedom"}
    expected |= {"potential_estimate"}
    if name != "GMC" and "velocity" in step.sampler.algorithm.state._fields:
        variables = [rv.name for rv in step.model.free_RVs]
        expected |= {"kinetic_temperature", *(f"kinetic_temperature_{v}" for v in variables)}
        expected |= {"degrees_of_freedom", *(f"degrees_of_freedom_{v}" for v in variables)}
    if name != "GMC":
        variables = [rv.name for rv in step.model.free_RVs]
        positions = "configurational_temperature"
        expected |= {positions, *(f"{positions}_{v}" for v in variables)}
    if name == "SGGMC" or name.startswith("SGHMC"):
        expected |= {"friction"}
    if name == "SGNHT-matrix":
        expected |= {"thermostat_largest", "thermostat_off_diagonal"}
    if "NHT" in name:
        expected |= {"thermostat"}
    if name.startswith("gSGNHT"):
        expected |= {f"thermostat_{v.name}" for v in step.model.free_RVs}
    if name != "GMC":
        expected |= {"n_steps"}
    assert declared == expected


def test_progress_bar_shows_what_the_step_reports(step):
    columns, fields = step._progressbar_config(3)
    [update] = step._make_progressbar_update_functions()
    shown = {column.text_format.split("fields[")[1].split("]")[0] for column in columns}
    assert shown == set(fields)
    assert all(len(values) == 3 for values in fields.values())
    _, statistics = draw(step, 1)
    assert set(update(statistics[0])) == set(fields) | {"failing"}
    assert not update(statistics[0])["failing"]
    assert update(statistics[0] | {"diverging": True})["failing"]


def test_draws_are_on_the_manifold_and_in_the_model(step):
    points, _ = draw(step, 20)
    assert set(points[-1]) == {value.name for value in step.model.value_vars}
    if "mu" in points[-1]:
        norms = np.linalg.norm(stacked(points)["mu"], axis=-1)
        np.testing.assert_allclose(norms, 1, atol=1e-14)
    assert np.isfinite(step.model.compile_logp(mode="FAST_COMPILE")(points[-1]))


def test_a_chain_follows_from_its_generator(step):
    first, _ = draw(step, 5, seed=3)
    again, _ = draw(step, 5, seed=3)
    other, _ = draw(step, 5, seed=4)
    assert_same(again, first)
    name = next(iter(first[-1]))
    assert np.all(first[-1][name] != other[-1][name])


def test_sampling_state_continues_bit_for_bit(step):
    points, _ = draw(step, 3, tune=10)
    saved = step.sampling_state
    expected, statistics = draw(step, 4, seed=None, point=points[-1])
    draw(step, 2, seed=9)
    step.sampling_state = saved
    resumed, again = draw(step, 4, seed=None, point=points[-1])
    assert_same(resumed, expected)
    for a, b in zip(again, statistics, strict=True):
        np.testing.assert_equal(a, b)


def test_a_pickled_step_continues_alike(step):
    points, _ = draw(step, 3)
    copy = cloudpickle.loads(cloudpickle.dumps(step))
    expected, _ = draw(step, 4, seed=None, point=points[-1])
    resumed, _ = draw(copy, 4, seed=None, point=points[-1])
    assert_same(resumed, expected)


def test_the_point_given_is_not_changed(step):
    points, _ = draw(step, 1)
    before = {key: value.copy() for key, value in points[-1].items()}
    step.step(points[-1])
    assert_same([points[-1]], [before])


@pytest.mark.parametrize("method", [STEPS[name][0] for name in STEPS])
def test_no_variable_is_claimed(method):
    with pm.Model() as model:
        pmg.VonMisesFisher("mu", [1.0, 0, 0], 1.0)
        pm.Normal("x")
        pm.Dirichlet("p", np.ones(3))
        pm.Poisson("n", 1.0)
        for rv in model.free_RVs:
            assert method.competence(rv, True) == Competence.INCOMPATIBLE


def test_plain_models_are_given_the_steps_they_always_were():
    with pm.Model():
        pm.Normal("x")
        pm.Bernoulli("b", 0.5)
        pmg.VonMisesFisher("mu", [1.0, 0, 0], 1.0)
        _, assigned = pm.sampling.mcmc.assign_step_methods(pm.modelcontext(None))
    names = {value.name: method for method, values in assigned.items() for value in values}
    assert names["x"] is pm.NUTS
    assert names["b"] is pm.BinaryGibbsMetropolis


def test_variables_in_any_order_give_the_same_chain():
    model = curved_model()
    expected, _ = draw(make("SGGMC", model), 3)
    actual, _ = draw(make("SGGMC", model, vars=[model["kappa"], "mu"]), 3)
    assert_same(actual, expected)


def test_variables_names_and_values_are_understood():
    model = curved_model()
    mu, kappa = model.free_RVs
    in_order = model.value_vars
    for chosen in (None, [kappa, mu], ("kappa", "mu"), [in_order[1], "mu"]):
        assert value_variables(model, chosen) == in_order
    for chosen in (mu, "mu", [in_order[0]]):
        assert value_variables(model, chosen) == in_order[:1]


def test_variables_left_out_stay_where_they_are():
    with pm.Model() as model:
        mu = pmg.VonMisesFisher("mu", [0.6, 0.8], 1.0)
        kappa = pm.HalfNormal("kappa", 5.0)
        pmg.VonMisesFisher("x", mu, kappa, observed=DIRECTIONS)
    points, _ = draw(make("gSGNHT", model, vars="mu"), 3)
    assert np.ptp(stacked(points)["kappa_log__"]) == 0
    assert np.ptp(stacked(points)["mu_unitvector__"]) > 0


def test_unblocked_steps_are_one_a_variable():
    compound = make("SGHMC", blocked=False)
    assert [[value.name for value in step.vars] for step in compound.methods] == [
        ["location"],
        ["scale_log__"],
    ]
    compound.setup_chain(np.random.default_rng(1), 0, 1)
    point, _ = compound.step(compound.methods[0].model.initial_point())
    assert all(np.isfinite(value) for value in point.values())


def test_keywords_of_the_contract():
    model = flat_model()
    step = make("SGHMC", model, initial_point=model.initial_point(), blocked=True, rng=3)
    assert isinstance(step.rng, np.random.Generator)


@pytest.mark.parametrize(
    ("method", "keywords"),
    [
        (pmg.SGGMC, {"learning_rate": 0.06, "momentum_decay": 0.1}),
        (pmg.gSGNHT, {"learning_rate": 0.06, "momentum_decay": 0.1}),
        (pmg.SGNHT, {"eta": 0.001, "a": 0.1}),
    ],
)
def test_from_learning_rate(method, keywords):
    model = flat_model()
    step = method.from_learning_rate(**keywords, model=model)
    step_size = np.sqrt(0.001)
    assert step.sampler.settings.schedule(np.zeros(1)) == pytest.approx(step_size)
    [value] = step.sampler.settings.parameters.values()
    assert value == pytest.approx(0.1 / step_size)


def test_default_step_size_and_friction_follow_the_paper():
    step = pmg.SGGMC(model=flat_model())
    assert step.sampler.settings.schedule(np.zeros(1)) == pytest.approx(np.sqrt(0.01 / N))
    assert step.sampler.settings.parameters["friction"] == pytest.approx(0.01 / np.sqrt(0.01 / N))


def called(step, step_sizes, noise, rows):
    """Make the transitions of a call with the random numbers given."""
    calls, chain = step.sampler.calls, step.chain
    randomness = Randomness(noise, rows, np.zeros(len(step_sizes), bool))
    inputs = calls.inputs(chain, [], step_sizes=step_sizes, randomness=randomness)
    [[outputs]] = calls.kernel_of(chain)([[inputs]])
    return outputs


@pytest.mark.parametrize("name", ["SGGMC", "gSGNHT"])
def test_transitions_of_a_draw_are_the_same_as_draws(name):
    """Fed with the same noise, three transitions in one call are three calls of one."""
    model = curved_model()
    three, one = make(name, model, n_steps=3), make(name, model, n_steps=1)
    for step in (three, one):
        step.setup_chain(np.random.default_rng(1), 0, 10)
        step.chain.state = step.chain.state._replace(velocity=(np.array([0.1, 0.2]), np.array(0.3)))
    rng = np.random.default_rng(2)
    step_sizes = np.array([0.02, 0.01, 0.03])
    noise = [rng.normal(size=(3, 2)), rng.normal(size=3)]
    rows = [rng.integers(0, N, (3, 5))]
    expected = called(three, step_sizes, noise, rows)
    for i in range(3):
        part = slice(i, i + 1)
        output = called(one, step_sizes[part], [z[part] for z in noise], [rows[0][part]])
        one.chain.state, one.chain.memory = output.state, output.memory
    for a, b in zip(output.values, expected.values, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)


def test_schedule_sets_the_step_sizes_of_all_transitions():
    schedule = pmg.PolynomialSchedule(0.02, 10, 0.5)
    step = make("SGHMC", step_size=schedule, friction=0.5, n_steps=4)
    _, statistics = draw(step, 3)
    expected = schedule(np.array([3, 7, 11]))
    np.testing.assert_allclose([stats["step_size"] for stats in statistics], expected)
