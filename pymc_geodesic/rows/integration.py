#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Terms of rows with their local variables integrated out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pytensor
import pytensor.tensor as pt

from pymc.distributions.dist_math import check_parameters
from pymc.distributions.distribution import support_point
from pytensor.graph.basic import Variable
from pytensor.graph.replace import clone_replace
from pytensor.tensor import TensorVariable

from pymc_geodesic.groups.effect_density import conditions_of
from pymc_geodesic.groups.modes import log_integral
from pymc_geodesic.kernel.interpreted import Interpreted
from pymc_geodesic.potential.log_density import without_checks
from pymc_geodesic.rows.facts import Facts
from pymc_geodesic.rows.graphs import (
    added,
    inputs_for_free,
    log_density_of,
    needed_for_values,
    substituted,
)
from pymc_geodesic.rows.local_variables import Local
from pymc_geodesic.rows.refusals import DependentRowsError
from pymc_geodesic.rows.selection import Positions, Rows

__all__ = ["RowFunction", "RowsOfEntries", "TermsOfRows", "rows_of_entries"]

# For one and for two dimensions, in each. With seven the log likelihood of a logistic row is off by
# 1.4e-6, but that of a Poisson count with a gamma rate by 2e-4, whatever its mean.
N_NODES = {1: 15, 2: 7}

TermsOfRows = Callable[[Rows, Positions], TensorVariable]
"""The log density of each of some rows."""


class RowsOfEntries(NamedTuple):
    """Rows, and their log density as a function of their local variables.

    Attributes
    ----------
    labels : tuple of ndarray of int, shape (n,)
        The entry of each variable in each row. The first stands for those that a row does not have:
        its log density does not depend on them, and their prior integrates to one.
    effect : TensorVariable, shape (B, d)
        PyMC's values of the local variables of a batch of rows, as one array.
    joint, prior : TensorVariable, shape (B,)
        Log density of rows and local variables, and of these alone; without parameter checks.
    start : TensorVariable, shape (B, d)
        Where the search for their modes begins.
    conditions : tuple of TensorVariable
        What the parameter checks ask for, at effects of zero.
    values : tuple of TensorVariable, shape (B, ...)
        The local variables themselves.
    rows, entries : Rows
        Data of the rows, and of the entries.
    """

    labels: tuple[np.ndarray, ...]
    effect: TensorVariable
    joint: TensorVariable
    prior: TensorVariable
    start: TensorVariable
    conditions: tuple[TensorVariable, ...]
    values: tuple[TensorVariable, ...]
    rows: Rows
    entries: Rows

    @property
    def n_rows(self) -> int:
        """Number of all these rows."""
        return len(self.labels[0])

    @property
    def n_nodes(self) -> int:
        """Nodes of the quadrature in each dimension."""
        return N_NODES[self.effect.type.shape[1]]

    @property
    def leaves(self) -> list[tuple[TensorVariable, np.ndarray]]:
        """Placeholders of the data of a batch, and the data of all these rows."""
        return [*self.rows.leaves, *self.entries.leaves]

    def integrated(self) -> TensorVariable:
        """Integrate the local variables out, by adaptive quadrature."""
        given = self.joint, self.prior, self.effect
        found = log_integral(*given, start=self.start, n_nodes=self.n_nodes)
        return check_parameters(found, *self.conditions, msg="valid parameters")


class RowFunction:
    """A function of the free variables of a model for all rows with local variables.

    Parameters
    ----------
    rows : RowsOfEntries
        The rows.
    outputs : sequence of TensorVariable
        Graphs of their density.
    observed : mapping
        What stands for observed variables.
    inputs : sequence of TensorVariable
        Further inputs.

    Attributes
    ----------
    names : list of str
        The free variables on which it depends.
    """

    def __init__(
        self,
        rows: RowsOfEntries,
        outputs: Sequence[TensorVariable],
        observed: Mapping[Variable, Variable],
        *,
        inputs: Sequence[TensorVariable] = (),
    ) -> None:
        graphs = clone_replace(list(outputs), replace=observed, rebuild_strict=False)
        given = inputs_for_free(graphs)
        self.names = [x.owner.op.name for x in given]
        leaves = [leaf for leaf, _ in rows.leaves]
        self._data = [data for _, data in rows.leaves]
        graphs = substituted(graphs, given)
        self._function = Interpreted([*given.values(), *inputs, *leaves], graphs)

    def __call__(self, values: Mapping[str, np.ndarray], *others: np.ndarray) -> list[np.ndarray]:
        """Evaluate, given values of the free variables by name and of the further inputs."""
        return self._function(*(values[name] for name in self.names), *others, *self._data)


def rows_of_entries(
    local: Local,
    terms: Sequence[TermsOfRows],
    facts: Facts,
    *,
    batch_size: int,
    of_rows: np.ndarray | None = None,
) -> RowsOfEntries:
    """Write the density of the rows that have local variables.

    Parameters
    ----------
    local : Local
        The local variables.
    terms : sequence of callable
        The terms of the rows that depend on them.
    facts : Facts
        What is known of the model.
    batch_size : int
        Rows of a batch.
    of_rows : ndarray of int, optional
        Numbers of rows that have entries; by default of all of them.

    Raises
    ------
    DependentRowsError
        If entries depend on each other.
    """
    of_rows = np.flatnonzero(local.has_entry) if of_rows is None else of_rows
    labels = tuple(np.maximum(at[of_rows], 0) for at in local.positions)
    floats = pytensor.config.floatX
    effect = facts.placeholder("effect", floats, (batch_size, sum(local.sizes)))
    values: dict[Variable, TensorVariable] = {}
    own_rows = Rows(facts, len(of_rows), batch_size, local=values)
    priors, starts, first = [], [], 0
    of_variables = zip(local.variables, local.axes, local.sizes, labels, strict=True)
    for var, axis, size, entries in of_variables:
        own = effect[:, first : first + size]
        prior, values[var], start = _prior(var, axis, own, own_rows, entries)
        priors.append(prior)
        starts.append(start)
        first += size
    rows = Rows(facts, len(of_rows), batch_size, local=values)
    positions = None if len(of_rows) == len(local.has_entry) else of_rows
    prior = added(priors)
    joint = added([*(term(rows, positions) for term in terms), prior])
    if not needed_for_values([joint]).isdisjoint(local.variables):
        raise DependentRowsError(f"The rows of {local.names} depend on entries of others.")
    zero = pt.zeros((rows.length, sum(local.sizes)), dtype=floats)
    checks = substituted(conditions_of([joint, prior]), {effect: zero})
    graphs = [joint, prior, *checks]
    inputs = inputs_for_free(graphs)
    graphs = without_checks(substituted(graphs, inputs), impossible=False)
    joint, prior, *checks = substituted(graphs, {new: old for old, new in inputs.items()})
    return RowsOfEntries(
        labels=labels,
        effect=effect,
        joint=joint,
        prior=prior,
        start=pt.concatenate(starts, axis=1) + zero,
        conditions=tuple(checks),
        values=tuple(values.values()),
        rows=rows,
        entries=own_rows,
    )


def _prior(
    var: TensorVariable, axis: int, own: TensorVariable, entries: Rows, labels: np.ndarray
) -> tuple[TensorVariable, TensorVariable, TensorVariable]:
    """Return the log density of entries, the entries, and PyMC's values of likely ones.

    ``own`` has PyMC's values of the entries, of shape (B, d).
    """
    rv = entries.drawn(var.owner.inputs[0], axis, labels)
    if rv is None:
        raise DependentRowsError(f"The entries of `{var.owner.op.name}` depend on each other.")
    transform, inputs = var.owner.op.transform, rv.owner.inputs
    rest = [n for i, n in enumerate(entries.facts.shapes[var]) if i != axis]
    likely = support_point(rv)
    if transform is None:
        value = pt.moveaxis(own.reshape((-1, *rest)), 0, axis)
        density = log_density_of(rv, value)
    else:
        likely = transform.forward(likely, *inputs)
        moved = [n for i, n in enumerate(likely.type.shape) if i != axis]
        unbounded = pt.moveaxis(own.reshape((-1, *_known(moved, rest))), 0, axis)
        value = transform.backward(unbounded, *inputs)
        density = log_density_of(rv, value)
        jacobian = transform.log_jac_det(unbounded, *inputs)
        density = _of_entries(density, axis) + _of_entries(jacobian, axis)
    start = pt.moveaxis(likely, axis, 0).reshape((-1, own.type.shape[1]))
    return _of_entries(density, axis), value, start


def _known(shape: Sequence[int | None], rest: Sequence[int]) -> list[int]:
    return [n if m is None else m for m, n in zip(shape, rest, strict=True)]


def _of_entries(term: TensorVariable, axis: int) -> TensorVariable:
    """Sum a term over all axes but that of the entries."""
    if term.ndim < 2:
        return term
    others = [i for i in range(term.ndim) if i != min(axis, term.ndim - 1)]
    return term.sum(axis=others)
