#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Loading the examples, which are scripts beside each other and not a package."""

import importlib
import sys

from io import BytesIO
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="session")
def load_example():
    sys.path.insert(0, str(EXAMPLES))
    yield importlib.import_module
    sys.path.remove(str(EXAMPLES))


@pytest.fixture(autouse=True)
def no_data(monkeypatch):
    """Take the stand-ins, wherever the tests are run."""
    monkeypatch.delenv("PYMC_GEODESIC_DATA", raising=False)


@pytest.fixture
def check_picture():
    """Draw the picture, and check that there is something in it and a report."""

    def check(example, idata):
        picture = BytesIO()
        example.plot(idata).savefig(picture)
        assert picture.tell() > 10_000
        assert example.report(idata)

    return check


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")
