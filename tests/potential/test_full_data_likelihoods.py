#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What is done with the model of all data, for the likelihoods of ordinary models."""

import arviz as az
import numpy as np
import pymc as pm
import pytest

from pymc.distributions.transforms import ordered

import pymc_geodesic as pmg

RNG = np.random.default_rng(1)
N = 60
X = RNG.normal(size=(N, 2))
GROUP = RNG.integers(0, 3, N)
REAL = X @ [1.0, -1.0] + RNG.normal(size=N)
COUNTS = RNG.poisson(2, N)
DIRECTIONS = RNG.normal([2.0, 0.0, 0.0], 1.0, (N, 3))
DIRECTIONS /= np.linalg.norm(DIRECTIONS, axis=1, keepdims=True)
FAST = {"mode": "FAST_COMPILE"}


def normal(x, y, **scaled):
    sigma = pm.HalfNormal("sigma", initval=2.0)
    mean = pm.Deterministic("mean", x @ pm.Normal("beta", shape=2))
    pm.Normal("y", mean, sigma, observed=y, **scaled)


def bernoulli(x, y, **scaled):
    pm.Bernoulli("y", logit_p=x @ pm.Normal("beta", shape=2), observed=y, **scaled)


def poisson_with_offset(x, y, **scaled):
    rate = pm.math.exp(x[:, 0] * pm.Normal("beta") + x[:, 1])
    pm.Poisson("y", rate, observed=y, **scaled)


def categorical(x, y, **scaled):
    pm.Categorical("y", logit_p=x @ pm.Normal("beta", shape=(2, 3)), observed=y, **scaled)


def multinomial(x, y, **scaled):
    p = pm.math.softmax(x @ pm.Normal("beta", shape=(2, 3)), axis=-1)
    pm.Multinomial("y", n=y.sum(axis=-1).astype("int32"), p=p, observed=y, **scaled)


def dirichlet(x, y, **scaled):
    a = 3 * pm.math.softmax(x @ pm.Normal("beta", shape=(2, 3)), axis=-1)
    pm.Dirichlet("y", a, observed=y, **scaled)


def von_mises_fisher(x, y, **scaled):
    mu = pmg.VonMisesFisher("mu", [1, 0, 0], 1.0)
    kappa = pm.math.exp(x[:, 0] * pm.Normal("beta"))
    pmg.VonMisesFisher("y", mu, kappa, observed=y, **scaled)


def ordered_logistic(x, y, **scaled):
    # PyMC starts these at equal values, where the log density is -inf.
    cuts = pm.Normal("cuts", 0, 3, shape=2, transform=ordered, initval=[-1.0, 1.0])
    eta = x @ pm.Normal("beta", shape=2)
    pm.OrderedLogistic("y", eta=eta, cutpoints=cuts, observed=y, **scaled)


def censored(x, y, **scaled):
    latent = pm.Normal.dist(x @ pm.Normal("beta", shape=2), pm.HalfNormal("sigma"))
    pm.Censored("y", latent, -1, 1, observed=y, **scaled)


def negative_binomial_of_groups(x, y, **scaled):
    scale = pm.HalfNormal("scale")
    group = pm.Normal("group", 0, scale, shape=3)
    mu = pm.math.exp(group[x[:, 0].astype("int32")])
    pm.NegativeBinomial("y", mu=mu, alpha=2.0, observed=y, **scaled)


def mixture_of_students(x, y, **scaled):
    centers = (x @ pm.Normal("beta", shape=2))[:, None] + np.array([0.0, 2.0])
    components = pm.StudentT.dist(nu=4, mu=centers, sigma=1.0)
    pm.Mixture("y", w=pm.Dirichlet("w", [2.0, 2.0]), comp_dists=components, observed=y, **scaled)


def hurdle_poisson(x, y, **scaled):
    """Its draws come from a loop."""
    mu = pm.math.exp(x @ pm.Normal("beta", shape=2))
    pm.HurdlePoisson("y", pm.Beta("psi", 1, 1), mu, observed=y, **scaled)


def zero_inflated(x, y, **scaled):
    mu = pm.math.exp(x @ pm.Normal("beta", shape=2))
    pm.ZeroInflatedPoisson("y", psi=pm.Beta("psi", 1, 1), mu=mu, observed=y, **scaled)


def custom(x, y, **scaled):
    def log_normal(mu, size):
        return pm.math.exp(pm.Normal.dist(mu, 1.0, size=size))

    pm.CustomDist("y", x @ pm.Normal("beta", shape=2), dist=log_normal, observed=y, **scaled)


DATA = {
    normal: (X, REAL),
    bernoulli: (X, (REAL > 0).astype(int)),
    poisson_with_offset: (X, COUNTS),
    categorical: (X, GROUP),
    multinomial: (X, RNG.multinomial(7, [0.2, 0.3, 0.5], N)),
    dirichlet: (X, RNG.dirichlet([1, 2, 3], N)),
    von_mises_fisher: (X, DIRECTIONS),
    ordered_logistic: (X, GROUP),
    censored: (X, np.clip(REAL, -1, 1)),
    negative_binomial_of_groups: (GROUP[:, None].astype(float), COUNTS),
    mixture_of_students: (X, REAL),
    hurdle_poisson: (X, COUNTS),
    zero_inflated: (X, COUNTS),
    custom: (X, np.exp(REAL)),
}
every_likelihood = pytest.mark.parametrize("likelihood", DATA, ids=lambda f: f.__name__)


def as_data(y):
    return y.astype("int32") if y.dtype.kind == "i" else y


def model_of(likelihood, *, minibatch, rows=slice(None)):
    x, y = (array[rows] for array in DATA[likelihood])
    with pm.Model() as model:
        x, y = pm.Data("x_data", x), pm.Data("y_data", as_data(y))
        if minibatch:
            x, y = pm.Minibatch(x, y, batch_size=8)
        likelihood(x, y, **({"total_size": N} if minibatch else {}))
    return model


def posterior_of(model, n=6):
    """Draws about the start, and the same as points of value variables."""
    rng = np.random.default_rng(5)
    start = model.initial_point()
    names = [rv.name for rv in model.free_RVs]
    function = model.compile_fn(
        model.replace_rvs_by_values(model.free_RVs), inputs=model.value_vars, **FAST
    )
    points = [{k: v + 0.2 * rng.normal(size=v.shape) for k, v in start.items()} for _ in range(n)]
    columns = zip(*(function(point) for point in points), strict=True)
    draws = {name: np.array([column]) for name, column in zip(names, columns, strict=True)}
    return az.from_dict({"posterior": draws}), points


@every_likelihood
def test_log_density_and_its_start_are_the_exact_ones(likelihood):
    exact, full = (
        model_of(likelihood, minibatch=False),
        pmg.full_data(model_of(likelihood, minibatch=True)),
    )
    expected, found = (model.compile_logp(**FAST) for model in (exact, full))
    start = full.initial_point()
    assert np.isfinite(found(start))
    for name, value in exact.initial_point().items():
        np.testing.assert_array_equal(start[name], value)
    for point in posterior_of(exact)[1]:
        assert found(point) == pytest.approx(expected(point), rel=1e-12, abs=1e-8)


# Draws about a start, not of a posterior, have any tails.
@pytest.mark.filterwarnings("ignore:Estimated shape parameter of Pareto")
@every_likelihood
def test_log_likelihood_and_loo(likelihood):
    full = pmg.full_data(model_of(likelihood, minibatch=True))
    idata, points = posterior_of(full, n=60)
    idata = pm.compute_log_likelihood(idata, model=full, progressbar=False, compile_kwargs=FAST)
    found = idata["log_likelihood"]["y"]
    assert found.shape == (1, 60, N)
    exact = model_of(likelihood, minibatch=False)
    expected = exact.compile_logp(vars=exact["y"], sum=False, **FAST)(points[3])[0]
    np.testing.assert_allclose(found[0, 3], expected, rtol=1e-10, atol=1e-10)
    assert az.loo(idata).n_data_points == N


@every_likelihood
def test_posterior_predictive(likelihood):
    full = pmg.full_data(model_of(likelihood, minibatch=True))
    idata, _ = posterior_of(full)
    predicted = pm.sample_posterior_predictive(
        idata, model=full, random_seed=1, progressbar=False, compile_kwargs=FAST
    ).posterior_predictive["y"]
    assert predicted.shape == (1, 6, *DATA[likelihood][1].shape)
    assert np.isfinite(predicted).all()


@every_likelihood
def test_new_rows_take_the_place_of_the_data(likelihood):
    full = pmg.full_data(model_of(likelihood, minibatch=True))
    x, y = DATA[likelihood]
    rows = np.arange(5, 16)
    with full:
        pm.set_data({"x_data": x[rows], "y_data": as_data(y[rows])})
    exact = model_of(likelihood, minibatch=False, rows=rows)
    idata, points = posterior_of(exact)
    expected, found = (model.compile_logp(**FAST) for model in (exact, full))
    assert found(points[0]) == pytest.approx(expected(points[0]), rel=1e-12, abs=1e-8)
    predicted = pm.sample_posterior_predictive(
        idata, model=full, random_seed=1, progressbar=False, compile_kwargs=FAST
    ).posterior_predictive["y"]
    assert predicted.shape == (1, 6, *y[rows].shape)


# For the others it is enough that log density and start are the exact ones: this takes minutes.
@pytest.mark.slow
@pytest.mark.parametrize("likelihood", [categorical, dirichlet, ordered_logistic, custom])
def test_nuts_samples_it(likelihood):
    """Against the exact model."""
    options = {"draws": 400, "tune": 400, "chains": 2, "cores": 1, "random_seed": 1}
    quiet = {"progressbar": False, "quiet": True, "compute_convergence_checks": False}
    exact, full = (
        model_of(likelihood, minibatch=False),
        pmg.full_data(model_of(likelihood, minibatch=True)),
    )
    names = [rv.name for rv in full.free_RVs]
    expected, found = (pm.sample(model=m, **options, **quiet) for m in (exact, full))
    a, b = (az.summary(i, var_names=names, round_to="none") for i in (expected, found))
    error = np.hypot(a["mcse_mean"], b["mcse_mean"])
    assert (np.abs(a["mean"] - b["mean"]) < 6 * error).all()
