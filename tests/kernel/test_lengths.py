#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Shapes may be computed from the lengths of arguments."""

import numpy as np
import pytensor.tensor as pt

from pymc_geodesic.kernel.evaluated import Evaluated


def test_a_shape_may_be_computed_from_the_length_of_an_argument():
    x = pt.vector("x")
    n = pt.switch(pt.eq(x.shape[0] % 2, 0), x.shape[0] // 2, x.shape[0])
    evaluate = Evaluated([x], [pt.alloc(x.sum(), n, 2) + 0])
    for values in (np.array([1.0, 2.0, 3.0]), np.arange(4.0) + 1):
        length = 3 if len(values) == 3 else 2
        [filled] = evaluate.once([values])
        np.testing.assert_allclose(filled, np.full((length, 2), values.sum()))
