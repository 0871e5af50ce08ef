#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Rules of loops: rows are the steps, or stand beside each other in every step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import ancestors
from pytensor.scan.op import Scan, ScanInfo
from pytensor.tensor import TensorVariable

from pymc_geodesic.groups.effect_density import frontier
from pymc_geodesic.potential.model_graphs import renew
from pymc_geodesic.rows.graphs import name_of, substituted
from pymc_geodesic.rows.loops_over_rows import beside_each_other
from pymc_geodesic.rows.refusals import names_of_mixing
from pymc_geodesic.rows.selection import Positions, Rows, rule

__all__: list[str] = []


@rule.register
def _scan(
    op: Scan, rows: Rows, var: TensorVariable, axis: int, positions: Positions
) -> TensorVariable | None:
    info = op.info
    if info.as_while or info.n_mit_mot or info.n_untraced_sit_sot:
        return None
    if axis:
        return _Step(rows, var.owner).output(var, axis - 1, positions)
    if info.n_mit_sot or info.n_sit_sot:
        return None
    return beside_each_other(rows, var, positions)


@dataclass(frozen=True, eq=False)
class _Carried:
    """A sequence or a state of a loop.

    Attributes
    ----------
    place : int
        Its number among the sequences and states.
    outer : TensorVariable
        What the loop is given; its first axis is that of the steps.
    taps : list of TensorVariable
        What stands for it in a step.
    axis : int, optional
        The axis of the rows in a step; None if it has all of them.
    positions : ndarray, optional
        Where they are found along it.
    """

    place: int
    outer: TensorVariable
    taps: list[TensorVariable]
    axis: int | None = None
    positions: Positions = None


class _Step(Rows):
    """The rows of what a loop computes in a step.

    Where rows of a sequence or a state are needed, they are carried instead of it. What is the same
    in every step is taken from the rows outside of the loop.
    """

    def __init__(self, rows: Rows, node: Apply) -> None:
        super().__init__(rows.facts, rows.n_rows, rows.batch_size, local=rows.local)
        self.leaves, self.whole, self.indexed = rows.leaves, rows.whole, rows.indexed
        self._outside, self._node, info = rows, node, node.op.info
        self._n_seqs, n_states = info.n_seqs, info.n_mit_sot + info.n_sit_sot
        _, *others = node.inputs
        outer = others[: self._n_seqs + n_states]
        constant = others[self._n_seqs + n_states + info.n_nit_sot :]
        self._slices = [*[(0,)] * info.n_seqs, *info.mit_sot_in_slices, *info.sit_sot_in_slices]
        self._whole = [_Carried(i, x, self._taps(i, x)) for i, x in enumerate(outer)]
        self._rows_of: dict[tuple[int, int, int], _Carried] = {}
        self._of_tap = {x: (one, t) for one in self._whole for t, x in enumerate(one.taps)}
        inner = node.op.fgraph.unfreeze()
        new = dict(zip(inner.inputs, [*self._of_tap, *constant], strict=True))
        renew(inner.toposort(), new, rewrite=lambda node, inputs: None)
        self._results = [new.get(out, out) for out in inner.outputs]

    def _taps(self, place: int, outer: TensorVariable) -> list[TensorVariable]:
        return [self.facts.step_of(outer) for _ in self._slices[place]]

    def _of(self, var: TensorVariable, axis: int, positions: Positions) -> TensorVariable:
        if var in self._of_tap:
            whole, tap = self._of_tap[var]
            return self._carried(whole, axis, positions).taps[tap]
        if self._of_tap.keys().isdisjoint(ancestors([var])):
            return self._outside.of(var, axis, positions)
        return super()._of(var, axis, positions)

    def _carried(self, whole: _Carried, axis: int, positions: Positions) -> _Carried:
        """Return what is carried instead of a sequence or a state."""
        place, outside = whole.place, self._outside
        key = (place, axis, id(positions))
        if key not in self._rows_of:
            # A state has values of its first steps only, so that it is not stored as data are.
            is_state = place >= self._n_seqs
            outer = outside.drawn(whole.outer, axis + 1, positions) if is_state else None
            outer = outside.of(whole.outer, axis + 1, positions) if outer is None else outer
            self._rows_of[key] = _Carried(place, outer, self._taps(place, outer), axis, positions)
        return self._rows_of[key]

    def output(self, var: TensorVariable, axis: int, positions: Positions) -> TensorVariable | None:
        """Write the loop for rows of one of its outputs, along an axis of a step."""
        number = self._node.outputs.index(var)
        place = self._n_seqs + number
        carried: dict[_Carried, Variable | None] = {}
        results: list[Variable] = []
        if place < len(self._whole):
            self._add(carried, self._carried(self._whole[place], axis, positions))
        else:
            results = [self.of(self._results[number], axis, positions)]
        while left := self._needed(carried, results):
            for one in left:
                self._add(carried, one)
        every = [one for one in carried if one.axis is None]
        lengths = [self.facts.length(x.outer, i) for x in every for i in range(1, x.outer.ndim)]
        if self.n_rows in lengths:
            outputs = _outputs(carried, results)
            names = names_of_mixing(outputs, self.facts, lengths=[self.n_rows])
            self.whole.extend((var, name) for name in names or [name_of(self._node.op)])
            return self._outside.index(var, axis + 1, positions)
        return self._loop(carried, results, number)

    def _add(self, carried: dict[_Carried, Variable | None], one: _Carried) -> None:
        """Add something that is carried, and what it becomes if it is a state."""
        carried[one] = None
        if one.place >= self._n_seqs:
            result = self._results[one.place - self._n_seqs]
            at = one.axis
            carried[one] = result if at is None else self.of(result, at, one.positions)

    def _needed(
        self, carried: Mapping[_Carried, Variable | None], results: list[Variable]
    ) -> list[_Carried]:
        behind = set(ancestors(_outputs(carried, results)))
        known = [*self._whole, *self._rows_of.values()]
        return [one for one in known if one not in carried and not behind.isdisjoint(one.taps)]

    def _loop(
        self,
        carried: Mapping[_Carried, Variable | None],
        results: list[Variable],
        number: int,
    ) -> TensorVariable:
        """Write the loop, and return the output of that number."""
        op, n_seqs = self._node.op, self._n_seqs
        order = sorted(carried, key=lambda one: one.place)
        states = [one for one in order if one.place >= n_seqs]
        taps = [x for one in order for x in one.taps]
        outputs = _outputs({one: carried[one] for one in order}, results)
        constant = frontier(outputs, taps)
        inside = {x: x.type() for x in constant}
        of_states = [self._slices[one.place] for one in states]
        n_many = sum(one.place < n_seqs + op.info.n_mit_sot for one in states)
        info = ScanInfo(
            n_seqs=len(order) - len(states),
            mit_mot_in_slices=(),
            mit_mot_out_slices=(),
            mit_sot_in_slices=tuple(of_states[:n_many]),
            sit_sot_in_slices=tuple(of_states[n_many:]),
            n_nit_sot=len(results),
            n_untraced_sit_sot=0,
            n_non_seqs=len(constant),
            as_while=False,
        )
        loop = Scan([*taps, *inside.values()], substituted(outputs, inside), info, name=op.name)
        n_steps = self._node.inputs[0]
        outer = [one.outer for one in order]
        found = loop.make_node(n_steps, *outer, *[n_steps] * len(results), *constant).outputs
        if results:
            return found[-1]
        first = next(one for one in carried if one.place == n_seqs + number)
        return found[states.index(first)]


def _outputs(
    carried: Mapping[_Carried, Variable | None], results: list[Variable]
) -> list[Variable]:
    return [*(x for x in carried.values() if x is not None), *results]
