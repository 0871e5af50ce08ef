#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Temperatures of draws of known laws at known temperatures."""

import arviz as az
import numpy as np
import pymc as pm
import pytest

from draws import independent_draws, model
from scipy import stats

import pymc_geodesic as pmg

RNG = np.random.default_rng(1)


def velocities(freedom, *, scale=1.0, shape=(4, 1000)):
    name = "degrees_of_freedom"
    found = {name: np.full(shape, sum(freedom.values()))}
    total = 0.0
    for variable, m in freedom.items():
        squares = scale * RNG.chisquare(m, shape)
        found |= {
            f"kinetic_temperature_{variable}": squares / m,
            f"{name}_{variable}": m + 0 * found[name],
        }
        total = total + squares
    found["kinetic_temperature"] = total / sum(freedom.values())
    return az.from_dict({"posterior": {"x": total}, "sample_stats": found})


def test_kinetic_temperatures_of_chi_square_draws():
    table = pmg.kinetic_temperature(velocities({"a": 2, "b": 30}))
    assert set(table.index) == {"all", "a", "b"}
    assert table["degrees_of_freedom"].to_dict() == {"all": 32, "a": 2, "b": 30}
    assert (table["z"].abs() < 4).all()
    np.testing.assert_allclose(
        table["mcse"], np.sqrt(2 / table["degrees_of_freedom"] / 4000), rtol=0.2
    )
    hot = pmg.kinetic_temperature(velocities({"a": 2, "b": 30}, scale=1.2))
    assert (hot["z"] > 4).all()


@pytest.mark.parametrize("freedom", [1, 2, 3, 50])
def test_band_is_the_shortest_interval(freedom):
    row = pmg.kinetic_temperature(velocities({"a": freedom, "b": 1}), prob=0.9).loc["a"]
    law = stats.chi2(freedom, scale=1 / freedom)
    assert law.cdf(row["upper"]) - law.cdf(row["lower"]) == pytest.approx(0.9, abs=1e-6)
    if freedom > 2:
        assert law.pdf(row["lower"]) == pytest.approx(law.pdf(row["upper"]), rel=1e-3)
    else:
        assert row["lower"] == 0


def test_kinetic_temperature_without_velocities():
    idata = az.from_dict(
        {"posterior": {"x": RNG.normal(size=(2, 30))}, "sample_stats": {"lp": np.ones((2, 30))}}
    )
    with pytest.raises(ValueError, match=r"expected `kinetic_temperature`.*got \['lp'\]"):
        pmg.kinetic_temperature(idata)


@pytest.mark.parametrize("temperature", [1.0, 1.5])
def test_configurational_temperature_is_that_of_the_law(temperature):
    idata = independent_draws(temperature=temperature)
    table = pmg.configurational_temperature(idata, model=model())
    assert list(table.index) == ["x", "k", "u", "s", "d"]
    known = table.drop(index="s")
    assert (np.abs(known["mean"] - temperature) < 4 * known["mcse"]).all()
    assert (known["mcse"] < 0.12).all()
    # A uniform law is the same at all temperatures.
    assert np.isinf(table.loc["s", "mcse"])
    assert abs(table.loc["s", "z"]) < 4


def test_one_chain_is_cut_in_two():
    with pm.Model() as normal:
        pm.Normal("x", shape=50)
    draws = np.random.default_rng(2).normal(size=(1, 60, 50))
    row = pmg.configurational_temperature(
        az.from_dict({"posterior": {"x": draws}}), model=normal
    ).loc["x"]
    assert abs(row["z"]) < 4
    # Moments of the same draws would make them appear colder, by 1 / 60 and more.
    assert row["mean"] == pytest.approx(1, abs=4 * row["mcse"])


def test_steps_record_degrees_of_freedom():
    with model():
        step = pmg.gSGNHT(step_size=0.1, diffusion=0.1)
    step.setup_chain(np.random.default_rng(1), 0, 1)
    _, [stats_] = step.step(step.model.initial_point())
    expected = {"": 13, "_x": 2, "_k": 1, "_u": 2, "_s": 6, "_d": 2}
    assert {key: stats_[f"degrees_of_freedom{key}"] for key in expected} == expected
