#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Unit vectors and probability vectors are told by their draws."""

import numpy as np
import pytest
import xarray as xr

from pymc_geodesic.diagnostics.geometry import (
    geometries,
    intrinsic_dimension,
)
from pymc_geodesic.manifolds import Euclidean, Simplex, Sphere
from pymc_geodesic.manifolds.registry import recorded_manifolds
from pymc_geodesic.run_record import ATTRIBUTE, write_record

RNG = np.random.default_rng(1)


def unit(*shape, dtype=float):
    x = RNG.normal(size=shape)
    return (x / np.linalg.norm(x, axis=-1, keepdims=True)).astype(dtype)


def dataset(**values):
    return xr.Dataset(
        {
            name: (("chain", "draw", *(f"{name}_{i}" for i in range(np.ndim(array) - 2))), array)
            for name, array in values.items()
        }
    )


DRAWS = dataset(
    mu=unit(2, 5, 3),
    topics=unit(2, 5, 4, 30, dtype="float32"),
    weights=RNG.dirichlet(np.ones(4), size=(2, 5)),
    one_hot=np.eye(3)[RNG.integers(3, size=(2, 5))],
    beta=RNG.normal(size=(2, 5, 3)),
    sigma=RNG.gamma(1.0, size=(2, 5)),
    one=np.ones((2, 5, 1)),
    labels=np.ones((2, 5, 3), dtype=int),
)


def test_all_kinds_are_told():
    assert geometries(DRAWS) == {
        "mu": "direction",
        "topics": "direction",
        "weights": "composition",
        "one_hot": "composition",
        "beta": "plain",
        "sigma": "plain",
        "one": "plain",
        "labels": "plain",
    }


def test_a_single_draw_off_the_manifold_counts():
    bad = DRAWS.copy(deep=True)
    bad["mu"][1, 3] *= 1.001
    bad["weights"][0, 2, 0] -= 1e-3
    found = geometries(bad)
    assert found["mu"] == found["weights"] == "plain"


def test_names_go_before_the_draws():
    assert geometries(DRAWS, directions=["mu"])["mu"] == "direction"
    found = geometries(DRAWS, directions=[], compositions=[])
    assert found["mu"] == found["weights"] == "plain"


def test_what_a_run_has_recorded_goes_before_the_numbers():
    manifolds = {"one_hot": Sphere(), "mu": Euclidean(), "weights": Simplex()}
    found = geometries(DRAWS, manifolds=manifolds)
    assert found["one_hot"] == "direction"
    assert found["mu"] == "plain"
    assert found["weights"] == "composition"
    # Of these nothing is recorded.
    assert found["topics"] == "direction"


def test_vectors_without_some_of_their_entries_are_plain():
    cut = DRAWS.isel(mu_0=slice(2), weights_0=slice(3))
    found = geometries(cut, manifolds={"mu": Sphere(), "weights": Simplex()})
    assert found["mu"] == found["weights"] == "plain"


def test_recorded_manifolds_are_read_from_the_attributes():
    record = write_record("gSGNHT", {}, {"mu": "Sphere", "beta": "Euclidean", "x": "unheard of"})
    stats = xr.Dataset(attrs={ATTRIBUTE: record})
    idata = xr.DataTree.from_dict({"posterior": DRAWS, "sample_stats": stats})
    found = recorded_manifolds(idata)
    assert {name: type(manifold) for name, manifold in found.items()} == {
        "mu": Sphere,
        "beta": Euclidean,
    }
    assert recorded_manifolds(xr.DataTree.from_dict({"posterior": DRAWS})) == {}


@pytest.mark.parametrize("name", ["sigma", "nothing"])
def test_names_must_be_those_of_vectors(name):
    with pytest.raises(ValueError, match=f"`directions` expected names.*axis.*got '{name}'"):
        geometries(DRAWS, directions=[name])


@pytest.mark.parametrize(
    ("name", "expected"), [("mu", 2), ("topics", 116), ("weights", 3), ("beta", 3), ("sigma", 1)]
)
def test_intrinsic_dimension(name, expected):
    assert intrinsic_dimension(DRAWS[name], geometries(DRAWS)[name]) == expected
