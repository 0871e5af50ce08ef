#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The inputs and outputs of a kernel, and what it needs to know about an algorithm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

__all__ = ["CenterArrays", "Dynamics", "Inputs", "Outputs"]


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
        Factors of all rows, where rows are drawn by weight; else empty.
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
