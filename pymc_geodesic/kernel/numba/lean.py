#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""PyTensor's Numba mode without operations that take long to compile.

Numba optimises a function together with all functions that it calls, so an inner function is
compiled once for each function around it.
"""

from __future__ import annotations

from pytensor.compile.mode import Mode, optdb
from pytensor.configdefaults import config
from pytensor.graph.rewriting.basic import dfs_rewriter
from pytensor.link.numba.cache import CACHED_SRC_FUNCTIONS
from pytensor.link.numba.dispatch.basic import numba_funcify_and_cache_key
from pytensor.link.numba.linker import NumbaLinker

import pymc_geodesic.kernel.numba.cache  # noqa: F401

from pymc_geodesic.kernel.numba.fixed_shapes import to_fixed_shape
from pymc_geodesic.kernel.numba.matrix_products import to_matrix_product
from pymc_geodesic.kernel.numba.matrix_reductions import to_matrix_reduction

__all__ = ["lean"]

TAG = "lean_numba"
# Before conditionals become lazy: afterwards their branches are rewritten separately.
_EARLY = 48.5
# After PyTensor has put operations into the loops of the reductions that follow them.
_AFTER_FUSION = 101


class LeanNumbaLinker(NumbaLinker):
    """Cache the compiled function of the graph itself, not of a function that calls it."""

    def fgraph_convert(self, fgraph, **kwargs):
        """Write the graph as one Python function, with a key for the cache on disk."""
        function, key = numba_funcify_and_cache_key(fgraph, **kwargs)
        if not config.numba__cache:
            return function, None
        if key is not None:
            # Numba looks up its cache by the name of the source file, which would be new each time.
            code = function.py_func.__code__
            function.py_func.__code__ = code.replace(co_filename="<string>")
            fastmath = int(config.numba__fastmath)
            CACHED_SRC_FUNCTIONS[function.py_func] = f"lean_{key}_fastmath{fastmath}"
        return function, key


def lean(mode: Mode) -> Mode:
    """Return the lean form of PyTensor's Numba mode, and any other mode unchanged."""
    if type(mode.linker) is not NumbaLinker:
        return mode
    return Mode(LeanNumbaLinker(), mode.provided_optimizer.including(TAG))


for _rewriter, _position in (
    (to_fixed_shape, _EARLY),
    (to_matrix_product, _EARLY),
    (to_matrix_reduction, _AFTER_FUSION),
):
    optdb.register(_rewriter.__name__, dfs_rewriter(_rewriter), TAG, position=_position)
