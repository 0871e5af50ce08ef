#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Quoted figures are in the records of the benchmarks, and pages say how old these are."""

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


def test_documentation_quotes_nothing_that_was_transcribed(load, records):
    pages = load("report.pages")
    evidence = ROOT / "benchmarks"
    for page in pages.pages():
        text = page.read_text(encoding="utf-8")
        quoted = {*pages.quoted(text), *pages.TABLE.findall(text)}
        found = {name for name in quoted if records[name]["transcribed"]}
        assert evidence in page.parents or not found, f"{page} quotes {found}: run them again."


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
        assert load("harness.declared").fingerprint(about.measures, leaves_out=about.leaves_out), (
            file
        )
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
        if not record["transcribed"]:
            assert record["commit"], name
            assert record["versions"], name
            assert record["code"], name
        if record["script"]:
            assert (ROOT / record["script"]).exists(), name


def test_thresholds_are_those_of_the_run(load, records):
    store = load("report.store")
    for name, record in records.items():
        if Path(record["script"]).stem in store.scripts():
            about = store.declared(ROOT / record["script"])
            same = (about.asked, about.fixed) == (record["asked"], record["fixed"])
            assert same or about.changed, f"{name}: a changed threshold counts as a miss."


def test_claims_that_were_transcribed_are_withdrawn(load):
    verdict = load("report.summary").verdict
    passed, told = {"verdict": "pass"}, {"verdict": ""}
    assert verdict({"transcribed": True}, passed) == "withdrawn"
    assert verdict({"transcribed": True}, told) == ""
    assert verdict({"transcribed": False}, passed) == "pass"


RECORD = {
    "date": "2026-01-01",
    "code": "",
    "measures": ["schedules"],
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


def test_a_change_of_the_code_makes_a_record_old(load, monkeypatch, tmp_path):
    declared, store = load("harness.declared"), load("report.store")
    folder = tmp_path / "pymc_geodesic" / "kernel"
    folder.mkdir(parents=True)
    (folder / "scan.py").write_bytes(b"x = 1\r\n")
    monkeypatch.setattr(declared, "ROOT", tmp_path)
    record = RECORD | {"measures": ["kernel"], "commit": "abc"}
    record["code"] = declared.fingerprint(record["measures"])
    assert store.when(record) == "2026-01-01, commit abc"
    # Line ends differ between systems.
    (folder / "scan.py").write_bytes(b"x = 1\n")
    assert store.current(record)
    (folder / "scan.py").write_bytes(b'"""What."""\n\nx = 1  # Why.\n')
    assert store.current(record)
    (folder / "scan.py").write_bytes(b"x = 2\n")
    assert "before later changes" in store.when(record)
    with pytest.raises(ValueError, match="folders of pymc_geodesic"):
        declared.fingerprint(["nowhere"])


def test_a_change_of_what_a_script_leaves_out_does_not_make_its_record_old(
    load, monkeypatch, tmp_path
):
    declared, store = load("harness.declared"), load("report.store")
    folder = tmp_path / "pymc_geodesic" / "algorithms"
    folder.mkdir(parents=True)
    (folder / "sgnht.py").write_text("x = 1\n")
    (folder / "rules.py").write_text("y = 1\n")
    monkeypatch.setattr(declared, "ROOT", tmp_path)
    left_out = {"leaves_out": ["algorithms/rules"]}
    record = RECORD | {"measures": ["algorithms"], **left_out}
    record["code"] = declared.fingerprint(["algorithms"], **left_out)
    (folder / "rules.py").write_text("y = 2\n")
    assert store.current(record)
    (folder / "sgnht.py").write_text("x = 2\n")
    assert not store.current(record)


def test_moving_a_statement_out_of_a_block_changes_the_code(load, monkeypatch, tmp_path):
    declared = load("harness.declared")
    (tmp_path / "pymc_geodesic").mkdir()
    monkeypatch.setattr(declared, "ROOT", tmp_path)
    found = set()
    for text in ("if x:\n    y = 1\n    z = 2\n", "if x:\n    y = 1\nz = 2\n", 'x = "y"', 'x = ""'):
        (tmp_path / "pymc_geodesic" / "schedules.py").write_text(text)
        found.add(declared.fingerprint(["schedules"]))
    assert len(found) == 4


def test_dividing_a_module_does_not_make_a_record_old_but_a_change_does(
    load, monkeypatch, tmp_path
):
    declared = load("harness.declared")
    folder = tmp_path / "pymc_geodesic" / "algorithms"
    folder.mkdir(parents=True)
    monkeypatch.setattr(declared, "ROOT", tmp_path)

    def code(**files):
        for old in folder.iterdir():
            old.unlink()
        for name, text in files.items():
            (folder / f"{name}.py").write_text(text)
        declared._defined_twice.cache_clear()
        return declared.fingerprint(["algorithms"])

    noise = "@cache\ndef noise(x):\n    if x:\n        return 1\n    return 2\n"
    rule = "class Rule:\n    y = noise(1)\n"
    head = '"""Rules."""\n\nfrom numpy import sin\n\n__all__ = ["Rule"]\n\n'
    whole = code(rules=head + noise + rule)
    within = "from pymc_geodesic.algorithms.noise import noise\n"
    parts = {"noise": '"""Noise."""\n\n' + noise, "rules": head + within + rule}
    assert code(**parts) == whole
    assert code(**parts | {"rules": parts["rules"].replace("sin", "cos")}) != whole
    assert code(**parts | {"rules": parts["rules"].replace("noise(1)", "noise(2)")}) != whole
    assert code(**parts | {"rules": parts["rules"].replace("noise\n", "other as noise\n")}) != whole
    # Which of two it is matters.
    other = {"other": noise.replace("2", "3")}
    elsewhere = {"rules": parts["rules"].replace("algorithms.noise", "algorithms.other")}
    assert code(**parts, **other) != code(**(parts | elsewhere), **other)
    assert code(**parts | {"noise": noise.replace("@cache\n", "")}) != whole
    assert code(**parts | {"noise": noise.replace("    return 2", "        return 2")}) != whole


def test_a_run_writes_a_record_that_pages_can_quote(load, monkeypatch, tmp_path, capsys):
    harness, store, pages = load("harness.records"), load("report.store"), load("report.pages")
    about = load("harness.declared").Benchmark(
        question="Is it so?",
        asked="At most 2.",
        fixed="2026-01-01",
        seeds=(1, 2, 3),
        measures=("schedules",),
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
    assert store.current(records["new"])
    text = "<!--fig new::ours::ratio-->1.2<!--/fig-->\n<!--table new-->\n<!--/table-->\n"
    text += "<!--about new-->\n<!--/about-->\n<!--measured-->\n<!--/measured-->\n"
    filled = pages.filled(text, records)
    assert pages.unfinished(filled) == []
    for part in ("| ours | 1.25 |", "At most 2.", "commit 0123456789", "with the present code"):
        assert part in filled
