#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What the reference shows of a public class, and where links to its names lead.

A class is documented once, by the name under which users know it. Docstrings and pages may name it
by any module from which it can be imported.
"""

from __future__ import annotations

import ast
import re

from collections import defaultdict
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from docutils.nodes import Element
from pymc.distributions.distribution import Continuous, Discrete, SymbolicRandomVariable
from pymc.step_methods.compound import BlockedStep
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

import pymc_geodesic

PACKAGE = "pymc_geodesic"

# Methods by which PyMC calls distributions and steps, which users do not call.
OF_PYMC = frozenset(
    name for cls in (Continuous, Discrete, SymbolicRandomVariable, BlockedStep) for name in dir(cls)
) | {"dist", "logp", "logcdf", "rv_type", "support_point"}
# Attributes by which the classes of steps talk to each other.
OF_STEPS = frozenset({"record", "shared", "tune"})


def skip_interface_of_pymc(
    app: Sphinx, what: str, name: str, obj: object, skip: bool, options: object
) -> bool | None:
    """Leave out what only PyMC and other classes call, and fields without a text of their own."""
    if what != "class":
        return None
    is_field = type(obj).__name__ == "_tuplegetter"
    return True if is_field or name in OF_PYMC | OF_STEPS else None


def readable_signature(
    app: Sphinx, what: str, name: str, obj: object, options: object, signature: str, returned: str
) -> tuple[str | None, str] | None:
    """Give interfaces no signature: nobody calls them. Write defaults that are made as dots.

    Names of types stand for what readers may pass, which is written in their place.
    """
    if getattr(obj, "_is_protocol", False):
        return "", returned
    if signature:
        # Sphinx reads signatures as Python, which `<factory>` and `<function f>` are not.
        return _spelt_out(re.sub(r"<[^<>]+>", "...", signature), obj.__module__), returned
    return None


def _spelt_out(signature: str, module: str) -> str:
    """Write the types for which names in a signature of a module stand."""
    names = "|".join(_aliases())
    for _ in range(3):  # Names may stand for others.
        signature = re.sub(
            rf"(?<=[\[ ])~?(?:(pymc_geodesic\.[\w.]+)\.)?({names})(?=[\], )]|$)",
            lambda found: _meaning(found[2], found[1] or module),
            signature,
        )
    return signature


def _meaning(name: str, module: str) -> str:
    """Return what the name of a type stands for in a module, which may have imported it."""
    texts = _aliases()[name]
    if len({*texts.values()}) == 1:
        return next(iter(texts.values()))
    known = getattr(import_module(module), name, None)
    alike = [text for home, text in texts.items() if _imported(f"{home}.{name}") is known]
    return next(iter(alike), name)


@cache
def _aliases() -> dict[str, dict[str, str]]:
    """Return what names of types stand for in the modules that define them."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    root = Path(pymc_geodesic.__file__).parent
    for path in root.rglob("*.py"):
        module = ".".join([PACKAGE, *path.relative_to(root).with_suffix("").parts])
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.TypeAlias):
                found[node.name.id][module] = ast.unparse(node.value)
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                is_type = isinstance(node.value, ast.BinOp | ast.Subscript)
                if is_type and re.fullmatch(r"[A-Z]\w*[a-z]\w*", node.targets[0].id):
                    found[node.targets[0].id][module] = ast.unparse(node.value)
    return found


def find_by_identity(
    app: Sphinx, env: BuildEnvironment, node: Element, contnode: Element
) -> Element | None:
    """Resolve a name of this package that is documented under another module."""
    if node.get("refdomain") != "py":
        return None
    target = str(node.get("reftarget", ""))
    module = str(node.get("py:module") or PACKAGE)
    domain = env.domains.python_domain
    alike = [name for name in domain.objects if _last(name) == _last(target)]
    found = _imported(target if target.startswith(f"{PACKAGE}.") else f"{module}.{target}")
    if found is not None:
        alike = [name for name in alike if _imported(name) is found]
    elif len({id(_imported(name)) for name in alike}) > 1 or "." in target:
        return None
    if not alike:
        return None
    return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", alike[0], node, contnode)


def _last(name: str) -> str:
    return name.rpartition(".")[2]


@cache
def _imported(name: str) -> Any:
    """Import what a dotted name means; None if there is no such thing."""
    package, *parts = name.split(".")
    found: Any = import_module(package)
    for n, part in enumerate(parts, start=1):
        # An attribute comes first: some modules have the name of the function in them.
        if not hasattr(found, part):
            try:
                import_module(".".join([package, *parts[:n]]))
            except ImportError:
                return None
        found = getattr(found, part, None)
    return found
