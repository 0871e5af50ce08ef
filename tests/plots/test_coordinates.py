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
