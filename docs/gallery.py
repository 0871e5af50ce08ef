#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Writes the pages of the gallery from the examples: docstring, picture and source."""

from __future__ import annotations

import ast

from pathlib import Path

DOCS = Path(__file__).parent
FOLDER, PICTURES = DOCS.parent / "examples", DOCS / "_static" / "gallery"
PAGES = DOCS / "gallery" / "pages"

# In the order in which they are shown.
GROUPS = {
    "Directions": [
        "comets",
        "orbit_planes",
        "star_tracker",
        "wind",
        "noisy_circle",
        "two_directions",
        "beside_nuts",
    ],
    "Text": ["spherical_topics", "lda"],
    "Probability vectors": ["dirichlet_corners"],
    "Big data": ["million", "neural_network", "matrix_factorization"],
    "Temperature and scales": ["two_wells", "badly_scaled"],
}
EXAMPLES = [name for names in GROUPS.values() for name in names if (FOLDER / f"{name}.py").exists()]

PAGE = """# {title}

{text}

```{{image}} /_static/gallery/{name}.png
:alt: Picture of {title_as_text}
:width: 100%
```

`python examples/{name}.py` runs it and draws the picture; `--quick` makes a short run.

```{{literalinclude}} ../../../examples/{name}.py
:language: python
:lines: {first}-
```
"""

CARD = """:::{{grid-item-card}} {title}
:link: pages/{name}
:link-type: doc
:img-top: /_static/gallery/{name}_thumbnail.png
:img-alt: {title_as_text}
:::
"""


def describe(name: str) -> dict[str, str | int]:
    """Take title, text and the line at which the code begins from an example."""
    tree = ast.parse((FOLDER / f"{name}.py").read_text())
    title, _, text = ast.get_docstring(tree).partition("\n")
    # Docstrings mark code by two backticks, which Markdown understands too.
    title = title.removesuffix(".")
    first = tree.body[0].end_lineno + 2
    return {
        "name": name,
        "title": title,
        "title_as_text": title[0].lower() + title[1:],
        "text": text.strip(),
        "first": first,
    }


def write(app=None) -> None:
    """Write one page per example, and the cards of the index."""
    PAGES.mkdir(parents=True, exist_ok=True)
    for name in EXAMPLES:
        replace(PAGES / f"{name}.md", PAGE.format(**describe(name)))
    parts = []
    for group, names in GROUPS.items():
        cards = [CARD.format(**describe(name)) for name in names if name in EXAMPLES]
        body = "\n".join(cards)
        parts.append(f"## {group}\n\n::::{{grid}} 1 2 3 3\n:gutter: 3\n\n{body}\n::::\n")
    replace(PAGES / "cards.md.inc", "\n".join(parts))


def replace(path: Path, text: str) -> None:
    """Write a file if its text differs; otherwise Sphinx would read an unchanged file again."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
