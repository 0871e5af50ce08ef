#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The groups of rows that share effects, as the log density takes them."""

import numpy as np
import pymc as pm

import pymc_geodesic as pmg

from pymc_geodesic.kernel.host_gradient import HostGradient

N = 600
RNG = np.random.default_rng(1)
SCHOOL, CLASS, X = RNG.integers(0, 12, N), RNG.integers(0, 5, N), RNG.normal(size=N)
Y = RNG.poisson(3.0, N).astype("int32")


def groups_in(model):
    with model:
        gradient = HostGradient(pmg.SGNHT().sampler.problem.potential)
    return gradient.groups_of_rows()


def model_of(batched, **size):
    with pm.Model() as model:
        school, klass, x, y = batched(SCHOOL, CLASS, X, Y)
        of_school = pm.Normal("of_school", 0.0, pm.HalfNormal("sigma"), shape=(12, 2))
        of_class = pm.Normal("of_class", shape=6)
        mean = of_school[school, 0] + of_school[school, 1] * x + of_class[klass + 1]
        pm.Poisson("y", pm.math.exp(mean), observed=y, **size)
    return model


def test_groups_are_the_indices_of_effects():
    model = model_of(lambda *data: pm.Minibatch(*data, batch_size=50), total_size=N)
    found = {tuple(groups) for groups in groups_in(model)}
    assert found == {tuple(SCHOOL), tuple(CLASS + 1)}


def test_a_model_without_batches_has_the_same_groups():
    model = pmg.minibatch(model_of(lambda *data: [pm.Data(f"d{i}", x) for i, x in enumerate(data)]))
    found = {tuple(groups) for groups in groups_in(model)}
    assert found == {tuple(SCHOOL), tuple(CLASS + 1)}


def test_a_model_without_effects_has_none():
    with pm.Model() as model:
        x, y = pm.Minibatch(X, Y, batch_size=50)
        rate = pm.math.exp(pm.Normal("intercept") + pm.Normal("slope") * x)
        pm.Poisson("y", rate, observed=y, total_size=N)
    assert groups_in(model) == []
