#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What a check gets and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from pymc_geodesic.run_record import RunRecord
from pymc_geodesic.runs.positions import shorter

__all__ = [
    "SIGNIFICANT",
    "TOO_LARGE",
    "TOO_SMALL",
    "Check",
    "Diagnosis",
    "Evidence",
    "Finding",
    "Severity",
    "differs",
    "principal_scales",
]


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


# In standard errors.
SIGNIFICANT = 4.0
# Largest number of entries with full covariances; larger ones are treated as diagonal.
LARGEST_COVARIANCE = 100


TOO_LARGE, TOO_SMALL = "step_size_too_large", "friction_too_small"


class Evidence(NamedTuple):
    """The inputs of the checks.

    Attributes
    ----------
    stats : mapping of str to ndarray
        Sample statistics, ``(chain, draw)``.
    temperatures : DataFrame or None
        Result of :func:`~pymc_geodesic.diagnostics.kinetic_temperature`; None if the step has no
        kinetic temperature, or if the chains have not converged.
    points : mapping of str to ndarray
        Draws of each variable as the sampler moves it, ``(chain, draw, entry)``.
    exact_gradients : bool
        Whether the model is known to have no minibatches.
    record : RunRecord or None
        What the run has kept of its step.
    """

    stats: Mapping[str, np.ndarray]
    temperatures: pd.DataFrame | None
    points: Mapping[str, np.ndarray]
    exact_gradients: bool = False
    record: RunRecord | None = None

    @property
    def step_size(self) -> float:
        """Median step size."""
        return float(np.median(self.stats["step_size"]))

    def shorter(self, share: float = 0.5) -> str:
        """Advise steps that are shorter by a factor; without the full stop."""
        return shorter(self.step_size, share * self.step_size, self.record)


Check = Callable[[Evidence], list[Finding]]


def differs(row: pd.Series, tolerance: float) -> bool:
    """Whether a mean temperature differs from one significantly and by more than the tolerance."""
    return abs(row["mean"] - 1) > tolerance and abs(row["z"]) > SIGNIFICANT


def principal_scales(evidence: Evidence, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Find the standard deviations of the draws within chains along principal axes.

    Each axis is returned with its share of the velocity of the variable ``name``.
    """
    names = list(evidence.points)
    parts = [evidence.points[key] for key in names]
    owner = np.concatenate([np.full(x.shape[-1], i) for i, x in enumerate(parts)])
    x = np.concatenate(parts, axis=-1)
    x = (x - x.mean(axis=1, keepdims=True)).reshape(-1, x.shape[-1])
    if x.shape[1] > LARGEST_COVARIANCE or len(x) < 10 * x.shape[1]:
        variances, axes = x.var(axis=0), np.eye(x.shape[1])
    else:
        variances, axes = np.linalg.eigh(np.atleast_2d(np.cov(x.T)))
    # A curved manifold has fewer directions than entries; points do not vary along the others.
    kept = np.argsort(variances)[::-1][: _freedom(evidence, len(variances))]
    mine = owner == names.index(name) if name in names else np.ones(len(owner), dtype=bool)
    weights = (axes[mine][:, kept] ** 2).sum(axis=0)
    return np.sqrt(np.maximum(variances[kept], np.finfo(float).tiny)), weights / weights.sum()


def _freedom(evidence: Evidence, default: int) -> int:
    if evidence.temperatures is None:
        return default
    table = evidence.temperatures
    return int(table.loc["all", "degrees_of_freedom"]) if "all" in table.index else default
