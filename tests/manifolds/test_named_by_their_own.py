#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Who needs to know something of a manifold asks it: no other file names one."""

import ast

from pathlib import Path

import pytest

import pymc_geodesic as pmg

PACKAGE = Path(pmg.__file__).parent
NAMES = {"Euclidean", "LogSimplex", "Simplex", "SpecialOrthogonal", "Sphere", "Stiefel"}
# Distributions register their manifolds, checks of draws have a file for each.
FOLDERS = ("manifolds", "distributions", "diagnostics/rules")
REASONS = {
    "topic_models/collapsed_mean_topics.py": "a distribution, which registers its manifold",
    "diagnostics/geometry.py": "tells from draws alone, of which nothing is recorded",
    "diagnostics/simplex_checks.py": "checks a sampler of the simplex and of nothing else",
    "runs/choose_step.py": "a sampler of the simplex and of nothing else",
    "kernel/blocks.py": "scalars side by side are a manifold of their own",
    "potential/variables.py": "where a transform of the user's leads to",
    "algorithms/sgrld.py": "a sampler of the simplex and of nothing else",
    "algorithms/sgrhmc.py": "a sampler of the simplex and of nothing else",
}


def files():
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if not name.startswith(FOLDERS):
            yield name


def imported(name):
    tree = ast.parse((PACKAGE / name).read_text())
    return {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pymc_geodesic")
        for alias in node.names
    }


@pytest.mark.parametrize("name", list(files()))
def test_no_other_file_names_a_manifold(name):
    assert name in REASONS or not imported(name) & NAMES


@pytest.mark.parametrize("name", REASONS)
def test_exceptions_are_still_needed(name):
    assert imported(name) & NAMES


def test_manifolds_are_found_by_the_name_that_a_run_records():
    for manifold in (pmg.Euclidean(), pmg.Simplex(), pmg.Sphere()):
        assert type(pmg.manifolds.manifold_named(manifold.name)) is type(manifold)
    assert pmg.manifolds.manifold_named("Klein bottle") is None
