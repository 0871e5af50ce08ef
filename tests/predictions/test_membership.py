#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Memberships of rows are those of the densities, whatever the form of a model."""

import logging

import arviz as az
import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest

from scipy import stats
from scipy.special import softmax

import pymc_geodesic as pmg

RNG = np.random.default_rng(1)
N, S = 70, 30
Y = RNG.normal(np.where(RNG.random(N) < 0.4, -1.5, 1.5), 1.0)
X = RNG.normal(size=N)
W = RNG.dirichlet([4.0, 6.0], (2, S))
MU, SIGMA = RNG.normal([-1.5, 1.5], 0.3, (2, S, 2)), RNG.uniform(0.7, 1.3, (2, S, 2))
IDATA = az.from_dict({"posterior": {"w": W, "mu": MU, "sigma": SIGMA}})


def expected(idata=IDATA, y=Y, mean=None):
    """The average over draws of the shares of normal components."""
    w, mu, sigma = (idata.posterior[name].values[:, :, None] for name in ("w", "mu", "sigma"))
    parts = np.log(w) + stats.norm.logpdf(y[:, None], mu if mean is None else mean, sigma)
    return softmax(parts, axis=-1).mean(axis=(0, 1))


def priors(**dims):
    return (
        pm.Dirichlet("w", np.ones(2), **dims),
        pm.Normal("mu", 0, 5, **(dims or {"shape": 2})),
        pm.HalfNormal("sigma", 5, **(dims or {"shape": 2})),
    )


def plain():
    with pm.Model(coords={"obs": np.arange(N) + 100, "group": ["low", "high"]}) as model:
        w, mu, sigma = priors(dims="group")
        pm.Mixture("y", w, pm.Normal.dist(mu, sigma), observed=Y, dims="obs")
    return model


def of_a_list():
    with pm.Model() as model:
        w, mu, sigma = priors()
        parts = [pm.Normal.dist(mu[0], sigma[0]), pm.Normal.dist(mu[1], sigma[1])]
        pm.Mixture("y", w, parts, observed=Y)
    return model


def in_batches():
    with pm.Model() as model:
        w, mu, sigma = priors()
        batch = pm.Minibatch(Y, batch_size=10)
        pm.NormalMixture("y", w, mu, sigma=sigma, observed=batch, total_size=N)
    return model


def written_out():
    def density(y, w, mu, sigma):
        return pt.logsumexp(pt.log(w) + pm.logp(pm.Normal.dist(mu, sigma), y[:, None]), axis=-1)

    with pm.Model() as model:
        pm.CustomDist("y", *priors(), logp=density, observed=Y, signature="(k),(k),(k)->()")
        pm.Normal("other", 0, 1, observed=X)
    return model


@pytest.mark.parametrize("make", [plain, of_a_list, in_batches, written_out])
def test_shares_are_those_of_the_densities(make):
    found = pmg.membership(IDATA, make())
    np.testing.assert_allclose(found.values, expected(), rtol=1e-9)
    np.testing.assert_allclose(found.sum(found.dims[-1]), 1.0)


def test_dims_and_coordinates_are_those_of_the_model():
    found = pmg.membership(IDATA, plain())
    assert found.dims == ("obs", "group")
    assert list(found["group"].values) == ["low", "high"]
    np.testing.assert_array_equal(found["obs"], np.arange(N) + 100)
    assert pmg.membership(IDATA, of_a_list()).dims == ("y_dim_0", "y_component")
    with plain():
        assert pmg.membership(IDATA, max_draws=10).shape == (N, 2)


def test_blocks_of_rows(monkeypatch):
    from pymc_geodesic.predictions import rows_of_model as rows_at_draws

    monkeypatch.setattr(rows_at_draws, "BLOCK", 1_000)
    np.testing.assert_allclose(pmg.membership(IDATA, plain()).values, expected(), rtol=1e-9)


def test_components_that_depend_on_rows():
    with pm.Model() as model:
        w, mu, sigma = priors()
        means = mu * pm.Data("x", X)[:, None]
        pm.Mixture("y", w, pm.Normal.dist(means, sigma), observed=Y)
    mean = MU[:, :, None] * X[:, None]
    np.testing.assert_allclose(pmg.membership(IDATA, model), expected(mean=mean), rtol=1e-9)


@pytest.mark.parametrize("n", [N, 900])
def test_vectors_whose_components_depend_on_rows(n):
    """PyMC counts the axes of components of vectors wrongly: their rows were not taken."""
    x = RNG.normal(size=n)
    y = RNG.normal(size=(n, 3))
    with pm.Model() as model:
        w, mu, _ = priors()
        means = (mu * pm.Data("x", x)[:, None])[:, :, None] * np.ones(3)
        pm.Mixture("y", w, pm.MvNormal.dist(means, np.eye(3)), observed=y)
    mean = (MU[:, :, None] * x[:, None])[..., None]
    parts = np.log(W[:, :, None]) + stats.norm.logpdf(y[:, None], mean).sum(-1)
    found = pmg.membership(IDATA, model)
    np.testing.assert_allclose(found, softmax(parts, axis=-1).mean((0, 1)), rtol=1e-8)


def test_axes_and_directions():
    means = np.linalg.qr(RNG.normal(size=(3, 3)))[0]
    x = np.concatenate([pm.draw(pmg.Watson.dist(m, 20.0, size=20), random_seed=1) for m in means])
    with pm.Model() as model:
        mu = pmg.SphericalUniform("mu", shape=(3, 3))
        pm.Mixture("x", np.ones(3) / 3, pmg.Watson.dist(mu, 20.0), observed=x)
    idata = az.from_dict({"posterior": {"mu": np.tile(means, (2, 5, 1, 1))}})
    found = pmg.membership(idata, model)
    np.testing.assert_allclose(found, softmax(20 * (x @ means.T) ** 2, axis=-1), rtol=1e-9)


def test_chains_that_number_components_differently(caplog):
    posterior = IDATA.posterior.to_dataset()
    other = posterior.isel(chain=[1]).copy()
    for name in ("w", "mu", "sigma"):
        other[name] = other[name].copy(data=other[name].values[..., ::-1])
    switched = az.from_dict(
        {
            "posterior": {
                name: np.concatenate([posterior[name].values[:1], other[name].values])
                for name in ("w", "mu", "sigma")
            }
        }
    )
    with caplog.at_level(logging.WARNING):
        found = pmg.membership(switched, plain())
    np.testing.assert_allclose(found.values, expected(), rtol=1e-9)
    assert "The chains number the components of `y` differently" in caplog.text


def test_what_is_no_mixture_is_refused():
    with pm.Model() as model:
        pm.Normal("y", pm.Normal("mu"), observed=Y)
    with pytest.raises(ValueError, match="`var_name` expected an observed mixture"):
        pmg.membership(IDATA, model)
    with pytest.raises(ValueError, match="`var_name` expected an observed mixture"):
        pmg.membership(IDATA, plain(), var_name="nothing")
    with pytest.raises(ValueError, match=r"`idata` expected draws of \['mu', 'sigma'\]"):
        pmg.membership(az.from_dict({"posterior": {"w": W}}), plain())
