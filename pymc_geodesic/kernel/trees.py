#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Trees of arrays or tensors: named tuples, tuples, lists and dicts, with leaves at their ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from typing import Any

__all__ = ["flattener", "leaves_of", "map_leaves", "rebuilder", "rebuilt"]

Tree = Any
"""A leaf, or a tuple, list or dict of trees; None is a tree without leaves."""


def leaves_of(tree: Tree) -> list:
    """List the leaves of a tree, in order."""
    found: list = []
    flattener(tree)(tree, found)
    return found


def rebuilt(template: Tree, leaves: Sequence[Any]) -> Tree:
    """Put leaves into a tree of the structure of another: the inverse of :func:`leaves_of`.

    Examples
    --------
    >>> from pymc_geodesic.kernel.trees import leaves_of, rebuilt
    >>> tree = {"a": (1, 2), "b": [3, None]}
    >>> rebuilt(tree, [10 * leaf for leaf in leaves_of(tree)])
    {'a': (10, 20), 'b': [30, None]}
    """
    return rebuilder(template)(leaves)


def map_leaves(function: Callable[[Any], Any], tree: Tree) -> Tree:
    """Return the tree with a function applied to every leaf."""
    return rebuilt(tree, [function(leaf) for leaf in leaves_of(tree)])


def flattener(template: Tree) -> Callable[[Tree, list], None]:
    """Create a function that appends the leaves of trees of one structure to a list.

    It is created once and called once per draw: inspecting every node takes twice the time.
    """
    if template is None:
        return lambda tree, found: None
    if _is_leaf(template):
        return lambda tree, found: found.append(tree)
    if all(map(_is_leaf, _parts(template))):
        return lambda tree, found: found.extend(_parts(tree))
    inner = [flattener(part) for part in _parts(template)]

    def flatten(tree: Tree, found: list) -> None:
        for append, part in zip(inner, _parts(tree), strict=True):
            append(part, found)

    return flatten


def rebuilder(template: Tree) -> Callable[[Sequence[Any]], Tree]:
    """Create a function that puts lists of leaves into trees of one structure."""
    return _rebuilder(template, count())


def _rebuilder(template: Tree, numbers: Iterator[int]) -> Callable[[Sequence[Any]], Tree]:
    if template is None:
        return lambda leaves: None
    if _is_leaf(template):
        number = next(numbers)
        return lambda leaves: leaves[number]
    inner = [_rebuilder(part, numbers) for part in _parts(template)]
    kind = type(template)
    if isinstance(template, dict):
        names = list(template)
        return lambda leaves: {n: part(leaves) for n, part in zip(names, inner, strict=True)}
    if hasattr(template, "_fields"):
        return lambda leaves: kind(*[part(leaves) for part in inner])
    return lambda leaves: kind([part(leaves) for part in inner])


def _is_leaf(tree: Tree) -> bool:
    return tree is not None and not isinstance(tree, tuple | list | dict)


def _parts(tree: Tree) -> Iterable[Tree]:
    return tree.values() if isinstance(tree, dict) else tree
