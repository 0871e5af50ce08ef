#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Graphs that are written and rewritten quickly."""

from __future__ import annotations

import gc

from collections.abc import Iterator
from contextlib import contextmanager

from pytensor.configdefaults import config

__all__ = ["quick_building"]

# New objects after which Python looks for garbage. A graph has tens of thousands, all in use. With
# 100,000 the garbage of compilers made the memory of a process .2 GB larger at its peak.
RARELY = 10_000


@contextmanager
def quick_building() -> Iterator[None]:
    """Write and rewrite graphs without stack traces, and rarely looking for garbage.

    PyTensor keeps the source lines that led to each operation, for its own error messages. Python
    looks for garbage whenever a few thousand objects have been created, and visits all that exist,
    but the operations of a graph are in use. Each takes about a tenth of the time.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> from pymc_geodesic.kernel.building import quick_building
    >>> with quick_building():
    ...     x = pt.vector("x") + 1
    >>> hasattr(x.owner.tag, "trace")
    False
    """
    often, *others = gc.get_threshold()
    # Zero means never.
    gc.set_threshold(max(often, RARELY) if often else 0, *others)
    try:
        with config.change_flags(traceback__limit=0):
            yield
    finally:
        gc.set_threshold(often, *others)
