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
        assert not [line for line in lines if line.startswith("<!--fig ")], path.name


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


@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.parametrize(
    "page",
    [
        "index",
        "from_nuts",
        "predictions",
        "updates",
        "next_month",
        "out_of_memory",
        "direction_priors",
        "exact",
    ],
)
def test_the_program_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    assert blocks
    exec(compile("\n".join(blocks), f"{page}.md", "exec"), {"__name__": page})


@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.parametrize(
    ("section", "package"), [("Bambi", "bambi"), ("PyMC-Marketing", "pymc_marketing")]
)
def test_the_program_for_another_package_runs(section, package):
    pytest.importorskip(package)
    text = (DOCS / "other_packages.md").read_text(encoding="utf-8")
    [section] = re.findall(rf"^## {section}\n(.*?)(?=^## )", text, flags=re.DOTALL | re.MULTILINE)
    blocks = re.findall(r"^```python\n(.*?)^```$", section, flags=re.DOTALL | re.MULTILINE)
    assert len(blocks) == 2
    exec(compile("\n".join(blocks), package, "exec"), {"__name__": package})
