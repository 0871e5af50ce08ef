#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What a measurement declares before it runs. Loads nothing that a measurement might time."""

from __future__ import annotations

import ast
import sys
import tokenize

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from io import BytesIO
from itertools import dropwhile
from pathlib import Path

__all__ = ["ROOT", "Benchmark", "fingerprint", "source_hash", "this_command"]

ROOT = Path(__file__).parents[2]
IGNORED = {tokenize.ENCODING, tokenize.COMMENT, tokenize.NL, tokenize.ENDMARKER}
BEFORE_STATEMENTS = {tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """The question of a script, what it asks for, and what it measures.

    Parameters
    ----------
    question : str
        In one sentence.
    asked : str
        The thresholds. Empty if nothing is asked.
    fixed : str
        The date at which the thresholds were fixed, before the first run.
    changed : str
        What was changed after a run, and when: such a threshold counts as a miss.
    seeds : tuple of int
        Of the samplers.
    measures : tuple of str
        Folders and modules of ``pymc_geodesic`` on which the figures depend.
    leaves_out : tuple of str
        Modules in these folders on which they do not: a script that gives every setting runs no
        rule that chooses them.
    """

    question: str
    asked: str
    fixed: str
    seeds: tuple[int, ...]
    measures: tuple[str, ...]
    changed: str = field(default="")
    leaves_out: tuple[str, ...] = field(default=())


def fingerprint(measures: Sequence[str], *, leaves_out: Sequence[str] = ()) -> str:
    """Return a hash of the measured code, which does not depend on git or on the system.

    What counts are the statements of the modules and what they import from other packages, or from
    one of several modules that define it. Comments, docstrings, and in which of the files a
    function or class stands do not: they do not change what is measured.

    Parameters
    ----------
    measures, leaves_out : sequence of str
        Folders and modules of ``pymc_geodesic``, and those in them that do not count.

    Raises
    ------
    ValueError
        If one of them does not exist.
    """
    left_out = {file for name in leaves_out for file in _modules(name)}
    files = {file for name in measures for file in _modules(name)} - left_out
    sources, ambiguous = [_read(file) for file in files], _defined_twice(ROOT)
    imported = {line for source in sources for line in _imports(source, ambiguous)}
    stated = [text for source in sources for text in _top_level(source)]
    return sha256("\0\0".join([*sorted(imported), *sorted(stated)]).encode()).hexdigest()[:16]


def _modules(name: str) -> list[Path]:
    """Return the files of a folder, or of a module."""
    place = ROOT / "pymc_geodesic" / name
    files = list(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
    if not files or not files[0].exists():
        raise ValueError(f"`measures` expected folders of pymc_geodesic, got {name!r}.")
    return files


def source_hash(file: Path) -> str:
    """Return a hash of the statements of one file, such as that of a model."""
    texts = (text for _, text in _statements(_read(file)))
    return sha256("\0".join(texts).encode()).hexdigest()[:16]


def _read(file: Path) -> bytes:
    return file.read_bytes().replace(b"\r\n", b"\n")


@cache
def _defined_twice(root: Path) -> frozenset[str]:
    """Name what several modules define, so that it matters from which of them it is imported."""
    found = Counter(
        name
        for file in (root / "pymc_geodesic").rglob("*.py")
        for name in {name for node in ast.parse(_read(file)).body for name in _defines(node)}
    )
    return frozenset(name for name, n in found.items() if n > 1)


def _defines(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else []
    return [name.id for x in targets for name in ast.walk(x) if isinstance(name, ast.Name)]


def _imports(source: bytes, ambiguous: frozenset[str]) -> Iterator[str]:
    """Name what a module imports from other packages, by another name, or from one of several."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.Import):
            yield from (f"import {alias.name} as {alias.asname}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            is_ours = (node.module or "").startswith("pymc_geodesic")
            for alias in node.names:
                # What only one module of this package defines is the same wherever it stands.
                if alias.asname or not is_ours or alias.name in ambiguous:
                    yield f"from {node.module} import {alias.name} as {alias.asname}"


def _top_level(source: bytes) -> Iterator[str]:
    """Write each statement of a module but its imports and the list of what it exports."""
    tokens = list(_statements(source))
    for node in ast.parse(source).body:
        if isinstance(node, ast.Import | ast.ImportFrom) or _is_export(node):
            continue
        first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
        inside = [text for line, text in tokens if first <= line <= node.end_lineno]
        # The end of the block before stands where this statement begins.
        text = "\0".join(dropwhile("DEDENT".__eq__, inside))
        # Nothing is left of a docstring.
        if text:
            yield text


def _is_export(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and [ast.unparse(t) for t in node.targets] == ["__all__"]


def _statements(source: bytes) -> Iterator[tuple[int, str]]:
    """Yield the tokens of a module with their lines, without its comments and docstrings."""
    starts = True
    for token in tokenize.tokenize(BytesIO(source).readline):
        if token.type in IGNORED or (starts and token.type in {tokenize.STRING, tokenize.NEWLINE}):
            continue
        starts = token.type in BEFORE_STATEMENTS
        yield token.start[0], tokenize.tok_name[token.type] if starts else token.string


def this_command(*arguments: str) -> list[str]:
    """Return the command that runs the present script again, with other arguments."""
    return [sys.executable, "-m", sys.modules["__main__"].__spec__.name, *arguments]
