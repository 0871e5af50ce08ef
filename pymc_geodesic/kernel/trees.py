#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Trees of arrays or tensors, by JAX, which is imported when it is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

__all__ = ["Tree", "leaves_of", "map_leaves", "rebuilt"]

Tree = Any
"""A leaf, or a tuple, list or dict of trees; None is a tree without leaves."""


def leaves_of(tree: Tree) -> list[Any]:
    """List the leaves of a tree, in order; those of a dict in the order of its keys."""
    import jax

    return jax.tree.leaves(tree)


def rebuilt(template: Tree, leaves: Iterable[Any]) -> Tree:
    """Put leaves into a tree of the structure of another: the inverse of :func:`leaves_of`.

    Examples
    --------
    >>> from pymc_geodesic.kernel.trees import leaves_of, rebuilt
    >>> tree = {"a": (1, 2), "b": [3, None]}
    >>> rebuilt(tree, [10 * leaf for leaf in leaves_of(tree)])
    {'a': (10, 20), 'b': [30, None]}
    """
    import jax

    return jax.tree.unflatten(jax.tree.structure(template), leaves)


def map_leaves(function: Callable[[Any], Any], tree: Tree) -> Tree:
    """Return the tree with a function applied to every leaf."""
    return rebuilt(tree, [function(leaf) for leaf in leaves_of(tree)])
