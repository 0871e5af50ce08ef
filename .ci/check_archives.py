#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Check that the archives of a release hold what they should and nothing else.

python .ci/check_archives.py dist
"""

from __future__ import annotations

import sys
import tarfile
import zipfile

from collections.abc import Iterable
from pathlib import Path

NAME = "pymc_geodesic"
IN_WHEEL = (f"{NAME}/__init__.py", f"{NAME}/py.typed", f"{NAME}/datasets/comets.csv")
IN_SDIST = (
    *IN_WHEEL,
    *("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff"),
    *("tests/conftest.py", "tests/test_import.py", "examples/comets.py"),
    "examples/extending/half_line.py",
)


def faults(folder: Path) -> list[str]:
    """Say what is missing from the archives in a folder, and what should not be there.

    Parameters
    ----------
    folder : Path
        With one wheel and one source archive.
    """
    [wheel], [sdist] = folder.glob("*.whl"), folder.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        wheel_names = archive.namelist()
    with tarfile.open(sdist) as archive:
        sdist_names = [name.partition("/")[2] for name in archive.getnames()]
    found = [f"{wheel.name} lacks {name}." for name in IN_WHEEL if name not in wheel_names]
    found += [f"{sdist.name} lacks {name}." for name in IN_SDIST if name not in sdist_names]
    outside = {name.partition("/")[0] for name in wheel_names} - {NAME}
    found += [f"{wheel.name} has {n}." for n in sorted(outside) if not n.endswith(".dist-info")]
    return found + left_behind([*wheel_names, *sdist_names])


def left_behind(names: Iterable[str]) -> list[str]:
    """Find what tools have left, which an archive should not have."""
    return [f"The archives have {n}." for n in names if "__pycache__" in n or n.endswith(".pyc")]


if __name__ == "__main__":
    if found := faults(Path(sys.argv[1])):
        sys.exit("\n".join(found))
