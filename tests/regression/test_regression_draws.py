#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The draws are those that were recorded."""

from pathlib import Path

import numpy as np
import pytest

from cases import CASES, DRAWS, TUNE, draws_of

FOLDER = Path(__file__).parent / "draws"

# Rounding differs between processors, and fifty draws let it grow.
TOLERANCE = 1e-10

# Metropolis tests of local variables let it grow sooner: of those cases, the first draws.
FIRST = 3

# Compiling takes long: one case of each kind of variable is run each time, the others on request.
FAST = {"vector-SGNHT", "sphere-gSGNHT", "simplex-SGRLD", "mixed-gSGNHT-tuned", "stream-SGLD"}


def parameters():
    for path in sorted(FOLDER.glob("*.npz")):
        marks = [] if path.stem in FAST else [pytest.mark.slow]
        yield pytest.param(path.stem, marks=marks)


@pytest.mark.parametrize("name", list(parameters()))
@pytest.mark.filterwarnings("ignore")
def test_draws_are_those_recorded(name):
    found = draws_of(name)
    with np.load(FOLDER / f"{name}.npz") as recorded:
        assert set(found) == set(recorded)
        for variable, values in recorded.items():
            assert len(values) == TUNE + DRAWS
            scale = max(1.0, np.abs(values).max())
            first = slice(FIRST if name.startswith("local-") else None)
            np.testing.assert_allclose(
                found[variable][first],
                values[first],
                rtol=0,
                atol=TOLERANCE * scale,
                err_msg=variable,
            )


def test_every_case_is_recorded():
    recorded = {path.stem for path in FOLDER.glob("*.npz")}
    assert recorded == set(CASES)
