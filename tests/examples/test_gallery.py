#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Every example has a page in the gallery, and a program that needs no other file."""

import ast
import sys

from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
# What it finds are the times of two samplers.
TIMED_BY_ITSELF = {"beside_nuts"}
EXAMPLES = Path(__file__).parents[2] / "examples"

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="not part of a source archive")


@pytest.fixture(scope="module")
def gallery():
    sys.path.insert(0, str(DOCS))
    import gallery

    yield gallery
    sys.path.remove(str(DOCS))


def test_every_example_has_a_page(gallery):
    from standalone import HELPERS

    names = {path.stem for path in EXAMPLES.glob("*.py")} - set(HELPERS)
    assert sorted(gallery.EXAMPLES) == sorted(names)
    for name in gallery.EXAMPLES:
        page = gallery.describe(name)
        assert page["model"].startswith("def build_model")
        assert page["run"].startswith("def run")
        assert page["found"], f"{name} lacks what it finds: run docs/draw_gallery.py {name}"
        timed = page["time"] or name in TIMED_BY_ITSELF
        assert timed, f"{name} lacks its time: run docs/draw_gallery.py {name}"
        for kind in ("", "_thumbnail"):
            assert (gallery.PICTURES / f"{name}{kind}.png").is_file()


def test_programs_stand_alone(gallery):
    from standalone import standalone

    for name in gallery.EXAMPLES:
        tree = ast.parse(standalone(EXAMPLES / f"{name}.py"))
        modules = {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
        assert not modules & {path.stem for path in EXAMPLES.glob("*.py")}
        imported = {
            (alias.asname or alias.name).split(".")[0]
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        assert imported - {"annotations", "jax", "pytensor"} <= used


# Short runs are not settled, and say so.
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
def test_a_program_runs(gallery, monkeypatch):
    from standalone import standalone

    scope = {"__name__": "program"}
    exec(compile(standalone(EXAMPLES / "noisy_circle.py"), "noisy_circle", "exec"), scope)
    idata = scope["run"](quick=True)
    assert "thermostat" in scope["report"](idata)
