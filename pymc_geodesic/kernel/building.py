#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Building and rewriting graphs quickly."""

from __future__ import annotations

import gc

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from pytensor.configdefaults import config
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.op import HasMultipleInnerGraph
from pytensor.graph.traversal import ancestors, apply_ancestors

__all__ = ["forget_lines_of_constants", "quick_building"]

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


def forget_lines_of_constants(outputs: Iterable[Variable]) -> None:
    """Forget the lines of code where the constants of a graph were written.

    PyTensor keeps these lines for its error messages. When it replaces ``switch(condition, x, x)``
    by x, it adds the lines of all inputs to those of x, which triples them. Constants are not
    copied with a graph, and constants within operations are shared by all models, so without this
    function their lines would fill the memory after about twenty functions.

    Parameters
    ----------
    outputs : iterable of Variable
        The graph. The tags of its constants, and of those within its operations, are changed.
    """
    graphs = [list(outputs)]
    while graphs:
        graph = graphs.pop()
        for x in ancestors(graph):
            if isinstance(x, Constant):
                x.tag.trace = []
        for node in apply_ancestors(graph):
            if isinstance(node.op, HasMultipleInnerGraph):
                graphs += [inner.outputs for inner in node.op.inner_graphs.values()]
