#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What a measurement declares before it runs. Loads nothing that a measurement might time."""

from __future__ import annotations

import sys
import tokenize

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from io import BytesIO
from pathlib import Path

__all__ = ["ROOT", "Benchmark", "source_hash", "this_command"]

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
    """

    question: str
    asked: str
    fixed: str
    seeds: tuple[int, ...]
    changed: str = field(default="")


def source_hash(file: Path) -> str:
    """Return a hash of the statements of one file, such as that of a model."""
    source = file.read_bytes().replace(b"\r\n", b"\n")
    return sha256("\0".join(_statements(source)).encode()).hexdigest()[:16]


def _statements(source: bytes) -> Iterator[str]:
    """Yield the tokens of a module, without its comments and docstrings."""
    starts = True
    for token in tokenize.tokenize(BytesIO(source).readline):
        if token.type in IGNORED or (starts and token.type in {tokenize.STRING, tokenize.NEWLINE}):
            continue
        starts = token.type in BEFORE_STATEMENTS
        yield tokenize.tok_name[token.type] if starts else token.string


def this_command(*arguments: str) -> list[str]:
    """Return the command that runs the present script again, with other arguments."""
    return [sys.executable, "-m", sys.modules["__main__"].__spec__.name, *arguments]
