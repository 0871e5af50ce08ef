#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The examples with generated data find what it was generated from."""

import numpy as np
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.monte_carlo import mcse

pytestmark = [
    # Short runs are not settled, and say so.
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]


def test_wind(load_example, check_picture):
    example = load_example("wind")
    idata = example.run(quick=True)
    posterior = idata.posterior
    np.testing.assert_allclose(np.linalg.norm(posterior["prevailing"], axis=-1), 1, atol=1e-10)
    # Posterior standard deviations are about 0.006, 0.01 and 0.025.
    means = posterior.mean(("chain", "draw"))
    assert np.abs(means["prevailing"].values - example.PREVAILING).max() < 0.05
    assert np.abs(means["daily"].values - example.DAILY).max() < 0.08
    assert abs(means["kappa"].item() - example.KAPPA) < 0.2
    check_picture(example, idata)


def test_rock_sets(load_example, check_picture):
    example = load_example("rock_sets")
    idata = example.run(quick=True)
    table = pmg.directions.summary(idata, "dip")
    # Posterior standard deviations are about half a degree to two; directions of flat planes more.
    assert np.abs(np.sort(table["dip"]) - np.sort(example.SETS["dip"])).max() < 6
    assert table["r_hat"].max() < 1.05
    # 380 of the joints are nearer to their own set than to the others.
    sizes = np.bincount(idata["rows"]["membership"].values.argmax(axis=1))
    np.testing.assert_allclose(np.sort(sizes), [80, 120, 200], atol=8)
    check_picture(example, idata)


def test_orbit_planes(load_example, check_picture):
    example = load_example("orbit_planes")
    idata = example.run(quick=True)
    values, axes = example.axes_of(idata)
    fit = np.linalg.eigh(pmg.fit_bingham(example.load_comets()).A)
    # Posterior standard deviations are about 0.07 and half a degree.
    assert np.abs(values.mean((0, 1)) - fit[0][::-1]).max() < 0.3
    assert np.abs(axes[..., 0, :] @ fit[1][:, -1]).min() > 0.998
    check_picture(example, idata)


@pytest.mark.slow
def test_protein_angles(load_example, check_picture):
    example = load_example("protein_angles")
    train, test = example.make_data()
    assert len(train) + len(test) == len(example.load_protein_angles())
    idata = example.run(quick=True)
    np.testing.assert_allclose(example.predicted(idata, (-180, 180, -180, 180)), 1.0, rtol=1e-9)
    for region in example.REGIONS.values():
        share = example.inside(train, region).mean()
        # Shares of 8,713 residues are known within .005; the components' form does the rest.
        assert abs(example.predicted(idata, region).mean() - share) < 0.04
    check_picture(example, idata)


def test_star_tracker(load_example, check_picture):
    example = load_example("star_tracker")
    idata = example.run(quick=True)
    exact = example.exact_widths(idata.posterior["kappa"].values.mean())
    turns = example.turns(idata)
    # 200 draws know a standard deviation within a twentieth if they are independent.
    np.testing.assert_allclose(turns.std(axis=0), exact, rtol=0.3)
    catalogue, seen = example.make_data()
    exact_mode = example.nearest_rotation(seen.T @ catalogue)
    mean = example.mean_frame(idata.posterior["attitude"].values.reshape(-1, 3, 3))
    away = example.Rotation.from_matrix(mean @ exact_mode.T).as_rotvec() * example.ARCSECONDS
    assert np.all(np.abs(away) < 0.5 * exact)
    check_picture(example, idata)


@pytest.mark.slow
def test_beside_nuts(load_example, check_picture):
    example = load_example("beside_nuts")
    idata = example.run(quick=True)
    ours, theirs = (example.numbers(idata, group) for group in example.METHODS.values())
    for name, values in ours.items():
        sd = theirs[name].std().item()
        assert abs(values.mean().item() - theirs[name].mean().item()) < sd
        assert 0.5 < values.std().item() / sd < 2
    check_picture(example, idata)


def test_badly_scaled(load_example, check_picture):
    example = load_example("badly_scaled")
    idata = example.run(quick=True)
    with_mass = example.deviations(idata).std(axis=0)
    without = example.deviations(idata, "posterior_without_mass").std(axis=0)
    # The noisiest is too wide without a mass, and the calmest hardly moves.
    assert without[2] > 1.3
    assert without[0] < 0.5
    assert np.abs(np.log(with_mass)).max() < np.abs(np.log(without)).max()
    check_picture(example, idata)


def test_million(load_example, check_picture):
    example = load_example("million")
    idata = example.run(quick=True)
    assert idata.attrs["n_rows"] == 20_000
    beta, laplace = idata.posterior["beta"], idata["laplace"]
    z = (beta.mean(("chain", "draw")).values - laplace["mean"].values) / laplace["sd"].values
    assert np.abs(z).max() < 1
    ratio = beta.std(("chain", "draw")).values / laplace["sd"].values
    assert ratio.min() > 0.6
    assert ratio.max() < 1.5
    check_picture(example, idata)


def test_parquet_rows(load_example, check_picture):
    pytest.importorskip("pyarrow")
    example = load_example("parquet_rows")
    idata = example.run(quick=True)
    beta = idata.posterior["beta"]
    mean, sd = (getattr(beta, name)(("chain", "draw")).values for name in ("mean", "std"))
    # Ten coefficients, of which none is farther away but one time in a thousand.
    assert np.abs((mean - example.TRUTH) / sd).max() < 4.5
    check_picture(example, idata)


@pytest.mark.slow
def test_hierarchy(load_example, check_picture):
    example = load_example("hierarchy")
    idata = example.run(quick=True)
    for name in example.NAMES:
        ours, exact = (idata[group][name] for group in ("posterior", "nuts"))
        assert abs(ours.mean() - exact.mean()) < exact.std()
        assert 0.5 < ours.std() / exact.std() < 2
    check_picture(example, idata)


@pytest.mark.slow
def test_compositions(load_example, check_picture):
    example = load_example("compositions")
    idata = example.run(quick=True)
    means = idata.posterior.mean(("chain", "draw"))
    # Posterior standard deviations are about 0.001, 0.002 and 0.16.
    np.testing.assert_allclose(means["middle"], example.MIDDLE, atol=0.01)
    np.testing.assert_allclose(means["shift"], example.SHIFT, atol=0.02)
    assert means["precision"].item() == pytest.approx(example.PRECISION, abs=1.5)
    check_picture(example, idata)


def assert_like_gibbs(idata, names):
    """Assert means within Monte Carlo errors, and standard deviations on average."""
    groups = ([idata[group][n].values for n in names] for group in ("posterior", "gibbs"))
    ours, exact = (
        np.concatenate([x.reshape(*x.shape[:2], -1) for x in arrays], axis=-1) for arrays in groups
    )
    z = (ours.mean(axis=(0, 1)) - exact.mean(axis=(0, 1))) / np.hypot(mcse(ours), mcse(exact))
    # Errors are estimated from about twenty effective draws; means of a chain that is wrong by half
    # a deviation are two errors off.
    assert (z**2).mean() < 2.5
    ratio = ours.std(axis=(0, 1)) / exact.std(axis=(0, 1))
    assert ratio.mean() == pytest.approx(1.0, abs=0.15)


def test_hidden_stages(load_example, check_picture):
    example = load_example("hidden_stages")
    idata = example.run(quick=True)
    assert_like_gibbs(idata, example.TABLES)
    check_picture(example, idata)


@pytest.mark.slow
def test_admixture(load_example, check_picture):
    example = load_example("admixture")
    idata = example.run(quick=True)
    assert_like_gibbs(idata, ["frequencies"])
    assert not idata.sample_stats["local_unmoved"].any()
    check_picture(example, idata)


@pytest.mark.slow
def test_embeddings(load_example, check_picture):
    example = load_example("embeddings")
    idata = example.run(quick=True)
    shares = example.memberships(idata)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    _, table = example.table(idata)
    # Each topic has a cluster of its own, which holds most of its documents.
    assert sorted(table.argmax(axis=1)) == list(range(example.N_CLUSTERS))
    assert table.max(axis=1).min() > 0.6
    check_picture(example, idata)
