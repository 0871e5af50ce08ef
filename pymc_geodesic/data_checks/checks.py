#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""All checks of a step's data: when it is created, and when a chain starts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from pymc.exceptions import SamplingError
from pymc.model import Model
from pytensor.tensor import TensorVariable

from pymc_geodesic.data_checks.arrays import (
    DataRecord,
    require_empty_places,
    require_rows_of_batches,
)
from pymc_geodesic.data_checks.indices import RowIndices
from pymc_geodesic.data_checks.jumps import require_continuous
from pymc_geodesic.data_checks.observed_support import StreamCheck, describe, impossible, look_at
from pymc_geodesic.data_checks.row_density import NoRowDensity, Point, RowDensity, row_densities
from pymc_geodesic.kernel.reader import checked_batches
from pymc_geodesic.potential.batch_structure import require_fixed_priors, require_one_source
from pymc_geodesic.potential.minibatch import BatchSource
from pymc_geodesic.potential.stream import Source, StreamSource
from pymc_geodesic.potential.total_size import require_total_size

__all__ = ["DataChecks"]


class DataChecks:
    """Checks of the batches of a step.

    Data in memory are checked once and completely; the data of a stream are checked when read.

    Parameters
    ----------
    model : pymc.Model
        The model.
    sources : sequence of BatchSource or StreamSource
        Sources of its rows.
    point : mapping
        Values of the free variables.
    batches : bool
        Whether the step sees batches; otherwise it sees all rows at once.
    local : collection of TensorVariable
        Random variables that belong to the rows of a batch.
    trust_total_size : bool
        Whether ``total_size`` may differ from the number of rows.

    Attributes
    ----------
    sources : tuple of BatchSource or StreamSource
        The given sources, with a check of the blocks of streams.

    Raises
    ------
    ValueError
        If ``total_size`` is not the number of rows, an index is out of range, rows depend on each
        other, the distribution of an observed variable forbids some of them, or its log density
        jumps where a variable passes a value.
    """

    def __init__(
        self,
        model: Model,
        sources: Sequence[Source],
        *,
        point: Point,
        batches: bool,
        local: Collection[TensorVariable] = (),
        trust_total_size: bool = False,
    ) -> None:
        require_total_size(model, sources, trust_total_size=trust_total_size)
        if batches:
            groups = [source.batches for source in sources]
            require_one_source(model, groups)
            require_fixed_priors(model, groups, local)
        streams = [source for source in sources if isinstance(source, StreamSource)]
        self._record = DataRecord(model, [stream.variable for stream in streams])
        self._point = point
        densities = row_densities(model, sources)
        if batches:
            require_empty_places(densities, point)
        self._resident = [d for d in densities if isinstance(d.source, BatchSource)]
        check = StreamCheck([d for d in densities if d.source in streams], point)
        self.sources = tuple(
            replace(source, check=check) if source in streams else source for source in sources
        )
        self._start_is_possible = True
        for density in self._resident:
            RowIndices(density, point).require_in_range()
            for rows in density.chunks():
                found = look_at(density, point, rows)
                if found.forbidden:
                    raise ValueError(found.forbidden)
                self._start_is_possible &= found.possible
        if batches:
            heads = {source.batches: _head(source) for source in self.sources}
            for density in densities:
                head = heads[density.source.batches]
                require_rows_of_batches(density, point, head)
                _require_independent_rows(density, point, head)
                source = density.source
                rows = _some(source) if isinstance(source, BatchSource) else head
                # Where coefficients are zero nothing jumps.
                require_continuous(density, _near(point), rows)

    def check_start(self, point: Point) -> None:
        """Check the start, which may differ between chains, and whether data have been replaced.

        Raises
        ------
        SamplingError
            If the data has changed, or some rows are impossible at the start.
        """
        self._record.require_unchanged()
        seen = all(np.array_equal(point[name], value) for name, value in self._point.items())
        if not (seen and self._start_is_possible):
            for density in self._resident:
                _require_possible(density, point)


def _require_possible(density: RowDensity, point: Point) -> None:
    if not density.has_density:
        return
    for rows in density.chunks():
        try:
            found = impossible(density, point, rows)
        except NoRowDensity:
            return
        if len(found):
            raise SamplingError(
                f"The start expected a finite log density of every row of `{density.name}`, got "
                f"infinity or NaN for {describe(density, rows, found)}. These rows are possible "
                "for other parameters: pass `initvals` that allow them."
            )


def _some(source: BatchSource) -> np.ndarray:
    """Return the indices of some rows, of a sorted table also."""
    return np.unique(np.random.default_rng(1).integers(source.n_rows, size=SOME))


def _head(source: Source) -> np.ndarray:
    """Return the indices of some different rows, or some rows of a stream."""
    wanted = 2 * N_ROWS
    if isinstance(source, BatchSource):
        rng = np.random.default_rng(1)
        return rng.permutation(min(source.n_rows, 1_000))[:wanted]
    batches = islice(checked_batches(source), -(-wanted // source.batch_size))
    return np.concatenate(list(batches))[:wanted]


# Rows in which jumps are looked for: a variable that is compared with data passes some of them.
SOME = 500
# Number of rows in the compared batches: few, so that one row changes their common statistics.
N_ROWS = 8
# Distance from the start, in unconstrained coordinates. At coefficients of zero no row matters.
SHIFT = 0.3

NEEDED = (
    "A batch can estimate the log likelihood only if it is a sum over rows, where each term is a "
    "function of the parameters and its row."
)


def _require_independent_rows(density: RowDensity, point: Point, head: np.ndarray) -> None:
    """Raise an error if the log density of a row depends on other rows of the batch.

    Parameters
    ----------
    density : RowDensity
        Density of the observed variable.
    point : mapping
        Values of the free variables; densities are evaluated at a point near it.
    head : ndarray
        Indices of some rows, or some rows of a stream.

    Raises
    ------
    ValueError
        If exchanging one row of a batch changes the log density of another, or if copies of a row
        have different log densities at different places of the batch.
    """
    n = min(N_ROWS, len(head) // 2)
    if n < 2 or not density.has_density:
        return
    point = _near(point)
    rows, spare = head[:n], head[n : 2 * n]
    try:
        terms = density.by_row(point, rows)
        if terms is None:
            _require_additive(density, point, rows, spare)
            return
        for i in range(n):
            changed = rows.copy()
            changed[i] = spare[i]
            _require_one_change(density, terms, _terms(density, point, changed), i)
        copies = np.repeat(rows[:1], n, axis=0)
        _require_same(density, _terms(density, _level(density, point), copies))
    except NoRowDensity:
        return


def _terms(density: RowDensity, point: Point, rows: np.ndarray) -> np.ndarray:
    """Return the log density by row of a variable that is known to have a row axis."""
    found = density.by_row(point, rows)
    assert found is not None
    return found


def _near(point: Point) -> Point:
    rng = np.random.default_rng(2)
    return {
        name: x + SHIFT * rng.uniform(0.2, 1.0, np.shape(x))
        if np.issubdtype(np.asarray(x).dtype, np.floating)
        else x
        for name, x in point.items()
    }


def _level(density: RowDensity, point: Point) -> Point:
    """Set variables that may belong to the rows of a batch to the same value in every row."""
    size = density.source.batch_size
    return {
        name: np.broadcast_to(x[:1], np.shape(x)) if np.shape(x)[:1] == (size,) else x
        for name, x in point.items()
    }


def _require_one_change(
    density: RowDensity, before: np.ndarray, after: np.ndarray, row: int
) -> None:
    others = np.arange(len(before)) != row
    if not _close(before[others], after[others]):
        raise ValueError(
            f"The observed variable `{density.name}` expected rows that are independent given the "
            f"parameters, got rows whose log density depends on other rows of the batch. {NEEDED} "
            "Compute means and scales from the whole data before you build the model. If the rows "
            "depend on each other, sample the model on the whole data, with NUTS or `pmg.GMC`."
        )


def _require_same(density: RowDensity, terms: np.ndarray) -> None:
    if not _close(terms, np.broadcast_to(terms[:1], terms.shape)):
        raise ValueError(
            f"The observed variable `{density.name}` expected rows whose position in the batch "
            f"does not matter, got copies of one row with different log densities. {NEEDED} Pass "
            "all data of the rows through one call of `pm.Minibatch`, such as `x, y = "
            "pm.Minibatch(X, Y, batch_size=100)`."
        )


def _require_additive(
    density: RowDensity, point: Point, rows: np.ndarray, spare: np.ndarray
) -> None:
    """Require that the log densities of two halves add up to the whole, without a row axis."""
    for batch in (rows, spare):
        half = len(batch) // 2
        whole, *parts = (density(point, part).sum() for part in (batch, batch[:half], batch[half:]))
        if not _close(np.atleast_1d(whole), np.atleast_1d(sum(parts))):
            raise ValueError(
                f"The observed variable `{density.name}` expected a log density that is a sum over "
                "rows, got a log density of a batch that differs from the sum over its two halves. "
                f"{NEEDED} Let `logp` return one term for each row."
            )


def _close(a: np.ndarray, b: np.ndarray) -> bool:
    """Return whether finite log densities are equal up to rounding."""
    finite = np.isfinite(a) & np.isfinite(b)
    a, b = a[finite], b[finite]
    if not a.size:
        return True
    scale = np.abs(a) + np.median(np.abs(a))
    return bool(np.all(np.abs(a - b) <= np.sqrt(np.finfo(a.dtype).eps) * scale))
