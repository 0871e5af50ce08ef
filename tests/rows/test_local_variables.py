#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Variables of rows are integrated out exactly, or stay in the model."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest

from scipy import stats

import pymc_geodesic as pmg

from pymc_geodesic.kernel.interpreted import Interpreted
from pymc_geodesic.rows.convert import converted

pytestmark = pytest.mark.filterwarnings("ignore:Data in . contains missing values")

N, G, BATCH_SIZE = 200, 205, 20
rng = np.random.default_rng(1)
X = rng.standard_normal(N)
# Each row has an entry of its own, and some entries have no row.
GROUP = rng.permutation(G)[:N]
OTHER = rng.integers(0, G - 10, N)
Y = rng.standard_normal(N)
COUNTS = rng.poisson(1.0, N)
MISSING = rng.choice(N, 50, replace=False)


def log_density(model, values, *, gradient=False):
    """The log density at values of the free variables, and perhaps its gradient."""
    density = model.logp()
    outputs = [density, *pt.grad(density, model.value_vars)] if gradient else [density]
    point = {model.rvs_to_values[rv].name: values[rv.name] for rv in model.free_RVs}
    found = Interpreted(model.value_vars, outputs)(*(point[x.name] for x in model.value_vars))
    return found[0], dict(zip((x.name for x in model.value_vars), found[1:], strict=False))


def without_effects(effects, y, mean, sd):
    """The log density of Gaussian rows with Gaussian effects integrated out."""
    return stats.multivariate_normal(mean, sd**2 * np.eye(len(y)) + effects).logpdf(y)


def varying_intercepts():
    with pm.Model(coords={"group": range(G)}) as model:
        mu, slope = pm.Normal("mu"), pm.Normal("slope")
        effect = pm.Normal("effect", mu, 0.8, dims="group")
        pm.Normal("y", effect[GROUP] + slope * X, 0.5, observed=Y)
    Z = np.eye(G)[GROUP]
    return (
        model,
        ["effect"],
        lambda mu, slope: without_effects(0.64 * Z @ Z.T, Y, mu + slope * X, 0.5),
    )


def not_centred():
    level = np.linspace(-1, 1, G)
    with pm.Model() as model:
        mu, slope = pm.Normal("mu"), pm.Normal("slope")
        z = pm.Normal("z", shape=G)
        effect = pm.Deterministic("effect", mu + slope * level + 0.8 * z)
        pm.Normal("y", effect[GROUP], 0.5, observed=Y)
    Z = np.eye(G)[GROUP]
    return (
        model,
        ["z"],
        lambda mu, slope: without_effects(0.64 * Z @ Z.T, Y, mu + slope * level[GROUP], 0.5),
    )


def two_effects():
    covariance = np.array([[0.5, 0.2], [0.2, 0.4]])
    with pm.Model() as model:
        mu, slope = pm.Normal("mu"), pm.Normal("slope")
        effects = pm.MvNormal("effects", pt.stack([mu, slope]), covariance, shape=(G, 2))
        pm.Normal("y", effects[GROUP, 0] + effects[GROUP, 1] * X, 0.5, observed=Y)
    both = np.stack([np.eye(G)[GROUP], np.eye(G)[GROUP] * X[:, None]])
    total = np.einsum("inm,ij,jkm->nk", both, covariance, both)
    return model, ["effects"], lambda mu, slope: without_effects(total, Y, mu + slope * X, 0.5)


def two_variables_on_the_second_axis():
    with pm.Model() as model:
        mu, slope = pm.Normal("mu"), pm.Normal("slope")
        z = pm.Normal("z", shape=(2, G))
        both = pt.stack([0.7 * z[0] + mu, slope + 0.3 * z[0] + 0.5 * z[1]])
        pm.Normal("y", both[0, GROUP] + both[1, GROUP] * X, 0.5, observed=Y)
    lower = np.array([[0.7, 0.0], [0.3, 0.5]])
    both = np.stack([np.eye(G)[GROUP], np.eye(G)[GROUP] * X[:, None]])
    total = np.einsum("inm,ij,jkm->nk", both, lower @ lower.T, both)
    return model, ["z"], lambda mu, slope: without_effects(total, Y, mu + slope * X, 0.5)


def measurement_error():
    with pm.Model() as model:
        mu, slope = pm.Normal("mu"), pm.Normal("slope")
        true = pm.Normal("true", mu, 0.8, shape=N)
        pm.Normal("x", true, 0.3, observed=X)
        pm.Normal("y", slope * true, 0.5, observed=Y)

    def exact(mu, slope):
        load = np.array([1.0, slope])
        covariance = 0.64 * np.outer(load, load) + np.diag([0.09, 0.25])
        return stats.multivariate_normal(mu * load, covariance).logpdf(np.stack([X, Y], 1)).sum()

    return model, ["true"], exact


def missing_covariate():
    x = X.copy()
    x[MISSING] = np.nan
    with pm.Model() as model:
        mu, slope = pm.Normal("mu"), pm.Normal("slope")
        known = pm.Normal("x", mu, 0.8, observed=np.ma.masked_invalid(x))
        pm.Normal("y", slope * known, 0.5, observed=Y)

    def exact(mu, slope):
        seen = np.setdiff1d(np.arange(N), MISSING)
        found = stats.norm(mu, 0.8).logpdf(X[seen]).sum()
        found += stats.norm(slope * X[seen], 0.5).logpdf(Y[seen]).sum()
        sd = np.sqrt(0.25 + 0.64 * slope**2)
        return found + stats.norm(slope * mu, sd).logpdf(Y[MISSING]).sum()

    return model, ["x_unobserved"], exact


def two_missing_covariates():
    """Some rows have both, others none."""
    values = np.stack([X, OTHER / G])
    is_missing = np.stack([np.isin(np.arange(N), MISSING), np.arange(N) % 3 == 0])
    x, z = np.where(is_missing, np.nan, values)
    with pm.Model() as model:
        mu, slope = pm.Normal("mu"), pm.Normal("slope")
        x_, z_ = pm.Normal("x", mu, 0.8, observed=x), pm.Normal("z", 0.3, 0.6, observed=z)
        pm.Normal("y", slope * x_ - 0.7 * z_, 0.5, observed=Y)

    def exact(mu, slope):
        prior, load = np.array([[mu], [0.3]]), np.array([[slope], [-0.7]])
        scale = np.array([[0.8], [0.6]])
        found = stats.norm(prior, scale).logpdf(values)[~is_missing].sum()
        mean = (load * np.where(is_missing, prior, values)).sum(axis=0)
        variance = 0.25 + (is_missing * (load * scale) ** 2).sum(axis=0)
        return found + stats.norm(mean, np.sqrt(variance)).logpdf(Y).sum()

    return model, ["x_unobserved", "z_unobserved"], exact


def missing_outcome():
    y = Y.copy()
    y[MISSING] = np.nan
    with pm.Model() as model:
        mu, slope = pm.Normal("mu"), pm.Normal("slope")
        pm.Normal("y", mu + slope * X, 0.5, observed=y)
    seen = np.setdiff1d(np.arange(N), MISSING)
    return (
        model,
        ["y_unobserved"],
        lambda mu, slope: stats.norm(mu + slope * X[seen], 0.5).logpdf(Y[seen]).sum(),
    )


def missing_counts():
    y = np.ma.masked_array(COUNTS, np.isin(np.arange(N), MISSING[:3]))
    with pm.Model() as model:
        mu, slope = pm.Normal("mu"), pm.Normal("slope")
        pm.Poisson("y", pt.exp(mu + slope * X), observed=y)
    seen = np.setdiff1d(np.arange(N), MISSING[:3])
    return (
        model,
        ["y_unobserved"],
        lambda mu, slope: stats.poisson(np.exp(mu + slope * X[seen])).logpmf(COUNTS[seen]).sum(),
    )


def gamma_of_each_row():
    """Poisson counts with gamma rates are negative binomial."""
    with pm.Model() as model:
        mu, slope = pm.Normal("mu"), pm.Normal("slope")
        rate = pm.Gamma("rate", 4.0, 4.0, shape=N)
        pm.Poisson("y", rate * pt.exp(mu + slope * X), observed=COUNTS)

    def exact(mu, slope):
        mean = np.exp(mu + slope * X)
        return stats.nbinom(4.0, 4.0 / (4.0 + mean)).logpmf(COUNTS).sum()

    return model, ["rate"], exact


def normal_of_each_row():
    with pm.Model() as model:
        mu, slope = pm.Normal("mu"), pm.Normal("slope")
        z = pm.Normal("z", shape=N)
        pm.Poisson("y", pt.exp(mu + slope * X + 0.6 * z), observed=COUNTS)

    grid = np.linspace(-9, 9, 2_001)

    def exact(mu, slope):
        rates = np.exp(mu + slope * X[:, None] + 0.6 * grid)
        joint = stats.poisson(rates).pmf(COUNTS[:, None]) * stats.norm.pdf(grid)
        return np.log(joint.sum(axis=1) * (grid[1] - grid[0])).sum()

    return model, ["z"], exact


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (varying_intercepts, 1e-5),
        (not_centred, 1e-5),
        pytest.param(two_effects, 1e-5, marks=pytest.mark.slow),
        (two_variables_on_the_second_axis, 1e-5),
        (measurement_error, 1e-5),
        (missing_covariate, 1e-5),
        (two_missing_covariates, 1e-5),
        (missing_outcome, 1e-5),
        (missing_counts, 1e-5),
        (gamma_of_each_row, 3e-3),
        (normal_of_each_row, 1e-5),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_the_density_is_that_without_the_variables(make, error):
    model, integrated, exact = make()
    found = converted(model, batch_size=BATCH_SIZE)
    assert found.integrated + found.unused == integrated
    assert sorted(rv.name for rv in found.model.free_RVs) == ["mu", "slope"]
    whole = pmg.full_data(found.model)
    for mu, slope in ((0.1, 0.3), (-0.4, 0.7)):
        density, _ = log_density(whole, {"mu": np.array(mu), "slope": np.array(slope)})
        expected = exact(mu, slope) + stats.norm.logpdf([mu, slope]).sum()
        assert density == pytest.approx(expected, rel=0, abs=error)


def test_the_gradient_is_that_of_the_density():
    model, _, exact = missing_covariate()
    whole = pmg.full_data(converted(model, batch_size=BATCH_SIZE).model)
    mu, slope, h = 0.1, 0.3, 1e-5
    point = {"mu": np.array(mu), "slope": np.array(slope)}
    _, gradient = log_density(whole, point, gradient=True)
    of_mu = (exact(mu + h, slope) - exact(mu - h, slope)) / (2 * h) - mu
    of_slope = (exact(mu, slope + h) - exact(mu, slope - h)) / (2 * h) - slope
    assert gradient["mu"] == pytest.approx(of_mu, rel=1e-5)
    assert gradient["slope"] == pytest.approx(of_slope, rel=1e-5)


def crossed():
    with pm.Model() as model:
        a, b = pm.Normal("a", 0, 1, shape=G), pm.Normal("b", 0, 1, shape=G - 10)
        pm.Normal("y", a[GROUP] + b[OTHER], 1.0, observed=Y)
    return model, ["a"]


def of_few_groups():
    with pm.Model() as model:
        a = pm.Normal("a", 0, 1, shape=25)
        pm.Normal("y", a[GROUP % 25], 1.0, observed=Y)
    return model, []


def in_a_chain():
    with pm.Model() as model:
        walk = pm.GaussianRandomWalk("walk", 0, 1, init_dist=pm.Normal.dist(), shape=G)
        pm.Normal("y", walk[GROUP], 1.0, observed=Y)
    return model, []


def tied_by_a_potential():
    with pm.Model() as model:
        a = pm.Normal("a", 0, 1, shape=G)
        pm.Potential("sum", -100 * a.sum() ** 2)
        pm.Normal("y", a[GROUP], 1.0, observed=Y)
    return model, []


def of_three_numbers():
    with pm.Model() as model:
        a = pm.Normal("a", 0, 1, shape=(G, 3))
        pm.Normal("y", a[GROUP].sum(axis=1), 1.0, observed=Y)
    return model, []


def above_other_variables():
    with pm.Model() as model:
        a = pm.Normal("a", 0, 1, shape=G)
        b = pm.Normal("b", a[np.arange(2 * G) // 2], 1, shape=2 * G)
        pm.Normal("y", b[GROUP], 1.0, observed=Y)
    return model, ["b"]


def discrete_labels():
    with pm.Model() as model:
        label = pm.Bernoulli("label", 0.5, shape=N)
        pm.Normal("y", label, 1.0, observed=Y)
    return model, []


@pytest.mark.parametrize(
    "make",
    [
        crossed,
        of_few_groups,
        in_a_chain,
        tied_by_a_potential,
        of_three_numbers,
        above_other_variables,
        discrete_labels,
    ],
)
@pytest.mark.filterwarnings("ignore:.*one for each of the")
def test_only_independent_entries_are_integrated_out(make):
    model, integrated = make()
    found = converted(model, batch_size=BATCH_SIZE)
    assert found.integrated == integrated
    kept = {rv.name for rv in model.free_RVs} - {*integrated}
    assert {rv.name for rv in found.model.free_RVs} == kept


def test_named_variables_are_kept():
    model, *_ = not_centred()
    assert converted(model, batch_size=BATCH_SIZE, kept=["effect"]).integrated == []
    free = pmg.minibatch(model, batch_size=BATCH_SIZE).free_RVs
    assert {rv.name for rv in free} == {"mu", "slope"}
