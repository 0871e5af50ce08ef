#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Models with few rows are sampled exactly at the first call, mixtures with labels that agree."""

import logging

import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.runs.few_rows import chosen

MEANS = pmg.directions.from_dip([85, 70, 20], [80, 185, 35])
KAPPAS, SIZES = [40.0, 25.0, 15.0], [200, 120, 80]


@pytest.fixture(scope="module")
def poles():
    """400 axes in three sets, at their lower ends as geologists write them."""
    rows = pmg.Watson.dist(np.repeat(MEANS, SIZES, axis=0), np.repeat(KAPPAS, SIZES))
    return pmg.directions.from_dip(*pmg.directions.to_dip(pm.draw(rows, random_seed=1)))


def of_axes(x):
    with pm.Model(coords={"set": range(3)}) as model:
        share = pm.Dirichlet("share", np.ones(3), dims="set")
        pole = pmg.SphericalUniform("pole", shape=(3, 3))
        kappa = pm.HalfNormal("kappa", 50.0, dims="set")
        pm.Mixture("x", share, pmg.Watson.dist(pole, kappa), observed=x)
    return model


@pytest.mark.parametrize("seed", [1, 2])
def test_three_sets_of_axes_at_the_first_try(poles, seed, caplog):
    model = of_axes(poles)
    with caplog.at_level(logging.INFO):
        idata = pmg.sample(model=model, random_seed=seed, progressbar=False)
    assert "at most 500 rows: GMC samples all of them, and is exact" in caplog.text
    assert "NUTS" not in caplog.text
    assert not [r for r in caplog.records if r.levelno >= logging.WARNING]
    table = pmg.summary(idata, axial=True)
    assert table["r_hat"].max() < 1.02
    assert table["ess_bulk"].min() > 400
    draws = idata.posterior
    order = np.abs(draws["pole"].values[0, 0] @ MEANS.T).argmax(axis=0)
    # Six standard errors of the mean of a set: 1 / sqrt(2 n kappa) in each of two directions.
    cosines = np.abs((draws["pole"].values[..., order, :] * MEANS).sum(-1))
    limit = 6 / np.sqrt(np.multiply(SIZES, KAPPAS))
    assert np.all(np.arccos(cosines.mean((0, 1))) < limit)
    kappa = draws["kappa"].values[..., order]
    assert np.all(np.abs(kappa.mean((0, 1)) - KAPPAS) < 5 * kappa.std((0, 1)))
    # All chains number the sets alike.
    per_chain = draws["kappa"].mean("draw").values
    assert np.ptp(per_chain, axis=0).max() < 0.5 * kappa.std((0, 1)).max()
    found = pmg.membership(idata, model).values[:, order]
    labels = np.repeat(range(3), SIZES)
    assert np.mean(found.argmax(axis=1) == labels) > 0.97


def badly_scaled():
    """A mixture whose parameters have widths of .02 to 2, and rows far from the prior's scale."""
    rng = np.random.default_rng(2)
    labels = rng.choice(3, 300, p=[0.5, 0.3, 0.2])
    y = rng.normal(np.array([100.0, 140.0, 200.0])[labels], np.array([8.0, 10.0, 5.0])[labels])
    with pm.Model() as model:
        w, mu = pm.Dirichlet("w", np.ones(3)), pm.Normal("mu", 120, 60, shape=3)
        sd = pm.HalfNormal("sd", 20, shape=3)
        pm.NormalMixture("y", w, mu, sigma=sd, observed=y)
    return model, np.array([y[labels == i].mean() for i in range(3)])


def test_widths_that_differ_are_tuned():
    model, means = badly_scaled()
    idata = pmg.sample(500, tune=500, model=model, random_seed=1, progressbar=False)
    table = pmg.summary(idata)
    assert table["r_hat"].max() < 1.02
    assert table["ess_bulk"].min() > 300
    found = np.sort(idata.posterior["mu"].mean(("chain", "draw")))
    np.testing.assert_allclose(found, means, atol=2)


def test_gmc_itself_starts_a_mixture_in_one_mode(poles):
    idata = pmg.sample(
        200, tune=300, model=of_axes(poles), step=pmg.GMC, random_seed=1, progressbar=False
    )
    kappa = idata.posterior["kappa"].values
    assert np.ptp(kappa.mean(axis=1), axis=0).max() < 5
    order = np.abs(idata.posterior["pole"].values[0, 0] @ MEANS.T).argmax(axis=0)
    assert sorted(order) == [0, 1, 2]


def test_starts_of_the_user_stay(poles):
    model = of_axes(poles)
    start = {"pole": MEANS[[2, 0, 1]], "kappa": np.full(3, 20.0), "share": np.full(3, 1 / 3)}
    idata = pmg.sample(100, tune=200, model=model, initvals=start, random_seed=1, progressbar=False)
    cosines = np.abs(np.einsum("cdki,ki->cdk", idata.posterior["pole"].values, start["pole"]))
    assert cosines.min() > 0.9


@pytest.fixture
def nuts(monkeypatch):
    """What NUTS is called with; it does not run."""
    calls = []

    def sample(*args, **kwargs):
        calls.append(kwargs)
        raise InterruptedError

    monkeypatch.setattr(pm, "sample", sample)
    return calls


def test_variables_in_flat_space_are_sampled_by_nuts(nuts, caplog):
    with pm.Model(), caplog.at_level(logging.INFO):
        pm.Normal("y", pm.Normal("mu"), observed=np.zeros(40))
        with pytest.raises(InterruptedError):
            pmg.sample(progressbar=False)
        assert "at most 500 rows: NUTS samples all of them" in caplog.text
        with pytest.raises(ValueError, match="`until` expected its default beside"):
            pmg.sample(until={"ess": 10}, progressbar=False)
        with pytest.raises(ValueError, match="more rows than `batch_size`=500"):
            pmg.sample(batch_size=500, progressbar=False)
    [call] = nuts
    assert call["initvals"] is None


@pytest.mark.parametrize(("concentration", "is_nuts"), [(0.1, True), (0.5, False)])
def test_corners_of_a_simplex_are_sampled_by_nuts(concentration, is_nuts):
    """There geodesic chains stay where they started, and SGRLD takes no other variable."""
    with pm.Model() as model:
        p = pm.Dirichlet("p", np.full(4, concentration))
        pm.Multinomial("counts", 9, p, observed=np.tile([9, 0, 0, 0], (40, 1)))
        pm.Normal("y", pm.Normal("mu"), observed=np.zeros(40))
        options = {"batch_size": None, "until": None}
        found = chosen(model, None, None, options, kept=(), initvals=None, n_chains=2)
    assert (found.exact == "nuts") is is_nuts


def test_nuts_starts_a_mixture_in_one_mode(nuts):
    rng = np.random.default_rng(1)
    y = rng.normal(np.repeat([-4.0, 4.0], 60), 1.0)
    with pm.Model():
        mu = pm.Normal("mu", 0, 5, shape=2)
        pm.NormalMixture("y", [0.5, 0.5], mu, sigma=1.0, observed=y)
        with pytest.raises(InterruptedError):
            pmg.sample(chains=3, random_seed=1, progressbar=False)
    [call] = nuts
    starts = np.array([start["mu"] for start in call["initvals"]])
    assert starts.shape == (3, 2)
    assert call["init"] == "adapt_diag"
    np.testing.assert_allclose(np.sort(starts, axis=1), np.tile([-4.0, 4.0], (3, 1)), atol=1)
    assert np.ptp(np.sign(starts), axis=0).max() == 0


def test_a_model_without_data():
    """All variables compact: steps have a longest length, and no mass."""
    with pm.Model():
        pmg.VonMisesFisher("x", [1.0, 0.0, 0.0], 5.0)
        idata = pmg.sample(500, tune=300, random_seed=1, progressbar=False)
    expected = 1 / np.tanh(5.0) - 1 / 5.0
    assert abs(idata.posterior["x"].values[..., 0].mean() - expected) < 0.03
