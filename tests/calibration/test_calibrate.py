#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Simulation-based calibration in one call."""

import json

from functools import partial

import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.calibration.result import result_of
from pymc_geodesic.calibration.simulations import Simulated, Simulations, ranks_among

SHORT = {"draws": 100, "tune": 100}


def regression(n=600):
    """Two slopes, by batches of 50."""
    x = np.random.default_rng(0).standard_normal((n, 2))
    with pm.Model(coords={"feature": ["a", "b"]}) as model:
        x_batch, y_batch = pm.Minibatch(x, np.zeros(n), batch_size=50)
        beta = pm.Normal("beta", dims="feature")
        pm.Normal("y", x_batch @ beta, 1.0, observed=y_batch, total_size=n)
    return model


def calibrated(model, simulations, **keywords):
    keywords = {"cores": 1, "random_seed": 1, "progressbar": False} | keywords
    return pmg.calibrate(model, simulations=simulations, **keywords)


def of_normals(width, shift=0.0, n=200):
    """The result of simulations whose draws are normal, and wrong if told to be."""
    rng = np.random.default_rng(1)
    found = []
    for _ in range(n):
        draws = shift + width * rng.standard_normal((4, 250, 2))
        ranks = ranks_among(draws, rng.standard_normal(2))
        found.append(Simulated({"x": ((ranks + rng.random(2)) / 100).tolist()}, 0.1))
    return found


@pytest.fixture(scope="module")
def four():
    return calibrated(regression(), 4, sample_kwargs=SHORT)


def test_a_result_is_that_of_simuk(four):
    assert list(four.children) == ["prior_sbc", "simulations"]
    ranks = four["prior_sbc"]["beta"]
    assert ranks.dims == ("chain", "draw", "feature")
    assert ranks.shape == (1, 4, 2)
    assert ranks.coords["feature"].values.tolist() == ["a", "b"]
    assert np.all((ranks > 0) & (ranks < 1))
    assert four["simulations"]["error"].values.tolist() == [""] * 4


def test_all_rows_and_observed_data_are_simulated_too():
    x = np.linspace(-1.0, 1.0, 40)
    with pm.Model() as model:
        y = pm.Data("measured", np.zeros(40))
        pm.Normal("y", pm.Normal("slope") * x, 1.0, observed=y)
    nuts = {"exact": "nuts", "draws": 50, "tune": 100, "chains": 2}
    found = calibrated(model, 2, sample_kwargs=nuts)
    assert found["prior_sbc"]["slope"].shape == (1, 2)
    assert not model["measured"].get_value().any()


def test_arviz_plots_it(four):
    from arviz_plots import plot_ecdf_pit

    plot_ecdf_pit(four)


def test_simulations_are_kept_and_continued(four, tmp_path):
    model, kept = regression(), {"sample_kwargs": SHORT, "checkpoint": tmp_path / "kept"}
    calibrated(model, 2, **kept)
    # A file that was not finished is none.
    (tmp_path / "kept" / "2.new").write_text("{")
    (tmp_path / "kept" / "1.json").unlink()
    found = calibrated(model, 4, random_seed=None, **kept | {"sample_kwargs": SHORT})
    np.testing.assert_allclose(found["prior_sbc"]["beta"], four["prior_sbc"]["beta"])
    # Nothing is made again.
    before = (tmp_path / "kept" / "3.json").stat().st_mtime_ns
    calibrated(model, 4, **kept)
    assert (tmp_path / "kept" / "3.json").stat().st_mtime_ns == before


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"random_seed": 2}, "`random_seed`: 1 there, 2 here"),
        ({"sample_kwargs": {"draws": 200}}, "`sample_kwargs`"),
        ({"model": regression(700)}, "the data"),
    ],
)
def test_a_folder_of_others_is_refused(tmp_path, change, said):
    model = regression()
    simulations = Simulations(pmg.full_data(model), {}, 1)
    assert simulations.values(0)["y"].shape == (600,)
    calibrated(model, 1, sample_kwargs=SHORT, checkpoint=tmp_path / "kept")
    with pytest.raises(ValueError, match=f"expected the run that it holds.*{said}"):
        calibrated(
            **{"model": model, "simulations": 1, "sample_kwargs": SHORT} | change,
            checkpoint=tmp_path / "kept",
        )


def test_a_folder_of_something_else_is_refused(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ValueError, match="`checkpoint` expected a new folder"):
        calibrated(regression(), 1, checkpoint=tmp_path)


def test_data_follow_the_model_and_simulations_their_number():
    simulations = Simulations(pmg.full_data(regression()), {}, 1)
    one, same, other = simulations.values(1), simulations.values(1), simulations.values(2)
    np.testing.assert_array_equal(one["y"], same["y"])
    assert not np.allclose(one["beta"], other["beta"])
    x = np.random.default_rng(0).standard_normal((600, 2))
    errors = one["y"] - x @ one["beta"]
    # The standard error is .03.
    assert abs(errors.std() - 1) < 0.15


@pytest.mark.parametrize(
    ("width", "shift", "said"),
    [(0.7, 0, "too narrow"), (1.5, 0, "too wide"), (1, 0.5, "too high"), (1, -0.5, "too low")],
)
def test_wrong_draws_are_named(width, shift, said):
    found = result_of(of_normals(width, shift), pm.Model())["prior_sbc"].attrs
    assert found["verdict"] == "not calibrated"
    assert found["verdict_reason"].split(" (p")[0].endswith(said)
    assert found["p_value"] < 1e-4


def test_right_draws_are_calibrated(caplog):
    found = result_of(of_normals(1.0), pm.Model())["prior_sbc"].attrs
    assert found["verdict"] == "calibrated"
    assert found["p_value"] > 0.001
    assert not caplog.records


def test_failed_simulations_are_counted(caplog):
    bad = Simulated({}, 0.1, "the chain left")
    good = [Simulated({"x": (i + 0.5) / 20}, 0.1) for i in range(20)]
    found = result_of([bad, *good], pm.Model())
    assert found["prior_sbc"]["x"].shape == (1, 20)
    assert "1 of 21 simulations have failed" in caplog.text
    with pytest.raises(pm.exceptions.SamplingError, match="All 2 simulations have failed"):
        result_of([bad, bad], pm.Model())


def potential():
    a = pm.Normal("a")
    pm.Potential("p", -(a**2))
    return a


def flat():
    return pm.Flat("a")


def ordered():
    order = pm.distributions.transforms.ordered
    return pm.Normal("a", shape=5, transform=order, initval=np.arange(5.0))[0]


@pytest.mark.parametrize(
    ("prior", "said"),
    [
        (potential, "`model` expected no `pm.Potential`"),
        (flat, "`model` expected variables that can be drawn"),
        (ordered, "`a` expected a prior whose draws its transform accepts"),
    ],
)
def test_models_that_cannot_be_simulated_are_refused(prior, said):
    with pm.Model() as model:
        pm.Normal("y", prior(), 1.0, observed=np.zeros(600))
    with pytest.raises(ValueError, match=said):
        calibrated(model, 2)


def test_models_without_data_are_refused():
    with pm.Model() as model:
        pm.Normal("a")
    with pytest.raises(ValueError, match="`model` expected an observed variable"):
        calibrated(model, 2)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"sample_kwargs": {"draws": 20}}, "expected at least 99 draws"),
        ({"sample_kwargs": {"model": 1}}, "the same in all simulations, got 'model'"),
        ({"sample_kwargs": [1]}, "expected a mapping of arguments"),
        ({"random_seed": -1}, "`random_seed` expected a whole number"),
        ({"cores": 0}, "`cores` expected"),
        ({"simulations": 0}, "`simulations` expected"),
    ],
)
def test_arguments_that_cannot_be_are_refused(given, said):
    with pytest.raises((ValueError, TypeError), match=said):
        calibrated(**{"model": regression(), "simulations": 2} | given)


def test_a_step_of_one_model_is_refused():
    model = regression()
    with model:
        step = pmg.SGHMC(step_size=0.01, friction=1.0)
    with pytest.raises(ValueError, match="expected a class or a function as `step`"):
        calibrated(model, 2, sample_kwargs={"step": step})


def test_files_are_plain(tmp_path):
    calibrated(regression(), 1, sample_kwargs=SHORT, checkpoint=tmp_path / "kept")
    found = json.loads((tmp_path / "kept" / "0.json").read_text())
    assert np.shape(found["shares"]["beta"]) == (2,)


@pytest.mark.slow
def test_a_right_run_is_calibrated():
    found = calibrated(regression(), 60, sample_kwargs=SHORT | {"tune": 300}, cores=2)
    assert found["prior_sbc"].attrs["p_value"] > 0.001


@pytest.mark.slow
def test_a_friction_too_small_for_the_noise_is_found():
    step = partial(pmg.SGHMC, step_size=0.003, friction=1.0, n_steps=20)
    settings = SHORT | {"step": step, "refine": False}
    found = calibrated(regression(), 40, sample_kwargs=settings, cores=2)
    assert found["prior_sbc"].attrs["p_value"] < 0.001
    assert "too wide" in found["prior_sbc"].attrs["verdict_reason"]


@pytest.mark.slow
def test_processes_and_workers_find_the_same(four):
    from distributed import Client

    model = regression()
    found = calibrated(model, 4, sample_kwargs=SHORT, cores=2)
    np.testing.assert_allclose(found["prior_sbc"]["beta"], four["prior_sbc"]["beta"])
    with Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        found = calibrated(model, 4, sample_kwargs=SHORT, client=client)
    np.testing.assert_allclose(found["prior_sbc"]["beta"], four["prior_sbc"]["beta"])
