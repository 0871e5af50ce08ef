#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A release waits until everything is ready, and its files and pages land where they belong."""

import importlib
import re
import sys
import tarfile
import zipfile

from pathlib import Path

import pytest

CI = Path(__file__).parents[2] / ".ci"

pytestmark = pytest.mark.skipif(not CI.is_dir(), reason="not part of a source archive")


@pytest.fixture(scope="module")
def load_tool():
    sys.path.insert(0, str(CI))
    yield importlib.import_module
    sys.path.remove(str(CI))


def test_every_folder_of_tests_is_in_the_workflow_of_the_slow_tests():
    workflow = (CI.parent / ".github" / "workflows" / "slow.yml").read_text(encoding="utf-8")
    rooms = re.search(r"room:\n((?: +- .+\n)+)", workflow)[1].replace("- ", "").split()
    folders = {path.parent.name for path in (CI.parent / "tests").glob("*/test_*.py")}
    assert {*rooms} == {*folders, "test_*.py"}


CHANGES = """# Changelog

## [Unreleased]

## [1.2.0] - 2026-12-01

### Added

- Something.

## [1.1.0] - 2026-11-01

- Something older.
"""


@pytest.fixture
def ready(tmp_path):
    files = {
        "pyproject.toml": '[project]\nversion = "1.2.0"\n',
        "CITATION.cff": "cff-version: 1.2.0\nversion: 1.2.0\n",
        "CODE_OF_CONDUCT.md": "Write to us.\n",
        "SECURITY.md": "Write to us.\n",
        "CHANGELOG.md": CHANGES,
        "README.md": "pip install pymc_geodesic\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_notes_are_those_of_one_version(load_tool, ready):
    tool = load_tool("check_version")
    assert tool.notes("1.2.0", ready) == "### Added\n\n- Something."
    assert tool.notes("1.1.0", ready) == "- Something older."
    assert tool.notes("1.3.0", ready) == ""
    assert tool.faults("1.2.0", ready) == []


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("pyproject.toml", '[project]\nversion = "1.1.0"\n', "version 1.2.0, got 1.1.0"),
        ("CITATION.cff", "cff-version: 1.2.0\nversion: 1.1.0\n", "`version: 1.2.0`"),
        ("CHANGELOG.md", "## [Unreleased]\n\n- Something.\n", r"## \[1.2.0\]"),
        ("SECURITY.md", "Write to security@example.org.\n", "'example.org'"),
        ("CODE_OF_CONDUCT.md", "Write to PLACEHOLDER.\n", "'PLACEHOLDER'"),
        ("README.md", "pip install .\n", "`pip install pymc_geodesic`"),
    ],
)
def test_what_is_not_ready_is_named(load_tool, ready, name, text, fault):
    (ready / name).write_text(text, encoding="utf-8")
    [found] = load_tool("check_version").faults("1.2.0", ready)
    assert name in found
    assert fault.replace("\\", "") in found


def make_archives(folder, *, without=(), extra=()):
    """Write archives with empty files."""
    tool = importlib.import_module("check_archives")
    empty = folder / "empty"
    empty.write_bytes(b"")
    info = "pymc_geodesic-1.2.0.dist-info/METADATA"
    with zipfile.ZipFile(folder / "pymc_geodesic-1.2.0-py3-none-any.whl", "w") as archive:
        for name in {*tool.IN_WHEEL, info, *extra} - set(without):
            archive.writestr(name, "")
    with tarfile.open(folder / "pymc_geodesic-1.2.0.tar.gz", "w:gz") as archive:
        for name in set(tool.IN_SDIST) - set(without):
            archive.add(empty, f"pymc_geodesic-1.2.0/{name}")


def test_archives_hold_what_they_should(load_tool, tmp_path):
    tool = load_tool("check_archives")
    make_archives(tmp_path)
    assert tool.faults(tmp_path) == []
    make_archives(tmp_path, without=["pymc_geodesic/py.typed"], extra=["tests/conftest.py"])
    lacks_of_wheel, lacks_of_sdist, too_much = tool.faults(tmp_path)
    assert "whl lacks pymc_geodesic/py.typed" in lacks_of_wheel
    assert "gz lacks pymc_geodesic/py.typed" in lacks_of_sdist
    assert "whl has tests" in too_much
    assert len(tool.left_behind(["a/__pycache__/b.pyc", "c.py"])) == 1


def test_a_version_of_the_documentation_replaces_its_folder_alone(load_tool, tmp_path):
    tool = load_tool("place_docs")
    assert [tool.folder_of(ref) for ref in ("v0.1.0", "v1.10.2", "main")] == ["0.1", "1.10", "dev"]
    html, pages = tmp_path / "html", tmp_path / "pages"
    html.mkdir()
    pages.mkdir()
    for ref in ("main", "v0.9.0", "v0.10.0", "v0.9.1"):
        (html / "index.html").write_text(ref, encoding="utf-8")
        tool.place(html, pages, ref)
    assert (pages / "0.9" / "index.html").read_text(encoding="utf-8") == "v0.9.1"
    assert (pages / "0.10" / "index.html").read_text(encoding="utf-8") == "v0.10.0"
    assert tool.versions(pages) == ["0.10", "0.9", "dev"]
    assert "url=0.10/" in (pages / "index.html").read_text(encoding="utf-8")
    assert "dev/" in (pages / "versions.html").read_text(encoding="utf-8")


def test_broken_rules_of_the_house_are_named(load_tool, tmp_path):
    tool = load_tool("house_rules")
    package = tmp_path / "pymc_geodesic"
    for room, text in {
        "kernel": "from pymc_geodesic.runs.sample import sample\n",
        "tuning": "from pymc_geodesic.manifolds import Sphere\n",
        "strange": "x = 1\n" * 301,
    }.items():
        (package / room).mkdir(parents=True)
        (package / room / "__init__.py").write_text("", encoding="utf-8")
        (package / room / "a.py").write_text(text, encoding="utf-8")
    for room in ("kernel", "tuning"):
        (tmp_path / "tests" / room).mkdir(parents=True)
        (tmp_path / "tests" / room / "test_a.py").write_text("", encoding="utf-8")
    assert tool.faults(tmp_path) == [
        "ORDER does not say where strange is.",
        "kernel/a.py imports runs.sample, which is above it.",
        "strange/a.py has 301 lines, more than 300.",
        "tuning/a.py names a manifold.",
        "2 test files are named test_a.py.",
    ]
