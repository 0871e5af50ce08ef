#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from pymc_geodesic.plots import from_longitude_latitude, to_longitude_latitude


def test_axes_have_the_known_coordinates():
    x = [[1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, 0, 1], [0, 0, -1]]
    longitude, latitude = to_longitude_latitude(x)
    np.testing.assert_array_equal(longitude, [0, 90, 180, 0, 0])
    np.testing.assert_array_equal(latitude, [0, 0, 0, 90, -90])


def test_round_trip_keeps_direction_and_shape():
    x = np.random.default_rng(0).normal(size=(2, 5, 3))
    back = from_longitude_latitude(*to_longitude_latitude(x))
    expected = x / np.linalg.norm(x, axis=-1, keepdims=True)
    np.testing.assert_allclose(back, expected, atol=1e-15)


@pytest.mark.parametrize("shape", [(), (2,), (3, 4)])
def test_other_dimensions_are_refused(shape):
    with pytest.raises(ValueError, match="three dimensions"):
        to_longitude_latitude(np.ones(shape))


def test_radians_are_an_argument():
    x = from_longitude_latitude(0.3, -1.2, unit="radians")
    np.testing.assert_allclose(to_longitude_latitude(x, unit="radians"), [0.3, -1.2])
    np.testing.assert_allclose(from_longitude_latitude(*np.rad2deg([0.3, -1.2])), x)


@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        ((10, 120), "`latitude` expected degrees from -90 to 90, got values up to 120"),
        ((999, 10), "`longitude` expected angles in degrees from -360 to 360"),
        (([0, 1], [-95.0, np.nan]), "got values up to 95"),
    ],
)
def test_places_beyond_the_sphere_are_refused(place, sentence):
    with pytest.raises(ValueError, match=sentence):
        from_longitude_latitude(*place)
