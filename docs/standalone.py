#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Examples as programs of their own, with what they share written into them."""

from __future__ import annotations

import ast

from pathlib import Path

# Modules of the examples' folder that are no examples themselves.
HELPERS = ("shared", "gradient_noise", "gibbs")

ENDING = """if __name__ == "__main__":
    idata = run()
    print(report(idata))
    plot(idata).savefig("{name}.png", dpi=150, bbox_inches="tight")
"""


def standalone(path: Path) -> str:
    """Return the source of an example in which definitions take the place of imports.

    Its last lines, which read the command line, become a plain run.
    """
    source = path.read_text(encoding="utf-8")
    imports, definitions = [], []
    first, *rest = ast.parse(source).body
    for node in rest:
        if _is_import(node):
            needed, defined = _resolved(node, path.parent)
            imports += needed
            definitions += [text for text in defined if text not in definitions]
    definitions += [_text(node, source) for node in rest if not _is_left_out(node)]
    body = _spaced(definitions)
    ending = ENDING.format(name=path.stem)
    return f"{_text(first, source)}\n\n{_merged(imports, body)}\n\n{body}\n\n\n{ending}"


def _merged(imports: list[ast.stmt], body: str) -> str:
    """Return one statement for each module, with only the names that the program uses."""
    used = {node.id for node in ast.walk(ast.parse(body)) if isinstance(node, ast.Name)}
    whole, parts = set(), {}
    for node in imports:
        for alias in node.names:
            if (alias.asname or alias.name).split(".")[0] not in used:
                continue
            if isinstance(node, ast.ImportFrom):
                parts.setdefault(node.module, set()).add(ast.unparse(alias))
            else:
                whole.add(f"import {ast.unparse(alias)}")
    froms = [f"from {module} import {', '.join(sorted(parts[module]))}" for module in sorted(parts)]
    return "\n".join(["from __future__ import annotations", "", *sorted(whole), "", *froms, ""])


def _spaced(texts: list[str]) -> str:
    """Join statements, with two blank lines around definitions."""
    lines: list[str] = []
    after_definition = False
    for text in texts:
        is_definition = any(line.startswith(("def ", "class ")) for line in text.splitlines())
        if lines and (is_definition or after_definition):
            lines += ["", ""]
        lines.append(text)
        after_definition = is_definition
    return "\n".join(lines)


def section(path: Path, name: str) -> str:
    """Return the source of one function of an example, or nothing if there is none."""
    source = standalone(path)
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return _text(node, source)
    return ""


def _resolved(node: ast.stmt, folder: Path) -> tuple[list[ast.stmt], list[str]]:
    """Return imports and definitions in place of an import, which may be of another example."""
    if not isinstance(node, ast.ImportFrom) or not (folder / f"{node.module}.py").is_file():
        return [node], []
    names = {alias.name for alias in node.names} - {"main"}
    return _definitions(folder / f"{node.module}.py", names)


def _definitions(path: Path, names: set[str]) -> tuple[list[ast.stmt], list[str]]:
    """Return the imports and the definitions of a helper that some of its names need."""
    source = path.read_text(encoding="utf-8")
    body = ast.parse(source).body
    nodes = {name: node for node in body for name in _names_of(node)}
    needed: set[str] = set()
    while new := names - needed:
        needed |= new
        used = (ast.walk(nodes[name]) for name in new)
        loaded = {n.id for tree in used for n in tree if isinstance(n, ast.Name)}
        names = names | (loaded & nodes.keys())
    chosen = [node for node in body if _names_of(node) & needed]
    used = {n.id for node in chosen for n in ast.walk(node) if isinstance(n, ast.Name)}
    imports, definitions = [], []
    for node in filter(_is_import, body):
        names = {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        if names & used:
            found, defined = _resolved(node, path.parent)
            imports += found
            definitions += defined
    return imports, [*definitions, *(_text(node, source) for node in chosen)]


def _names_of(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Assign):
        names = {n.id for target in node.targets for n in ast.walk(target) if hasattr(n, "id")}
        return names - {"__all__"}
    return set()


def _is_left_out(node: ast.stmt) -> bool:
    return _is_import(node) or (isinstance(node, ast.If) and "__name__" in ast.unparse(node.test))


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def _text(node: ast.stmt, source: str) -> str:
    """Source of a statement, with its decorators and the comments directly above it."""
    lines = source.splitlines()
    decorators = getattr(node, "decorator_list", [])
    start = min([node.lineno, *(found.lineno for found in decorators)]) - 1
    while start > 0 and lines[start - 1].startswith("# "):
        start -= 1
    return "\n".join(lines[start : node.end_lineno])
