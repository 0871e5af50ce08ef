#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Derivatives of incomplete gamma and beta functions, which PyTensor writes as loops."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.kernel.jax.function import JAXFunction

RNG = np.random.default_rng(1)
CASES = {
    "betainc": (pt.betainc, (RNG.gamma(3, size=40), RNG.gamma(3, size=40), RNG.random(40))),
    "gammainc": (pt.gammainc, (RNG.gamma(3, 3, size=40), RNG.gamma(3, 3, size=40))),
    "gammaincc": (pt.gammaincc, (RNG.gamma(3, 3, size=40), RNG.gamma(3, 3, size=40))),
}


@pytest.mark.parametrize("name", CASES)
def test_derivatives_are_those_of_pytensor(name):
    of, values = CASES[name]
    inputs = [pt.dvector(f"x{i}") for i in range(len(values))]
    gradient = pt.grad(of(*inputs).sum(), inputs)
    found = JAXFunction(inputs, gradient)(*values)
    expected = pytensor.function(inputs, gradient, mode="FAST_COMPILE")(*values)
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-12)


def test_a_hurdle_model_is_sampled():
    counts = np.where(RNG.random(300) < 0.4, 0, 1 + RNG.negative_binomial(2.0, 0.3, 300))
    with pm.Model():
        mu, alpha = pm.LogNormal("mu"), pm.LogNormal("alpha")
        batch = pm.Minibatch(counts.astype("int32"), batch_size=60)
        pm.HurdleNegativeBinomial("y", 0.6, mu, alpha, observed=batch, total_size=300)
        step = pmg.SGNHT(step_size=0.1, diffusion=1.0)
    idata = pmg.sample(5, tune=0, step=step, progressbar=False, random_seed=1)
    assert np.isfinite(idata.posterior["alpha"]).all()
    assert not idata.sample_stats["diverging"].any()
