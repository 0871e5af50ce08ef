#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Writes the pages of the gallery from the examples: question, model, results and source."""

from __future__ import annotations

import ast
import json
import re
import textwrap

from pathlib import Path

from standalone import section, standalone

DOCS = Path(__file__).parent
FOLDER, PICTURES = DOCS.parent / "examples", DOCS / "_static" / "gallery"
PAGES = DOCS / "gallery" / "pages"

# In the order in which they are shown.
GROUPS = {
    "Big data": ["million", "parquet_rows", "hierarchy", "beside_nuts", "matrix_factorization"],
    "Directions, axes and frames": [
        *("comets", "wind", "protein_angles", "termite_mounds", "magnetic_poles", "orbit_planes"),
        *("star_tracker", "embeddings", "rock_sets", "wine_components", "principal_components"),
    ],
    "Compositions and tables": [
        *("compositions", "dirichlet_corners", "hidden_stages", "admixture"),
    ],
    "Text": ["lda", "spherical_topics"],
    "Networks": ["neural_network"],
    "How the samplers work": ["noisy_circle", "two_directions", "two_wells", "badly_scaled"],
}
EXAMPLES = [name for names in GROUPS.values() for name in names]
# What the examples said when their pictures were drawn, and how long they took.
# Of a line of text beside two sidebars.
COLUMNS = 84
FOUND = PICTURES / "found.json"

PAGE = """# {title}

{question}

## The model

```python
{model}
```

## The run

```python
{run}
```

{found}

## The picture

```{{image}} /_static/gallery/{name}.png
:alt: Picture of {title_as_text}
:width: 100%
```

## What we learn

{conclusion}

{time}

## The whole program

{{download}}`Download {name}.py <{name}.py>`: it needs nothing else of this repository.
In the repository, `python examples/{name}.py --quick` makes a short run.

:::{{dropdown}} {name}.py
```{{literalinclude}} {name}.py
:language: python
```
:::
"""

FOUND_TEXT = """## What it finds

```text
{report}
```
"""

TIME = "The run took {seconds} seconds of a processor, {included}, on {date}."

CARD = """:::{{grid-item-card}} {title}
:link: pages/{name}
:link-type: doc
:img-top: /_static/gallery/{name}_thumbnail.png
:img-alt: {title_as_text}
:::
"""


def describe(name: str) -> dict[str, str]:
    """Take the texts of a page from an example, its stored results and its conclusion."""
    path = FOLDER / f"{name}.py"
    title, _, text = ast.get_docstring(ast.parse(path.read_text())).partition("\n")
    title = title.removesuffix(".")
    *question, conclusion = text.strip().split("\n\n")
    if not conclusion.startswith("Conclusion: "):
        raise ValueError(f"The docstring of {path.name} expected a conclusion as last paragraph.")
    conclusion = conclusion.removeprefix("Conclusion: ")
    stored = json.loads(FOUND.read_text()).get(name, {})
    report = legible(stored.get("report", ""))
    return {
        "name": name,
        "title": title,
        "title_as_text": title[0].lower() + title[1:],
        # Docstrings mark code by two backticks, which Markdown understands too.
        "question": "\n\n".join(question),
        "conclusion": conclusion[0].upper() + conclusion[1:],
        "model": section(path, "build_model"),
        "run": section(path, "run"),
        "found": FOUND_TEXT.format(report=report) if report else "",
        "time": TIME.format(**{"included": "compilation included"} | stored)
        if "seconds" in stored
        else "",
    }


def legible(report: str) -> str:
    """Break the sentences of a report; its tables, most of whose words stand apart, stay."""
    lines = []
    for line in report.splitlines():
        apart = len(re.findall(r"\S  +(?=\S)", line))
        is_of_table = line.startswith("  ") or 2 * apart >= len(line.split()) - 1
        lines.append(line if is_of_table else textwrap.fill(line, COLUMNS))
    return "\n".join(lines)


def write(app=None) -> None:
    """Write one page per example, and the cards of the index."""
    PAGES.mkdir(parents=True, exist_ok=True)
    for name in EXAMPLES:
        replace(PAGES / f"{name}.md", PAGE.format(**describe(name)))
        replace(PAGES / f"{name}.py", standalone(FOLDER / f"{name}.py"))
    parts = []
    for group, names in GROUPS.items():
        cards = [CARD.format(**describe(name)) for name in names]
        body = "\n".join(cards)
        parts.append(f"## {group}\n\n::::{{grid}} 1 2 3 3\n:gutter: 3\n\n{body}\n::::\n")
    pages = "\n".join(f"pages/{name}" for name in EXAMPLES)
    parts.append(f"```{{toctree}}\n:hidden:\n\n{pages}\n```\n")
    replace(PAGES / "cards.md.inc", "\n".join(parts))


def replace(path: Path, text: str) -> None:
    """Write a file if its text differs; otherwise Sphinx would read an unchanged file again."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
