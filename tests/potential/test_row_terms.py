#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Terms of single rows, and gradients of rows that are drawn by weight."""

import numpy as np
import pymc as pm
import pytest

from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.kernel.row_weights import RowWeights
from pymc_geodesic.potential import Potential

N, BATCH_SIZE = 300, 20


def data():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((N, 2)) * [1.0, 5.0]
    return x, rng.poisson(np.exp(0.1 * x[:, 0]), (N,)).astype("int32")


def poisson():
    x, y = data()
    with pm.Model() as model:
        xb, yb = pm.Minibatch(x, y, batch_size=BATCH_SIZE)
        beta = pm.Normal("beta", shape=2)
        pm.Poisson("y", pm.math.exp(0.1 * xb @ beta), observed=yb, total_size=N)
    return model


def summed():
    x, y = data()
    with pm.Model() as model:
        xb, yb = pm.Minibatch(x, y, batch_size=BATCH_SIZE)
        beta = pm.Normal("beta", shape=2)
        pm.CustomDist(
            "y",
            xb @ beta,
            logp=lambda value, mean: (-0.5 * (value - mean) ** 2).sum(),
            observed=yb,
            total_size=N,
        )
    return model


def host(model):
    point = model.initial_point()
    return HostGradient(Potential(model, model.value_vars, initial_point=point))


BETA = [np.array([0.5, -0.3])]


def test_terms_of_rows_are_those_of_the_likelihood():
    x, y = data()
    gradient, rows = host(poisson()), np.arange(40)
    [terms] = gradient.terms_of_rows([BETA], rows)
    logp = pm.logp(pm.Poisson.dist(np.exp(0.1 * x[rows] @ BETA[0])), y[rows]).eval()
    np.testing.assert_allclose(terms, logp * N / len(rows))


def test_a_likelihood_that_is_summed_has_no_terms_of_rows():
    assert host(summed()).terms_of_rows is None


@pytest.mark.parametrize("model", [poisson, summed])
def test_rows_without_weights_are_as_before(model):
    gradient = host(model())
    rows = [np.arange(N)]
    whole = gradient.whole(BETA)
    np.testing.assert_allclose(gradient(BETA, rows).gradient, whole.gradient)


def test_means_over_weighted_batches_are_those_of_all_rows():
    gradient = host(poisson())
    whole = gradient.whole(BETA)
    gradient.weights = RowWeights.proportional_to(np.abs(data()[0][:, 1]))
    rng = np.random.default_rng(2)
    rows = [gradient.rows(rng) for _ in range(4000)]
    found = gradient.many([BETA] * len(rows), rows)
    samples = np.array([one.gradient[0] for one in found])
    error = samples.std(axis=0) / np.sqrt(len(samples))
    assert np.all(np.abs(samples.mean(axis=0) - whole.gradient[0]) < 4.5 * error)
    energies = np.array([one.energy for one in found])
    error = energies.std() / np.sqrt(len(energies))
    assert abs(energies.mean() - whole.energy) < 4.5 * error
    # Passes over all rows have no factors.
    gradient._last = None
    np.testing.assert_allclose(gradient.whole(BETA).gradient, whole.gradient)
