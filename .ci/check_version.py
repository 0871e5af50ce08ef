#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Check that everything is ready for the release that a tag names; with --notes, print its notes.

python .ci/check_version.py v0.1.0
"""

from __future__ import annotations

import re
import sys
import tomllib

from pathlib import Path

ROOT = Path(__file__).parents[1]

# Files that are published, or that tell users whom to write to.
PUBLISHED = ("pyproject.toml", "CITATION.cff", "CODE_OF_CONDUCT.md", "SECURITY.md")
# What stands for something that only the maintainers know.
PLACEHOLDERS = ("PLACEHOLDER", "example.org")


def faults(version: str, root: Path = ROOT) -> list[str]:
    """Say what is not ready for a release, one sentence each.

    Parameters
    ----------
    version : str
        Of the release, without the "v" of its tag.
    root : Path
        The repository.
    """
    found = []
    texts = {name: (root / name).read_text(encoding="utf-8") for name in PUBLISHED}
    declared = tomllib.loads(texts["pyproject.toml"])["project"]["version"]
    if declared != version:
        found.append(f"pyproject.toml expected version {version}, got {declared}.")
    if not re.search(rf"^version: {re.escape(version)}$", texts["CITATION.cff"], re.MULTILINE):
        found.append(f"CITATION.cff expected `version: {version}`. Change it, and `date-released`.")
    if not notes(version, root):
        found.append(f"CHANGELOG.md expected entries under `## [{version}]`. Rename `Unreleased`.")
    if "pip install pymc_geodesic" not in (root / "README.md").read_text(encoding="utf-8"):
        found.append(
            "README.md expected `pip install pymc_geodesic`. Say it, in the documentation too."
        )
    for name, text in texts.items():
        if left := [word for word in PLACEHOLDERS if word in text]:
            found.append(f"{name} has {left[0]!r} in it. Replace what it stands for.")
    return found


def notes(version: str, root: Path = ROOT) -> str:
    """Return what the changelog says of a version."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    pattern = rf"^## \[{re.escape(version)}\][^\n]*\n(.*?)(?=^## \[|\Z)"
    found = re.search(pattern, text, re.MULTILINE | re.DOTALL)
    return "" if found is None else found[1].strip()


def main() -> None:
    """Read the arguments."""
    version = sys.argv[1].removeprefix("v")
    if "--notes" in sys.argv:
        print(notes(version))
    elif found := faults(version):
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
