#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Effects of rows that a run has integrated out, and of groups that a model does not have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytensor.tensor as pt

from pytensor.tensor import TensorVariable

from pymc_geodesic.predictions.new_rows import NewRows
from pymc_geodesic.predictions.rows_of_model import ModelRows, RowsAtDraws
from pymc_geodesic.rows.conditional_entries import ConditionalEntries
from pymc_geodesic.rows.selection import Rows
from pymc_geodesic.runs.local_posterior import warn_of_few

__all__ = ["LocalEffects", "effects_of_new", "with_new_groups"]


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


class LocalEffects:
    """Draws of effects that are not in the posterior, given the data and the other variables.

    Parameters
    ----------
    found : ModelRows
        The model.
    rows : Rows
        The rows that are predicted, with an index of each variable.
    variables : sequence of TensorVariable
        The variables that are not in the posterior.
    draws : mapping of str to ndarray, shape (S, ...)
        Draws of the others.
    batch_size : int
        Rows of a batch of the run.
    rng : Generator
        Source of the draws.

    Attributes
    ----------
    inputs : list of TensorVariable
        What stands for the effects of rows, which are along the first axis.
    local : dict of TensorVariable to TensorVariable
        The rows of each variable in terms of these.

    Raises
    ------
    ValueError
        If rows do not have one entry each.
    """

    def __init__(
        self,
        found: ModelRows,
        rows: Rows,
        variables: Sequence[TensorVariable],
        draws: Mapping[str, np.ndarray],
        *,
        batch_size: int,
        rng: np.random.Generator,
    ) -> None:
        self._found, self._draws, self._rng = found, draws, rng
        self._variables, self._batch_size = list(variables), batch_size
        self._places = [self._place(rows, x) for x in variables]
        facts = found.facts
        self.inputs, self.local = [], {}
        for x, (axis, _) in zip(variables, self._places, strict=True):
            rest = [n for i, n in enumerate(facts.shapes[x]) if i != axis]
            self.inputs.append(facts.placeholder(x.owner.op.name, x.dtype, (1, *rest)))
            self.local[x] = pt.moveaxis(self.inputs[-1], 0, axis)
        self._rows = np.arange(0)
        self._effects: list[np.ndarray] = []

    def _place(self, rows: Rows, x: TensorVariable) -> tuple[int, np.ndarray]:
        places = rows.indexed.get(x, [])
        if not places or any(
            i != places[0][0] or not np.array_equal(at, places[0][1]) for i, at in places
        ):
            raise ValueError(
                f"`idata` expected draws of `{x.owner.op.name}`, on which the rows depend, got "
                f"draws of {sorted(self._draws)}. Sample it too: name it in `var_names`."
            )
        return places[0]

    def begin(self, rows: np.ndarray) -> None:
        """Draw the effects of rows, at all draws of the other variables."""
        self._rows = rows
        entries = {
            x.owner.op.name: np.maximum(at[rows], 0)
            for x, (_, at) in zip(self._variables, self._places, strict=True)
        }
        drawn: dict[str, np.ndarray] = {}
        for x, (axis, _) in zip(self._variables, self._places, strict=True):
            name = x.owner.op.name
            if name not in drawn:
                drawn |= self._drawn(x, axis, entries[name])
        self._effects = [drawn[x.owner.op.name] for x in self._variables]

    def of(self, rows: np.ndarray) -> list[np.ndarray]:
        """Return the effects of some of these rows, of shape (S, rows, ...)."""
        order = np.argsort(self._rows)
        at = order[np.searchsorted(self._rows[order], rows)]
        return [x[:, at] for x in self._effects]

    def _drawn(self, x: TensorVariable, axis: int, entries: np.ndarray) -> dict[str, np.ndarray]:
        """Draw entries of a variable, and of others that are drawn with it."""
        name, n_draws = x.owner.op.name, len(next(iter(self._draws.values())))
        labels, inverse = np.unique(entries, return_inverse=True)
        has_rows = np.isin(labels, self._with_rows(x))
        found: dict[str, np.ndarray] = {}
        if has_rows.any():
            conditional = ConditionalEntries(
                self._found.model, name, lambda axis: labels[has_rows], batch_size=self._batch_size
            )
            least = np.full(has_rows.sum(), np.inf)
            kept: list[list[np.ndarray]] = [[] for _ in conditional.variables]
            for i in range(n_draws):
                values = {one: self._draws[one][i] for one in conditional.needed}
                drawn, n_effective = conditional.draw(self._rng, values)
                least = np.minimum(least, n_effective)
                for all_draws, array, own in zip(kept, drawn, conditional.axes, strict=True):
                    all_draws.append(np.moveaxis(array, own, 0))
            warn_of_few(labels[has_rows], least)
            found = {
                one: np.stack(all_draws)
                for one, all_draws in zip(conditional.variables, kept, strict=True)
            }
        if not has_rows.all():
            prior = effects_of_new(
                self._found, x, axis, int((~has_rows).sum()), self._draws, self._rng
            )
            prior = np.moveaxis(prior, 1 + axis, 1)
            both = np.empty((n_draws, len(labels), *prior.shape[2:]))
            both[:, ~has_rows] = prior
            if has_rows.any():
                both[:, has_rows] = found[name]
            found = {name: both}
        return {one: array[:, inverse] for one, array in found.items()}

    def _with_rows(self, x: TensorVariable) -> np.ndarray:
        """Return the entries of a variable that rows of the model have."""
        found = [np.arange(0)]
        for name, out in self._found.variables.items():
            if (n := self._found.n_observed(name)) and out is not x:
                rows = self._found.rows(n, few=1)
                self._found.drawn(name, rows)
                found += [at for _, at in rows.indexed.get(x, [])]
        return np.unique(np.concatenate(found))
