#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Everything that the package says while it runs is explained in the documentation."""

import ast
import inspect
import re

from pathlib import Path

import pytest

import pymc_geodesic as pmg

DOCS = Path(__file__).parents[1] / "docs"
PAGES = [DOCS / "troubleshooting.md", DOCS / "messages.md"]
ROOT = Path(pmg.__file__).parent

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="not part of a source archive")

# A part of each sentence, in the words of the module that says it.
SAYS = {
    "calibration/result.py": ["the draws of `", "simulations have failed"],
    "diagnostics/direction_statistics.py": [
        "whose draws lie at both ends of its",
        "has no mean direction: the mean resultant length",
        "lies at both ends of an axis, with mean resultant length",
        "has no principal axis: its share of the second moments",
    ],
    "diagnostics/step_halving.py": ["The coupling failed for"],
    "kernel/jax/processes.py": [
        "The process that makes the draws of a chain has ended",
        "JAX expected a process that was not forked",
    ],
    "potential/deterministics.py": ["`pm.sample` records them for a different random batch"],
    "potential/total_size.py": [
        "has concentrations down to",
        "has an entry for each of the",
    ],
    "potential/random_gradients.py": [
        "The model draws its data by `pm.Minibatch`",
        "`pm.compute_log_likelihood` expected all rows of",
        "`pm.sample_posterior_predictive` expected all rows of the data",
        "`pm.compute_deterministics` expected all rows of the data",
        "expected the log density of all rows, got that of another random batch",
        "each of which counts",
    ],
    "predictions/membership.py": ["The chains number the components of"],
    "runs/few_rows.py": ["samples all of them, and is exact"],
    "rows/convert.py": ["expected fewer entries than rows, got one for each of the"],
    "runs/local_posterior.py": ["have effects far from a normal"],
    "runs/cluster/on_workers.py": ["The cluster has no workers left"],
    "runs/convergence.py": [
        "are alike in all chains, and means over chains mix the others.",
        "and number them differently:",
        "their means show what the components are about",
        "still improve: the perplexity of the data falls by",
        "predict the data no better than none would",
        "and than chance makes the largest of",
        "their draws do not represent the posterior",
        "R-hat and other statistics are unreliable",
        "draws are too few to check convergence reliably",
        "Only one chain was drawn",
        "R-hat is reliable from",
        "the chains depend on where they began",
        "in all chains together",
        "draws of each chain are too few to check convergence",
    ],
    "runs/plan.py": ["Continuing after"],
    "runs/positions.py": ["the temperature of their positions should be 1"],
    "runs/verdict.py": [
        "draws after tuning diverged",
        "These draws do not follow the posterior",
        "was not checked with the gradients of all rows, because",
        "of the draws do not clear them",
        "came to where the energy is not finite and were rejected",
        "The draws were not checked with the gradients of all rows",
    ],
    "runs/deterministics.py": [
        "could not be computed and is left out of the result",
        "draws, where it is NaN in the result",
        "The result has PyMC's values in place of the variables",
    ],
    "runs/refine.py": ["Nothing was corrected: the draws are more precise"],
    "runs/certificate.py": [
        "importance weights are sure of no more than",
        "the log density of all rows takes",
        "is wrong by",
    ],
    "runs/choose_step.py": [
        "A transition reads a batch of rows: the run samples",
        "would be computed from all rows at every draw, and so",
        "integrated out, row by row",
        "because nothing else depends on",
        "is inaccurate: with more nodes the log density",
    ],
    "runs/refined.py": [
        "Nothing was corrected: corrections do not come",
        "Corrected with the gradients of",
        "Before they were corrected, these draws did not follow",
        "The correction was needed: before it",
        "gradients at the corrected draws correct means",
    ],
    "runs/results.py": [
        "Interrupted: the run has",
        "Interrupted: the result has the free variables only",
        "Interrupted: the draws were not checked",
        "The result has the free variables only",
        "could not complete it",
        "The draws were not checked",
        "The cluster was not told that the run has ended",
        "draw iterations took",
    ],
    "runs/memory_limits.py": ["is left out of the result: its draws would take"],
    "runs/traces.py": [
        "is left out of the result",
        "in the result, in which",
        "are texts in the result, such as",
        "has no data that can be stored",
    ],
    "runs/update.py": ["The earlier draws are no start: "],
    "runs/until.py": [
        "which meet `until`",
        "seconds after the run began",
        "do not meet `until`",
    ],
    "sampling/centered_coordinates.py": [
        "found that the data determine",
        "times its scale better",
        "found that the data say little of",
        "in coordinates in which they are equal",
        "away from zero. It moves their log ratios",
    ],
    "sampling/explain.py": ["The start has an infinite log density"],
    "sampling/forecast.py": ["NUTS on all rows is probably faster", "Gradient noise supplies"],
    "sampling/monitors.py": ["diverged: its potential energy is"],
    "sampling/news.py": [
        "tuned itself: ",
        "made a transition to a state that is not finite and undid it",
        "Such short steps mean",
        "The given step size is longer than",
        "Rows are taken without replacement",
        "Unless chains cross from one to another, which",
        "such draws are marked `diverging`",
        "had not settled at the end of the tuning phase",
        "the step size is too large, or the friction too small for",
        "one friction cannot balance noise that differs",
    ],
    "sampling/problem.py": ["Compiling"],
    "sampling/tuning_stages.py": ["disagree after most of the tuning phase"],
    "step_methods/gmc.py": ["draws of the local variables: its standard deviations"],
    "topic_models/sample.py": ["from the first to the second half of the draws"],
    "topic_models/schedule.py": ["by collapsed Gibbs sampling of"],
    "topic_models/texts.py": [
        "have no word with a weight and were left out",
        "have no word of the vocabulary, the first",
    ],
    "validation.py": ["JAX compiles every model, and the argument"],
    "step_methods/progress.py": ["No progress bar is shown"],
    "step_methods/step.py": ["searches for the mode in each chain"],
}

# Calls by which a module speaks.
SPEAKS = {"warnings.warn", "log.info", "log.warning", "SamplerWarning", "News"}
# It hands on what chains have to say.
HANDS_ON = {"runs/run_loop.py"}


def written():
    """Text of the pages that explain what the package says."""
    return "\n".join(page.read_text(encoding="utf-8") for page in PAGES)


def flat(text):
    """Text without line breaks, quote marks and the arrows of quotations."""
    return " ".join(re.sub(r"^>", "", text, flags=re.MULTILINE).split())


def texts_of(path):
    """Literal parts of the strings of a module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return [node.value for node in nodes if isinstance(node.value, str)]


def test_every_module_that_speaks_is_listed():
    speakers = set()
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in SPEAKS:
                speakers.add(path.relative_to(ROOT).as_posix())
    assert speakers - HANDS_ON <= set(SAYS)


@pytest.mark.parametrize("name", SAYS)
def test_what_it_says_is_explained(name):
    page, texts = flat(written()), texts_of(ROOT / name)
    for start in SAYS[name]:
        assert any(start in text for text in texts), f"{name} says it in other words now: {start}"
        assert start in page


def test_every_finding_has_a_row():
    findings = re.findall(r"``(\w+)``", inspect.getdoc(pmg.diagnose).split("Names of findings")[1])
    text = written()
    rows = set(re.findall(r"^\| `(\w+)` \|", text, flags=re.MULTILINE))
    others = {"configurational_temperature"}
    assert rows == set(findings) - others
