#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The model with all of its data: its log density, and what PyMC and ArviZ do with it."""

import arviz as az
import numpy as np
import pymc as pm
import pytest

from local_models import proportions, random_effects

import pymc_geodesic as pmg

RNG = np.random.default_rng(1)
N, M = 200, 90
X = RNG.normal(size=(N, 3))
Y = X @ [1.0, 2.0, 0.0] + RNG.normal(size=N)
DIRECTIONS = RNG.normal([2.0, 0.0, 0.0], 1.0, (M, 3))
DIRECTIONS /= np.linalg.norm(DIRECTIONS, axis=1, keepdims=True)


def batch(*arrays, size, minibatch):
    if minibatch:
        return pm.Minibatch(*arrays, batch_size=size)
    return arrays if len(arrays) > 1 else arrays[0]


def several_batches(minibatch):
    """Two independent streams of batches, all kinds of variables, a prior by a potential."""
    with pm.Model(coords={"feature": list("abc")}) as model:
        x, y = batch(X, Y, size=20, minibatch=minibatch)
        z = batch(DIRECTIONS, size=10, minibatch=minibatch)
        beta = pm.Normal("beta", dims="feature")
        sigma = pm.HalfNormal("sigma", initval=2.0)
        mean = pm.Deterministic("mean", x @ beta)
        mu = pmg.VonMisesFisher("mu", [1, 0, 0], 1.0)
        weights = pm.Dirichlet("weights", np.ones(3))
        pm.Potential("shrink", -(beta**2).sum())
        scaled = [{"total_size": size} for size in (N, (M, None))] if minibatch else [{}, {}]
        pm.Normal("y", mean, sigma, observed=y, **scaled[0])
        pmg.VonMisesFisher("z", mu, 5 * weights[0], observed=z, **scaled[1])
    return model


def mixture(minibatch):
    with pm.Model() as model:
        weights = pm.Dirichlet("weights", [2.0, 2.0])
        mu = pmg.VonMisesFisher("mu", mu=[0, 0, 1], kappa=[10.0, 0.0], shape=(2, 3))
        pm.Mixture(
            "z",
            w=weights,
            comp_dists=pmg.VonMisesFisher.dist(mu=mu, kappa=[3.0, 1.0]),
            observed=batch(DIRECTIONS, size=10, minibatch=minibatch),
            total_size=M if minibatch else None,
        )
    return model


def spherical_regression(minibatch):
    """The parameters of the likelihood depend on the rows too."""
    with pm.Model() as model:
        x, z = batch(X[:M], DIRECTIONS, size=15, minibatch=minibatch)
        total = 1 + x @ pm.Normal("beta", shape=(3, 3))
        mu = total / pm.math.sqrt((total**2).sum(axis=-1, keepdims=True))
        pmg.VonMisesFisher("z", mu, 4.0, observed=z, total_size=M if minibatch else None)
    return model


def censored(minibatch):
    data = np.clip(Y, -1, 1)
    with pm.Model() as model:
        latent = pm.Normal.dist(pm.Normal("theta"), 1.0)
        observed = batch(data, size=7, minibatch=minibatch)
        total_size = N if minibatch else None
        pm.Censored("y", latent, -1, 1, observed=observed, total_size=total_size)
    return model


def matrix(minibatch):
    with pm.Model() as model:
        observed = batch(X, size=20, minibatch=minibatch)
        theta = pm.Normal("theta", shape=3)
        pm.Normal("x", theta, observed=observed, total_size=[N, 3] if minibatch else None)
    return model


MODELS = [several_batches, mixture, spherical_regression, censored, matrix]


def points(model, n=3):
    """Random values, about as far from the start as draws are."""
    rng = np.random.default_rng(5)
    start = model.initial_point()
    return [{k: v + 0.3 * rng.normal(size=v.shape) for k, v in start.items()} for _ in range(n)]


@pytest.mark.parametrize("build", MODELS)
def test_log_density_is_the_exact_one(build):
    exact, full = build(minibatch=False), pmg.full_data(build(minibatch=True))
    expected = exact.compile_logp(mode="FAST_COMPILE")
    found = full.compile_logp(mode="FAST_COMPILE")
    for point in points(exact):
        assert found(point) == pytest.approx(expected(point), rel=0, abs=1e-8)


@pytest.mark.parametrize("build", MODELS)
def test_predictions_have_all_rows(build):
    full = pmg.full_data(build(minibatch=True))
    shapes = {rv.name: rv.shape for rv in build(minibatch=False).observed_RVs}
    for rv in full.observed_RVs:
        np.testing.assert_array_equal(
            rv.shape.eval(mode="FAST_COMPILE"), shapes[rv.name].eval(mode="FAST_COMPILE")
        )


def test_second_names_of_deterministics_are_kept():
    with pm.Model() as model:
        mean = pm.Normal("mean")
        twice = pm.Deterministic("twice", 2 * mean)
        pm.Deterministic("again", pm.Deterministic("also", twice))
        pm.Normal("y", twice, observed=pm.Minibatch(Y, batch_size=20), total_size=N)
    full = pmg.full_data(pmg.full_data(model))
    names = ["twice", "also", "again"]
    assert {x.name for x in full.deterministics} == {*names}
    mean, *others = pm.draw([full[x] for x in ("mean", *names)])
    assert others == [2 * mean] * 3


def test_everything_but_the_batches_is_kept():
    model = several_batches(minibatch=True)
    before = dict(model.rvs_to_initial_values)
    full = pmg.full_data(model)
    assert set(full.named_vars) == set(model.named_vars)
    assert {v.name for v in full.value_vars} == {v.name for v in model.value_vars}
    assert full.coords == model.coords
    assert full.named_vars_to_dims["beta"] == ("feature",)
    for kind in ("free_RVs", "observed_RVs", "deterministics", "potentials"):
        assert {v.name for v in getattr(full, kind)} == {v.name for v in getattr(model, kind)}
    for rv, transform in model.rvs_to_transforms.items():
        assert type(full.rvs_to_transforms[full[rv.name]]) is type(transform)
    assert model.rvs_to_initial_values == before
    assert full["mean"].type.shape == (N,)
    pmg.check_minibatch(full)
    with pytest.raises(ValueError, match=r"draws its data by `pm.Minibatch`"):
        pmg.check_minibatch(model)


def test_initial_values_are_kept():
    """Numbers, names of strategies, and expressions."""
    with pm.Model() as model:
        a = pm.Normal("a", initval=2.0)
        b = pm.Normal("b", initval=pm.math.exp(np.log(3.0)))
        c = pm.HalfNormal("c", initval="prior")
        observed = pm.Minibatch(Y, batch_size=10)
        pm.Normal("y", a + b, c, observed=observed, total_size=N)
    full = pmg.full_data(model)
    expected = model.initial_point(random_seed=3)
    assert expected["b"] == pytest.approx(3)
    assert full.initial_point(random_seed=3) == expected
    assert full.initial_point(random_seed=4) != expected
    # PyMC itself takes no model with initial values apart.
    assert pm.model.fgraph.clone_model(full)["c"].ndim == 0
    assert model.rvs_to_initial_values[a] == 2


def test_data_variables_of_the_new_model_can_be_set():
    with pm.Model() as model:
        data = pm.Data("data", Y)
        theta = pm.Normal("theta")
        pm.Normal("y", theta, observed=pm.Minibatch(data, batch_size=10), total_size=N)
    full = pmg.full_data(model)
    with full:
        pm.set_data({"data": np.zeros(5)})
    expected = 6 * -0.5 * np.log(2 * np.pi)
    logp = full.compile_logp(mode="FAST_COMPILE")
    assert logp({"theta": 0.0}) == pytest.approx(expected)
    np.testing.assert_array_equal(model["data"].get_value(), Y)


@pytest.fixture(scope="module")
def drawn():
    """Draws from minibatches, and the model with all data."""
    model = several_batches(minibatch=True)
    # "mean" is one of a batch, and is asked for all the same.
    with pytest.warns(UserWarning, match=r"\['mean'\] depend on `pm.Minibatch` data"):
        step = pmg.gSGNHT(model=model, step_size=0.02, diffusion=2.0, n_steps=50)
    idata = pm.sample(
        draws=150,
        tune=150,
        chains=2,
        cores=1,
        step=step,
        model=model,
        random_seed=3,
        progressbar=False,
        quiet=True,
        compute_convergence_checks=False,
    )
    return idata, pmg.full_data(model)


def test_log_likelihood_and_loo(drawn):
    idata, full = drawn
    result = pm.compute_log_likelihood(
        idata, model=full, extend_inferencedata=False, progressbar=False
    )
    assert result["y"].shape == (2, 150, N)
    assert result["z"].shape == (2, 150, M)
    draw = idata.posterior.isel(chain=1, draw=7)
    residual = (Y - X @ draw["beta"].values) / draw["sigma"].item()
    expected = -0.5 * residual**2 - np.log(draw["sigma"].item()) - 0.5 * np.log(2 * np.pi)
    np.testing.assert_allclose(result["y"].isel(chain=1, draw=7), expected, rtol=0, atol=1e-10)

    extended = pm.compute_log_likelihood(idata.copy(), model=full, progressbar=False)
    loo = az.loo(extended, var_name="y")
    assert loo.n_data_points == N
    # Five parameters matter to y, and the model is true.
    assert 1 < loo.p < 10
    assert abs(loo.elpd + 0.5 * N * np.log(2 * np.pi * np.e)) < 5 * loo.se


def test_posterior_predictive(drawn):
    idata, full = drawn
    draws = idata.copy()
    draws["posterior"] = idata["posterior"].to_dataset().drop_vars("mean")
    with pytest.warns(UserWarning, match="Potentials"):
        predicted = pm.sample_posterior_predictive(
            draws, model=full, random_seed=1, progressbar=False
        ).posterior_predictive
    assert predicted["y"].shape == (2, 150, N)
    assert predicted["z"].shape == (2, 150, M, 3)
    np.testing.assert_allclose(np.linalg.norm(predicted["z"], axis=-1), 1, atol=1e-12)
    assert predicted["y"].std() == pytest.approx(Y.std(), rel=0.1)


def test_deterministics_of_a_batch_are_computed_for_all_rows(drawn):
    """As the warning says; in the draws they are those of some batch."""
    idata, full = drawn
    assert idata["posterior"]["mean"].shape == (2, 150, 20)
    found = pm.compute_deterministics(idata, model=full, var_names=["mean"], progressbar=False)[
        "mean"
    ]
    expected = idata["posterior"]["beta"].values @ X.T
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)


@pytest.mark.slow
def test_nuts_samples_it():
    model, full = mixture(minibatch=False), pmg.full_data(mixture(minibatch=True))
    options = {
        "draws": 1000,
        "tune": 1000,
        "chains": 2,
        "cores": 1,
        "random_seed": 1,
        "progressbar": False,
        "quiet": True,
    }
    expected, found = (pm.sample(model=m, **options) for m in (model, full))
    assert found.sample_stats["diverging"].sum() < 20
    for name in ("weights", "mu"):
        a, b = (az.summary(i, var_names=name, round_to="none") for i in (expected, found))
        error = np.hypot(a["mcse_mean"], b["mcse_mean"])
        assert (np.abs(a["mean"] - b["mean"]) < 5 * error).all()


def test_potential_of_a_batch_is_refused():
    with pm.Model() as model:
        theta = pm.Normal("theta")
        pm.Potential("pull", -(theta * pm.Minibatch(Y, batch_size=10)).sum())
    with pytest.raises(ValueError, match=r"`pull` depends on `pm.Minibatch`.*observed variable"):
        pmg.full_data(model)


def test_free_variable_of_a_batch_is_refused():
    with pm.Model() as model:
        x = pm.Minibatch(X[:, 0], batch_size=10)
        local = pm.Normal("local", x)
        pm.Normal("y", local, observed=pm.Minibatch(Y, batch_size=10), total_size=N)
    with pytest.raises(ValueError, match=r"`local` depends on `pm.Minibatch`.*a batch"):
        pmg.full_data(model)


def test_shapes_that_fit_batches_only_are_refused():
    with pm.Model() as model:
        offsets = pm.Normal("theta") * np.arange(10)
        pm.Normal("y", offsets, observed=pm.Minibatch(Y, batch_size=10), total_size=N)
    with pytest.raises(ValueError, match="some shape in it fits only a batch"):
        pmg.full_data(model)


@pytest.mark.parametrize("build", [random_effects, proportions])
def test_variables_of_the_rows_of_a_batch_are_refused(build):
    with pytest.raises(ValueError, match=r"no variables of the rows.*draws belong to other rows"):
        pmg.full_data(build(batch_size=10))


def test_missing_total_size_is_refused():
    with pm.Model() as model, pytest.warns(UserWarning, match="total_size"):
        pm.Normal("y", pm.Normal("theta"), observed=pm.Minibatch(Y, batch_size=10))
    with pytest.raises(ValueError, match="has no `total_size`"):
        pmg.full_data(model)


def test_total_size_that_is_not_the_number_of_rows_is_refused():
    with pm.Model() as model:
        observed = pm.Minibatch(Y, batch_size=10)
        pm.Normal("y", pm.Normal("theta"), observed=observed, total_size=10 * N)
    with pytest.raises(ValueError, match=r"rows of data as its `total_size`, 2000, got 200"):
        pmg.full_data(model)


def test_data_are_not_copied_and_change_in_one_model_only():
    x, y = np.ones(1_000), np.zeros(1_000)
    with pm.Model() as model:
        data, scale = pm.Data("data", x), pm.Normal("scale")
        batch, rows = pm.Minibatch(data, y, batch_size=10)
        pm.Normal("y", scale * batch, observed=rows, total_size=1_000)
    full = pmg.full_data(model)
    held = [m["data"].get_value(borrow=True) for m in (model, full)]
    assert np.shares_memory(*held)
    pm.set_data({"data": 2 * x}, model=full)
    assert model["data"].get_value()[0] == 1
    assert full["data"].get_value()[0] == 2
