#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A JAX loop whose number of iterations is an input.

PyTensor compiles the number of iterations into the function, so every other number that self-tuning
tries would take seconds to compile. Here the inputs have room for the largest number. One sequence
of booleans, True and then False, gives the number of iterations to make.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.op import Op
from pytensor.graph.rewriting.basic import node_rewriter
from pytensor.scan.op import Scan

__all__ = [
    "COUNTED",
    "CountedScan",
    "count_iterations",
    "register_counted_scan_with_jax",
    "require_counted",
]

IN_BOUNDS = "promise_in_bounds"

COUNTED = "counted_transitions"
"""Name of the scans that are meant."""


class CountedScan(Op):
    """A scan that stops early, with sequences, traces, and states whose last values are returned.

    The traces are zero after the last iteration.

    Parameters
    ----------
    scan : Scan
        The scan, which runs to its end.
    counter : int
        Index of the sequence that counts the iterations.
    """

    __props__ = ("scan", "counter")

    def __init__(self, scan: Scan, counter: int) -> None:
        self.scan, self.counter = scan, counter

    def make_node(self, *inputs: Variable) -> Apply:
        """Apply to the inputs of the scan."""
        return Apply(self, list(inputs), [x.type() for x in self.scan.make_node(*inputs).outputs])

    def perform(self, node, inputs, output_storage) -> None:
        """Raise an error: only JAX runs it."""
        raise NotImplementedError


@node_rewriter([Scan])
def count_iterations(fgraph, node):
    """Let the scans of this name stop early."""
    info = node.op.info
    others = info.as_while, info.n_mit_mot, info.n_mit_sot, info.n_sit_sot
    if node.op.name != COUNTED or any(others):
        return None
    sequences = enumerate(node.op.outer_seqs(node.inputs))
    [counter] = [i for i, x in sequences if x.type.dtype == "bool"]
    return CountedScan(node.op, counter)(*node.inputs, return_list=True)


def require_counted(fgraph: FunctionGraph) -> None:
    """Raise an error for a graph in which a loop would not stop early.

    Raises
    ------
    RuntimeError
        If a loop is unchanged.
    """
    for node in fgraph.apply_nodes:
        if isinstance(node.op, Scan) and node.op.name == COUNTED:
            raise RuntimeError("PyTensor has rewritten a loop of transitions in an unexpected way.")


def register_counted_scan_with_jax() -> None:
    """Register the scan's JAX implementation with PyTensor; JAX is imported on first use."""
    from pytensor.link.jax.dispatch import jax_funcify

    if CountedScan not in jax_funcify.registry:
        jax_funcify.register(CountedScan)(_in_jax)


def _in_jax(op: CountedScan, **kwargs: Any) -> Callable[..., Any]:
    import jax
    import jax.numpy as jnp

    from pytensor.link.jax.dispatch import jax_funcify

    scan = op.scan
    inner = jax_funcify(scan.fgraph, **kwargs)

    def run(*outer):
        sequences, others = scan.outer_seqs(outer), scan.outer_non_seqs(outer)
        begin, lengths = scan.outer_untraced_sit_sot(outer), scan.outer_nitsot(outer)

        def one(i, states):
            # JAX would compile a test of the indices, which are in bounds, for each sequence.
            here = (x.at[i].get(mode=IN_BOUNDS, wrap_negative_indices=False) for x in sequences)
            found = inner(*here, *states, *others)
            return scan.inner_untraced_sit_sot_outs(found), scan.inner_nitsot_outs(found)

        def iterate(i, carried):
            states, traces = carried
            states, told = one(i, states)
            traces = [
                trace.at[i].set(x, mode=IN_BOUNDS, wrap_negative_indices=False)
                for trace, x in zip(traces, told, strict=True)
            ]
            return list(states), traces

        shapes = jax.eval_shape(lambda: one(0, begin)[1])
        pairs = zip(lengths, shapes, strict=True)
        traces = [jnp.zeros((int(n), *x.shape), x.dtype) for n, x in pairs]
        n_iterations = sequences[op.counter].sum()
        last, traces = jax.lax.fori_loop(0, n_iterations, iterate, (list(begin), traces))
        return [*traces, *last]

    return run
