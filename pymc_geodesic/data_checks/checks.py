#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""All checks of a step's data: when the step is created, and when a chain starts."""

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
from pymc_geodesic.data_checks.factorisation import N_ROWS, require_independent_rows
from pymc_geodesic.data_checks.indices import RowIndices
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
        other, or the distribution of an observed variable forbids some of them.
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
                require_independent_rows(density, point, head)

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


def _head(source: Source) -> np.ndarray:
    """Return the indices of some different rows, or some rows of a stream."""
    wanted = 2 * N_ROWS
    if isinstance(source, BatchSource):
        rng = np.random.default_rng(1)
        return rng.permutation(min(source.n_rows, 1_000))[:wanted]
    batches = islice(checked_batches(source), -(-wanted // source.batch_size))
    return np.concatenate(list(batches))[:wanted]
