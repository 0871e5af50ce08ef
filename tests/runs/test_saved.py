#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Results that are saved are read as they were."""

import sys

import numpy as np
import pytest
import xarray as xr

import pymc_geodesic as pmg

from pymc_geodesic.run_record import read_records

RNG = np.random.default_rng(1)


def result():
    unit = RNG.normal(size=(2, 5, 3))
    posterior = xr.Dataset(
        {
            "mu": (("chain", "draw", "axis"), unit / np.linalg.norm(unit, axis=-1, keepdims=True)),
            "1|g": (("chain", "draw", "g"), RNG.normal(size=(2, 5, 2)).astype("float32")),
            "count": (("chain", "draw"), RNG.integers(0, 9, (2, 5)).astype("int32")),
            "is_in": (("chain", "draw", "when"), RNG.random((2, 5, 2)) < 0.5),
            "missing": (("chain", "draw"), np.full((2, 5), np.nan)),
        },
        coords={
            "chain": [0, 1],
            "draw": range(5),
            "axis": ["x", "y", "z"],
            "g": ["\u00e9", "bb"],
            "when": np.array(["2020-01-01", "2020-01-02T03:04:05.123456789"], "datetime64[ns]"),
            "is_first": ("g", [True, False]),
        },
        attrs={"sample_dims": ["chain", "draw"], "tuning_steps": 1000},
    )
    record = '{"step": "SGNHT", "settings": {}, "manifolds": {"mu": "Sphere"}, "batch_size": 500}'
    stats = xr.Dataset(
        {"diverging": (("chain", "draw"), np.zeros((2, 5), bool))}, attrs={"pymc_geodesic": record}
    )
    groups = {
        "posterior": posterior,
        "sample_stats": stats,
        "observed_data": xr.Dataset({"y": ("y_dim_0", RNG.integers(0, 2, 7))}),
    }
    return xr.DataTree.from_dict(groups)


@pytest.mark.parametrize("name", ["result.zarr", "result", "result.nc"])
def test_everything_comes_back(tmp_path, name):
    pytest.importorskip("netCDF4" if name.endswith(".nc") else "zarr")
    idata = result()
    pmg.save(idata, tmp_path / "new" / name)
    found = pmg.read(tmp_path / "new" / name)
    xr.testing.assert_identical(found, idata)
    assert list(found.children) == list(idata.children)
    for group in idata.children:
        assert list(found[group].data_vars) == list(idata[group].data_vars)
        assert list(found[group].coords) == list(idata[group].coords)
        for variable, values in idata[group].variables.items():
            assert found[group].variables[variable].dtype == values.dtype
    assert read_records(found) == read_records(idata) != []
    assert list((tmp_path / "new").iterdir()) == [tmp_path / "new" / name]


def test_what_is_there_is_left_alone(tmp_path):
    (tmp_path / "result").mkdir()
    with pytest.raises(FileExistsError, match=r"`path` expected a new place"):
        pmg.save(result(), tmp_path / "result")


def test_tuples_are_refused_with_a_way_out(tmp_path):
    idata = result()
    pairs = np.empty(2, dtype=object)
    pairs[:] = [("a", 1), ("b", 2)]
    idata["posterior"] = idata["posterior"].to_dataset().assign_coords(g=pairs)
    with pytest.raises(ValueError, match=r"got tuples in 'g' of the group 'posterior'"):
        pmg.save(idata, tmp_path / "result")
    assert not any(tmp_path.iterdir())


def test_nothing_is_left_of_what_fails(tmp_path, monkeypatch):
    monkeypatch.setattr(xr.DataTree, "to_zarr", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        pmg.save(result(), tmp_path / "result")
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(("name", "extra"), [("a.nc", "netcdf"), ("a", "checkpoint")])
def test_a_missing_package_is_named(tmp_path, monkeypatch, name, extra):
    for package in ("netCDF4", "h5netcdf", "zarr"):
        monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr("pymc_geodesic.runs.saved.find_spec", lambda name: None)
    monkeypatch.setattr("pymc_geodesic.runs.checkpoints.store.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=extra):
        pmg.save(result(), tmp_path / name)


def test_nothing_to_read_is_said(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"`pmg.save` writes the former"):
        pmg.read(tmp_path / "nothing")
