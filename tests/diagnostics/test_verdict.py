#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Every fault is named from the figures that show it, and nothing else is."""

import time

import arviz as az
import numpy as np
import pymc as pm
import pytest

from local_models import random_effects

import pymc_geodesic as pmg

SHAPE = (4, 400)


def run(*, seed=1, x=None, step_size=0.1, temperature=1.0, freedom=3, **stats):
    """A run of a standard normal in three dimensions, unless told otherwise."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(*SHAPE, 3)) if x is None else x
    shape = x.shape[:2]
    found = {"step_size": np.full(shape, step_size), "diverging": np.zeros(shape, dtype=bool)}
    if temperature is not None:
        found["kinetic_temperature"] = temperature * rng.chisquare(freedom, shape) / freedom
        found["degrees_of_freedom"] = np.full(shape, freedom)
    for name, value in stats.items():
        found[name] = np.broadcast_to(value, shape)
    return az.from_dict({"posterior": {"x": x}, "sample_stats": found})


def normal():
    with pm.Model() as model:
        pm.Normal("x", shape=3)
    return model


def test_variables_of_the_rows_are_left_out(capsys):
    """Their draws belong to other rows each time, and may not be among the draws at all."""
    rng, shape = np.random.default_rng(1), (2, 200)
    stats = {"step_size": np.full(shape, 0.01), "diverging": np.zeros(shape, dtype=bool)}
    draws = {"location": rng.normal(size=shape), "effect": rng.normal(size=(*shape, 10))}
    draws["effect"][0] += 9.0
    model = random_effects(batch_size=10)
    for names in (["location", "effect"], ["location"]):
        posterior = {name: draws[name] for name in names}
        idata = az.from_dict({"posterior": posterior, "sample_stats": stats})
        diagnosis = pmg.diagnose(idata, model=model)
        assert diagnosis.ok
        assert "latent variables of the rows (`effect`)" in capsys.readouterr().out


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "stats",
    [
        {"friction": 1.0},
        {"friction": 1.0, "step_size": 0.5, "temperature": 1 / (1 - 0.25 / 4)},
        {"thermostat": 2.0},
        {"temperature": None, "step_size": 0.1},
        {"temperature": None, "acceptance_rate": 0.8, "energy": 0.0},
    ],
)
def test_silence_on_good_runs(stats, seed, capsys):
    diagnosis = pmg.diagnose(run(seed=seed, **stats))
    assert diagnosis.ok, str(diagnosis)
    assert diagnosis.findings == ()
    assert capsys.readouterr().out == "Nothing wrong was found.\n"


@pytest.mark.parametrize(
    ("name", "stats"),
    [
        ("step_size_too_large", {"diverging": np.arange(400) == 7}),
        ("step_size_too_large", {"thermostat": 12.0}),
        # Velocities at the temperature that a standard normal gives them at this step.
        ("step_size_too_large", {"friction": 1.0, "step_size": 1.5, "temperature": 16 / 7}),
        ("step_size_too_large", {"temperature": None, "step_size": 0.7}),
        ("step_size_too_large", {"temperature": None, "acceptance_rate": 0.1, "energy": 0.0}),
        ("friction_too_small", {"friction": 1.0, "temperature": 1.5}),
        ("gradient_noise_too_large", {"friction": 1.0, "temperature": 0.7}),
        ("thermostat_unsettled", {"thermostat": 2.0, "temperature": 1.4}),
        ("thermostat_unsettled", {"thermostat": 12.0, "temperature": 0.5}),
    ],
)
def test_faults_of_the_sampler(name, stats, capsys):
    diagnosis = pmg.diagnose(run(**stats))
    assert diagnosis.names == (name,)
    [finding] = diagnosis.findings
    assert finding.evidence
    assert finding.advice.startswith(("Decrease", "Raise", "Increase"))
    assert capsys.readouterr().out == f"{finding}\n"
    assert repr(diagnosis) == f"Diagnosis({name})"


def test_both_faults_of_a_hot_chain():
    """At temperature 1.5 and a step of 1.5 / sqrt(1.5) scales both have their part."""
    x = np.sqrt(1.5) * np.random.default_rng(1).normal(size=(*SHAPE, 3))
    velocity = 1.5 / (1 - 1.5**2 / 4)
    diagnosis = pmg.diagnose(run(x=x, friction=1.0, step_size=1.5, temperature=velocity))
    assert set(diagnosis.names) == {"step_size_too_large", "friction_too_small"}
    assert diagnosis.findings[0].evidence["position_temperature"] == pytest.approx(1.5, abs=0.1)


def test_a_mass_hides_the_scales():
    """In the frame of a mass the step may be any number of the draws' own scales."""
    diagnosis = pmg.diagnose(run(friction=1.0, step_size=30.0, temperature=1.5))
    assert diagnosis.names == ("friction_too_small",)


def test_one_thermostat_for_two_noises():
    rng = np.random.default_rng(1)
    heat = {"a": 1.5 * rng.chisquare(1, SHAPE), "b": 0.75 * rng.chisquare(2, SHAPE) / 2}
    stats = {f"kinetic_temperature_{name}": value for name, value in heat.items()}
    stats |= {"degrees_of_freedom_a": 1, "degrees_of_freedom_b": 2, "thermostat": 1.0}
    diagnosis = pmg.diagnose(run(**stats))
    assert diagnosis.names == ("shared_thermostat",)
    assert "per_variable" in diagnosis.findings[0].advice


def test_chains_in_different_modes():
    x = np.random.default_rng(1).normal(size=(*SHAPE, 3))
    x[::2, :, 1] += 6
    diagnosis = pmg.diagnose(run(x=x, friction=1.0))
    assert diagnosis.names == ("different_modes",)
    assert diagnosis.findings[0].evidence["variable"] == "x[1]"


@pytest.mark.parametrize("starts", [[8.0, 8.0, 8.0, 8.0], [-9.0, -3.0, 3.0, 9.0]])
def test_chains_on_their_way(starts):
    x = np.random.default_rng(1).normal(size=(*SHAPE, 3))
    x += np.array(starts)[:, None, None] * np.exp(-np.arange(400) / 150)[:, None]
    # A chain that comes down is hot: the friction is not to blame.
    diagnosis = pmg.diagnose(run(x=x, friction=1.0, temperature=1.5))
    assert diagnosis.names == ("not_stationary",)


def test_one_mode_that_is_explored_slowly():
    x = np.random.default_rng(1).normal(size=(*SHAPE, 3))
    x += np.linspace(-0.6, 0.6, 4)[:, None, None]
    assert pmg.diagnose(run(x=x, friction=1.0)).names == ("not_stationary",)


@pytest.mark.parametrize("total_size", [1000, 50, (1000, None)])
def test_total_size_that_is_not_the_number_of_rows(total_size):
    with pm.Model() as model:
        x = pm.Normal("x", shape=3)
        rows = pm.Minibatch(np.zeros((100, 3)), batch_size=10)
        pm.Normal("y", x, 10.0, observed=rows, total_size=total_size)
    diagnosis = pmg.diagnose(run(friction=1.0), model=model)
    assert diagnosis.names[0] == "total_size"
    size = total_size if isinstance(total_size, int) else total_size[0]
    assert diagnosis.findings[0].evidence == {"total_size": size, "rows": 100, "variable": "y"}
    assert "total_size=100" in diagnosis.findings[0].advice


def test_positions_need_the_model():
    x = 1.25 * np.random.default_rng(1).normal(size=(*SHAPE, 3))
    idata = run(x=x, thermostat=2.0)
    assert pmg.diagnose(idata).ok
    with normal():
        assert pmg.diagnose(idata).names == ("step_size_too_large",)
    assert pmg.diagnose(run(x=x, friction=1.0), model=normal()).names == ("friction_too_small",)
    assert pmg.diagnose(run(thermostat=2.0), model=normal()).ok


@pytest.mark.parametrize(
    ("friction", "cause"), [(1.0, "friction_too_small"), (300.0, "step_size_too_large")]
)
def test_the_model_tells_why_positions_are_too_wide(friction, cause):
    rng = np.random.default_rng(1)
    x = 1.25 * rng.normal(size=(*SHAPE, 3))
    recorded = 1.25**2 + rng.normal(size=SHAPE)
    idata = run(x=x, friction=friction, step_size=0.01, configurational_temperature=recorded)
    assert pmg.diagnose(idata).names == ("positions_too_wide",)
    assert pmg.diagnose(idata, model=normal()).names == ("positions_too_wide", cause)


def test_exact_gradients_have_no_noise_to_blame():
    idata = run(friction=1.0, step_size=30.0, temperature=1.5)
    assert pmg.diagnose(idata, model=normal()).names == ("step_size_too_large",)


def test_probability_vectors_are_moved_as_square_roots():
    p = np.random.default_rng(1).dirichlet(np.full(3, 300.0), size=SHAPE)
    step = 1.2 * 0.5 / np.sqrt(900)
    velocity = 1 / (1 - 1.2**2 / 4)
    idata = run(x=p, friction=1.0, step_size=step, temperature=velocity, freedom=2)
    diagnosis = pmg.diagnose(idata)
    assert diagnosis.names == ("step_size_too_large",)
    stiffness = diagnosis.findings[0].evidence["step_in_smallest_scale"]
    assert stiffness == pytest.approx(1.2, rel=0.1)


def test_several_steps_are_judged_by_their_chains():
    x = np.random.default_rng(1).normal(size=(*SHAPE, 3))
    x[::2] += 6
    two = np.full((*SHAPE, 2), 30.0)
    stats = {"step_size": two, "kinetic_temperature": two, "degrees_of_freedom": two}
    idata = az.from_dict({"posterior": {"x": x}, "sample_stats": stats})
    assert pmg.diagnose(idata).names == ("different_modes",)
    with pytest.raises(ValueError, match="statistics of one step"):
        pmg.kinetic_temperature(idata)


def test_functions_of_the_variables_are_left_out_of_their_scales():
    idata = run(friction=1.0, step_size=1.5, temperature=16 / 7)
    x = idata["posterior"]["x"]
    posterior = {"x": x.to_numpy(), "y": 1e-3 * x.to_numpy(), "z": x.to_numpy()[..., 0]}
    stats = {name: value.to_numpy() for name, value in idata["sample_stats"].data_vars.items()}
    stats |= {"kinetic_temperature_x": stats["kinetic_temperature"]}
    stats |= {"degrees_of_freedom_x": stats["degrees_of_freedom"]}
    found = pmg.diagnose(az.from_dict({"posterior": posterior, "sample_stats": stats}))
    assert found.names == ("step_size_too_large",)
    scale = found.findings[0].evidence["step_in_smallest_scale"]
    assert scale == pytest.approx(1.5, rel=0.1)


def test_bad_input():
    with pytest.raises(ValueError, match="expected the group `sample_stats`"):
        pmg.diagnose(az.from_dict({"posterior": {"x": np.zeros((2, 30))}}))
    short = run(x=np.zeros((2, 10, 3)))
    with pytest.raises(ValueError, match="at least 20 draws per chain, got 10"):
        pmg.diagnose(short)


def autoregressive(correlation, shape, seed):
    noise = np.random.default_rng(seed).normal(size=shape)
    x = noise.copy()
    for t in range(1, shape[1]):
        x[:, t] = correlation * x[:, t - 1] + np.sqrt(1 - correlation**2) * noise[:, t]
    return x


@pytest.mark.parametrize("correlation", [0.0, 0.5])
def test_silence_on_good_runs_of_one_chain(correlation):
    silent = [
        pmg.diagnose(run(x=autoregressive(correlation, (1, 500, 3), seed), friction=1.0)).ok
        for seed in range(20)
    ]
    assert sum(silent) >= 19


def test_one_chain_on_its_way():
    for seed in range(20):
        x = autoregressive(0.5, (1, 500, 3), seed)
        x += 5 * np.exp(-np.arange(500) / 150)[:, None]
        assert "not_stationary" in pmg.diagnose(run(x=x, friction=1.0)).names


def test_few_effective_draws_are_said():
    """2,000 draws that are worth about 50 are never passed over, whichever way chance goes."""
    names = []
    for seed in range(20):
        x = np.random.default_rng(seed).normal(size=(2, 1000, 3))
        x[..., 2] = autoregressive(0.95, (2, 1000), 100 + seed)
        [finding] = pmg.diagnose(run(x=x, friction=1.0)).findings
        assert finding.evidence["variable"] == "x[2]"
        names.append(finding.name)
    assert set(names) == {"few_effective_draws", "not_stationary"}


def test_few_effective_draws_are_counted_for_each_chain():
    """About 300 effective draws of 6,000 are enough for two chains, not for four."""
    for seed in range(5):
        for chains, names in ((2, ()), (4, ("few_effective_draws",))):
            x = autoregressive(0.9, (chains, 6000 // chains), seed)[..., None]
            assert pmg.diagnose(run(x=x, friction=1.0)).names == names


def test_names_have_the_indices_of_their_variable():
    rng = np.random.default_rng(1)
    w, scalar = rng.normal(size=(*SHAPE, 2, 4)), rng.normal(size=SHAPE)
    stats = {"step_size": np.full(SHAPE, 0.1), "friction": np.ones(SHAPE)}
    w[::2, :, 1, 3] += 6
    data = {"posterior": {"w": w, "s": scalar}, "sample_stats": stats}
    assert pmg.diagnose(az.from_dict(data)).findings[0].evidence["variable"] == "w[1,3]"
    w[...], scalar[::2] = rng.normal(size=w.shape), 60
    assert pmg.diagnose(az.from_dict(data)).findings[0].evidence["variable"] == "s"


def test_frictions_and_steps_are_multiplied_chain_by_chain():
    """The mean friction times the median step would be 3.2 here, and the largest product is 0.6."""
    thermostat = np.array([1.0, 1.0, 1.0, 30.0])[:, None] * np.ones(SHAPE)
    step_size = np.array([0.05, 0.05, 0.05, 0.02])[:, None] * np.ones(SHAPE)
    assert pmg.diagnose(run(thermostat=thermostat, step_size=step_size)).ok
    thermostat[3] *= 2
    [finding] = pmg.diagnose(run(thermostat=thermostat, step_size=step_size)).findings
    assert finding.evidence == {"damping": pytest.approx(1.2), "chain": 3}


def test_a_chain_that_crawls_far_away_is_in_no_mode():
    """Its friction has locked, which is the fault, whatever its energy says of modes."""
    x = np.random.default_rng(1).normal(size=(*SHAPE, 3))
    x[0] = 50 - np.linspace(0, 1, SHAPE[1])[:, None]
    locked = np.array([150.0, 1.0, 1.0, 1.0])[:, None]
    energy = np.random.default_rng(2).normal(0, 1, SHAPE)
    energy[0] += 4000
    temperature = np.array([0.01, 1.0, 1.0, 1.0])[:, None]
    stats = {"thermostat": locked, "temperature": temperature, "potential_estimate": energy}
    found = pmg.diagnose(run(x=x, **stats))
    assert {"thermostat_unsettled", "not_stationary"} < set(found.names)
    assert not {"different_modes", "step_size_too_large"} & set(found.names)
    [friction] = [finding for finding in found.findings if finding.name == "thermostat_unsettled"]
    figures = {"damping": 15.0, "chain": 0, "kinetic_temperature": 0.01}
    assert friction.evidence == pytest.approx(figures, rel=0.1)
    assert "Increase `tune`" in friction.advice


def test_chains_that_diverged_are_named_though_they_tuned_apart():
    step_size = np.array([0.1, 0.1, 0.1, 0.5])[:, None]
    diverging = step_size * np.ones(SHAPE) > 0.4
    found = pmg.diagnose(
        run(friction=1.0, step_size=step_size * np.ones(SHAPE), diverging=diverging)
    )
    assert set(found.names) == {"chains_tuned_apart", "step_size_too_large"}


def test_a_chain_that_ran_off():
    """Its energies overflow, of which there are no differences."""
    x, infinite = np.full((1, 400, 3), 1e152), np.full((1, 400), -np.inf)
    off = {"diverging": True, "potential_estimate": infinite, "temperature": np.inf}
    diagnosis = pmg.diagnose(run(x=x, friction=1.0, **off))
    assert diagnosis.names == ("step_size_too_large",)
    assert diagnosis.findings[0].sentence.startswith("100 per cent")
    assert "proper" in diagnosis.findings[0].advice


def test_many_entries_take_seconds():
    x = np.random.default_rng(1).dirichlet(np.ones(3113), size=(2, 20, 10))
    begin = time.process_time()
    pmg.diagnose(run(x=x, friction=1.0))
    assert time.process_time() - begin < 4


def test_what_draws_say_is_printed_before_a_model_fails(capsys):
    with pm.Model() as model:
        pm.Normal("another")
    x = np.random.default_rng(1).normal(size=(*SHAPE, 3))
    x[::2] += 6
    with pytest.raises(ValueError, match="expected draws of all free variables"):
        pmg.diagnose(run(x=x, friction=1.0), model=model)
    assert "different modes" in capsys.readouterr().out
