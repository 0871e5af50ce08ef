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


@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.parametrize(
    "page", ["index", "from_nuts", "predictions", "out_of_memory", "direction_priors"]
)
def test_the_program_of_a_page_runs(page):
    pytest.importorskip("jax")
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    assert blocks
    exec(compile("\n".join(blocks), f"{page}.md", "exec"), {"__name__": page})
