#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Settings of the process while graphs are built, and after it."""

import gc

import pytensor.tensor as pt
import pytest

from pytensor.configdefaults import config

from pymc_geodesic.kernel.building import RARELY, quick_building


def test_settings_return_after_an_error():
    before = gc.get_threshold(), config.traceback__limit

    def build():
        with quick_building():
            assert gc.get_threshold()[0] >= RARELY
            assert gc.get_freeze_count() > 0
            with quick_building():
                pass
            assert gc.get_freeze_count() > 0
            assert not hasattr((pt.vector() + 1).owner.tag, "trace")
            raise KeyError

    with pytest.raises(KeyError):
        build()
    assert (gc.get_threshold(), config.traceback__limit) == before
    assert gc.get_freeze_count() == 0


def test_collections_that_are_off_stay_off():
    before = gc.get_threshold()
    try:
        gc.set_threshold(0, *before[1:])
        with quick_building():
            assert gc.get_threshold()[0] == 0
        assert gc.get_threshold()[0] == 0
    finally:
        gc.set_threshold(*before)


def test_what_somebody_else_has_frozen_stays_so():
    gc.freeze()
    try:
        with quick_building():
            pass
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
