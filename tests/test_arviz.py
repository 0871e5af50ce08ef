#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""ArviZ's own plots and statistics take what the steps return, and the pictures all take it too."""

import arviz as az
import matplotlib.pyplot as plt
import numpy as np
import pymc as pm
import pytest
import xarray as xr

import pymc_geodesic as pmg

N = 120
RNG = np.random.default_rng(1)
DIRECTIONS = RNG.normal([1.0, 1.0, 0.0], 1.0, (N, 3))
DIRECTIONS /= np.linalg.norm(DIRECTIONS, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def idata():
    coords = {"axis": ["x", "y", "z"], "part": ["a", "b", "c"]}
    with pm.Model(coords=coords) as model:
        mu = pmg.VonMisesFisher("mu", [0.6, 0.8, 0.0], 1.0, dims="axis")
        kappa = pm.HalfNormal("kappa", 5.0)
        weights = pm.Dirichlet("weights", np.ones(3), dims="part")
        batch = pm.Minibatch(DIRECTIONS, batch_size=20)
        pmg.VonMisesFisher("x", mu, kappa * weights[0], observed=batch, total_size=N)
        step = pmg.gSGNHT(step_size=0.05, thermostat="per_variable", diffusion=5.0, n_steps=50)
        result = pm.sample(
            draws=150,
            tune=150,
            chains=2,
            cores=1,
            step=step,
            random_seed=4,
            progressbar=False,
            quiet=True,
            compute_convergence_checks=False,
        )
    return pm.compute_log_likelihood(result, model=pmg.full_data(model), progressbar=False)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize(
    "plot", ["plot_trace_dist", "plot_forest", "plot_dist", "plot_rank", "plot_autocorr"]
)
def test_arviz_plots(idata, plot):
    getattr(az, plot)(idata, backend="matplotlib")


def test_arviz_statistics(idata):
    table = az.summary(idata, round_to="none")
    assert len(table) == 7
    assert np.isfinite(table.to_numpy()).all()
    assert (table["ess_bulk"] > 50).all()
    assert (az.ess(idata)["mu"] > 50).all()
    assert az.rhat(idata)["kappa"] < 1.1
    loo = az.loo(idata)
    assert loo.n_data_points == N
    # Three parameters matter: two of the direction, and one of the concentration.
    assert 0.5 < loo.p < 6


def test_own_pictures_and_summary(idata):
    assert len(pmg.plot_thermostat(idata)) == 8
    assert pmg.plot_sphere(idata, contours=[0.5]).name == "mollweide"
    assert pmg.plot_simplex(idata).get_aspect() == 1
    table = pmg.summary(idata, round_to="none")
    assert table["resultant_length"].notna().sum() == 3
    assert np.linalg.norm(table.loc[["mu[x]", "mu[y]", "mu[z]"], "mean"]) == pytest.approx(1)


@pytest.mark.parametrize(
    ("package", "write", "options"),
    [("netCDF4", "to_netcdf", {}), ("zarr", "to_zarr", {"engine": "zarr"})],
)
@pytest.mark.filterwarnings("ignore")
def test_what_is_saved_is_read(idata, tmp_path, package, write, options):
    pytest.importorskip(package)
    getattr(idata, write)(tmp_path / "run")
    with xr.open_datatree(tmp_path / "run", **options) as read:
        xr.testing.assert_identical(read, idata)
        # Zarr returns variables in alphabetical order.
        assert pmg.summary(read).sort_index().equals(pmg.summary(idata).sort_index())
