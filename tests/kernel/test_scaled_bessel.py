#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Modified Bessel functions in JAX, in which periodic Gaussian processes are written."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.kernel.jax.function import JAXFunction


@pytest.mark.parametrize("size", [1e-3, 0.5, 3.0, 29.0, 31.0, 150.0, 2e3, 1e6])
def test_values_and_derivatives_are_those_of_scipy(size):
    order = np.concatenate([np.arange(30), [0.3, 2.7, 19.5]])
    x = pt.dscalar("x")
    values = pt.ive(order, x)
    outputs = [values, pt.grad(values.sum(), x)]
    found = JAXFunction([x], outputs)(np.array(size))
    expected = pytensor.function([x], outputs, mode="FAST_COMPILE")(size)
    for ours, scipys in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, scipys, rtol=1e-9, atol=1e-300)


def test_what_is_not_defined_is_nan():
    x = pt.dvector("x")
    [found] = JAXFunction([x], [pt.ive(np.array([0.0, 1.0, -1.5]), x)])(np.array([0.0, -1.0, 1.0]))
    np.testing.assert_array_equal(found, [1.0, np.nan, np.nan])


def test_a_periodic_gaussian_process_is_sampled():
    rng = np.random.default_rng(1)
    time = rng.uniform(0, 3, 1_000)
    y = np.sin(2 * np.pi * time) + 0.2 * rng.standard_normal(1_000)
    with pm.Model() as model:
        length = pm.LogNormal("length", 0.0, 0.5)
        periodic = pm.gp.cov.Periodic(1, period=1.0, ls=length)
        process = pm.gp.HSGPPeriodic(m=6, scale=1.0, cov_func=periodic)
        pm.Normal("y", process.prior("f", X=time[:, None]), 0.2, observed=y)
    with pmg.minibatch(model, batch_size=100) as batches:
        step = pmg.SGNHT(step_size=0.1, diffusion=1.0)
    idata = pmg.sample(5, tune=0, step=step, model=batches, progressbar=False, random_seed=1)
    assert np.isfinite(idata.posterior["length"]).all()
