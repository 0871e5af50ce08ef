#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""How far random walks are centred."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest

from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.potential import Potential
from pymc_geodesic.tuning.centering import LEAST
from pymc_geodesic.tuning.random_walks import WEIGHT, shares_of_sums

N_WEEKS, N_STATES, SIGMA = 30, 4, 1.5


def measured(n_rows, *, tau=0.3, states=False, uneven=False):
    """Measure the walk of a model with normal errors of deviation 1/2, and its rows a week."""
    rng = np.random.default_rng(2)
    shape = (N_STATES, N_WEEKS) if states else (N_WEEKS,)
    rows = rng.poisson(n_rows, shape)
    rows[..., 10:14] = 0
    places = np.repeat(np.arange(rows.size), rows.ravel())
    scale = tau * (np.linspace(0.5, 2.0, N_WEEKS) if uneven else np.ones(1))
    with pm.Model() as model:
        z, level = pm.Normal("z", 0.0, SIGMA, shape=shape), pm.Normal("level")
        walk = level + pt.cumsum(z * scale, axis=-1)
        place, y = pm.Minibatch(places, rng.normal(size=len(places)), batch_size=5)
        pm.Normal("y", walk.ravel()[place], 0.5, observed=y, total_size=len(places))
    potential = Potential(model, model.value_vars, initial_point=model.initial_point())
    names = [variable.name for variable in potential.variables]
    center = [rng.standard_normal(x.shape) for x in potential.variables]
    found = shares_of_sums(
        HostGradient(potential),
        center,
        names.index("z"),
        axis=len(shape) - 1,
        sigma=np.asarray(SIGMA),
        scale=scale,
        rng=rng,
    )
    return found, rows


@pytest.mark.parametrize("states", [False, True])
@pytest.mark.parametrize("uneven", [False, True])
def test_shares_are_those_of_the_information_of_each_week(states, uneven):
    found, rows = measured(6, states=states, uneven=uneven)
    # Each row says 4 of its week.
    odds = WEIGHT * SIGMA * np.sqrt(4 * rows)
    np.testing.assert_allclose(found.shares, odds / (1 + odds), atol=1e-5)
    assert np.all(found.shares[rows == 0] < 1e-5)


def test_data_that_say_little_of_the_slowest_part_of_a_walk():
    assert measured(6)[0].of_slowest > 0.99
    assert measured(1, tau=0.01)[0].of_slowest < LEAST
