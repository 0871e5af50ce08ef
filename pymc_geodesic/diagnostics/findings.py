#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What a diagnosis consists of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["Diagnosis", "Finding"]


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a run.

    Attributes
    ----------
    name : str
        What it is, in a word for programs: see :func:`pymc_geodesic.diagnose`.
    severity : {"error", "warning"}
        Whether the draws are of no use, or biased by more than a tenth.
    sentence : str
        What was found, in plain words.
    advice : str
        Which parameter to change, and in which direction.
    evidence : mapping
        The figures that say so.
    """

    name: str
    severity: Literal["error", "warning"]
    sentence: str
    advice: str
    evidence: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        """Join sentence and advice."""
        return f"{self.severity}: {self.sentence} {self.advice}"


@dataclass(frozen=True, repr=False)
class Diagnosis:
    """Verdict on a run.

    Attributes
    ----------
    findings : tuple of Finding
        Worst first; empty for a run that nothing is wrong with.
    not_checked : str
        What could not be looked at, and why; empty if nothing was left out.
    """

    findings: tuple[Finding, ...]
    not_checked: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the findings."""
        return tuple(finding.name for finding in self.findings)

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    def __str__(self) -> str:
        """Say the verdict, one line a finding."""
        lines = [str(finding) for finding in self.findings] or ["Nothing wrong was found."]
        if self.not_checked:
            lines.append(f"Not checked: {self.not_checked}")
        return "\n".join(lines)

    # A notebook shows the value of a cell's last line: the text has been printed by then.
    def __repr__(self) -> str:
        """Name the findings."""
        return f"Diagnosis({', '.join(self.names)})"
