#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Draws of entries of the variables that a conversion integrates out, given everything else."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytensor.tensor as pt

from pymc.model import Model
from pytensor.graph.replace import vectorize_graph

from pymc_geodesic.groups.conditional import resampled
from pymc_geodesic.groups.modes import normals_at_modes
from pymc_geodesic.rows.conversion import Conversion, Integrated
from pymc_geodesic.rows.integration import RowFunction, rows_of_entries

__all__ = ["ConditionalEntries"]


class ConditionalEntries:
    """The conditional distribution of some entries of variables that are integrated out.

    Parameters
    ----------
    model : pymc.Model
        A model of all rows.
    name : str
        The variable.
    numbers : callable
        Returns the numbers of the entries, given their axis.
    batch_size : int
        Rows of a batch of the run.

    Attributes
    ----------
    variables : list of str
        The variable, and others of the same rows that are drawn with it.
    axes : list of int
        Their axes of entries.
    needed : list of str
        The other free variables on which they depend.

    Raises
    ------
    ValueError
        If the variable is not integrated out, or an entry has no rows.
    """

    def __init__(
        self, model: Model, name: str, numbers: Callable[[int], np.ndarray], *, batch_size: int
    ) -> None:
        conversion = Conversion(model, batch_size)
        conversion.integrate(())
        part = _part_of(conversion, name)
        i = part.local.names.index(name)
        entries, positions = numbers(part.local.axes[i]), part.local.positions[i]
        _require_rows(name, entries, positions)
        of_rows = np.flatnonzero(np.isin(positions, entries))
        rows = rows_of_entries(
            part.local, part.terms, conversion.facts, batch_size=batch_size, of_rows=of_rows
        )
        # Others may have no entry in some of the rows.
        drawn = [j for j, at in enumerate(part.local.positions) if np.array_equal(at, positions)]
        self.variables = [part.local.names[j] for j in drawn]
        self.axes = [part.local.axes[j] for j in drawn]
        normals = normals_at_modes(rows.joint, rows.prior, rows.effect, start=rows.start)
        candidates = pt.tensor3("candidates", dtype=rows.effect.dtype)
        joint = vectorize_graph(rows.joint, {rows.effect: candidates})
        lower = [x for row in normals.cholesky for x in row]
        given = conversion.values
        self._normals = RowFunction(rows, [normals.mode, *lower], given)
        self._joint = RowFunction(rows, [joint], given, inputs=[candidates])
        self._values = RowFunction(
            rows, [rows.values[j] for j in drawn], given, inputs=[rows.effect]
        )
        functions = self._normals, self._joint, self._values
        self.needed = sorted({name for one in functions for name in one.names})
        self._order = np.array([int(np.flatnonzero(rows.labels[i] == k)[0]) for k in entries])

    def draw(
        self, rng: np.random.Generator, values: Mapping[str, np.ndarray]
    ) -> tuple[list[np.ndarray], np.ndarray]:
        """Draw the entries, given the other free variables.

        Returns
        -------
        draws : list of ndarray
            For each variable, with the entries along its axis.
        n_effective : ndarray
            Effective number of candidates of each entry.
        """
        mode, *entries = self._normals(values)
        found = resampled(rng, mode, entries, lambda x: self._joint(values, x)[0])
        drawn = self._values(values, found.effects)
        draws = [np.take(x, self._order, axis) for x, axis in zip(drawn, self.axes, strict=True)]
        return draws, found.n_effective[self._order]


def _part_of(conversion: Conversion, name: str) -> Integrated:
    for part in conversion.integrated:
        if name in part.local.names:
            return part
    if name in conversion.left_out:
        raise ValueError(
            f"`{name}` expected rows that depend on it, got none: it follows its prior given the "
            "other variables. `pm.sample_posterior_predictive(idata, model=model, "
            f'var_names=["{name}"])` draws it.'
        )
    known = sorted({x for part in conversion.integrated for x in part.local.names})
    raise ValueError(
        f"`groups` expected a variable that is integrated out, which are {known}, got `{name}`. "
        "Others are in the result."
    )


def _require_rows(name: str, entries: np.ndarray, positions: np.ndarray) -> None:
    without = entries[~np.isin(entries, positions)]
    if len(without):
        raise ValueError(
            f"`{name}` expected entries with rows, got entry {without[0]}, which has none and "
            "follows its prior."
        )
