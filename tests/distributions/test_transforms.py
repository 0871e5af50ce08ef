#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
import pickle

import numpy as np

from pymc_geodesic.distributions.transforms import UnitVectorTransform, unit_vector


def test_unit_vector():
    y = np.random.default_rng(1).normal(size=(4, 2, 3))
    x = unit_vector.backward(y).eval()
    np.testing.assert_allclose((x**2).sum(-1), 1, rtol=1e-14)
    np.testing.assert_allclose(unit_vector.backward(unit_vector.forward(x)).eval(), x, rtol=1e-14)


def test_law_of_the_radius():
    y = np.random.default_rng(1).normal(size=(4, 2, 3))
    expected = -0.5 * (np.linalg.norm(y, axis=-1) - 4) ** 2
    np.testing.assert_allclose(unit_vector.log_jac_det(y).eval(), expected)


def test_pickle():
    assert isinstance(pickle.loads(pickle.dumps(unit_vector)), UnitVectorTransform)
