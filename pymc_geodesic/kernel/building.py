#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Building and rewriting graphs quickly."""

from __future__ import annotations

import gc

from collections.abc import Iterator
from contextlib import contextmanager

from pytensor.configdefaults import config

__all__ = ["quick_building"]

# Number of new objects after which Python collects garbage. A graph has tens of thousands of
# objects, all in use. With 100,000 the garbage of compilers raised the peak memory of a process by
# .2 GB.
RARELY = 10_000


@contextmanager
def quick_building() -> Iterator[None]:
    """Build and rewrite graphs without stack traces and with rare garbage collection.

    PyTensor keeps the source lines that led to each operation, for its own error messages. Python
    collects garbage whenever a few thousand objects have been created, and visits all objects,
    although the operations of a graph are in use. Each of the two takes about a tenth of the time.
    What was there before, such as the modules of PyMC, is not visited at all until the end.

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
    # Zero means never. Inside another such block everything is set.
    is_set = not 0 < often < RARELY
    # What somebody else has frozen must stay so.
    freezes = not is_set and not gc.get_freeze_count()
    if not is_set:
        gc.set_threshold(RARELY, *others)
    if freezes:
        gc.freeze()
    try:
        with config.change_flags(traceback__limit=0):
            yield
    finally:
        if freezes:
            gc.unfreeze()
        gc.set_threshold(often, *others)
