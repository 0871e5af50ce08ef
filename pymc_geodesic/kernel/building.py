#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Graphs that are written and rewritten quickly."""

from __future__ import annotations

import gc

from collections.abc import Iterator
from contextlib import contextmanager

from pytensor.configdefaults import config

__all__ = ["quick_building"]


@contextmanager
def quick_building() -> Iterator[None]:
    """Write and rewrite graphs without stack traces, and without looking for garbage meanwhile.

    PyTensor keeps the source lines that led to each operation, for its own error messages. Python
    looks for garbage whenever many objects have been created, and visits all that exist, but the
    operations of a graph are in use. Each takes about a tenth of the time.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> from pymc_geodesic.kernel.building import quick_building
    >>> with quick_building():
    ...     x = pt.vector("x") + 1
    >>> hasattr(x.owner.tag, "trace")
    False
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        with config.change_flags(traceback__limit=0):
            yield
    finally:
        if was_enabled:
            gc.enable()
