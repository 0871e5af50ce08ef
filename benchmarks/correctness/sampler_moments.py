#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Exact moments of every distribution on a manifold, by three samplers: the slow tests, counted.

The tests compare moments with exact ones within four Monte Carlo standard errors, and the
temperature of positions with one, for weak and strong concentration and n from 2 to 50. This script
runs them and counts which pass, by distribution and sampler.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile

from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

from benchmarks.harness.console import parser, table
from benchmarks.harness.declared import ROOT, Benchmark
from benchmarks.harness.parts import part_of
from benchmarks.harness.records import Check, report

BENCHMARK = Benchmark(
    question="Do SGGMC, gSGNHT and GMC find the exact moments of every distribution?",
    asked="Within 4 Monte Carlo standard errors and at temperature 1, in every case.",
    fixed="2026-11-22",
    seeds=(1,),
)

SAMPLERS = ("SGGMC", "gSGNHT", "GMC")
# Distributions by a pattern of the names of their tests, in files of this folder.
FOLDER = "tests/step_methods"
FILES = {
    "test_circular.py": {
        "VonMises": "VonMises-",
        "WrappedNormal": "WrappedNormal",
        "WrappedCauchy": "WrappedCauchy",
        "Cardioid": "Cardioid",
        "BivariateVonMises": "on_the_torus",
    },
    "test_kent_targets.py": {"Kent": "moments"},
    "test_axial.py": {"Watson": "moments.*Watson", "Bingham": "moments.*Bingham"},
    "test_targets.py": {"VonMisesFisher": "von_mises_fisher"},
    "test_directional_targets.py": {
        "PowerSpherical": "PowerSpherical",
        "SphericalCauchy": "SphericalCauchy",
        "ProjectedNormal": "ProjectedNormal",
        "AngularCentralGaussian": "AngularCentralGaussian",
    },
    "test_frames.py": {
        "UniformRotation": r"uniform_frames.*\[(3-3|5-5)",
        "UniformStiefel": "uniform_frames",
        "MatrixLangevin": r"moments.*\[frames",
        "MatrixFisher": r"moments.*\[rotations",
    },
    "test_correlations.py": {"LKJ correlations": "exact_moments"},
}


def outcomes(file: str, *, slow: bool) -> dict[str, bool]:
    """Run the tests of a file; return which of those that were run have passed."""
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "found.xml"
        given = ["-q", "-p", "no:cacheprovider", "-k", "moments or torus or von_mises_fisher"]
        command = [sys.executable, "-m", "pytest", *given, f"--junitxml={found}"]
        subprocess.run([*command, *["--runslow"] * slow, f"{FOLDER}/{file}"], cwd=ROOT, check=False)
        cases = list(ElementTree.parse(found).iter("testcase"))
    run = [case for case in cases if case.find("skipped") is None]
    return {
        case.get("name", ""): case.find("failure") is None and case.find("error") is None
        for case in run
    }


def sampler_of(test: str) -> str:
    """Return the sampler that a test is about, by its name."""
    return "GMC" if "by_gmc" in test else re.search(r"gSGNHT|SGGMC", test)[0]


def counts(found: dict[str, bool], patterns: dict[str, str]) -> dict[str, Counter]:
    """Count, for each distribution, tests and passes by sampler; the first pattern decides."""
    counted = {name: Counter() for name in patterns}
    for test, passed in found.items():
        names = [name for name, pattern in patterns.items() if re.search(pattern, test)]
        if names:
            counted[names[0]].update(
                {sampler_of(test): 1, f"{sampler_of(test)} passed": int(passed)}
            )
    return counted


def main() -> None:
    reader = parser(__doc__)
    reader.add_argument("file", nargs="*", help="the only files of tests to run now")
    options = reader.parse_args()
    rows, checks = [], []
    for file, patterns in FILES.items():
        found = part_of(
            "sampler_moments",
            file.removesuffix(".py"),
            lambda file=file: outcomes(file, slow=not options.quick),
            now=not options.file or file in options.file,
            quick=options.quick,
        )
        for name, counted in counts(found or {}, patterns).items():
            cells = [f"{counted[f'{s} passed']} of {counted[s]}" * bool(counted) for s in SAMPLERS]
            rows.append([name, *cells])
            ran = all(counted[s] for s in SAMPLERS)
            passed = all(counted[f"{s} passed"] == counted[s] for s in SAMPLERS)
            total = sum(counted[s] for s in SAMPLERS)
            right = sum(counted[f"{s} passed"] for s in SAMPLERS)
            figure = f"{right} of {total}" if total else ""
            checks.append(
                Check(f"{name}: cases with exact moments", figure, "all", passed if ran else None)
            )
    header = ["distribution", *SAMPLERS]
    table("Cases that have the exact moments", header, rows)
    report(
        "sampler_moments", checks, about=BENCHMARK, quick=options.quick, header=header, rows=rows
    )


if __name__ == "__main__":
    main()
