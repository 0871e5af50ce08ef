#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A check that no array of all rows stands beside a batch."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.traversal import ancestors
from pytensor.tensor.random.type import RandomType

from pymc_geodesic.data_checks.indices import indices_of, named
from pymc_geodesic.data_checks.row_density import NoRowDensity, Point, RowDensity
from pymc_geodesic.potential.minibatch import BatchSource

__all__ = ["require_rows_of_batches"]


def require_rows_of_batches(density: RowDensity, point: Point, head: np.ndarray) -> None:
    """Refuse an observed variable whose parameters have all rows, where its values are a batch.

    Parameters
    ----------
    density : RowDensity
        Density of the observed variable.
    point : mapping
        Values of the free variables.
    head : ndarray
        Numbers of some rows, or some rows of a stream.

    Raises
    ------
    ValueError
        If the log density cannot be evaluated for a batch.
    """
    if not density.has_density:
        return
    try:
        density(point, head)
    except NoRowDensity as error:
        names, source = list(dict.fromkeys(_whole_arrays(density))), density.source
        cause = error.__cause__
        if not names and isinstance(cause, ValueError | IndexError):
            reason = str(cause).splitlines()[0].strip(" .")
            raise ValueError(
                f"The observed variable `{density.name}` expected a log density of any "
                f"{source.batch_size} rows of a batch, got an error: {reason}. "
                "Give all its data the rows of the batch, and take shapes from them."
            ) from cause
        if not names:
            return
        advice = (
            "Pass them to the same call of `pm.Minibatch` as the other data, such as `x, y = "
            "pm.Minibatch(X, Y, batch_size=100)`."
            if isinstance(source, BatchSource)
            else f"Read them as columns of `{source.name}`."
        )
        raise ValueError(
            f"The observed variable `{density.name}` expected {source.batch_size} rows of a batch "
            f"in all its data, got all {source.n_rows} rows in {' and '.join(names)}. {advice}"
        ) from None


def _whole_arrays(density: RowDensity) -> Iterator[str]:
    """Name the arrays with all rows that are not data of the batches themselves."""
    rows, term = density.graph
    source = density.source
    own: set[Variable] = set(source.tensors) if isinstance(source, BatchSource) else {rows}
    indexed = {index.variable: named(index.array) for index in indices_of([term])}
    for x in ancestors([term]):
        if x in own or not isinstance(x, Constant | SharedVariable):
            continue
        if isinstance(x.type, RandomType):
            continue
        shape = np.shape(x.data if isinstance(x, Constant) else x.get_value(borrow=True))
        if shape[:1] == (source.n_rows,):
            unnamed = f"the index of {indexed[x]}" if x in indexed else f"an array of shape {shape}"
            yield f"`{x.name}`" if x.name else unnamed
