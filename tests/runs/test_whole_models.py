#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A model that was written for all rows is sampled as it is, and the result is in its terms."""

import shutil

import numpy as np
import pymc as pm
import pytest
import whole_models

import pymc_geodesic as pmg

from pymc_geodesic.monte_carlo import mcse
from pymc_geodesic.run_record import read_records
from pymc_geodesic.stages import log

SHORT = {"tune": 10, "draws": 20, "chains": 2, "random_seed": 1, "progressbar": False}
# A transition of finite length leaves means right, and sds to a few per cent.
BIAS = 0.03
FOUR_ERRORS = 4.0
N_CODES = 2_000
ALL_DRAWS = ("chain", "draw")


def standardised(draws, mean, sd, error=0.0):
    """Differences of means and relative ones of sds, in Monte Carlo errors and bias."""
    draws = draws.transpose("chain", "draw", ...).values
    errors = np.hypot(mcse(draws) / sd, error)
    of_mean = (draws.mean((0, 1)) - mean) / sd / np.hypot(errors, BIAS)
    # Draws that are effective for squares are fewer by at most about two.
    of_sd = (draws.std((0, 1)) / sd - 1) / np.hypot(1.4 * errors, BIAS)
    return np.abs(of_mean).max(), np.abs(of_sd).max()


@pytest.fixture(scope="module")
def sampled():
    """A run, with what it logged."""
    model, mean, covariance = whole_models.linear()
    said = []
    with pytest.MonkeyPatch.context() as patch, model:
        patch.setattr(log, "info", said.append)
        idata = pmg.sample(random_seed=1, progressbar=False)
    return model, mean, covariance, idata, said


def test_the_posterior_is_right(sampled):
    _, mean, covariance, idata, _ = sampled
    found = standardised(idata.posterior["beta"], mean, np.sqrt(np.diag(covariance)))
    assert max(found) < FOUR_ERRORS


def test_the_result_is_in_the_terms_of_the_model(sampled):
    model, _, _, idata, _ = sampled
    posterior = idata.posterior.to_dataset()
    assert list(posterior.data_vars) == ["beta", "twice", "middle"]
    assert posterior["beta"].dims == posterior["twice"].dims == ("chain", "draw", "k")
    assert list(posterior["k"].values) == ["a", "b", "c"]
    np.testing.assert_allclose(posterior["twice"], 2 * posterior["beta"])
    middle = posterior["beta"].values @ model["X"].get_value().mean(0)
    np.testing.assert_allclose(posterior["middle"], middle)
    groups = ["posterior", "sample_stats", "observed_data", "constant_data"]
    assert list(idata.children) == [*groups, "raw_posterior", "refinement"]
    assert idata.observed_data["y"].dims == ("row",)
    assert idata.constant_data["X"].dims == ("row", "k")


def test_data_are_not_copied(sampled):
    model, _, _, idata, _ = sampled
    for found, name in ((idata.observed_data["y"], "Y"), (idata.constant_data["X"], "X")):
        assert np.shares_memory(found.values, model[name].get_value(borrow=True))
        assert not found.values.flags.writeable


def test_deterministics_of_rows_are_left_out_with_one_sentence(sampled):
    model, _, _, idata, said = sampled
    [sentence] = [text for text in said if "all rows at every draw" in text]
    assert sentence.startswith("`mu`, `fit` would be computed")
    assert 'pmg.predict(idata, model, var_names=["mu"])` returns the mean' in sentence
    assert 'var_names=["fit"])` computes it.' in sentence
    few = idata.posterior.isel(draw=slice(None, None, 100))
    found = pm.compute_deterministics(few, model=model, var_names=["mu", "fit"], progressbar=False)
    assert found["mu"].dims == ("chain", "draw", "row")


def test_summary_and_diagnosis_take_the_model_that_was_given(sampled):
    model, _, _, idata, _ = sampled
    assert [*pmg.summary(idata, var_names=["beta"]).index] == ["beta[a]", "beta[b]", "beta[c]"]
    assert read_records(idata)[0].batch_size == 500
    assert not pmg.diagnose(idata, model=model).findings


def test_named_deterministics_of_rows_are_returned():
    model, *_ = whole_models.linear()
    idata = pmg.sample(model=model, var_names=["mu", "fit"], **SHORT)
    assert idata.posterior["mu"].sizes == {"chain": 2, "draw": 20, "row": whole_models.N}
    np.testing.assert_allclose(idata.posterior["fit"], idata.posterior["mu"].std("row"))


def test_other_options_take_the_names_of_the_model():
    model, *_ = whole_models.linear()
    idata = pmg.sample(
        model=model,
        step=pmg.SGLD,
        batch_size=50,
        keep={"beta": 2},
        initvals={model["beta"]: np.ones(3)},
        thin=2,
        **SHORT,
    )
    assert list(idata.posterior.data_vars) == ["twice", "middle"]
    assert idata["running/mean"]["beta"].dims == ("chain", "k")
    assert read_records(idata)[0].batch_size == 50


def test_a_run_is_continued_with_the_model_that_was_given(tmp_path):
    pytest.importorskip("zarr")
    model, *_ = whole_models.linear()
    short = SHORT | {"model": model, "compute_convergence_checks": False}
    expected = pmg.sample(batch_size=100, **short)
    pmg.sample(batch_size=100, checkpoint=tmp_path / "run", **(short | {"draws": 8}))
    shutil.copytree(tmp_path / "run", tmp_path / "copy")
    for found in (
        pmg.resume(tmp_path / "run", model=whole_models.linear()[0], draws=20, progressbar=False),
        pmg.sample(batch_size=100, checkpoint=tmp_path / "copy", **short),
    ):
        np.testing.assert_array_equal(found.posterior["beta"], expected.posterior["beta"])
        assert {*found.posterior.data_vars} == {"beta", "twice", "middle"}
        assert found.constant_data["X"].dims == ("row", "k")
    with pytest.raises(ValueError, match=r"differs in .*`batch_size`: 100 there, 500 here"):
        pmg.sample(checkpoint=tmp_path / "run", **short)


def test_what_has_its_own_batches_takes_no_size():
    model, *_ = whole_models.linear()
    batches = pmg.minibatch(model, batch_size=100)
    with pytest.raises(ValueError, match=r"None because the model has `pm.Minibatch`, got 10"):
        pmg.sample(model=batches, batch_size=10, **SHORT)
    step = pmg.SGLD(model=model, step_size=1e-3)
    with pytest.raises(ValueError, match="None because the step already exists, got 10"):
        pmg.sample(step=step, batch_size=10, **SHORT)


@pytest.mark.parametrize("batch_size", [0, 2.5, "many"])
def test_sizes_that_are_none_are_refused(batch_size):
    with pytest.raises((ValueError, TypeError), match="`batch_size` expected"):
        pmg.sample(model=whole_models.linear()[0], batch_size=batch_size, **SHORT)


def test_nuts_is_named_where_rows_cannot_be_divided():
    y = np.random.default_rng(1).normal(size=1_000)
    with pm.Model():
        pm.Normal("y", pm.Normal("mu"), observed=y[:400])
        with pytest.raises(ValueError, match=r"more rows than `batch_size`=500.* exact='nuts'"):
            pmg.sample(batch_size=500, **SHORT)
    with pm.Model():
        covariance = pm.gp.cov.ExpQuad(1, ls=pm.HalfNormal("ls")) + pm.gp.cov.WhiteNoise(1.0)
        pm.MvNormal("y", np.zeros(1_000), covariance(np.arange(1_000.0)[:, None]), observed=y)
        with pytest.raises(ValueError, match=r"Use NUTS, which is exact: .* exact='nuts'"):
            pmg.sample(**SHORT)


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        whole_models.logistic,
        whole_models.counts_in_groups,
        whole_models.two_likelihoods,
        whole_models.missing_outcomes,
        whole_models.as_bambi_names_them,
    ],
)
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning", "ignore:Data in y")
def test_the_posterior_is_that_of_nuts(make):
    model = make()
    ours = pmg.sample(model=model, random_seed=1, progressbar=False)
    with model:
        nuts = pm.sample(random_seed=2, progressbar=False, cores=1)
    left_out = {"p", "mu", "y"} if make is not whole_models.two_likelihoods else set()
    expected = [name for name in nuts.posterior.data_vars if name not in left_out]
    assert {*ours.posterior.data_vars} == {*expected}
    for name in expected:
        theirs = nuts.posterior[name]
        assert ours.posterior[name].dims == theirs.dims
        draws = theirs.transpose("chain", "draw", ...).values
        mean, sd = draws.mean((0, 1)), draws.std((0, 1))
        found = standardised(ours.posterior[name], mean, sd, mcse(draws) / sd)
        assert max(found) < FOUR_ERRORS, name
    for group in ("observed_data", "constant_data"):
        assert (group in ours.children) == (group in nuts.children)
        for name, x in nuts[group].data_vars.items() if group in nuts.children else ():
            assert ours[group][name].dims == x.dims
            np.testing.assert_array_equal(ours[group][name], x)
    assert not [x for x in pmg.diagnose(ours, model=model).findings if x.severity == "error"]


@pytest.mark.parametrize("as_data", [True, False])
def test_codes_that_are_too_large_are_named(as_data):
    codes = np.random.default_rng(1).integers(1, 4, N_CODES)
    with pm.Model() as model:
        given = pm.Data("codes", codes) if as_data else codes
        pm.Normal("y", pm.Normal("a", shape=3)[given], 1.0, observed=np.ones(N_CODES))
    message = r"indices of `a` from 0 to 2, got 3 in .*Count codes from"
    with pytest.raises(ValueError, match=message):
        pmg.sample(model=model, **SHORT)


def of_durations(money, start):
    """A Weibull regression whose scale is zero or infinite not far from its start."""
    rng = np.random.default_rng(2)
    with pm.Model() as model:
        b = pm.Normal("b", initval=start)
        pm.Weibull("y", 1.3, pm.math.exp(b * money), observed=rng.weibull(1.3, len(money)))
    return model


def test_a_density_that_is_undefined_near_the_start_is_compared_nearer():
    money = np.exp(np.random.default_rng(3).normal(10, 1, N_CODES))
    assert "y" in pmg.minibatch(of_durations(money, 0.0)).named_vars
    message = r"an initial point .* violates alpha > 0, beta > 0\. Set `initval`"
    with pytest.raises(ValueError, match=message):
        pmg.minibatch(of_durations(money, -1.0))


def test_data_that_are_infinite_are_named_where_parameters_are_not_allowed():
    speed = np.tile([3.0, 0.0, 5.0, 2.0], 500)
    with np.errstate(divide="ignore"), pm.Model() as model:
        slope = pm.Normal("slope", 0, 1)
        kappa = pm.math.exp(slope * np.log(speed))
        pm.VonMises("angle", 0.0, kappa, observed=np.zeros(2_000))
    message = r"violates kappa > 0\. Data of 500 rows are infinite or NaN.*rows 1, 5, 9, \.\.\.\."
    with pytest.raises(ValueError, match=message):
        pmg.minibatch(model)
