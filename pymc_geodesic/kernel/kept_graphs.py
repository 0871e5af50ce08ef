#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Rewritten graphs of interpreted functions, kept on disk for the next process.

Rewriting the graph of a gradient takes PyTensor up to half a second, and reading it a hundredth of
that.
"""

from __future__ import annotations

import logging
import pickle

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pytensor.compile.maker import FunctionMaker
from pytensor.configdefaults import config
from pytensor.graph.fg import FunctionGraph

from pymc_geodesic.kernel.graph_names import is_known
from pymc_geodesic.kernel.interpreted import rewrite_in_place
from pymc_geodesic.kernel.kept_files import KeptFiles, flags_of_pytensor, key_of, versions

__all__ = ["kept_function"]

FOLDER, SUFFIX = "pymc_geodesic_interpreted", ".pickle"
# A model has about ten, each of some ten kilobytes.
MOST_FILES = 1_000
PACKAGES = ("numpy", "pymc", "pytensor", "scipy")

log = logging.getLogger(__name__)


def kept_function(rewrite: Callable[[], FunctionMaker], *, name: str | None) -> Any:
    """Return an interpreted function, whose graph may be one of an earlier process.

    Parameters
    ----------
    rewrite : callable
        Rewrites the graph; not called if it is found.
    name : str, optional
        Name of what it computes, the same in every process. Without one, nothing is kept.
    """
    maker = rewrite() if name is None else _kept_maker(rewrite, name)
    with config.change_flags(cxx=""):
        return maker.create()


def _kept_maker(rewrite: Callable[[], FunctionMaker], name: str) -> FunctionMaker:
    key = key_of(name, versions(PACKAGES), flags_of_pytensor())
    files = KeptFiles(_folder(), SUFFIX, MOST_FILES)
    if (content := files.read(key)) is not None:
        return rewrite_in_place(*pickle.loads(content), is_rewritten=True)
    maker = rewrite()
    # Before its function is made, which leaves in the graph what cannot be pickled.
    if (content := _pickled(maker.fgraph)) is not None:
        files.write(key, content)
    return maker


def _pickled(graph: FunctionGraph) -> bytes | None:
    """Return a graph as bytes; None if that cannot be done, or not be read in every process."""
    # A rewrite that a program has added to PyTensor's may have put its own operations there.
    if not all(is_known(type(node.op)) for node in graph.apply_nodes):
        return None
    try:
        return pickle.dumps((graph.inputs, graph.outputs))
    except (AttributeError, TypeError, pickle.PicklingError) as reason:
        log.debug("Not kept on disk: %s", reason)
        return None


def _folder() -> Path:
    """Return the folder, next to what PyTensor itself has pickled."""
    return Path(config.base_compiledir) / FOLDER
