#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Quoted figures are in the records of the benchmarks, and pages say when they were measured."""

import importlib
import re
import sys

from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(
    not (ROOT / "benchmarks").is_dir(), reason="not part of a source archive"
)

# Numbers with a unit that were not measured: settings, theory, arithmetic, levels of intervals.
NOT_MEASURED = [
    "the perplexity of the data falls by 2 per cent",
    *("50 and 90 per cent", "95 per cent", "a 90 per cent interval"),
    "too large by about 30 per cent",
    "50 topics of 10,000 words takes 4 MB",
    *("an 89 per cent interval", "falls by 2 per cent"),
    "all standard deviations within 4 per cent, surely",
    # On paper, from the measured cost of a row.
    "r = 0.3 µs, g = 0.2 µs, m = 0.2 µs",
    # Messages of the package, as it prints them.
    *("take about 12 s", "took 21 seconds", "12 standard deviations apart"),
    *("60 seconds after the run began", "means within 0.0034 sd"),
    "standard deviations within 0.47 per cent",
    *("means within 0.1 sd", "takes 0.2 s for each point", "is wrong by 32 per cent"),
]
UNIT = (
    r"(?:µs|ms|s|seconds?|microseconds?|milliseconds?|MB|GB|per cent|sd|standard deviations?|times)"
)
FIGURE = re.compile(
    rf"(?<![\w.^])\d[\d,.]*(?: to \d[\d,.]*)? {UNIT}\b|\d[\d,.]* effective (?:samples|draws)"
)


@pytest.fixture(scope="module")
def load():
    sys.path.insert(0, str(ROOT))
    yield lambda name: importlib.import_module(f"benchmarks.{name}")
    sys.path.remove(str(ROOT))


@pytest.fixture(scope="module")
def records(load):
    return load("report.store").read()


def test_pages_are_what_the_records_say(load, records):
    pages = load("report.pages")
    for page in pages.pages():
        text = page.read_text(encoding="utf-8")
        assert pages.unfinished(text) == []
        assert pages.filled(text, records) == text, f"{page}: run `make bench-report`."


def test_pages_say_how_old_their_figures_are(load):
    pages = load("report.pages")
    for page in pages.pages():
        text = page.read_text(encoding="utf-8")
        if pages.quoted(text) and page.name != "paper.md":
            assert "<!--measured-->" in text, page


def without_marks(text):
    """What is neither code nor marked as a figure of a record, nor known not to be measured."""
    text = re.sub(r"^(```+|:::+).*?^\1", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"<!--(\w+).*?-->.*?<!--/\1-->", "", text, flags=re.DOTALL)
    text = " ".join(re.sub(r"`[^`]*`|\$[^$]*\$", "", text).split())
    for known in NOT_MEASURED:
        text = text.replace(known, "")
    return text


def test_measured_figures_are_marked():
    # The history of faults quotes what tests hold.
    pages = [ROOT / "README.md", ROOT / "paper" / "paper.md", *(ROOT / "docs").glob("*.md")]
    found = {
        page.name: figures
        for page in pages
        if (figures := FIGURE.findall(without_marks(page.read_text(encoding="utf-8"))))
    }
    assert found == {}, "Mark them as figures of a record: see docs/developing/maintaining.md."


def test_exceptions_are_still_there():
    pages = [ROOT / "README.md", ROOT / "paper" / "paper.md", *(ROOT / "docs").glob("*.md")]
    text = " ".join(" ".join(p.read_text(encoding="utf-8") for p in pages).split())
    assert [known for known in NOT_MEASURED if known not in text] == []


def test_scripts_declare_what_they_measure(load):
    store = load("report.store")
    scripts = store.scripts()
    for room in store.ROOMS:
        for file in (ROOT / "benchmarks" / room).glob("*.py"):
            text = file.read_text(encoding="utf-8")
            assert ("report(" in text) == (file.stem in scripts), f"{file} lacks a BENCHMARK."
            assert "sys.path" not in text, file
    for file in scripts.values():
        about = store.declared(file)
        assert about.question.endswith(("?", ".")), file
    loose = [file.name for file in (ROOT / "benchmarks").glob("*.py")]
    assert loose == ["__init__.py"], "Scripts lie in rooms."


def test_records_are_complete(load, records):
    store = load("report.store")
    scripts = store.scripts()
    assert set(scripts) - {Path(r["script"]).stem for r in records.values()} == set()
    for name, record in records.items():
        assert record["name"] == name
        assert {claim["verdict"] for claim in record["claims"]} <= {
            *("", "pass", "miss", "withdrawn", "not run")
        }, name
        assert record["commit"], name
        assert record["versions"], name
        assert (ROOT / record["script"]).exists(), name


def test_thresholds_are_those_of_the_run(load, records):
    store = load("report.store")
    for name, record in records.items():
        if Path(record["script"]).stem in store.scripts():
            about = store.declared(ROOT / record["script"])
            same = (about.asked, about.fixed) == (record["asked"], record["fixed"])
            assert same or about.changed, f"{name}: a changed threshold counts as a miss."


RECORD = {
    "date": "2026-01-01",
    "claims": [{"claim": "order", "figure": "1.90 +- 0.08", "asked": "", "verdict": "pass"}],
    "tables": [
        {
            "title": "",
            "header": ["method", "step", "bias"],
            "rows": [["A", "0.1", "-.0125"], ["A", "0.2", "1,403.5 [7]"], ["B", 0.1, 2.5]],
        }
    ],
}


@pytest.mark.parametrize(
    ("key", "text", "expected"),
    [
        ("r::A & 0.1::bias", "-.02", "-.01"),
        ("r::A & 0.1::bias*100", "-7.1", "-1.2"),
        ("r::A & 0.1::bias", "−0.013", "−0.012"),
        ("r::A & 0.2::bias[0]", "1,000", "1,404"),
        ("r::A & 0.2::bias[0]", "1000", "1404"),
        ("r::A & 0.2::bias[1]", "1", "7"),
        ("r::A & 0.2::bias", "everything", "1,403.5 [7]"),
        ("r::B::bias", "1.00", "2.50"),
        ("r::order[0]", "1.7", "1.9"),
    ],
)
def test_figures_are_written_as_the_text_writes_them(load, key, text, expected):
    pages = load("report.pages")
    new = pages.filled(f"a <!--fig {key}-->{text}<!--/fig--> b", {"r": RECORD})
    assert new == f"a <!--fig {key}-->{expected}<!--/fig--> b"
    assert pages.filled(new, {"r": RECORD}) == new


@pytest.mark.parametrize(
    "key", ["none::A::bias", "r::C::bias", "r::A::bias", "r::A::other", "r::x"]
)
def test_figures_that_no_record_has_are_refused(load, key):
    with pytest.raises(KeyError, match="expected"):
        load("report.pages").filled(f"<!--fig {key}-->1<!--/fig-->", {"r": RECORD})


def test_a_run_writes_a_record_that_pages_can_quote(load, monkeypatch, tmp_path, capsys):
    harness, store, pages = load("harness.records"), load("report.store"), load("report.pages")
    about = load("harness.declared").Benchmark(
        question="Is it so?",
        asked="At most 2.",
        fixed="2026-01-01",
        seeds=(1, 2, 3),
    )
    monkeypatch.setattr(harness, "RESULTS", tmp_path)
    monkeypatch.setattr(harness, "commit", lambda: "0123456789")
    checks = [harness.Check("ratio", "1.25", "<= 2", True)]
    options = {"header": ["method", "ratio"], "rows": [["ours", np.float64(1.25)]]}
    harness.report("new", checks, about=about, quick=True, **options)
    assert list(tmp_path.iterdir()) == []
    harness.report("new", checks, about=about, quick=False, errors=np.array([np.nan]), **options)
    assert "pass" in capsys.readouterr().out
    records = store.read(tmp_path)
    assert records["new"]["figures"] == {"errors": [None]}
    assert records["new"]["versions"]["numpy"] == np.__version__
    assert harness.earlier("new") == {"errors": [None]}
    text = "<!--fig new::ours::ratio-->1.2<!--/fig-->\n<!--table new-->\n<!--/table-->\n"
    text += "<!--about new-->\n<!--/about-->\n<!--measured-->\n<!--/measured-->\n"
    filled = pages.filled(text, records)
    assert pages.unfinished(filled) == []
    for part in ("| ours | 1.25 |", "At most 2.", "commit 0123456789", "measured on"):
        assert part in filled


def test_a_repeated_script_says_which_claims_have_changed(load):
    repeat = load("report.repeat")
    before = {"name": "r", "claims": [{"claim": "x", "figure": "1", "verdict": "pass"}]}
    after = {"name": "r", "claims": [{"claim": "x", "figure": "3", "verdict": "miss"}]}
    told = {"claim": "y", "figure": "2", "verdict": ""}
    assert repeat.changed(before, before) == []
    assert repeat.changed(before, after) == ["r: x: pass, 1; now miss, 3"]
    more = {"name": "r", "claims": [*before["claims"], told]}
    assert repeat.changed(before, more) == ["r: y: told, nothing; now told, 2"]
    assert set(repeat.of_users()) <= set(load("report.store").read())
