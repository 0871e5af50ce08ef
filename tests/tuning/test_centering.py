#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""How far products of a variable and its scale are centred."""

import numpy as np
import pymc as pm

from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.kernel.interpreted import Interpreted
from pymc_geodesic.potential import Potential
from pymc_geodesic.potential.scaled_products import scaled_products
from pymc_geodesic.tuning.centering import LEAST, centering_exponents

PER_GROUP = np.array([1] * 30 + [5] * 30 + [50] * 30 + [1_000] * 5)
TRUE_SCALE = 0.8


def exponents_of(effect):
    """Measure the exponents of group effects of a model with normal errors of unit deviation."""
    rng = np.random.default_rng(3)
    group = np.repeat(np.arange(len(PER_GROUP)), PER_GROUP)
    y = TRUE_SCALE * rng.standard_normal(len(PER_GROUP))[group] + rng.standard_normal(len(group))
    with pm.Model() as model:
        g, outcome = pm.Minibatch(group, y, batch_size=100)
        z = pm.Normal("z", shape=len(PER_GROUP))
        pm.Normal("y", effect(z)[g], 1.0, observed=outcome, total_size=len(group))
    point = model.initial_point()
    potential = Potential(model, model.value_vars, initial_point=point)
    gradient, values = HostGradient(potential), [v.value for v in potential.variables]
    [product] = scaled_products(model, values).values()
    place = [v.name for v in potential.variables].index("z")
    found = centering_exponents(
        gradient,
        gradient.to_points(*(point[value.name] for value in values)),
        {place: product.deviation},
        log_scales=Interpreted(values, [product.log_scale]),
        axes={},
        rng=np.random.default_rng(0),
    )
    return found.get(place)


def test_exponents_of_a_scale_that_all_groups_share():
    # The share of n rows in the precision of an effect is n tau^2 of n tau^2 + 1. The logarithm of
    # the scale is known within a tenth, so that the odds are those of two thirds as many rows; its
    # error changes them by a fifth, and that of the approximation as much.
    found = exponents_of(lambda z: z * pm.HalfNormal("tau"))
    odds = found / (1 - found) / (PER_GROUP * TRUE_SCALE**2)
    many = odds[PER_GROUP >= 50]
    assert np.all((many > 0.35) & (many < 1.3))
    # Single shares of a few rows are hardly larger than their error.
    for n in (1, 5):
        assert 0.35 < np.median(odds[n == PER_GROUP]) < 1.3


def test_scales_that_are_hardly_known_center_less():
    # Each effect has a scale of its own: half a row or a few say little of it.
    found = exponents_of(lambda z: z * pm.HalfCauchy("scales", 0.5, shape=len(PER_GROUP)))
    assert np.median(found[PER_GROUP <= 5]) < 0.1
    assert np.all(found[PER_GROUP == 1_000] > LEAST)
