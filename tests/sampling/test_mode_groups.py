#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""How chains are shared out among modes."""

import pytest

from pymc_geodesic.sampling.mode_search import shared_out


@pytest.mark.parametrize(
    ("weights", "n_chains", "expected"),
    [
        ([1.0], 4, [0, 0, 0, 0]),
        ([0.5, 0.5], 4, [0, 0, 1, 1]),
        ([0.95, 0.05], 4, [0, 0, 0, 1]),
        ([0.7, 0.2, 0.1], 10, [0] * 7 + [1] * 2 + [2]),
        ([0.6, 0.3, 0.1], 2, [0, 1]),
        ([0.6, 0.4], 1, [0]),
    ],
)
def test_every_mode_has_a_chain_and_the_rest_is_in_proportion(weights, n_chains, expected):
    assert shared_out(weights, n_chains) == expected
