#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Trees of arrays or tensors: named tuples, tuples, lists and dicts, with leaves at their ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["leaves_of", "map_leaves", "rebuilt"]

Tree = Any
"""A leaf, or a tuple, list or dict of trees; None is a tree without leaves."""


def leaves_of(tree: Tree) -> list:
    """List the leaves of a tree, in order."""
    found: list = []
    _collect(tree, found)
    return found


def _collect(tree: Tree, found: list) -> None:
    if isinstance(tree, tuple | list):
        for part in tree:
            _collect(part, found)
    elif isinstance(tree, dict):
        for part in tree.values():
            _collect(part, found)
    elif tree is not None:
        found.append(tree)


def map_leaves(function: Callable[[Any], Any], tree: Tree) -> Tree:
    """Return the tree with a function applied to every leaf."""
    if tree is None:
        return None
    if isinstance(tree, dict):
        return {name: map_leaves(function, part) for name, part in tree.items()}
    if isinstance(tree, tuple | list):
        parts = [map_leaves(function, part) for part in tree]
        return type(tree)(*parts) if hasattr(tree, "_fields") else type(tree)(parts)
    return function(tree)


def rebuilt(template: Tree, leaves: list) -> Tree:
    """Put leaves into a tree of the form of another: the inverse of :func:`leaves_of`.

    Examples
    --------
    >>> from pymc_geodesic.kernel.trees import leaves_of, rebuilt
    >>> tree = {"a": (1, 2), "b": [3, None]}
    >>> rebuilt(tree, [10 * leaf for leaf in leaves_of(tree)])
    {'a': (10, 20), 'b': [30, None]}
    """
    rest: Iterator = iter(leaves)
    return map_leaves(lambda _: next(rest), template)
