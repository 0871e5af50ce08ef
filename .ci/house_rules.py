#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Check the rules of this code that no linter knows; ``make lint`` calls it.

python .ci/house_rules.py
"""

from __future__ import annotations

import ast
import sys

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

NAME = "pymc_geodesic"
ROOT = Path(__file__).parents[1]

# A package imports those before it in this list, and itself.
ORDER = (
    "stages",
    *("requirements", "validation", "entry_names", "datasets", "parquet_columns", "parquet"),
    *("run_record", "schedules", "arrays", "graph_inputs", "monte_carlo", "component_order"),
    *("manifolds", "distributions", "potential", "mass"),
    *("kernel", "algorithms", "latents", "tuning"),
    *("data_checks", "groups", "rows", "sampling", "step_methods", "minibatch_guard"),
    *("refinement", "runs"),
    *("diagnostics", "plots", "directions", "topic_models", "predictions", "calibration"),
)

# Who needs to know something of a manifold asks it: no other file names one. Distributions register
# their manifolds, checks of draws have a file for each.
MANIFOLDS = {"Euclidean", "LogSimplex", "Simplex", "SpecialOrthogonal", "Sphere", "Stiefel"}
NAMES_MANIFOLDS = ("manifolds/", "distributions/", "diagnostics/rules.py")
REASONS = {
    "topic_models/collapsed_mean_topics.py": "a distribution, which registers its manifold",
    "diagnostics/geometry.py": "tells from draws alone, of which nothing is recorded",
    "runs/choose_step.py": "a sampler of the simplex and of nothing else",
    "kernel/blocks.py": "scalars side by side are a manifold of their own",
    "potential/variables.py": "where a transform of the user's leads to",
    "algorithms/poisson_gamma.py": "a sampler of the simplex and of nothing else",
    "algorithms/sgrld.py": "a sampler of the simplex and of nothing else",
    "algorithms/sgrhmc.py": "a sampler of the simplex and of nothing else",
}

# Lines of a file, so that it holds one idea.
MOST_LINES = 300


def imports(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the modules of the package that a file imports, with the names taken from each."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            pairs = [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == NAME:
            pairs = [(f"{NAME}.{alias.name}", alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            pairs = [(node.module or "", alias.name) for alias in node.names]
        else:
            continue
        for module, name in pairs:
            if module == NAME or module.startswith(f"{NAME}."):
                yield module.removeprefix(NAME).removeprefix("."), name


def faults(root: Path = ROOT) -> list[str]:
    """Say which rules are broken, and where.

    Parameters
    ----------
    root : Path
        Of the repository.
    """
    package, found = root / NAME, []
    place = {name: i for i, name in enumerate(ORDER)}
    present = {path.stem for path in package.glob("*.py")} - {"__init__"}
    present |= {path.parent.name for path in package.glob("*/__init__.py")}
    found += [f"ORDER does not say where {name} is." for name in sorted(present - set(ORDER))]
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package).as_posix()
        pairs = set(imports(path))
        if name != "__init__.py":
            own = place.get(name.removesuffix(".py").split("/")[0], 0)
            for module, _ in sorted(pairs):
                if not module or place.get(module.split(".")[0], 0) > own:
                    found.append(f"{name} imports {module or NAME}, which is above it.")
        names_one = bool({taken for _, taken in pairs} & MANIFOLDS)
        if not name.startswith(NAMES_MANIFOLDS) and names_one != (name in REASONS):
            found.append(f"{name} {'names a manifold' if names_one else 'needs no exception'}.")
        if (n := len(path.read_text(encoding="utf-8").splitlines())) > MOST_LINES:
            found.append(f"{name} has {n} lines, more than {MOST_LINES}.")
    names = Counter(path.name for path in (root / "tests").rglob("test_*.py"))
    return found + [f"{n} test files are named {name}." for name, n in names.items() if n > 1]


if __name__ == "__main__":
    sys.exit("\n".join(faults()) or None)
