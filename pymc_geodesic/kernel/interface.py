#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The inputs and outputs of a kernel, and what it needs to know about an algorithm.

Inputs and outputs are trees of arrays. Calls of different lengths are padded to one shape.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

__all__ = [
    "CenterArrays",
    "Dynamics",
    "Inputs",
    "Outputs",
    "Padding",
    "Tree",
    "chunk_length_for",
    "leaves_of",
    "map_leaves",
    "padded_length",
    "rebuilt",
]


def _as_it_is(state: Any) -> Any:
    return state


def _position(state: Any, **settings: Any) -> Any:
    return state.position


class Dynamics(NamedTuple):
    """What a kernel needs to know about an algorithm.

    Attributes
    ----------
    transition : callable
        ``(state, gradient, noise, *, manifold, step_size, **parameters) -> state``, a pure function
        of arrays that JAX traces. States are named tuples of the algorithm, with a field
        ``position``. They may also have a ``velocity``, a ``thermostat`` and other fields.
    enter, leave : callable
        Map a state to the coordinates of the transition and back, once per call; the identity by
        default.
    recorded : callable
        ``(state, *, manifold, step_size, **parameters) -> position``: the point that becomes the
        draw; the position of the state by default.
    """

    transition: Callable[..., Any]
    enter: Callable[[Any], Any] = _as_it_is
    leave: Callable[[Any], Any] = _as_it_is
    recorded: Callable[..., Any] = _position


class CenterArrays(NamedTuple):
    """The center of control variates, and the gradient of the whole data there."""

    point: Sequence[Any] = ()
    gradient: Sequence[Any] = ()


class Inputs(NamedTuple):
    """The inputs of a call of the kernel.

    Attributes
    ----------
    conditioned : sequence
        PyMC's values of other steps' variables, and draws for the rows of the batch.
    state : NamedTuple
        The state of the algorithm; positions are points of the embedding.
    memory : sequence
        Memory of the gradient estimator.
    step_sizes, noise, rows
        One for each transition: step sizes, standard normals, rows of each source of batches.
    parameters : dict
        Scalar parameters of the dynamics, and ``measured_noise``: one array per variable, one per
        variable with rows, and one for the directions of the mass.
    mass : sequence
        Arrays of the mass.
    center : CenterArrays
        The center of control variates; empty without.
    fresh : array of bool
        Transitions that measure configurational temperatures: the first ones of their batch.
    reference : sequence
        Means that choose the fields of these temperatures.
    weights : sequence
        Factors of all rows, where these differ; else empty.
    made : array of bool, optional
        True for the transitions to make, then False for unused room; the kernel adds it.
    """

    conditioned: Sequence[Any]
    state: Any
    memory: Sequence[Any]
    step_sizes: Any
    noise: Sequence[Any]
    rows: Sequence[Any]
    parameters: dict[str, Any]
    mass: Sequence[Any]
    center: CenterArrays
    fresh: Any
    reference: Sequence[Any]
    weights: Sequence[Any] = ()
    made: Any = None


class Outputs(NamedTuple):
    """The outputs of a call of the kernel.

    Attributes
    ----------
    state, memory
        After the last transition.
    values : sequence
        PyMC's value of each variable, at the recorded point.
    kinetic : array
        Kinetic temperature of each variable, averaged over the transitions; empty without
        velocities.
    configurational : array
        Configurational temperature of each variable, over the fresh transitions.
    diverging : array of bool
        Whether a transition gave a state that is not finite and was undone.
    energy : array
        Potential energy at the recorded point, estimated from the last batch.
    moments : sequence
        At the recorded point, quantities whose means are the reference of these temperatures.
    """

    state: Any
    memory: Sequence[Any]
    values: Sequence[Any]
    kinetic: Any
    configurational: Any
    diverging: Any
    energy: Any
    moments: Sequence[Any]


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
    >>> from pymc_geodesic.kernel.interface import leaves_of, rebuilt
    >>> tree = {"a": (1, 2), "b": [3, None]}
    >>> rebuilt(tree, [10 * leaf for leaf in leaves_of(tree)])
    {'a': (10, 20), 'b': [30, None]}
    """
    import jax

    return jax.tree.unflatten(jax.tree.structure(template), leaves)


def map_leaves(function: Callable[[Any], Any], tree: Tree) -> Tree:
    """Return the tree with a function applied to every leaf."""
    return rebuilt(tree, [function(leaf) for leaf in leaves_of(tree)])


# In the longest call, the fixed cost of tens of microseconds is negligible.
LENGTHS = (1, 2, 5, 10, 20, 50)
# Bytes of a call that are copied in negligible time: inputs are filled up to full length. Most
# draws have at most ten transitions. For these more bytes are worth it, since every call
# evaluates the energy once.
MOST_BYTES, MOST_BYTES_OF_SHORT, SHORT = 2**16, 2**21, 10


def padded_length(arrays: Sequence[np.ndarray]) -> int:
    """Return the number of transitions for which a kernel should have room.

    Parameters
    ----------
    arrays : sequence of ndarray
        Noise and rows of one transition.
    """
    n_bytes = sum(x.nbytes for x in arrays)

    room = {n: MOST_BYTES_OF_SHORT if n <= SHORT else MOST_BYTES for n in LENGTHS}
    return max(n for n in LENGTHS if n == 1 or n * n_bytes <= room[n])


# A call that stands for so many costs little beside them, and so does the room for them.
MOST_TURNS, BYTES_OF_TURNS = 32, 2**21


def chunk_length_for(inputs: Inputs) -> int:
    """Return for how many calls in turn one call should stand at most, given the inputs of one."""
    arrays = [*inputs.noise, *inputs.rows, *leaves_of(inputs.state)]
    n_bytes = sum(np.asarray(x).nbytes for x in arrays)
    return min(MOST_TURNS, max(1, BYTES_OF_TURNS // max(n_bytes, 1)))


class Padding:
    """Fill inputs up to a number of transitions.

    Parameters
    ----------
    length : int
        The number of transitions.
    """

    def __init__(self, length: int) -> None:
        self.length = length
        places = np.arange(length)
        # The same array objects for all calls, so that they are copied to a device once.
        self._made = [places < n for n in range(length + 1)]

    def filled(self, inputs: Inputs) -> Inputs:
        """Return inputs of the full length; the last entries are repeated and marked as unused."""
        made = self._made[len(inputs.step_sizes)]
        if made.all():
            return inputs._replace(made=made)
        return inputs._replace(
            step_sizes=self._fill(inputs.step_sizes),
            noise=[self._fill(x) for x in inputs.noise],
            # The energy is that of the last rows.
            rows=[self._fill(x) for x in inputs.rows],
            fresh=self._fill(inputs.fresh) & made,
            made=made,
        )

    def _fill(self, array: np.ndarray) -> np.ndarray:
        n = len(array)
        filled = np.empty((self.length, *array.shape[1:]), array.dtype)
        filled[:n], filled[n:] = array, array[-1]
        return filled
