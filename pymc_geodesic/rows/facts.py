#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What is known of the variables of a model before it is sampled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytensor
import pytensor.tensor as pt

from pymc.distributions.distribution import SymbolicRandomVariable
from pymc.model import Model
from pymc.model.fgraph import ModelFreeRV, ModelObservedRV, ModelVar
from pytensor.compile.mode import Mode
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors
from pytensor.scalar.basic import Second
from pytensor.tensor import TensorVariable
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.random.op import RandomVariable
from pytensor.tensor.random.type import RandomType
from pytensor.tensor.shape import Shape, Shape_i
from scipy import sparse

from pymc_geodesic.graph_inputs import graph_input
from pymc_geodesic.rows.graphs import data_of, known_by_value

__all__ = ["Facts"]


class Facts:
    """What is known of the variables of a model before it is sampled.

    Parameters
    ----------
    shapes : mapping
        Shape of each free random variable, and of what stands for the data of a batch.
    originals : mapping
        Shared variables whose values are those of copies in the graph.
    """

    def __init__(
        self,
        shapes: Mapping[Variable, tuple[int, ...]],
        originals: Mapping[Variable, SharedVariable],
    ) -> None:
        self.shapes, self.originals = dict(shapes), originals
        self._random: dict[Variable, bool] = {}
        self._arrays: dict[Variable, np.ndarray] = {}
        self._lengths: dict[tuple[Variable, int], int] = {}

    @classmethod
    def of_model(cls, model: Model, memo: Mapping[Variable, Variable]) -> Facts:
        """Return what is known of a model, given the variables of its graph by its own."""
        shapes = model.eval_rv_shapes()
        return cls(
            shapes={memo[rv]: tuple(map(int, shapes[rv.name])) for rv in model.free_RVs},
            originals={
                copy: x
                for x, copy in memo.items()
                if isinstance(x, SharedVariable) and copy is not x
            },
        )

    def is_random(self, var: Variable) -> bool:
        """Whether the values of a variable, and not only its shape, depend on random variables."""
        stack = [var]
        while stack:
            here = stack[-1]
            if here in self._random:
                stack.pop()
                continue
            node = here.owner
            if node is None:
                self._random[here] = isinstance(here.type, RandomType)
            elif isinstance(node.op, ModelFreeRV | RandomVariable | SymbolicRandomVariable):
                self._random[here] = True
            elif isinstance(node.op, Shape | Shape_i):
                self._random[here] = False
            else:
                # An observed variable stands for its data, and broadcasting takes a shape.
                is_second = isinstance(getattr(node.op, "scalar_op", None), Second)
                is_of_others = is_second or isinstance(node.op, ModelObservedRV)
                inputs = node.inputs[1:] if is_of_others else node.inputs
                if left := [x for x in inputs if x not in self._random]:
                    stack.extend(left)
                else:
                    self._random[here] = any(self._random[x] for x in inputs)
        return self._random[var]

    def placeholder(self, name: str, dtype: str, shape: tuple[int, ...]) -> TensorVariable:
        """Create a variable for the rows of a batch, which is no constant.

        Its first axis may have another length than this.
        """
        found = graph_input(name, dtype=dtype, shape=(None, *shape[1:]))
        self._random[found], self.shapes[found] = True, shape
        return found

    def step_of(self, var: TensorVariable) -> TensorVariable:
        """Create a variable for what a loop takes of another in a step."""
        found = graph_input(None, dtype=var.dtype, shape=var.type.shape[1:])
        shape = tuple(self.length(var, i) for i in range(1, var.ndim))
        self._random[found], self.shapes[found] = True, shape
        return found

    def constants(self, outputs: Sequence[Variable], least: int) -> dict[Variable, Variable]:
        """Find what is computed from at least so many rows of data alone, and compute it once."""
        found: dict[Variable, Variable] = {}
        seen: set[Variable] = set()
        left = list(outputs)
        while left:
            here = left.pop()
            if here in seen or here.owner is None:
                continue
            seen.add(here)
            if isinstance(here.owner.op, ModelVar) or self.is_random(here):
                left.extend(here.owner.inputs)
            elif any(max(np.shape(data_of(x)), default=0) >= least for x in ancestors([here])):
                found[here] = pt.constant(self.array(here), name=here.name)
        return found

    def array(self, var: Variable) -> np.ndarray:
        """Value of a variable that is not random."""
        if var not in self._arrays:
            self._arrays[var] = self._array(var)
        return self._arrays[var]

    def _array(self, var: Variable) -> np.ndarray:
        if isinstance(var, Constant):
            return var.data
        if isinstance(var, SharedVariable):
            return self.originals.get(var, var).get_value(borrow=True)
        if isinstance(var.owner.op, ModelObservedRV):
            return self.array(var.owner.inputs[1])
        return self._evaluate(var)

    def _evaluate(self, var: Variable) -> np.ndarray:
        """Compute a value; random variables are only asked for their shapes."""
        inner = known_by_value([var])
        given = {x: pt.zeros(self.shapes[x], dtype=x.dtype) for x in inner if x in self.shapes}
        for x in inner:
            if x.owner is not None and isinstance(x.owner.op, ModelObservedRV):
                given[x] = pytensor.shared(self.array(x.owner.inputs[1]), borrow=True)
        for copy, original in self.originals.items():
            if copy in inner:
                given[copy] = original
        [graph] = clone_replace([var], replace=given, rebuild_strict=False)
        mode = Mode(linker="py", optimizer="fast_run").excluding("fusion", "inplace")
        with pytensor.config.change_flags(cxx=""):
            value = pytensor.function([], graph, mode=mode, on_unused_input="ignore")()
        return value if sparse.issparse(value) else np.asarray(value)

    def length(self, var: TensorVariable, axis: int) -> int:
        """Length of an axis."""
        if var.type.shape[axis] is not None:
            return var.type.shape[axis]
        if var in self.shapes:
            return self.shapes[var][axis]
        if (var, axis) not in self._lengths:
            if var.owner is None or var in self._arrays:
                n = self.array(var).shape[axis]
            elif (found := self._same_length(var, axis)) is not None:
                n = self.length(*found)
            else:
                n = int(self._evaluate(var.shape[axis]))
            self._lengths[var, axis] = n
        return self._lengths[var, axis]

    def _same_length(self, var: TensorVariable, axis: int) -> tuple[TensorVariable, int] | None:
        """Find an input with an axis of the same length, for common operations."""
        op, inputs = var.owner.op, var.owner.inputs
        if isinstance(op, Elemwise):
            return next(((x, axis) for x in inputs if not x.type.broadcastable[axis]), None)
        if isinstance(op, DimShuffle) and op.new_order[axis] != "x":
            return inputs[0], op.new_order[axis]
        if isinstance(op, ModelObservedRV):
            return inputs[1], axis
        return None
