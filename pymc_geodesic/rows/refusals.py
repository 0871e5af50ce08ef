#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Models that cannot be divided into rows, and the operations that are the reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from pymc.distributions.distribution import PartialObservedRV
from pymc.distributions.simulator import SimulatorRV
from pymc.model.fgraph import ModelVar
from pytensor.graph.basic import Variable
from pytensor.tensor import TensorVariable
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.math import Dot

from pymc_geodesic.rows.facts import Facts
from pymc_geodesic.rows.graphs import data_of, name_of, needed_for_values
from pymc_geodesic.rows.selection import Rows

__all__ = [
    "CURE",
    "DependentRowsError",
    "FewRowsError",
    "mixing",
    "names_of_mixing",
    "require_rows",
    "require_separate",
]

# Operations that stand wherever rows are counted or checked.
NEVER_THE_REASON = frozenset({"Shape", "Check"})
CURE = "Use NUTS, which is exact: `pmg.sample(model=model, exact='nuts')`."


class DependentRowsError(ValueError):
    """The log density of a model is not a sum over rows of its data."""


class FewRowsError(ValueError):
    """A model has no more rows than a batch."""


def require_separate(name: str, rv: Variable) -> None:
    """Raise an error if an observed variable is of a kind whose rows cannot be taken."""
    if isinstance(rv.owner.op, SimulatorRV):
        got = "rows that are drawn one by one, got a simulator of all rows together"
    elif isinstance(rv.owner.op, PartialObservedRV):
        got = (
            "rows that are observed or missing as a whole, got a multivariate distribution of "
            "which some rows are missing in part"
        )
    else:
        return
    raise DependentRowsError(f"`{name}` expected {got}. {CURE}")


def require_rows(
    streams: Mapping[int, Rows], likelihoods: Sequence[TensorVariable], facts: Facts
) -> None:
    """Raise an error if something in the likelihood is computed from all rows.

    Parameters
    ----------
    streams : mapping
        The rows of a batch, by the number of all rows.
    likelihoods : sequence of TensorVariable
        What was written for the rows of a batch.
    facts : Facts
        Lengths.

    Raises
    ------
    DependentRowsError
        With the operations that are the reason.
    """
    for n, rows in streams.items():
        if rows.whole:
            names = ", ".join(sorted({f"`{name}`" for _, name in rows.whole}))
            raise DependentRowsError(
                f"The model expected rows that do not depend on each other; each of the {n:,} rows "
                f"depends on all of them through {names}. {CURE}"
            )
    for var in needed_for_values(likelihoods):
        n = max(np.shape(data_of(var)), default=0)
        if n in streams:
            raise DependentRowsError(
                "The model expected a log density that is a sum over rows; it needs a function of "
                f"all {n:,} rows: {mixing(likelihoods, facts, lengths=[n])}. {CURE}"
            )


def mixing(outputs: Sequence[Variable], facts: Facts, *, lengths: Iterable[int]) -> str:
    """Name the operations that make something else of all rows."""
    names = names_of_mixing(outputs, facts, lengths=lengths)
    return ", ".join(f"`{name}`" for name in names) or "one value of all rows"


def names_of_mixing(
    outputs: Sequence[Variable], facts: Facts, *, lengths: Iterable[int]
) -> list[str]:
    """Return the names of the operations that make something else of all rows."""
    lengths, names = set(lengths), set()

    def is_long(x: Variable) -> bool:
        if not isinstance(x, TensorVariable):
            return False
        return any(facts.length(x, i) in lengths for i in range(x.ndim))

    for var in needed_for_values(outputs):
        node = var.owner
        if node is None or isinstance(node.op, ModelVar) or not isinstance(var, TensorVariable):
            continue
        if not any(map(is_long, node.inputs)):
            continue
        if not is_long(var) or not isinstance(node.op, Elemwise | DimShuffle | Dot):
            names.add(name_of(node.op))
    return sorted(names - NEVER_THE_REASON)
