#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Effects of groups that a model does not have, drawn from their prior."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pytensor.tensor import TensorVariable

from pymc_geodesic.predictions.new_rows import NewRows
from pymc_geodesic.predictions.rows_at_draws import RowsAtDraws
from pymc_geodesic.predictions.rows_of_model import ModelRows
from pymc_geodesic.rows.selection import Rows

__all__ = ["effects_of_new", "with_new_groups"]


def with_new_groups(
    found: ModelRows, rows: Rows, draws: Mapping[str, np.ndarray], rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Add the effects of new groups to the draws of the variables that rows index.

    Parameters
    ----------
    found : ModelRows
        The model.
    rows : Rows
        Rows whose graphs are written.
    draws : mapping of str to ndarray, shape (S, ...)
        Draws of the free variables, those of earlier rows with their new groups.
    rng : Generator
        Source of the effects, one of each group for each draw.
    """
    extended = dict(draws)
    for var, places in rows.indexed.items():
        name = var.owner.op.name
        if name not in draws:
            continue
        for axis, at in places:
            n = extended[name].shape[1 + axis]
            if (n_new := int(at.max(initial=0)) + 1 - n) > 0:
                effects = effects_of_new(found, var, axis, n_new, draws, rng)
                extended[name] = np.concatenate([extended[name], effects], axis=1 + axis)
    return extended


def effects_of_new(
    found: ModelRows,
    var: TensorVariable,
    axis: int,
    n: int,
    draws: Mapping[str, np.ndarray],
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw effects of n new groups along an axis of a variable, at all draws of the others."""
    rows = NewRows(found.facts, found.data, {}, n, new_groups=True)
    try:
        graph = rows.drawn(var.owner.inputs[0], axis)
    except ValueError:
        graph = None
    if graph is None or rows.whole:
        raise ValueError(
            f"`sample_new_groups` expected groups with one prior, independent of each other, got "
            f"`{var.owner.op.name}`, whose prior is not the same for all. Pass groups of the model."
        )
    return RowsAtDraws(rows, [graph], draws, rng=rng)(slice(0, n))[0]
