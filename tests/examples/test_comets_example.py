#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The example of the comets runs, and says what it should."""

import importlib.util

from pathlib import Path

import numpy as np
import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "comets.py"


@pytest.fixture(scope="module")
def comets():
    spec = importlib.util.spec_from_file_location("comets", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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


def test_picture_is_written(comets, idata, tmp_path):
    path = tmp_path / "comets.png"
    comets.draw(idata, path)
    assert path.stat().st_size > 10_000
