#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Draws of many chains by few calls: arrays with the chain as first axis go in and come out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pymc_geodesic.kernel.interface import Inputs, leaves_of, map_leaves
from pymc_geodesic.kernel.jax.ensemble import DrawnRows, Places, ensemble_of, one_call_of
from pymc_geodesic.kernel.jax.resident import (
    Placement,
    has_accelerator,
    in_double_precision,
    on_accelerator,
)
from pymc_geodesic.kernel.transitions import TransitionKernel

__all__ = ["DrawsOfChains", "EnsembleKernel"]

# Bytes of the draws of one call. Its results are copied from the device as a whole.
MOST_BYTES = 2**26
# Draws of one call: enough that what happens between two calls is negligible.
MOST_DRAWS = 256


class DrawsOfChains(NamedTuple):
    """Draws with the axes ``(chain, draw, ...)``; fields as in the outputs of a kernel.

    Attributes
    ----------
    thermostat, velocity : list of ndarray
        Those of the state after each draw; velocities only where they are asked for.
    """

    values: list[np.ndarray]
    kinetic: np.ndarray
    configurational: np.ndarray
    diverging: np.ndarray
    energy: np.ndarray
    thermostat: list[np.ndarray]
    velocity: list[np.ndarray]


class EnsembleKernel:
    """Move many chains with one kernel.

    Parameters
    ----------
    kernel : TransitionKernel
        The kernel of one chain.
    inputs : sequence of Inputs
        Inputs of one call for some chains, from which all chains begin in turn. Noise and rows are
        those of any transitions.
    n_chains : int
        Number of chains.
    n_calls : int
        Calls of the kernel for each draw.
    rows : sequence of DrawnRows
        From which rows those of batches are drawn.
    with_velocity : bool
        Whether draws come with the velocities after them.

    Attributes
    ----------
    carried : list of array, shape (chain, ...)
        State and memory of the chains, which ``__call__`` replaces.
    """

    def __init__(
        self,
        kernel: TransitionKernel,
        inputs: Sequence[Inputs],
        *,
        n_chains: int,
        n_calls: int,
        rows: Sequence[DrawnRows],
        with_velocity: bool = False,
    ) -> None:
        self._kernel = kernel
        self._run: Callable[..., Any] | None = None
        ins, outs = kernel.places
        leaves = [kernel.leaves(x) for x in inputs]
        carried = [
            *zip(leaves_of(ins.state), leaves_of(outs.state), strict=True),
            *zip(ins.memory, outs.memory, strict=True),
        ]
        others = {*range(len(leaves[0]))} - {*ins.noise, *ins.rows, *(i for i, _ in carried)}
        own = [i for i in sorted(others) if not _same([x[i] for x in leaves])]
        which = np.arange(n_chains) % len(leaves)
        stacked = [
            np.stack([x[i] for x in leaves])[which] for i in [*(i for i, _ in carried), *own]
        ]
        # On the device from the first call on: JAX compiles anew for arrays that become its own.
        with in_double_precision(), on_accelerator():
            self._placement = where = Placement(n_chains)
            placed = [where.of_chains(x) for x in stacked]
            self._common = [where.common(x) for x in leaves[0]]
            self._rows = [source.placed(where) for source in rows]
        self._data: list[Any] | None = None
        self.carried, self._own = placed[: len(carried)], placed[len(carried) :]
        self._kept = DrawsOfChains(
            values=list(outs.values),
            kinetic=outs.kinetic,
            configurational=outs.configurational,
            diverging=outs.diverging,
            energy=outs.energy,
            thermostat=list(getattr(outs.state, "thermostat", ())),
            velocity=list(getattr(outs.state, "velocity", ())) if with_velocity else [],
        )
        kept = self._kept
        last = kept.values, kept.energy, kept.thermostat, kept.velocity
        self._places = Places(
            carried=tuple(carried),
            of_chain=tuple(own),
            noise=tuple(ins.noise),
            rows=tuple(ins.rows),
            counter=ins.made,
            averaged=(outs.kinetic, outs.configurational),
            observed=(outs.diverging,),
            last=tuple(dict.fromkeys(leaves_of(last))),
        )
        n_bytes = sum(x.nbytes for x in self.carried)
        self._form = {
            "n_steps": len(inputs[0].step_sizes),
            "n_calls": n_calls,
            "most": int(np.clip(MOST_BYTES // max(n_bytes, 1), 1, MOST_DRAWS)),
        }

    def __call__(self, keys: np.ndarray, *, first: int, n_kept: int, thin: int) -> DrawsOfChains:
        """Make draws.

        Parameters
        ----------
        keys : array of uint32, shape (chain, 2)
            Key of each chain.
        first : int
            Number of the first transition.
        n_kept, thin : int
            Draws to keep, and the interval between them.
        """
        per_draw = self._form["n_steps"] * self._form["n_calls"] * thin
        most = self._form["most"]
        together: list[np.ndarray] = []
        before: tuple[slice, list[Any]] | None = None
        for start in range(0, n_kept, most):
            made = slice(start, min(start + most, n_kept))
            n = made.stop - start
            numbers = np.array([n, thin], "int32"), np.array(first + start * per_draw, "int64")
            with in_double_precision(), on_accelerator():
                kept = self._advance(*numbers, keys)
                if has_accelerator():
                    kept = [_begun_copy(x[:, :n]) for x in kept]
            together = together or [np.empty((len(x), n_kept, *x.shape[2:]), x.dtype) for x in kept]
            # An accelerator makes the draws of this call while those of the last are copied.
            _copy(together, before)
            before = made, kept
        _copy(together, before)
        return self._apart(together)

    def _advance(self, *arguments: Any) -> list[Any]:
        """Begin the draws of one call; return what is kept of them, with chains and draws first."""
        sizes = np.array([source.n_rows for source in self._rows], "int64")
        lists = [source.listed for source in self._rows if source.listed is not None]
        *numbers, keys = arguments
        keys = self._placement.of_chains(keys)
        arguments = *numbers, keys, sizes, *lists, *self.carried, *self._own, *self._common
        function = self._kernel.function
        if self._run is None:
            are_listed = tuple(source.listed is not None for source in self._rows)
            how = "ensemble", self._places, *self._form.items(), are_listed, len(self._common)
            parts = len(lists), len(self.carried), len(self._own), len(self._common)

            def change(of_chain: Callable[..., Any]) -> Callable[..., Any]:
                n_steps = self._form["n_steps"]
                call = one_call_of(of_chain, self._places, n_steps=n_steps, are_listed=are_listed)
                return ensemble_of(call, parts, **self._form)

            self._run = function.changed(change, arguments, how=how)
        if self._data is None:
            self._data = [self._placement.common(x) for x in function.data(self._run, arguments)]
        last, kept = self._run(*arguments, *self._data)
        self.carried = list(last)
        return list(kept)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is compiled: another process compiles its own."""
        return self.__dict__ | {"_run": None, "_data": None}

    def _apart(self, kept: Sequence[np.ndarray]) -> DrawsOfChains:
        places = self._places
        order = [*places.averaged, *places.observed, *places.last]
        outputs = dict(zip(order, kept, strict=True))
        found = map_leaves(lambda i: outputs[i], self._kept)
        split = self._kernel.split_values
        return found._replace(values=split(found.values), velocity=split(found.velocity))


def _copy(together: Sequence[np.ndarray], part: tuple[slice, Sequence[Any]] | None) -> None:
    """Put some draws of all chains into their places."""
    if part is not None:
        draws, kept = part
        for x, new in zip(together, kept, strict=True):
            x[:, draws] = np.asarray(new)[:, : draws.stop - draws.start]


def _begun_copy(array: Any) -> Any:
    """Begin to copy an array from the device as soon as it is known."""
    array.copy_to_host_async()
    return array


def _same(arrays: Sequence[Any]) -> bool:
    first, *others = arrays
    return all(x is first or np.array_equal(x, first) for x in others)
