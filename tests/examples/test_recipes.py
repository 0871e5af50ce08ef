#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The programs that users start with files of their own give the right answers."""

import re
import runpy

from pathlib import Path

import numpy as np
import pandas as pd
import pymc as pm
import pytest

import pymc_geodesic as pmg

RECIPES = Path(__file__).parents[2] / "examples" / "recipes"

pytestmark = [
    pytest.mark.skipif(not RECIPES.is_dir(), reason="not part of a source archive"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


def main_of(name):
    return runpy.run_path(str(RECIPES / f"{name}.py"))["main"]


@pytest.mark.parametrize("path", sorted(RECIPES.glob("*.py")), ids=lambda path: path.stem)
def test_a_recipe_is_short_and_says_how_to_start_it(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 40
    assert f"python {path.name} " in text
    assert re.search(r"^def main\(path: str,", text, flags=re.MULTILINE)


@pytest.fixture
def stores():
    """Effects of stores that differ in size a hundredfold, and the probability of each visit."""
    rng = np.random.default_rng(1)
    names = pd.Index([f"store {i}" for i in range(12)])
    effects = pd.Series(rng.normal(-0.5, 0.7, 12), index=names)
    code = np.repeat(np.arange(12), np.geomspace(20, 2_000, 12).astype(int))
    rng.shuffle(code)
    visits = pd.DataFrame(rng.normal(size=(len(code), 2)), columns=["price", "age"])
    visits["store"] = pd.Categorical(names[code], categories=[*names, "never visited"])
    logit = effects.to_numpy()[code] - 0.8 * visits["price"] + 0.3 * visits["age"]
    visits["p"] = 1 / (1 + np.exp(-logit))
    visits["bought"] = (rng.random(len(visits)) < visits["p"]).astype("Int64")
    return effects, visits


def test_the_stores_of_a_file(stores, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    effects, visits = stores
    # As files are: in no order, with labels of their own and a missing price.
    dirty = visits.drop(columns="p").set_index(pd.RangeIndex(10, len(visits) + 10)[::-1])
    dirty.iloc[7, 0] = np.nan
    dirty.to_parquet("visits.parquet")
    new = pd.DataFrame({"store": ["online", None], "price": 0.0, "age": 0.0})
    pd.concat([visits.drop(columns="bought"), new]).to_parquet("new.parquet")
    recipe = main_of("many_stores")
    found = recipe("visits.parquet", "bought", "store", "price,age", "new.parquet")
    truth = {"slope[price]": -0.8, "slope[age]": 0.3}
    truth |= {f"effect[{name}]": value for name, value in effects.items()}
    for name, value in truth.items():
        assert abs(found.loc[name, "mean"] - value) < 4 * found.loc[name, "sd"], name
    assert found["sd"]["effect[store 0]"] > 2 * found["sd"]["effect[store 11]"]
    assert pmg.read("run.zarr").posterior.sizes["store"] == 12

    expected = pd.read_parquet("expected.parquet")
    width = expected["95%"] - expected["5%"]
    assert width[-2:].min() > max(width[:-2].max(), 3 * width[:-2].median())
    expected, p = expected[:-2], visits["p"].to_numpy()
    assert np.mean((expected["5%"] < p) & (p < expected["95%"])) > 0.6
    assert np.corrcoef(expected["mean"], p)[0, 1] > 0.99


def test_the_sets_of_planes_of_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    truth = pmg.directions.from_dip([85, 70, 20], [80, 185, 35])
    of_rows = np.repeat([0, 1, 2], [100, 60, 40])
    axes = pm.draw(
        pmg.Watson.dist(truth[of_rows], np.array([60.0, 40.0, 40.0])[of_rows]), random_seed=1
    )
    table = pd.DataFrame(dict(zip(["dip", "azimuth"], pmg.directions.to_dip(axes), strict=True)))
    table = table.round().assign(truth=of_rows).sample(frac=1, random_state=1)
    table.loc[3, "dip"] = np.nan
    table.to_csv("joints.csv", index=False)
    found = main_of("sets_of_planes")("joints.csv", "dip", "azimuth", "3")
    poles = pmg.directions.from_dip(found["dip"], found["dip_direction"])
    cosines = np.abs(poles @ truth.T)
    nearest = cosines.argmax(1)
    assert sorted(nearest) == [0, 1, 2]
    degrees = np.rad2deg(np.arccos(cosines.max(1)))
    # A cone of 89 per cent: 2.2 of them hold the truth but for a chance of 1e-4.
    assert (degrees < 2.2 * found["cone89"]).all()
    assert found["cone89"].max() < 5
    rows = pd.read_csv("sets.csv")
    assert len(rows) == 199
    assert np.mean(nearest[rows["set"]] == rows["truth"]) > 0.97
    assert rows["probability"].between(1 / 3, 1).all()
    assert (tmp_path / "stereonet.png").stat().st_size > 10_000
