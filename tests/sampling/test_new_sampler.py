#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A sampler that the package does not have is one class and one function, as the docs show it."""

import re

from pathlib import Path

import numpy as np
import pymc as pm
import pytest

from pymc.step_methods import STEP_METHODS

import pymc_geodesic as pmg

DOCS = Path(__file__).parents[2] / "docs" / "extending.md"


@pytest.fixture(scope="module")
def method():
    """The class that the page on extending defines."""
    cells = re.findall(r"```\{code-cell\} python\n(.*?)```", DOCS.read_text(), re.DOTALL)
    [source] = [cell for cell in cells if "class GeodesicSGLD" in cell]
    assert len(source.splitlines()) <= 60
    namespace = {"np": np, "pt": pm.math.pt}
    exec(source, namespace)
    yield namespace["GeodesicSGLD"]
    STEP_METHODS.remove(namespace["GeodesicSGLD"])


def test_it_is_told_to_pymc(method):
    assert method in STEP_METHODS


def test_its_signature_is_complete(method):
    with pytest.raises(TypeError, match=r"expected keywords among .*; got `stepsize`"):
        method(stepsize=0.1)


def test_it_samples_a_sphere_by_batches(method):
    """Many points at once, whose mean cosine is known up to a bias of first order."""
    n, kappa = 20_000, 4.0
    with pm.Model() as model:
        pmg.VonMisesFisher("x", np.tile([0.0, 0.6, 0.8], (n, 1)), kappa)
        step = method(step_size=0.01, n_steps=400)
    step.setup_chain(np.random.default_rng(1), 0, 1)
    point, _ = step.step(model.initial_point())
    [x] = point.values()
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), 1.0, atol=1e-12)
    cosines = x @ [0.0, 0.6, 0.8]
    exact = 1 / np.tanh(kappa) - 1 / kappa
    error = cosines.std(ddof=1) / np.sqrt(n)
    assert abs(cosines.mean() - exact) < 0.002 + 4 * error
