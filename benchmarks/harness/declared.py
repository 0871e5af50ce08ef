#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What a measurement declares before it runs. Loads nothing that a measurement might time."""

from __future__ import annotations

import sys
import tokenize

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from io import BytesIO
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

    Comments and docstrings do not count: they do not change what is measured.

    Parameters
    ----------
    measures, leaves_out : sequence of str
        Folders and modules of ``pymc_geodesic``, and those in them that do not count.

    Raises
    ------
    ValueError
        If one of them does not exist.
    """
    digest = sha256()
    left_out = {file for name in leaves_out for file in _modules(name)}
    for name in sorted(measures):
        for file in sorted(set(_modules(name)) - left_out, key=Path.as_posix):
            digest.update(file.relative_to(ROOT).as_posix().encode())
            digest.update("\0".join(_statements(file)).encode())
    return digest.hexdigest()[:16]


def _modules(name: str) -> list[Path]:
    """Return the files of a folder, or of a module."""
    place = ROOT / "pymc_geodesic" / name
    files = list(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
    if not files or not files[0].exists():
        raise ValueError(f"`measures` expected folders of pymc_geodesic, got {name!r}.")
    return files


def source_hash(file: Path) -> str:
    """Return a hash of the statements of one file, such as that of a model."""
    return sha256("\0".join(_statements(file)).encode()).hexdigest()[:16]


def _statements(file: Path) -> Iterator[str]:
    """Yield the tokens of a module without its comments and docstrings."""
    source = BytesIO(file.read_bytes().replace(b"\r\n", b"\n"))
    starts = True
    for token in tokenize.tokenize(source.readline):
        if token.type in IGNORED or (starts and token.type in {tokenize.STRING, tokenize.NEWLINE}):
            continue
        starts = token.type in BEFORE_STATEMENTS
        yield tokenize.tok_name[token.type] if starts else token.string


def this_command(*arguments: str) -> list[str]:
    """Return the command that runs the present script again, with other arguments."""
    return [sys.executable, "-m", sys.modules["__main__"].__spec__.name, *arguments]
