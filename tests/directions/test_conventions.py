#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Directions in degrees: formulas of the fields, both ways, from whatever tables hold."""

import numpy as np
import pandas as pd
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.directions import conventions as table

directions = pmg.directions
RNG = np.random.default_rng(1)
N = 200

# Angles of each convention, away from where they are undefined.
ANGLES = {
    "dip": (RNG.uniform(1, 89, N), RNG.uniform(0, 360, N)),
    "strike": (RNG.uniform(0, 360, N), RNG.uniform(1, 89, N)),
    "trend": (RNG.uniform(0, 360, N), RNG.uniform(1, 89, N)),
    "declination": (RNG.uniform(0, 360, N), RNG.uniform(-89, 89, N)),
    "latitude": (RNG.uniform(-89, 89, N), RNG.uniform(-179, 179, N)),
    "azimuth": (RNG.uniform(0, 360, N),),
}
BOTH_WAYS = {
    "dip": (directions.from_dip, directions.to_dip),
    "strike": (directions.from_strike, directions.to_strike),
    "trend": (directions.from_trend, directions.to_trend),
    "declination": (directions.from_declination, directions.to_declination),
    "latitude": (directions.from_latitude, directions.to_latitude),
    "azimuth": (directions.from_azimuth, lambda x: (directions.to_azimuth(x),)),
}


@pytest.mark.parametrize("name", ANGLES)
def test_angles_come_back(name):
    there, back = BOTH_WAYS[name]
    x = there(*ANGLES[name])
    np.testing.assert_allclose(np.linalg.norm(x, axis=-1), 1.0)
    for found, given in zip(back(x), ANGLES[name], strict=True):
        np.testing.assert_allclose(found, given, atol=1e-9)
    np.testing.assert_array_equal(x, directions.from_angles(name, ANGLES[name]))
    if table.CONVENTIONS[name].axial:
        for found, given in zip(back(-x), ANGLES[name], strict=True):
            np.testing.assert_allclose(found, given, atol=1e-9)


def test_every_convention_is_tested():
    own = {name for name in table.CONVENTIONS if name not in ("horizontal coordinates", "bearing")}
    assert own == set(ANGLES) == set(BOTH_WAYS)


def test_a_pole_is_the_normal_of_its_plane():
    """The line of steepest descent and the strike lie in the plane."""
    dip, direction = ANGLES["dip"]
    pole = directions.from_dip(dip, direction)
    down, strike = directions.from_trend(direction, dip), directions.from_trend(direction - 90, 0.0)
    for line in (down, strike):
        np.testing.assert_allclose((pole * line).sum(-1), 0, atol=1e-12)
    assert np.all(pole[:, 2] <= 0)
    # Right-hand rule: facing along the strike, the plane dips to the right.
    np.testing.assert_allclose(directions.from_strike(direction - 90, dip), pole, atol=1e-12)
    trend, plunge = directions.to_trend(pole)
    np.testing.assert_allclose(plunge, 90 - dip)
    np.testing.assert_allclose(np.mod(trend - direction, 360), 180)


def test_known_directions():
    east, north, up = np.eye(3)
    np.testing.assert_allclose(directions.from_declination(0, 90), -up, atol=1e-12)
    np.testing.assert_allclose(directions.from_trend(90, 0), east, atol=1e-12)
    np.testing.assert_allclose(directions.from_trend(360, 0), north, atol=1e-12)
    # Geocentric axes are not those of a map.
    np.testing.assert_allclose(directions.from_latitude(0, 90), [0, 1, 0], atol=1e-12)
    lon, lat = pmg.to_longitude_latitude(directions.from_latitude(48.2, 16.4))
    np.testing.assert_allclose([lat, lon], [48.2, 16.4])


@pytest.mark.parametrize(
    "of", [list, tuple, np.array, pd.Series, lambda x: pd.Series(x, dtype="Int64"), np.float32]
)
def test_ordinary_columns(of):
    found = directions.from_dip(of([30, 60]), of([120, 240]))
    np.testing.assert_allclose(found, directions.from_dip([30.0, 60.0], [120.0, 240.0]), atol=1e-6)
    assert isinstance(found, np.ndarray)
    assert directions.from_dip(30, 120).shape == (3,)
    assert directions.from_dip([30, 60], 120).shape == (2, 3)


@pytest.mark.parametrize(
    ("dip", "direction", "says"),
    [
        (120, 30, r"`dip` expected degrees from 0 to 90, got 120\. Check the order"),
        (-1, 30, "`dip` expected degrees from 0 to 90"),
        ([10, np.nan], 30, "`dip` expected numbers in degrees, got 1 that are missing"),
        ("30", "east", "`dip_direction` expected numbers in degrees, got 'east'"),
        (pd.Series([30, "steep"]), 90, "`dip` expected numbers in degrees, got 'steep'"),
    ],
)
def test_wrong_angles_are_refused(dip, direction, says):
    with pytest.raises(ValueError, match=says):
        directions.from_dip(dip, direction)


def test_wrong_calls_are_refused():
    with pytest.raises(ValueError, match="`convention` expected"):
        directions.from_angles("rake", ([1],))
    with pytest.raises(ValueError, match="`dip` expected dip and dip_direction, got 1"):
        directions.from_angles("dip", ([1],))
    with pytest.raises(ValueError, match=r"`x` expected vectors of shape \(..., 3\)"):
        directions.to_dip([1.0, 0.0])


def test_azimuths_as_angles():
    azimuth = ANGLES["azimuth"][0]
    angle = directions.azimuth_to_angle(azimuth)
    assert np.all(np.abs(angle) <= np.pi)
    np.testing.assert_allclose(np.sin(angle), directions.from_azimuth(azimuth)[:, 0])
    np.testing.assert_allclose(directions.angle_to_azimuth(angle), azimuth)
