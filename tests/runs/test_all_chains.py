#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""`pmg.sample` returns what `pm.sample` does, whatever ends it."""

import _thread
import logging
import re
import signal
import threading

import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.runs import ChainError, run_loop
from pymc_geodesic.runs.choose_step import step_class_for
from pymc_geodesic.step_methods.progress import Progress

# Short runs, of which convergence checks have nothing good to say.
SHORT = {"draws": 12, "tune": 6, "chains": 2, "random_seed": 1, "progressbar": False}
SHORT |= {"compute_convergence_checks": False}
FIXED = {"step_size": 0.05, "diffusion": 0.2, "n_steps": 2}


def regression(n_rows=400):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(n_rows, 2))
    y = x @ [1.0, -1.0] + rng.normal(size=n_rows)
    with pm.Model(coords={"column": ["a", "b"]}) as model:
        pm.Data("unused", np.arange(3.0))
        xb, yb = pm.Minibatch(x, y, batch_size=20)
        slope = pm.Normal("slope", 0.0, 2.0, dims="column")
        scale = pm.HalfNormal("scale", 2.0)
        p = pm.Dirichlet("p", np.ones(3))
        pm.Deterministic("size", (slope**2).sum() + 0 * p[0])
        pm.Deterministic("both", pm.math.stack([slope[0] * scale, slope[1] - scale]), dims="column")
        pm.Deterministic("constant", pm.math.stack([1.0, 2.0]))
        pm.Normal("y", xb @ slope, scale, observed=yb, total_size=n_rows)
    return model


@pytest.fixture(scope="module")
def made():
    """A model, and a step for it: compiling takes longer than sampling."""
    with regression() as model:
        return model, pmg.gSGNHT(**FIXED)


@pytest.fixture(autouse=True)
def no_lines(caplog):
    caplog.set_level(logging.WARNING, logger="pymc")


def test_groups_are_those_of_pymc(made):
    model, step = made
    with model:
        ours = pmg.sample(step=step, discard_tuned_samples=False, **SHORT)
        theirs = pm.sample(step=step, discard_tuned_samples=False, cores=1, **SHORT)
    assert list(ours.children) == list(theirs.children)
    for group in theirs.children:
        found, expected = ours[group].to_dataset(), theirs[group].to_dataset()
        # PyMC has statistics in any order.
        ordered = sorted if group.endswith("stats") else list
        assert ordered(found.data_vars) == ordered(expected.data_vars)
        assert set(found.coords) == set(expected.coords)
        assert found.attrs.keys() == expected.attrs.keys()
        for name, x in expected.items():
            assert (found[name].dtype, found[name].sizes) == (x.dtype, x.sizes), name
    for name in ("tuning_steps", "inference_library", "pymc_geodesic"):
        assert ours.sample_stats.attrs[name] == theirs.sample_stats.attrs[name]
    assert not [name for name in ours.children if "log_likelihood" in name]


def test_deterministics_are_those_of_pymc(made):
    model, step = made
    with model:
        idata = pmg.sample(step=step, **SHORT)
        expected = pm.compute_deterministics(idata, progressbar=False)
    assert set(expected.data_vars) == {"size", "both", "constant"}
    for name, x in expected.items():
        np.testing.assert_allclose(idata.posterior[name], x, rtol=1e-10)
    np.testing.assert_allclose(idata.posterior["p"].sum("p_dim_0"), 1.0)


def test_only_named_variables_are_returned(made):
    model, step = made
    idata = pmg.sample(model=model, step=step, var_names=["both"], **SHORT)
    assert list(idata.posterior.data_vars) == ["both"]
    with pytest.raises(ValueError, match=r"`var_names` expected variables among .*; got nothing"):
        pmg.sample(model=model, step=step, var_names=["nothing"], **SHORT)
    with pytest.raises(ValueError, match="at least one variable"):
        pmg.sample(model=model, step=step, var_names=[], **SHORT)
    idata = pmg.sample(model=model, step=step, var_names=["constant"], **SHORT)
    np.testing.assert_array_equal(idata.posterior["constant"].values, np.full((2, 12, 2), [1, 2]))


def test_thinned_draws_are_those_of_the_whole_run(made):
    model, step = made
    whole = pmg.sample(model=model, step=step, **SHORT)
    thinned = pmg.sample(model=model, step=step, thin=3, **SHORT)
    np.testing.assert_array_equal(thinned.posterior["slope"], whole.posterior["slope"][:, 2::3])
    assert thinned.posterior.attrs["tuning_steps"] == 6


def test_a_chain_does_not_depend_on_their_number(made):
    model, step = made
    short = SHORT | {"chains": 3}
    three = pmg.sample(model=model, step=step, **short)
    two = pmg.sample(model=model, step=step, chain_method="sequential", **SHORT)
    np.testing.assert_allclose(two.posterior["slope"], three.posterior["slope"][:2], atol=1e-8)
    assert len(np.unique(three.posterior["slope"][:, 0, 0])) == 3


def test_seeds_may_be_generators(made):
    model, step = made
    short = {name: value for name, value in SHORT.items() if name != "random_seed"}
    seeds = [np.random.default_rng(5), np.random.SeedSequence(5), 5, None]
    first, *runs = (pmg.sample(model=model, step=step, random_seed=s, **short) for s in seeds)
    equal = [bool((run.posterior["slope"] == first.posterior["slope"]).all()) for run in runs]
    assert equal == [True, True, False]


def interrupted(monkeypatch, error, after):
    """Let the segment after some draws fail."""
    original, n_drawn = run_loop.run, 0

    def run(sampler, chains, n_draws, **options):
        nonlocal n_drawn
        if n_drawn >= after:
            raise error
        n_drawn += n_draws
        return original(sampler, chains, n_draws, **options)

    monkeypatch.setattr(run_loop, "run", run)
    # One draw a segment.
    monkeypatch.setattr(run_loop.InProcess, "seconds", 0.0)


def test_ctrl_c_returns_what_all_chains_have_drawn(made, monkeypatch, caplog):
    model, step = made
    whole = pmg.sample(model=model, step=step, **SHORT)
    interrupted(monkeypatch, KeyboardInterrupt(), after=10)
    part = pmg.sample(model=model, step=step, **SHORT)
    assert part.posterior.sizes["draw"] == 4
    np.testing.assert_array_equal(part.posterior["slope"], whole.posterior["slope"][:, :4])
    assert "Interrupted: the run has 4 of 12 draws of each chain." in caplog.text


def test_a_real_ctrl_c(made, monkeypatch, request):
    model, step = made
    # Workers of a parallel test run ignore it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    at_once, begun = step.sampler.draws_at_once, threading.Event()

    def watched(chain):
        if chain.n_drawn >= 20:
            begun.set()
        return at_once(chain)

    def press():
        begun.wait()
        _thread.interrupt_main()

    monkeypatch.setattr(step.sampler, "draws_at_once", watched)
    threading.Thread(target=press, daemon=True).start()
    idata = pmg.sample(model=model, step=step, **SHORT | {"draws": 100_000, "tune": 0})
    assert 0 < idata.posterior.sizes["draw"] < 100_000
    assert np.isfinite(idata.posterior["slope"]).all()


@pytest.mark.parametrize("is_kept", [True, False])
def test_ctrl_c_in_the_tuning_phase(made, monkeypatch, is_kept):
    model, step = made
    interrupted(monkeypatch, KeyboardInterrupt(), after=3)
    options = SHORT | {"discard_tuned_samples": not is_kept}
    if is_kept:
        idata = pmg.sample(model=model, step=step, **options)
        assert idata["warmup_posterior"].sizes["draw"] == 3
        assert "posterior" not in idata
    else:
        with pytest.raises(KeyboardInterrupt):
            pmg.sample(model=model, step=step, **options)


def test_a_chain_that_fails_loses_nothing(made, monkeypatch):
    model, step = made
    draws, n_drawn = step.sampler.draws, 0

    def failing(chains, n_draws):
        nonlocal n_drawn
        n_drawn += chains[0].n_drawn == 9
        if n_drawn == 2:
            raise RuntimeError("The sky fell.")
        return draws(chains, n_draws)

    monkeypatch.setattr(step.sampler, "draws", failing)
    monkeypatch.setattr(run_loop.InProcess, "seconds", 0.0)
    with pytest.raises(ChainError, match=r"Chain 1 failed: The sky fell\. 3 of 12") as caught:
        pmg.sample(model=model, step=step, chain_method="sequential", **SHORT)
    assert caught.value.idata.posterior.sizes["draw"] == 3
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_an_impossible_start_names_its_chain(made):
    model, step = made
    initvals = [None, {"slope": [np.inf, 0.0]}]
    with pytest.raises(ChainError, match="Chain 1 failed: The start expected a finite") as caught:
        pmg.sample(model=model, step=step, initvals=initvals, **SHORT)
    assert caught.value.idata is None


def test_a_progress_bar_has_one_line(made, capsys, monkeypatch):
    model, step = made
    pmg.sample(model=model, step=step, **SHORT)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setenv("COLUMNS", "100")
    pmg.sample(model=model, step=step, **SHORT | {"progressbar": True})
    [line] = [line for line in capsys.readouterr().err.splitlines() if line.strip()]
    for part in ("Sampling", "18/18 draws", "transitions/s", "temperature"):
        assert part in line
    assert "divergences" not in line


@pytest.mark.parametrize("n_divergences", [0, 3])
def test_eighty_columns_show_the_time(capsys, monkeypatch, n_divergences):
    monkeypatch.setenv("COLUMNS", "80" if n_divergences == 0 else "100")
    statistics = {
        "diverging": np.zeros((4, 1_000), dtype=bool),
        "n_steps": np.full((4, 1_000), 8),
        "configurational_temperature": np.full((4, 1_000), 0.98),
    }
    statistics["diverging"][0, :n_divergences] = True
    with Progress(2_000, visible=True) as bar:
        bar.update(statistics, 1_000, phase="Sampling", thin=1)
        statistics["diverging"][:] = False
        bar.update(statistics, 1_000, phase="Sampling", thin=1)
        bar.end()
    [line] = [line for line in capsys.readouterr().err.splitlines() if line.strip()]
    told = ", 3 divergences" if n_divergences else ""
    assert re.search(rf"2000/2000 draws, \S+ transitions/s, temperature 0.98{told} 00:0\d$", line)


def test_convergence_is_checked(made, caplog):
    model, step = made
    short = SHORT | {"compute_convergence_checks": True, "draws": 100}
    pmg.sample(model=model, step=step, **short)
    assert "per chain, less than 100: R-hat and other statistics are unreliable" in caplog.text


def with_prior(variable, batch=True):
    with pm.Model() as model:
        x = variable()
        data = np.ones(50)
        observed = pm.Minibatch(data, batch_size=5) if batch else data
        total_size = 50 if batch else None
        pm.Normal("y", pm.math.sum(x), 1.0, observed=observed, total_size=total_size)
    return model


@pytest.mark.parametrize(
    ("variable", "expected"),
    [
        (lambda: pm.Normal("x", shape=2), pmg.SGNHT),
        (lambda: pm.HalfNormal("x"), pmg.SGNHT),
        (lambda: pmg.VonMisesFisher("x", [1.0, 0.0, 0.0], 1.0), pmg.gSGNHT),
        (lambda: pm.Dirichlet("x", np.ones(3)), pmg.gSGNHT),
        (lambda: pm.Dirichlet("x", [0.1, 1.0, 1.0]), pmg.SGRLD),
        (lambda: pm.Dirichlet("x", [0.1, 1.0, 1.0]).sum() + pm.Normal("z"), pmg.gSGNHT),
    ],
)
def test_the_step_is_chosen_by_the_model(variable, expected):
    assert step_class_for(with_prior(variable)) is expected


def test_few_rows_are_sampled_exactly():
    model = with_prior(lambda: pm.Normal("x"), batch=False)
    idata = pmg.sample(500, tune=300, chains=4, model=model, random_seed=1, progressbar=False)
    draws = idata["posterior"]["x"].to_numpy()
    # Of fifty ones, with some hundred effective draws at least.
    assert abs(draws.mean() - 50 / 51) < 0.25 / np.sqrt(51)
    assert abs(draws.std() * np.sqrt(51) - 1) < 0.2


def test_discrete_variables_are_refused():
    with pytest.raises(ValueError, match="continuous variables only, got `x`"):
        pmg.sample(model=with_prior(lambda: pm.Poisson("x", 1.0)))


def test_steps_that_do_not_fit_are_refused(made):
    model, step = made
    with model:
        some = pmg.SGNHT(["slope"], **FIXED)
        cases = {
            "leaves out `scale`, `p`": some,
            "got 2 of them": [some, some],
            "pymc_geodesic, got NUTS": lambda: pm.NUTS(),
            "that returns a step; got 'nuts'": "nuts",
        }
        for message, bad in cases.items():
            with pytest.raises((TypeError, ValueError), match=message):
                pmg.sample(step=bad, **SHORT)
    with pytest.raises(ValueError, match="a step of another"):
        pmg.sample(model=regression(), step=step, **SHORT)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"draws": 0}, "`draws`"),
        ({"tune": -1}, "`tune`"),
        ({"chains": 0}, "`chains`"),
        ({"thin": 50}, "`draws` expected at least `thin`=50"),
        ({"chain_method": "parallel"}, "`chain_method` expected one of"),
        ({"progressbar": "no"}, "`progressbar`"),
    ],
)
def test_bad_arguments_are_refused(made, options, message):
    model, step = made
    with pytest.raises(ValueError, match=message):
        pmg.sample(**({"model": model, "step": step} | SHORT | options))
