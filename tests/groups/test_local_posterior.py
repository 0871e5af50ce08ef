#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Effects of chosen groups afterwards, against exact conditional laws."""

import numpy as np
import pymc as pm
import pytest
import xarray as xr

from chains import assert_mean
from tables import columns, logistic_table, marginal_logistic

import pymc_geodesic as pmg

NOISE = 0.5


def gaussian_table():
    table = logistic_table(40)
    table["y"] = np.random.default_rng(2).normal(1.0, 1.0, len(table["x"]))
    return table


def gaussian_model(rows):
    with pm.Model() as model:
        y, mask = columns(rows, ["y"], 10)
        mu, tau = pm.Normal("mu"), pm.HalfNormal("tau")
        effect = pm.Normal.dist(mu, tau, shape=y.shape[0])
        each = pm.Normal.dist(effect[:, None], NOISE)
        pmg.MarginalLikelihood("y", each, effect, mask, observed=y, total_size=len(rows))
    return model


def draws_of(n_draws, **values):
    arrays = {name: np.full((2, n_draws), value) for name, value in values.items()}
    return xr.DataTree.from_dict(
        {"posterior": xr.Dataset({k: (("chain", "draw"), v) for k, v in arrays.items()})}
    )


def test_effects_follow_their_conditional_law():
    table = gaussian_table()
    rows = pmg.GroupedRows(table, by="user")
    labels = [rows.labels[7], rows.labels[0], rows.labels[39]]
    idata = draws_of(500, mu=0.4, tau=0.9)
    model = gaussian_model(rows)
    found = pmg.local_posterior(idata, labels, rows=rows, model=model, random_seed=1)
    effects = found.posterior["effect"]
    assert effects.dims == ("chain", "draw", "user")
    for label in labels:
        y = table["y"][table["user"] == label]
        precision = 0.9**-2 + len(y) * NOISE**-2
        mean = (0.4 * 0.9**-2 + y.sum() * NOISE**-2) / precision
        standard = (effects.sel(user=label).values.ravel() - mean) * np.sqrt(precision)
        assert_mean(standard, 0.0)
        assert_mean(standard**2, 1.0)
        assert_mean(standard**4, 3.0)


def test_skewed_effects_by_integration():
    table = logistic_table(40)
    rows = pmg.GroupedRows(table, by="user")
    model = marginal_logistic(rows, 10)
    idata = draws_of(400, mu=0.5, slope=1.0, tau=2.0)
    labels = rows.labels[:4]
    found = pmg.local_posterior(idata, labels, rows=rows, model=model, random_seed=2)
    grid = np.linspace(-16, 16, 4001)
    for label in labels:
        here = table["user"] == label
        sign = 2.0 * table["y"][here] - 1
        logit = 0.5 + table["x"][here] + grid[:, None]
        log_density = -np.logaddexp(0, -sign * logit).sum(axis=1) - grid**2 / 8
        density = np.exp(log_density - log_density.max())
        density /= density.sum()
        draws = found.posterior["effect"].sel(user=label).values.ravel()
        for power in (1, 2, 3):
            assert_mean(draws**power, (density * grid**power).sum())


def test_every_draw_has_its_global_variables():
    rows = pmg.GroupedRows(gaussian_table(), by="user")
    idata = draws_of(50, mu=0.0, tau=1e-4)
    idata.posterior["mu"][:] = np.arange(100.0).reshape(2, 50)
    model = gaussian_model(rows)
    found = pmg.local_posterior(idata, rows.labels[:2], rows=rows, model=model, thin=5)
    effects = found.posterior["effect"]
    assert effects.shape == (2, 10, 2)
    np.testing.assert_allclose(effects[..., 0], idata.posterior["mu"][:, ::5], atol=0.01)


def test_bad_arguments():
    rows = pmg.GroupedRows(gaussian_table(), by="user")
    model = gaussian_model(rows)
    idata = draws_of(5, mu=0.0, tau=1.0)
    with pytest.raises(ValueError, match="that are not there, such as 'nobody'"):
        pmg.local_posterior(idata, ["nobody"], rows=rows, model=model)
    with pytest.raises(ValueError, match=r"draws of \['tau'\], got \['mu'\]"):
        pmg.local_posterior(draws_of(5, mu=0.0), rows.labels[:1], rows=rows, model=model)
    other = pmg.GroupedRows(logistic_table(7), by="user")
    with pytest.raises(ValueError, match="of the 7 groups"):
        pmg.local_posterior(idata, other.labels[:1], rows=other, model=model)
