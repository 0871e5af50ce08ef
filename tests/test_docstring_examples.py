#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The examples in docstrings run as printed."""

import doctest
import importlib

from pathlib import Path

import matplotlib.pyplot as plt
import pytest

import pymc_geodesic

ROOT = Path(pymc_geodesic.__file__).parent

# More than about five seconds, most of them for compiling.
SLOW = {
    *("runs.running_moments", "diagnostics.step_halving"),
    *("distributions.kent_fit", "distributions.maximum_likelihood", "distributions.unimodal"),
    *("mass.tangent", "runs.saved", "runs.sample", "tuning.monte_carlo_em"),
    *("step_methods.gmc", "step_methods.sgnht", "step_methods.sggmc", "step_methods.sghmc"),
    "step_methods.sgrld",
    *("topic_models.completion", "topic_models.latent_dirichlet_allocation"),
}


def modules_with(text):
    """Names of the modules in whose source there is a text."""
    for path in sorted(ROOT.rglob("*.py")):
        if text in path.read_text(encoding="utf-8"):
            yield ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


NAMES = list(modules_with(">>> "))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in NAMES]
)
# Short runs are not settled, and say so.
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
def test_examples_run_as_printed(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(f"pymc_geodesic.{name}")
    examples = [test for test in doctest.DocTestFinder().find(module) if test.examples]
    assert examples
    for example in examples:
        printed = []
        result = doctest.DocTestRunner().run(example, out=printed.append)
        assert not result.failed, "".join(printed)
    plt.close("all")


def test_every_example_is_run():
    assert not list(modules_with("doctest: +SKIP"))
    assert not list(modules_with("code-block:: python"))
    assert set(NAMES) >= SLOW
