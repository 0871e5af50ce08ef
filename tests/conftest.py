#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Options and settings shared by all tests."""

import gc

import matplotlib
import pytensor
import pytest

# No test may need a display.
matplotlib.use("Agg")

# PyTensor writes down where each variable was made, for its error messages: a tenth of the time.
pytensor.config.traceback__limit = 0


def pytest_addoption(parser):
    parser.addoption("--runslow", action="store_true", help="also run the tests marked slow")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--runslow"):
        return
    skip = pytest.mark.skip(reason="needs --runslow")
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(skip)


def pytest_collection_finish(session):
    # The objects of imported packages stay. The collector looks through them again and again, which
    # takes a seventh of the time of the tests.
    gc.collect()
    gc.freeze()
    gc.set_threshold(300_000, 10, 100)
