#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What to do about a gradient that is not finite: the largest column of the data is a suspect."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from pymc.model import Model
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.traversal import ancestors

from pymc_geodesic.potential.minibatch import BatchSource, described
from pymc_geodesic.potential.stream import Source

__all__ = ["advice_on_columns"]

# Exponentials of a coefficient times a column overflow far from the posterior, if the column is
# larger.
LARGE = 100.0


def advice_on_columns(model: Model, sources: Sequence[Source]) -> str:
    """Name the largest column of predictors in memory, and say what to do."""
    advice = "Standardise the columns of the data, or pass `initvals` nearer to the posterior."
    observed = set(ancestors([model.rvs_to_values[rv] for rv in model.observed_RVs]))
    largest, name = max(_columns(sources, observed), default=(0.0, ""))
    if largest < LARGE:
        return advice
    return f"The data have numbers as large as {largest:.3g}, in {name}. {advice}"


def _columns(
    sources: Sequence[Source], observed: Collection[Variable]
) -> Iterator[tuple[float, str]]:
    for source in sources:
        if not isinstance(source, BatchSource):
            continue
        for i, (array, batch) in enumerate(zip(source.tensors, source.batches, strict=True)):
            is_held = isinstance(array, Constant | SharedVariable)
            if batch in observed or not is_held or array.type.ndim not in (1, 2):
                continue
            data = array.data if isinstance(array, Constant) else array.get_value(borrow=True)
            if data.dtype.kind != "f":
                continue
            sizes = np.atleast_1d(np.maximum(data.max(axis=0), -data.min(axis=0)))
            column = int(np.argmax(sizes))
            place = "" if array.name else " of `pm.Minibatch`"
            which = f"column {column} of " if data.ndim == 2 else ""
            yield float(sizes[column]), f"{which}{described(array, i)}{place}"
