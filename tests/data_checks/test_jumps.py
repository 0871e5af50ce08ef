#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Models whose log density jumps are refused: their draws would follow the prior."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest

import pymc_geodesic as pmg

rng = np.random.default_rng(1)
N = 2_000
X = rng.uniform(0, 1, N)
YEAR = 1_900 + np.floor(100 * X)
Y = rng.standard_normal(N)
KNOWN = pt.as_tensor(X)


def compared(x, place, heights):
    return pt.switch(x > place, heights[1], heights[0])


def looked_up(x, place, heights):
    return heights[pt.searchsorted(pt.stack([place]), x)]


def rounded(x, place, heights):
    return heights[0] * pt.floor(x - place)


def as_a_number(x, place, heights):
    return heights[0] + heights[1] * pt.ge(x, place)


def hinge(x, place, heights):
    return heights[0] + heights[1] * pt.switch(x > place, x - place, 0.0)


def distance(x, place, heights):
    return heights[0] + heights[1] * pt.abs(x - place)


def steep(x, place, heights):
    return heights[0] + heights[1] * pm.math.sigmoid(50 * (x - place))


def end_of_support(x, place, heights):
    return pt.switch(x + 2 > place, heights[0] + (x + 2 - place) ** -20.0, np.inf)


def model_of(change, x, *, scale=1.0, center=0.5, minibatch=False):
    with pm.Model() as model:
        place, heights = pm.Normal("place", center, scale), pm.Normal("heights", shape=2)
        x, y = pm.Minibatch(x, Y, batch_size=50) if minibatch else (pt.as_tensor(x), Y)
        total_size = N if minibatch else None
        pm.Normal("y", change(x, place, heights), 1.0, observed=y, total_size=total_size)
    return model


@pytest.mark.parametrize("change", [compared, looked_up, rounded, as_a_number])
def test_jumps_are_refused(change):
    model = pmg.minibatch(model_of(change, X), batch_size=50)
    with model, pytest.raises(ValueError, match=r"`place`.* without jumps, .* row of `y`"):
        pmg.SGNHT()


def test_jumps_of_raw_data_and_of_written_batches_are_refused():
    model = model_of(compared, YEAR, scale=20.0, center=1_950.0, minibatch=True)
    with model, pytest.raises(ValueError, match="without jumps"):
        pmg.SGNHT()


@pytest.mark.parametrize("change", [hinge, distance, steep, end_of_support])
def test_kinks_steep_curves_and_poles_are_sampled(change):
    with pmg.minibatch(model_of(change, X), batch_size=50):
        pmg.SGNHT()
