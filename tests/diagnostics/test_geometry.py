#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Unit vectors and probability vectors are told by their draws."""

import numpy as np
import pytest
import xarray as xr

from pymc_geodesic.diagnostics.geometry import geometries, intrinsic_dimension

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


@pytest.mark.parametrize("name", ["sigma", "nothing"])
def test_names_must_be_those_of_vectors(name):
    with pytest.raises(ValueError, match=f"`directions` expected names.*axis.*got '{name}'"):
        geometries(DRAWS, directions=[name])


@pytest.mark.parametrize(
    ("name", "expected"), [("mu", 2), ("topics", 116), ("weights", 3), ("beta", 3), ("sigma", 1)]
)
def test_intrinsic_dimension(name, expected):
    assert intrinsic_dimension(DRAWS[name], geometries(DRAWS)[name]) == expected
