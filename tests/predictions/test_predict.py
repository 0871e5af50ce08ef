#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Predictions of the rows of a model, against the whole matrix of rows and draws."""

import numpy as np
import pandas as pd
import pymc as pm
import pytest
import xarray as xr

import pymc_geodesic as pmg

RNG = np.random.default_rng(0)
N, GROUPS, S = 120, 6, 200
X = RNG.normal(3.0, 2.0, (N, 2))
STORE = RNG.integers(0, GROUPS, N)
Y = RNG.normal(size=N)


def regression():
    """Groups, a Deterministic of rows, and data that are standardised in the model."""
    coords = {"obs": np.arange(N) + 100, "feature": ["x", "z"], "site": list("abcdef")}
    with pm.Model(coords=coords) as model:
        x = pm.Data("X", X, dims=("obs", "feature"))
        store = pm.Data("store", STORE, dims="obs")
        slopes = pm.Normal("slopes", dims="feature")
        mu, tau = pm.Normal("mu"), pm.HalfNormal("tau")
        centred = pm.Normal("centred", mu, tau, dims="site")
        effect = pm.Deterministic("effect", tau * pm.Normal("offset", dims="site"), dims="site")
        scaled = (x - x.mean(0)) / x.std(0)
        eta = pm.Deterministic("eta", effect[store] + centred[store] + scaled @ slopes, dims="obs")
        pm.Normal("y", eta, pm.HalfNormal("sigma"), observed=Y, dims="obs")
    return model


def draws_of(model, *, without=(), n=S):
    """Draws of the prior, which serve as those of a posterior."""
    found = pm.sample_prior_predictive(n, model=model, random_seed=1)["prior"].to_dataset()
    names = [rv.name for rv in model.free_RVs if rv.name not in without]
    return xr.DataTree.from_dict({"posterior": found[names]})


@pytest.fixture(scope="module")
def model():
    return regression()


@pytest.fixture(scope="module")
def idata(model):
    return draws_of(model)


@pytest.fixture(scope="module")
def matrix(model, idata):
    """The mean of each row at each draw."""
    found = pm.compute_deterministics(
        idata["posterior"].to_dataset(), model=model, var_names=["eta"], progressbar=False
    )
    return found["eta"].values[0]


def predicted(idata, model, new_data=None, **options):
    return pmg.predict(idata, model, new_data, **{"progressbar": False, "random_seed": 2} | options)


@pytest.mark.parametrize("var_names", [None, "eta", ["eta", "y"]])
def test_means_and_quantiles_are_those_of_the_matrix(model, idata, matrix, var_names):
    found = predicted(idata, model, var_names=var_names, quantiles=[0.05, 0.5, 0.99])
    expected = [matrix.mean(0), *np.quantile(matrix, [0.05, 0.5, 0.99], axis=0)]
    assert list(found["summary"].values) == ["mean", "5%", "50%", "99%"]
    for name in found.data_vars:
        assert found[name].dims == ("obs", "summary")
        np.testing.assert_allclose(found[name].values.T, expected, rtol=1e-10, atol=1e-12)
        assert np.array_equal(found["obs"], np.arange(N) + 100)


@pytest.mark.parametrize("rows", [[3, 1, 100], slice(5, 20), np.arange(N) > 100])
def test_chosen_rows(model, idata, matrix, rows):
    found = predicted(idata, model, rows=rows, draws=True)
    assert found["y"].dims == ("chain", "draw", "obs")
    np.testing.assert_allclose(found["y"].values[0], matrix[:, rows], rtol=1e-10)
    assert np.array_equal(found["obs"], (np.arange(N) + 100)[rows])


@pytest.mark.parametrize("draws", [False, True])
def test_results_in_a_folder_are_the_same(model, idata, tmp_path, monkeypatch, draws):
    monkeypatch.setattr("pymc_geodesic.predictions.stored.CHUNK_BYTES", 50_000 if draws else 1_000)
    found = predicted(idata, model, draws=draws, out=tmp_path / "out.zarr")
    expected = predicted(idata, model, draws=draws)
    xr.testing.assert_allclose(found.load(), expected, rtol=1e-12)
    assert list(found.data_vars) == list(expected.data_vars)
    assert found["y"].dims == expected["y"].dims
    with pytest.raises(FileExistsError, match=r"`out` expected a new path"):
        predicted(idata, model, out=tmp_path / "out.zarr")


def test_a_parquet_file_is_the_table_of_rows(model, idata, tmp_path, monkeypatch):
    monkeypatch.setattr("pymc_geodesic.predictions.stored.CHUNK_BYTES", 1_000)
    expected = predicted(idata, model)["y"].to_pandas()
    assert not predicted(idata, model, out=tmp_path / "there" / "out.parquet").data_vars
    found = pd.read_parquet(tmp_path / "there" / "out.parquet")
    assert list(found.columns) == ["obs", "mean", "5%", "95%"]
    np.testing.assert_allclose(found.set_index("obs"), expected, rtol=1e-12)
    assert np.array_equal(found["obs"], np.arange(N) + 100)
    with pytest.raises(FileExistsError, match=r"`out` expected a new path"):
        predicted(idata, model, out=tmp_path / "there" / "out.parquet")
    # Of new rows, block by block.
    new = pd.DataFrame(X, columns=["x", "z"], index=[f"shop {i}" for i in range(N)])
    new["store"] = STORE
    predicted(idata, model, new, var_names="eta", out=tmp_path / "new.parquet")
    found = pd.read_parquet(tmp_path / "new.parquet").set_index("obs")
    assert list(found.index) == list(new.index)
    np.testing.assert_allclose(found.to_numpy(), expected.to_numpy(), rtol=1e-10)


def test_categories_are_columns_of_a_parquet_file(tmp_path):
    with pm.Model(coords={"kind": ["a", "b"]}) as model:
        p = pm.Dirichlet("p", np.ones(2), dims="kind")
        pm.Categorical("y", p=p, observed=np.zeros(N, int))
    predicted(draws_of(model), model, out=tmp_path / "out.parquet", quantiles=[0.5])
    found = pd.read_parquet(tmp_path / "out.parquet")
    assert list(found.columns) == ["y_dim_0", "0 mean", "0 50%", "1 mean", "1 50%"]
    np.testing.assert_allclose(found["0 mean"] + found["1 mean"], 1.0)


@pytest.mark.parametrize("options", [{"draws": True}, {"var_names": ["y", "eta"]}])
def test_what_is_no_table_is_refused(model, idata, tmp_path, options):
    with pytest.raises(ValueError, match="mean and quantiles of one variable"):
        predicted(idata, model, out=tmp_path / "out.parquet", **options)


def test_what_does_not_fit_in_memory_is_refused(model, idata, monkeypatch):
    monkeypatch.setattr("pymc_geodesic.predictions.stored.MOST_BYTES", 1e5)
    with pytest.raises(MemoryError, match=r"`out` expected a folder"):
        predicted(idata, model, draws=True)


def test_responses_are_drawn_about_the_mean(model, idata, matrix):
    found = predicted(idata, model, kind="response", draws=True)["y"].values[0]
    scores = (found - matrix) / idata["posterior"]["sigma"].values[0][:, None]
    assert abs(scores.mean()) < 5 / np.sqrt(scores.size)
    assert abs(scores.std() - 1) < 5 / np.sqrt(2 * scores.size)
    # Neither rows nor draws share their noise.
    assert len(np.unique(found)) == found.size
    assert abs(np.corrcoef(scores[:, :60].ravel(), scores[:, 60:].ravel())[0, 1]) < 0.06
    again = predicted(idata, model, kind="response", draws=True)["y"].values[0]
    np.testing.assert_array_equal(again, found)


def test_categories_and_counts():
    x = RNG.normal(size=N)
    with pm.Model() as model:
        slope = pm.Normal("slope")
        cuts = pm.math.stack([-1.0, 0.5])
        pm.OrderedLogistic("grade", eta=slope * x, cutpoints=cuts, observed=STORE % 3)
        pm.Binomial("sold", n=10, p=pm.math.invlogit(slope * x), observed=STORE)
        pm.ZeroInflatedPoisson("visits", psi=0.3, mu=pm.math.exp(slope * x), observed=STORE)
    idata = draws_of(model)
    slopes = idata["posterior"]["slope"].values[0][:, None]
    found = predicted(idata, model)
    below = [1 / (1 + np.exp(slopes * x - cut)) for cut in (-1.0, 0.5)]
    shares = np.stack([below[0], below[1] - below[0], 1 - below[1]], axis=-1)
    assert found["grade"].dims == ("grade_dim_0", "grade_category", "summary")
    np.testing.assert_allclose(found["grade"].sel(summary="mean"), shares.mean(0), rtol=1e-8)
    sold = 10 / (1 + np.exp(-slopes * x))
    np.testing.assert_allclose(found["sold"].sel(summary="mean"), sold.mean(0), rtol=1e-8)
    np.testing.assert_allclose(
        found["visits"].sel(summary="95%"), np.quantile(0.3 * np.exp(slopes * x), 0.95, axis=0)
    )
    assert predicted(idata, model, kind="response", draws=True)["grade"].dtype.kind == "i"


@pytest.mark.parametrize("of", ["nominal", "ordinal", "mixture"])
def test_responses_of_categories_are_shares_and_no_mean_of_codes(of):
    with pm.Model() as model:
        slope = pm.Normal("slope")
        x = pm.Data("x", X[:, 0])
        scores = slope * x[:, None] * np.array([-1.0, 0.0, 1.0])
        if of == "ordinal":
            cuts = np.array([-1.0, 0.5])
            pm.OrderedLogistic("y", eta=slope * x, cutpoints=cuts, observed=STORE % 3)
        elif of == "nominal":
            pm.Categorical("y", logit_p=scores, observed=STORE % 3)
        else:
            p = pm.math.softmax(scores, axis=-1)
            parts = [pm.Categorical.dist(p), pm.Categorical.dist(np.full((N, 3), 1 / 3))]
            pm.Mixture("y", w=[0.5, 0.5], comp_dists=parts, observed=STORE % 3)
    idata = draws_of(model)
    codes = predicted(idata, model, kind="response", draws=True)["y"].values[0]
    assert codes.dtype.kind == "i"
    found = predicted(idata, model, kind="response")["y"]
    assert found.dims == ("y_dim_0", "y_category", "summary")
    shares = np.stack([(codes == k).mean(axis=0) for k in range(3)], axis=-1)
    np.testing.assert_allclose(found.sel(summary="mean"), shares)
    if of != "mixture":
        expected = predicted(idata, model)["y"]
        assert expected.dims == found.dims
        error = 0.5 / np.sqrt(len(codes))
        assert abs(found - expected).sel(summary="mean").max() < 5 * error
    if of == "nominal":
        new = predicted(idata, model, {"x": np.zeros(2)}, kind="response")["y"]
        assert new.sizes == {"y_dim_0": 2, "y_category": 3, "summary": 3}


def test_directions_have_a_mean_direction():
    east = np.tile([1.0, 0.0, 0.0], (N, 1))
    angle = np.linspace(-0.5, 0.5, N)
    with pm.Model() as model:
        slope = pm.Normal("slope", 1.0, 0.1)
        turned = pm.math.stack(
            [pm.math.cos(slope * angle), pm.math.sin(slope * angle), 0 * slope * angle], axis=-1
        )
        pmg.VonMisesFisher("normal", mu=turned, kappa=20.0, observed=east)
        pm.VonMises(
            "hour", mu=np.pi - 0.01 + 0.0 * angle + 0.05 * slope, kappa=50.0, observed=angle
        )
    idata = draws_of(model)
    slopes = idata["posterior"]["slope"].values[0][:, None]
    found = predicted(idata, model)
    mean = np.stack([np.cos(slopes * angle).mean(0), np.sin(slopes * angle).mean(0)], axis=-1)
    mean /= np.linalg.norm(mean, axis=-1, keepdims=True)
    np.testing.assert_allclose(found["normal"].sel(summary="mean")[:, :2], mean, atol=1e-12)
    for kind in ("mean", "response"):
        hours = predicted(idata, model, kind=kind, var_names="hour")["hour"].sel(summary="mean")
        # Half a turn ahead of the mean of the numbers, of which some are negative.
        assert np.all(np.abs(np.mod(hours, 2 * np.pi) - np.pi - 0.04) < 0.1)


def test_a_model_of_minibatches():
    with pm.Model() as model:
        x, y = pm.Minibatch(pm.Data("x", X[:, 0]), Y, batch_size=20)
        slope = pm.Normal("slope")
        pm.Normal("y", slope * x, 1.0, observed=y, total_size=N)
    idata = draws_of(pmg.full_data(model))
    slopes = idata["posterior"]["slope"].values[0]
    found = predicted(idata, model)["y"].sel(summary="mean")
    np.testing.assert_allclose(found, slopes.mean() * X[:, 0], rtol=1e-10)
    # Fewer than a batch.
    found = predicted(idata, model, {"x": [1.0, 2.0, 3.0]})["y"].sel(summary="mean")
    np.testing.assert_allclose(found, slopes.mean() * np.array([1.0, 2.0, 3.0]), rtol=1e-10)


def test_a_model_built_again_with_fewer_rows_than_a_batch():
    with pm.Model() as model:
        x, y = pm.Minibatch(np.arange(3.0), np.zeros(3), batch_size=20)
        pm.Normal("y", pm.Normal("slope") * x, 1.0, observed=y, total_size=3)
    idata = draws_of(pmg.full_data(model))
    found = predicted(idata, model)["y"].sel(summary="mean")
    slope = idata["posterior"]["slope"].values.mean()
    np.testing.assert_allclose(found, slope * np.arange(3), rtol=1e-10, atol=1e-12)


@pytest.mark.filterwarnings("ignore:The `pymc.dims` module is experimental")
def test_a_model_of_named_dimensions():
    dims = pytest.importorskip("pymc.dims")
    with pm.Model(coords={"obs": range(N)}) as model:
        x = dims.Data("x", X[:, 0], dims="obs")
        slope = dims.Normal("slope")
        y = dims.Data("observed", Y, dims="obs")
        dims.Normal("y", slope * x, 1.0, observed=y, dims="obs")
    idata = draws_of(model)
    slopes = idata["posterior"]["slope"].values[0]
    found = predicted(idata, model, {"x": [2.0]})["y"].sel(summary="95%")
    np.testing.assert_allclose(found, [np.quantile(2 * slopes, 0.95)], rtol=1e-10)


def test_effects_that_a_run_integrates_out():
    n, s = 700, 400
    y = RNG.normal(1.0, 2.0, n)
    with pm.Model() as model:
        x = pm.Data("x", np.zeros(n))
        effect = pm.Normal("effect", pm.Normal("mu"), pm.HalfNormal("tau"), shape=n)
        pm.Normal("y", effect + x, 1.0, observed=y)
    posterior = {"mu": (("chain", "draw"), np.ones((1, s)))}
    posterior["tau"] = (("chain", "draw"), np.full((1, s), 2.0))
    idata = xr.DataTree.from_dict({"posterior": xr.Dataset(posterior)})
    rows = [3, 1, 699]
    found = predicted(idata, model, rows=rows, draws=True)["y"].values[0]
    # The conjugate posterior of an effect, and Monte Carlo errors of its moments.
    np.testing.assert_allclose(found.mean(0), (y[rows] + 0.25) / 1.25, atol=5 * 0.9 / s**0.5)
    np.testing.assert_allclose(found.std(0), 0.8**0.5, rtol=5 / (2 * s) ** 0.5)
    with pytest.raises(ValueError, match=r"got `effect`, which has one for each row"):
        predicted(idata, model, {"x": [1.0]})
    new = predicted(idata, model, {"x": [1.0, 5.0]}, sample_new_groups=True, draws=True)
    values = new["y"].values[0]
    np.testing.assert_allclose(values.mean(0), [2.0, 6.0], atol=5 * 2 / s**0.5)
    np.testing.assert_allclose(values.std(0), 2.0, rtol=5 / (2 * s) ** 0.5)
    assert abs(np.corrcoef(values.T)[0, 1]) < 0.25


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rows": [500]}, "`rows` expected numbers of 120 rows"),
        ({"rows": [True]}, "`rows` expected a mask of 120 rows"),
        ({"var_names": "mu"}, "`var_names` expected observed variables"),
        ({"quantiles": [5]}, "`quantiles` expected numbers from 0 to 1"),
        ({"kind": "median"}, "`kind` expected one of"),
    ],
)
def test_mistakes(model, idata, options, message):
    with pytest.raises(ValueError, match=message):
        predicted(idata, model, **options)


def test_draws_that_are_missing_or_of_another_model(model, idata):
    with pytest.raises(ValueError, match=r"`idata` expected draws of \['centred'\]"):
        predicted(draws_of(model, without=["centred"]), model)
    posterior = idata["posterior"].to_dataset().isel(site=slice(3))
    with pytest.raises(ValueError, match=r"`idata` expected draws of `centred` of the shape"):
        predicted(xr.DataTree.from_dict({"posterior": posterior}), model)


def test_rows_that_depend_on_each_other_are_refused():
    with pm.Model() as model:
        walk = pm.GaussianRandomWalk("walk", init_dist=pm.Normal.dist(), shape=N)
        pm.MvNormal("y", walk, np.eye(N), observed=Y)
    with pytest.raises(ValueError, match=r"`y` expected rows that do not depend on each other"):
        predicted(draws_of(model), model)


def test_a_mean_without_closed_form_is_refused():
    with pm.Model() as model:
        latent = pm.Normal.dist(pm.Normal("mu"), 1.0)
        pm.Censored("y", latent, lower=-1.0, upper=1.0, observed=np.clip(Y, -1, 1))
    idata = draws_of(model)
    with pytest.raises(ValueError, match=r"`kind` expected 'response' for `y`"):
        predicted(idata, model)
    assert predicted(idata, model, kind="response")["y"].shape == (N, 3)
