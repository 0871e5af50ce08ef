#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The example of the comets runs, and says what it should."""

import numpy as np
import pytest


@pytest.fixture(scope="module")
def comets(load_example):
    return load_example("comets")


@pytest.fixture(scope="module")
def idata(comets):
    return comets.run(quick=True)


def test_directions_are_unit_vectors_in_the_named_clusters(idata):
    mu = idata.posterior["mu"]
    assert mu.dims == ("chain", "draw", "cluster", "axis")
    np.testing.assert_allclose(np.linalg.norm(mu, axis=-1), 1, atol=1e-12)
    assert not idata.sample_stats["diverging"].any()


def test_cluster_near_the_ecliptic_is_near_its_pole(comets, idata):
    latitude = comets.directions(idata)["latitude"].mean(("chain", "draw"))
    # A fit by expectation-maximisation has 87.1 and -56.0 degrees, with posterior standard
    # deviations of 0.5 and 1 degree; a short run is not settled.
    assert abs(latitude.sel(cluster="near the ecliptic") - 87.1) < 5
    assert abs(latitude.sel(cluster="the rest") + 56.0) < 20


def test_picture_and_report(comets, idata, check_picture):
    check_picture(comets, idata)
