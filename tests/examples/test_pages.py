#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The programs of pages that are not executed when the documentation is built run as printed."""

import re

from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"

pytestmark = [
    pytest.mark.skipif(not DOCS.is_dir(), reason="not part of a source archive"),
    pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


def test_no_line_begins_with_a_comment_inside_a_paragraph():
    """Markdown would take the rest of the paragraph for HTML, and print its marks."""
    for path in sorted(DOCS.glob("*.md")):
        lines = path.read_text(encoding="utf-8").splitlines()
        assert not [line for line in lines if line.lstrip().startswith("<!--fig ")], path.name


def test_rows_of_tables_have_as_many_cells_as_their_headers():
    """Otherwise a table is printed as text or loses cells; bars in cells need a backslash."""
    pages = [*DOCS.rglob("*.md"), *(DOCS.parent / "benchmarks").rglob("*.md")]
    wrong = []
    for path in sorted(pages):
        if "_build" in path.parts:
            continue
        text = re.sub(r"^(```+).*?^\1", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
        for table in re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE):
            sizes = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
            wrong += [f"{path.name}: {table[:60]}"] if len(sizes) > 1 else []
    assert wrong == []


def program(page, section=None):
    """Join the blocks of Python of a page, or of one of its sections."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    if section is not None:
        text = re.search(rf"^## {section}\n(.*?)(?=^## )", text, flags=re.DOTALL | re.MULTILINE)[1]
    return "\n".join(re.findall(r"^```python\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE))


def test_pages_are_short():
    """A page says one thing, and the glossary has no words that the field does not need."""
    words = {path.name: len(path.read_text(encoding="utf-8").split()) for path in DOCS.glob("*.md")}
    # What is looked up, not read.
    too_long = {name for name, n in words.items() if n > 1500} - {"messages.md"}
    assert too_long == set()
    assert sum(words.values()) <= 25_000
    assert words["index.md"] < 500
    assert len((DOCS.parent / "README.md").read_text(encoding="utf-8").split()) < 500
    glossary = (DOCS / "glossary.md").read_text(encoding="utf-8").partition("{glossary}")[2]
    assert len(re.findall(r"^\w", glossary, flags=re.MULTILINE)) <= 30


# What is looked up, or leads to other pages.
LOOKED_UP = {"changelog", "glossary", "guide", "index", "reference", "references", "start"}


@pytest.mark.parametrize("page", sorted({path.stem for path in DOCS.glob("*.md")} - LOOKED_UP))
def test_a_page_says_whom_it_is_for(page):
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    assert re.search(r"^# .+\n\nFor ", text, flags=re.MULTILINE)


@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.parametrize(
    ("page", "section"),
    [
        *[(page, None) for page in ("index", "from_nuts", "hierarchical", "exact", "geology")],
        *[(page, None) for page in ("predictions", "updates", "next_month")],
        ("scaling", "Parquet files"),
    ],
)
def test_the_program_of_a_page_runs(page, section, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(program(page, section), f"{page}.md", "exec"), {"__name__": page})


@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.parametrize(
    ("section", "package"), [("Bambi", "bambi"), ("PyMC-Marketing", "pymc_marketing")]
)
def test_the_program_for_another_package_runs(section, package):
    pytest.importorskip(package)
    exec(compile(program("other_packages", section), package, "exec"), {"__name__": package})
