#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The parts of a diagnosis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["Diagnosis", "Finding", "Severity"]

type Severity = Literal["error", "warning"]
"""Whether the draws are useless, or biased by more than a tenth."""


@dataclass(frozen=True)
class Finding:
    """One fault of a run.

    Attributes
    ----------
    name : str
        Identifier for programs: see :func:`pymc_geodesic.diagnose`.
    severity : {"error", "warning"}
        Whether the draws are useless, or biased by more than a tenth.
    sentence : str
        The finding in plain words.
    advice : str
        Which parameter to change, and in which direction.
    evidence : mapping
        The figures behind the finding.
    """

    name: str
    severity: Severity
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
        Worst first; empty for a run without faults.
    not_checked : str
        Checks that could not be made, and why; empty if all were made.
    certificate : str
        What the run has said of its draws at its end, as a sentence; empty if nothing.
    """

    findings: tuple[Finding, ...]
    not_checked: str = ""
    certificate: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the findings."""
        return tuple(finding.name for finding in self.findings)

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    def __str__(self) -> str:
        """Write the verdict, one line per finding."""
        lines = [str(finding) for finding in self.findings] or ["Nothing wrong was found."]
        if self.not_checked:
            lines.append(f"Not checked: {self.not_checked}")
        if self.certificate:
            lines.append(f"At the end of the run: {self.certificate}")
        return "\n".join(lines)

    # Short, because a notebook shows the last value of a cell after the printed text.
    def __repr__(self) -> str:
        """Name the findings."""
        return f"Diagnosis({', '.join(self.names)})"
