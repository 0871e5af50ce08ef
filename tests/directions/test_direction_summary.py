#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Summaries of directions in degrees, with intervals that have no seam in the north."""

import arviz as az
import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

directions = pmg.directions
SHAPE = (4, 500)


def draws_of(**variables):
    return az.from_dict({"posterior": variables})


@pytest.fixture(scope="module")
def poles():
    """Two planes, one of which dips to the north; signs mean nothing."""
    rng = np.random.default_rng(1)
    dip = rng.normal([40.0, 70.0], [2.0, 1.0], (*SHAPE, 2))
    direction = rng.normal([0.0, 185.0], [3.0, 1.5], (*SHAPE, 2))
    signs = rng.choice([-1.0, 1.0], (*SHAPE, 2, 1))
    return signs * directions.from_dip(dip, direction), dip, direction


def test_planes(poles):
    x, dip, direction = poles
    found = directions.summary(draws_of(pole=x), "dip", ci_prob=0.9, round_to="none")
    assert list(found.index) == ["pole[0]", "pole[1]"]
    # The mean axis is not exactly the mean of the angles: within a tenth of their deviations.
    np.testing.assert_allclose(found["dip"], dip.mean((0, 1)), atol=0.2)
    away = np.mod(found["dip_direction"] - direction.mean((0, 1)) + 180, 360) - 180
    np.testing.assert_allclose(away, 0, atol=0.3)
    low, high = (found[f"dip_direction_hdi90_{end}"].to_numpy() for end in ("lb", "ub"))
    sd = np.array([3.0, 1.5])
    np.testing.assert_allclose(high - low, 2 * 1.645 * sd, rtol=0.1)
    # The interval around north is not all the way round.
    assert np.mod(low[0], 360) > 350
    assert np.mod(high[0], 360) < 10
    # A tangent normal with these deviations: dips, and directions times the sine of the dip.
    widths = np.deg2rad([2.0, 1.0]), np.deg2rad(sd) * np.sin(np.deg2rad([40.0, 70.0]))
    tangent = np.random.default_rng(2).normal(size=(20_000, 2, 2)) * np.stack(widths, axis=-1)
    cone = np.quantile(np.rad2deg(np.linalg.norm(tangent, axis=-1)), 0.9, axis=0)
    np.testing.assert_allclose(found["cone90"], cone, rtol=0.06)
    expected = np.rad2deg(np.sqrt(widths[0] ** 2 + widths[1] ** 2))
    np.testing.assert_allclose(found["angular_sd"], expected, rtol=0.06)
    assert (found["r_hat"] < 1.01).all()
    assert (found["ess_bulk"] > 1_000).all()


def test_steep_planes_have_no_seam_at_the_vertical():
    rng = np.random.default_rng(1)
    dip, direction = rng.normal(89.5, 1.0, SHAPE), rng.normal(90.0, 1.0, SHAPE)
    # Beyond the vertical a plane dips the other way.
    over = dip > 90
    x = directions.from_dip(np.where(over, 180 - dip, dip), direction + 180 * over)
    found = directions.summary(draws_of(pole=x), "dip", round_to="none").loc["pole"]
    assert abs(found["dip"] - 89.5) < 0.1
    assert found["dip_hdi89_ub"] - found["dip_hdi89_lb"] < 4
    assert found["dip_direction_hdi89_ub"] - found["dip_direction_hdi89_lb"] < 4


def test_directions_with_a_sign_keep_it():
    x = directions.from_declination(
        np.random.default_rng(1).normal(10.0, 2.0, SHAPE), np.full(SHAPE, -60.0)
    )
    found = directions.summary(draws_of(field=x, other=np.zeros(SHAPE)), "declination").loc["field"]
    assert found["inclination"] == pytest.approx(-60, abs=0.1)
    assert found["declination"] == pytest.approx(10, abs=0.3)


def test_angles_on_the_circle_are_azimuths():
    with pm.Model():
        pm.VonMises("wind", np.pi, 50.0)
        idata = pmg.sample(
            500, tune=300, step=pmg.GMC(n_leapfrog=3), random_seed=1, progressbar=False
        )
    found = directions.summary(idata, "azimuth").loc["wind"]
    assert found["azimuth"] == pytest.approx(180, abs=3)
    half = np.rad2deg(1.6 / np.sqrt(50))
    assert found["azimuth_hdi89_lb"] == pytest.approx(180 - half, abs=4)
    assert found["azimuth_hdi89_ub"] == pytest.approx(180 + half, abs=4)


def test_what_is_no_direction_is_refused():
    with pytest.raises(ValueError, match="expected unit vectors with 3 entries"):
        directions.summary(draws_of(x=np.zeros(SHAPE)), "dip")


def test_narrow_directions_keep_their_digits(poles):
    """Two of the deviation, where two decimals would show none; wide ones have two decimals."""
    rng = np.random.default_rng(1)
    narrow = directions.from_dip(rng.normal(40, 1e-3, SHAPE), rng.normal(80, 1e-3, SHAPE))
    exact = directions.summary(draws_of(star=narrow), "dip", round_to="none").loc["star"]
    found = directions.summary(draws_of(star=narrow), "dip").loc["star"]
    assert found["angular_sd"] == float(f"{exact['angular_sd']:.2g}")
    assert found["dip"] == round(exact["dip"], 4)
    table = directions.summary(draws_of(pole=poles[0]), "dip")
    np.testing.assert_array_equal(table["dip"], table["dip"].round(2))
    assert directions.summary(draws_of(star=narrow), "dip", round_to=1)["dip"].item() == 40.0
