#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The models of the benchmark are the same with minibatches and with all rows."""

import importlib
import sys

from pathlib import Path

import numpy as np
import pytensor.tensor as pt
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.kernel.interpreted import interpreted

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"

pytestmark = pytest.mark.skipif(not BENCHMARKS.is_dir(), reason="not part of a source archive")

KEYS = [
    *("quantile", "zero_inflated", "multinomial", "ridge", "horseshoe", "gaussian_process"),
    *("network", "crossed_small", "crossed_centered", "crossed_noncentered", "slopes_centered"),
    *("slopes_noncentered", "radon_85", "radon_3000", "negative_binomial", "ordinal", "survival"),
    *("item_response", "factorization", "mixture_regression", "dirichlet_process"),
]


@pytest.fixture(scope="module")
def models():
    sys.path.insert(0, str(BENCHMARKS))
    yield importlib.import_module("ordinary_models").MODELS
    sys.path.remove(str(BENCHMARKS))


def near_the_start(model):
    """Free values a little off the initial point, where much is zero by symmetry."""
    rng = np.random.default_rng(1)
    start = model.initial_point(random_seed=1)
    return {name: x + 0.1 * rng.standard_normal(x.shape) for name, x in start.items()}


def gradients(model, point):
    """Log density and its gradient by variable, by NumPy."""
    values, logp = model.value_vars, model.logp()
    function = interpreted(values, [logp, *pt.grad(logp, values)])
    parts = function(*(point[v.name] for v in values))
    # A model of all data has the variables in another order.
    return dict(zip(["logp", *(v.name for v in values)], map(np.asarray, parts), strict=True))


def test_every_model_is_tested(models):
    assert sorted(models) == sorted(KEYS)


@pytest.mark.parametrize("key", KEYS)
def test_minibatches_have_the_posterior_of_all_rows(models, key):
    case = models[key]
    batches, whole = case.model(True), case.model(False)
    assert set(case.compared) <= set(whole.named_vars)
    point = near_the_start(whole)
    expected = gradients(whole, point)
    for found in (expected, gradients(batches, point)):
        assert all(np.isfinite(part).all() for part in found.values())
    of_all_data = gradients(pmg.full_data(batches), point)
    for name, part in expected.items():
        np.testing.assert_allclose(of_all_data[name], part, rtol=1e-8, atol=1e-6, err_msg=name)
