#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Put built documentation where its version belongs, and list all versions.

python .ci/place_docs.py docs/_build/html pages v0.1.0
"""

from __future__ import annotations

import re
import shutil
import sys

from pathlib import Path

PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>pymc_geodesic</title>{head}</head>
<body>{body}</body>
</html>
"""


def folder_of(ref: str) -> str:
    """Return the folder of a branch or tag: ``0.1`` for ``v0.1.2``, ``dev`` for a branch."""
    found = re.fullmatch(r"v(\d+\.\d+)\.\d+", ref)
    return found[1] if found else "dev"


def place(html: Path, pages: Path, ref: str) -> None:
    """Replace the documentation of a version, and write the pages that lead to all of them.

    Parameters
    ----------
    html : Path
        What Sphinx has built.
    pages : Path
        The published folder.
    ref : str
        Branch or tag from which it was built.
    """
    target = pages / folder_of(ref)
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(html, target)
    # Folders that begin with an underscore are published too.
    (pages / ".nojekyll").touch()
    found = versions(pages)
    first = f'<meta http-equiv="refresh" content="0; url={found[0]}/">'
    links = "".join(f'<li><a href="{name}/">{name}</a></li>' for name in found)
    (pages / "index.html").write_text(PAGE.format(head=first, body=""), encoding="utf-8")
    listed = PAGE.format(head="", body=f"<h1>Versions</h1><ul>{links}</ul>")
    (pages / "versions.html").write_text(listed, encoding="utf-8")


def versions(pages: Path) -> list[str]:
    """Return the folders of versions, the newest first and ``dev`` last."""
    numbers = [
        tuple(map(int, path.name.split(".")))
        for path in pages.iterdir()
        if path.is_dir() and re.fullmatch(r"\d+\.\d+", path.name)
    ]
    released = [".".join(map(str, number)) for number in sorted(numbers, reverse=True)]
    return released + (["dev"] if (pages / "dev").is_dir() else [])


if __name__ == "__main__":
    place(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
