#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Imports only point down: a package imports those before it in one list, and itself."""

import ast

from pathlib import Path

import pymc_geodesic

ORDER = (
    *(
        "requirements",
        "validation",
        "entry_names",
        "datasets",
        "parquet_columns",
        "parquet",
        "run_record",
        "schedules",
        "arrays",
        "graph_inputs",
        "monte_carlo",
        "component_order",
    ),
    *("manifolds", "distributions", "potential", "mass"),
    *("kernel", "algorithms", "latents", "tuning"),
    *(
        "groups",
        "rows",
        "data_checks",
        "sampling",
        "step_methods",
        "minibatch_guard",
        "refinement",
        "runs",
    ),
    *("diagnostics", "plots", "directions", "topic_models", "predictions", "calibration"),
)

ROOT = Path(pymc_geodesic.__file__).parent
NAME = "pymc_geodesic"


def imports():
    """Pairs of modules, the first of which imports the second, wherever the statement stands."""
    for path in sorted(ROOT.rglob("*.py")):
        if path == ROOT / "__init__.py":
            continue
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module == NAME:
                names = [f"{NAME}.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module]
            else:
                continue
            for name in names:
                if name == NAME or name.startswith(f"{NAME}."):
                    yield module, name.removeprefix(NAME).removeprefix(".")


def package(module):
    return module.split(".")[0]


def test_every_package_has_its_place():
    found = {path.stem for path in ROOT.iterdir() if path.suffix == ".py"} - {"__init__"}
    found |= {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert found == set(ORDER)


def test_imports_point_down():
    pairs = set(imports())
    assert len(pairs) > 300
    # The whole package is above everything.
    assert not [pair for pair in pairs if not pair[1]]
    place = {name: i for i, name in enumerate(ORDER)}
    assert not {pair for pair in pairs if place[package(pair[1])] > place[package(pair[0])]}
