#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The examples after the papers' experiments run, and find about what they should."""

import numpy as np
import pytest

pytestmark = [
    # Short runs are not settled, and say so.
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]


def test_noisy_circle(load_example, check_picture):
    example = load_example("noisy_circle")
    idata = example.run(quick=True, backend="jax")
    x = idata.posterior["x"]
    assert x.shape[-1] == 2
    # The tuning phase finds a friction far above the 10 of exact gradients; theory has 15.
    assert idata.sample_stats["thermostat"].mean() == pytest.approx(15, abs=2)
    # Both modes lie to the right.
    assert x[..., 0].mean() > 0.2
    check_picture(example, idata)


def test_two_wells(load_example, check_picture):
    example = load_example("two_wells")
    mean, variance = example.truth()
    grid = np.linspace(-8, 8, 2001)
    assert example.energy(grid).min() == pytest.approx(example.energy(-2.9), abs=0.05)
    idata = example.run(quick=True, backend="jax")
    assert idata.sample_stats["kinetic_temperature"].mean() == pytest.approx(1, abs=0.2)
    # Wells are changed some tens of times in a short run.
    assert abs(idata.posterior["t"].mean() - mean) < 1.2
    assert variance < idata.posterior["t"].var() + 1.5
    check_picture(example, idata)


def test_dirichlet_corners(load_example, check_picture):
    example = load_example("dirichlet_corners")
    idata = example.run(quick=True, backend="jax")
    p = idata.posterior["p"]
    assert np.isfinite(p).all()
    assert (p >= 0).all()
    np.testing.assert_allclose(p.sum("p_dim_0"), 1, atol=1e-12)
    expected = example.agreement(size=100)
    assert (p**2).sum("p_dim_0").mean() == pytest.approx(expected, abs=0.15)
    check_picture(example, idata)


def test_exact_posterior_of_two_directions(load_example):
    """The ridge: one direction must go back when the other goes on."""
    example = load_example("two_directions")
    grid = np.linspace(-1.2, 1.2, 241)
    posterior = example.grid_posterior(example.make_data(), grid)
    assert posterior.sum() == pytest.approx(1)
    a, b = posterior.sum(axis=1) @ grid, posterior.sum(axis=0) @ grid
    assert (grid - a) @ posterior @ (grid - b) < 0


@pytest.mark.slow
def test_two_directions(load_example, check_picture):
    example = load_example("two_directions")
    idata = example.run(quick=True)
    grid = np.linspace(-1.2, 1.2, 241)
    posterior = example.grid_posterior(example.make_data(), grid)
    for axis, name in ((1, "v1"), (0, "v2")):
        angles = example.angle(idata.posterior[name].values)
        assert angles.mean() == pytest.approx(posterior.sum(axis=axis) @ grid, abs=0.15)
    assert (
        np.corrcoef(*(example.angle(idata.posterior[v].values).ravel() for v in ("v1", "v2")))[0, 1]
        < -0.3
    )
    check_picture(example, idata)
