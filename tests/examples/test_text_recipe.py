#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The page and the program that go from a table of texts to named topics."""

import re
import runpy

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
SUBJECTS = {
    "phones": "battery screen charger camera phone signal",
    "post": "delivery parcel courier box late arrived",
    "clothes": "shirt fabric colour size trousers seam",
}


@pytest.fixture
def reviews(tmp_path, monkeypatch):
    """A file of reviews about three subjects, one of which says nothing."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    rows = []
    for category, words in SUBJECTS.items():
        for _ in range(200):
            text = " ".join(rng.choice([*words.split(), "good", "bad"], size=15))
            rows.append({"text": text, "category": category, "stars": int(rng.integers(1, 6))})
    rows.append({"text": "!", "category": "post", "stars": 1})
    table = pd.DataFrame(rows)
    table.to_csv("reviews.csv", index=False)
    return table


@pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="not part of a source archive")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_page_runs(reviews, tmp_path):
    text = (ROOT / "docs" / "text.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    scope = {"__name__": "text"}
    exec(compile("\n".join(blocks), "text.md", "exec"), scope)
    assert (tmp_path / "topics.png").stat().st_size > 10_000
    assert len(scope["found"].table) == 30
    # From the imports to the picture.
    assert len([line for line in blocks[0].splitlines() if line]) <= 10
    assert len(re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE).split()) <= 900


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_program_names_the_subjects(reviews, tmp_path):
    program = ROOT / "examples" / "recipes" / "named_topics.py"
    table = runpy.run_path(str(program))["main"]("reviews.csv", "text", "3", "category")
    found = {}
    for label, number in zip(table["label"], table.index, strict=True):
        [category] = [
            c for c, words in SUBJECTS.items() if set(label.split(", ")) <= {*words.split()}
        ]
        found[str(number)] = category
    assert sorted(found.values()) == sorted(SUBJECTS)
    groups = pd.read_csv("groups.csv")
    for number, category in found.items():
        rows = groups[groups["topic"].astype(str) == number].set_index("term")
        assert rows["mean"].idxmax() == category
    assert pd.read_csv("topics.csv").shape == (3, 8)
    assert len(pd.read_csv("shares.csv")) == 600
    assert (tmp_path / "topics.png").stat().st_size > 10_000
