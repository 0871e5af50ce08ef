#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Log densities that jump where a variable passes a value, of which gradients know nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from pymc.model import Model
from pytensor.gradient import DisconnectedGrad
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import io_toposort, walk
from pytensor.raise_op import CheckAndRaise
from pytensor.scalar.basic import (
    Ceil,
    Floor,
    IntDiv,
    Mod,
    RoundHalfAwayFromZero,
    RoundHalfToEven,
    Sign,
    Trunc,
)
from pytensor.scan.op import Scan
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.shape import Shape, Shape_i

from pymc_geodesic.data_checks.row_density import NoRowDensity, Point, RowDensity

__all__ = ["require_continuous"]

# Functions of numbers that jump although they return numbers.
JUMPING = (Ceil, Floor, IntDiv, Mod, RoundHalfAwayFromZero, RoundHalfToEven, Sign, Trunc)
# How far variables are moved, as a multiple of their values or of one.
WIDTHS = 0.01, 0.1, 1.0, 10.0
# Each interval is divided into so many until it is so short, as a share of the first. What is
# smooth or has a kink changes by an eighth each time, what jumps by as much as before.
PARTS, SHORTEST = 8, 1e-9
# Smaller jumps of the log density of a row are no matter, or the error of a series.
LEAST = 1e-3


def require_continuous(density: RowDensity, point: Point, rows: np.ndarray) -> None:
    """Raise an error if the log density of a row jumps where variables pass a value.

    Free variables that enter a comparison or a rounding are moved together. Of the way, the eighth
    in which a row's log density changes most is divided into eighths in turn: in a jump the change
    stays, elsewhere it shrinks with the way.

    Parameters
    ----------
    density : RowDensity
        Density of an observed variable.
    point : mapping of str to ndarray
        Values of the free variables, transformed as PyMC does, near which jumps are looked for.
    rows : ndarray of int, shape (n,)
        Indices of some rows; or of a stream some rows themselves, of shape ``(n, ...)``.

    Raises
    ------
    ValueError
        If it jumps.
    """
    model = density.model
    suspects = [x for x in _suspects(model, density.rv) if x.dtype.startswith("float")]
    if not suspects or not density.has_density:
        return
    rng = np.random.default_rng(3)
    values = [model.rvs_to_values[x].name for x in suspects]
    moves = {
        name: rng.uniform(0.5, 1.0, np.shape(point[name])) * np.maximum(1.0, np.abs(point[name]))
        for name in values
    }

    def at(t: float) -> np.ndarray:
        moved = {name: point[name] + t * move for name, move in moves.items()}
        terms = density.by_row({**point, **moved}, rows)
        if terms is None:
            raise NoRowDensity(density.name)
        return terms.reshape(len(terms), -1).sum(axis=1)

    try:
        jump = next((size for width in WIDTHS if (size := _jump(at, width))), None)
    except NoRowDensity:
        return
    if jump is not None:
        names = ", ".join(f"`{x.name}`" for x in suspects)
        raise ValueError(
            f"{names} expected a log density without jumps, got one that jumps by {jump:.2g} in a "
            f"row of `{density.name}`, as happens where a variable is compared with data. "
            "Gradients know nothing of jumps. Write the change as a steep `pm.math.sigmoid`, or "
            f"sample all rows with `pm.sample(step=pm.Slice([{suspects[0].name}]))`."
        )


def _suspects(model: Model, rv: Variable) -> list[Variable]:
    """Return the free variables of which an observed one depends on functions that may jump."""
    behind = {x: {x} for x in model.free_RVs}
    found: set[Variable] = set()
    used = _used([rv], set(behind))
    nodes = io_toposort(list(behind), [rv])
    if any(isinstance(node.op, DisconnectedGrad) for node in nodes):
        # An integral over variables of the row: its search for modes compares, far away in vain.
        return []
    for node in nodes:
        inputs = [x for x in node.inputs if x in behind and x in used]
        depends = set().union(*(behind[x] for x in inputs))
        if depends and not used.isdisjoint(node.outputs):
            found |= depends if _may_jump(node, inputs) else set()
            behind |= dict.fromkeys(node.outputs, depends)
    return [x for x in model.free_RVs if x in found]


def _used(outputs: list[Variable], ends: set[Variable]) -> set[Variable]:
    """Return what values are computed from, without shapes and the conditions of checks."""

    def inputs(x: Variable) -> Sequence[Variable]:
        if x in ends or x.owner is None or isinstance(x.owner.op, Shape | Shape_i):
            return ()
        return x.owner.inputs[:1] if isinstance(x.owner.op, CheckAndRaise) else x.owner.inputs

    return set(walk(outputs, inputs))


def _may_jump(node: Apply, inputs: list[Variable]) -> bool:
    """Return whether a function of some inputs may jump."""
    if isinstance(node.op, Scan):
        return any(_may_jump(inner, list(inner.inputs)) for inner in node.op.fgraph.apply_nodes)
    if isinstance(node.op, Elemwise) and isinstance(node.op.scalar_op, JUMPING):
        return True
    dtypes = [str(getattr(x.type, "dtype", "")) for x in node.outputs]
    is_whole = any(dtype.startswith(("bool", "int", "uint")) for dtype in dtypes)
    return is_whole and any(str(getattr(x.type, "dtype", "")).startswith("float") for x in inputs)


def _jump(at: Callable[[float], np.ndarray], width: float) -> float | None:
    """Return the size of a jump of some row within a distance; None if there is none."""
    low, high, size = -width, width, 0.0
    while high - low > SHORTEST * width:
        grid = np.linspace(low, high, PARTS + 1)
        with np.errstate(all="ignore"):
            change = np.abs(np.diff(np.stack([at(t) for t in grid]), axis=0))
        change = np.where(np.isfinite(change), change, 0.0).max(axis=1)
        part = int(np.argmax(change))
        # Near a pole, such as the end of a support, it grows until the interval ends before it.
        size = max(size, float(change[part]))
        if change[part] < max(LEAST, size / 2):
            return None
        low, high = grid[part], grid[part + 1]
    return size
