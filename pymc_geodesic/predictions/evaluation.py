#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The evaluation of variables of rows block by block, as draws or their statistics."""

from __future__ import annotations

import os

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from numpy.typing import ArrayLike
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from threadpoolctl import threadpool_limits

from pymc_geodesic.diagnostics import rules as rules
from pymc_geodesic.diagnostics.harmonics import located
from pymc_geodesic.manifolds import Manifold
from pymc_geodesic.predictions.quantities import Quantity
from pymc_geodesic.predictions.rows_of_model import rows_of_block
from pymc_geodesic.predictions.stored import SUFFIX, Form, ParquetResults, Results

__all__ = ["Evaluation", "mean_and_quantiles"]


def mean_and_quantiles(
    draws: np.ndarray, quantiles: Sequence[float], manifold: Manifold | None
) -> np.ndarray:
    """Return the mean of draws, then their quantiles, along a new last axis.

    Parameters
    ----------
    draws : ndarray, shape (S, rows, ...)
        All draws of some rows.
    quantiles : sequence of float
        Probabilities of the quantiles, which are those of the entries. They are interpolated
        linearly, as by NumPy.
    manifold : Manifold, optional
        Where the draws lie; by default flat space. The mean is one of its points.
    """
    center, draws = located(manifold, draws.astype(int) if draws.dtype == bool else draws)
    found = np.empty((*draws.shape[1:], 1 + len(quantiles)))
    found[..., 0] = center
    if not quantiles:
        return found
    # NumPy sorts much faster along the last axis, and as fast as it finds two quantiles.
    ordered = np.sort(np.ascontiguousarray(np.moveaxis(draws, 0, -1)), axis=-1)
    most = ordered.shape[-1] - 1
    for i, probability in enumerate(quantiles):
        place = probability * most
        low = int(place)
        high = min(low + 1, most)
        below, above = ordered[..., low], ordered[..., high]
        found[..., 1 + i] = below + (place - low) * (above - below)
    if ordered.dtype.kind == "f":
        # NaN are sorted to the end.
        found[np.isnan(ordered[..., -1]), 1:] = np.nan
    return found


# Rows whose effects are drawn together, if they are not in the posterior.
ROWS_OF_EFFECTS = 1_000


class Evaluation:
    """How variables of rows are evaluated, and what is kept of them.

    Parameters
    ----------
    posterior : Dataset
        The draws.
    rows : array_like of int or bool, or slice, optional
        Rows that are evaluated; by default all.
    quantiles : sequence of float, optional
        Probabilities of the quantiles that are kept with the mean; None to keep all draws.
    out : path, optional
        A folder or a Parquet file for the results.
    progressbar : bool
        Whether to show progress.
    """

    def __init__(
        self,
        posterior: xr.Dataset,
        *,
        rows: ArrayLike | slice | None,
        quantiles: Sequence[float] | None,
        out: str | os.PathLike[str] | None,
        progressbar: bool,
    ) -> None:
        self._n_chains, self._n_draws = posterior.sizes["chain"], posterior.sizes["draw"]
        self._coords = {dim: posterior[dim].values for dim in ("chain", "draw")}
        self._rows, self._quantiles = rows, quantiles
        self._out = None if out is None else Path(out).expanduser()
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=10),
            TextColumn("{task.completed:,}/{task.total:,} rows"),
            TimeRemainingColumn(compact=True, elapsed_when_finished=True),
            disable=not progressbar,
        )

    def of_all(self, quantities: Sequence[Quantity]) -> xr.Dataset:
        """Evaluate variables, each of which has all of its rows."""
        chosen = {x.name: _chosen(self._rows, x.n_rows) for x in quantities}
        labels = {}
        for x in quantities:
            labels[x.dims[0]] = np.asarray(x.coords.get(x.dims[0], range(x.n_rows)))[chosen[x.name]]
        results = self._results(quantities, {n: len(at) for n, at in chosen.items()}, labels)
        with self._bar, threadpool_limits(1, user_api="blas"):
            task = self._bar.add_task("Rows", total=sum(map(len, chosen.values())))
            for x in quantities:
                self._fill(results, x, chosen[x.name], 0, task)
        return results.dataset()

    def of_parts(
        self, parts: Iterator[Sequence[Quantity]], n_rows: int, *, labels: np.ndarray | None
    ) -> xr.Dataset:
        """Evaluate variables of some rows after the other.

        Parameters
        ----------
        parts : iterator of sequence of Quantity
            The same variables, of some rows after the other.
        n_rows : int
            Number of all rows.
        labels : ndarray, optional
            Those of all rows.
        """
        chosen = _chosen(self._rows, n_rows)
        is_chosen = np.zeros(n_rows, dtype=bool)
        is_chosen[chosen] = True
        if not np.array_equal(np.flatnonzero(is_chosen), chosen):
            raise ValueError("`rows` expected increasing numbers of new rows, got others.")
        labels = (np.arange(n_rows) if labels is None else labels)[chosen]
        # What is wrong with the data is said before the bar is shown.
        if n_rows == 0 or (quantities := next(parts, None)) is None:
            raise ValueError("`new_data` expected rows, got none.")
        counts = {x.name: len(chosen) for x in quantities}
        results = self._results(quantities, counts, {x.dims[0]: labels for x in quantities})
        first, done = 0, 0
        with self._bar, threadpool_limits(1, user_api="blas"):
            task = self._bar.add_task("Rows", total=len(chosen) * len(quantities))
            for found in chain([quantities], parts):
                n = found[0].n_rows
                at = np.flatnonzero(is_chosen[first : first + n])
                for x in found:
                    self._fill(results, x, at, done, task)
                first, done = first + n, done + len(at)
        return results.dataset()

    def _results(
        self,
        quantities: Sequence[Quantity],
        counts: Mapping[str, int],
        labels: Mapping[str, np.ndarray],
    ) -> Results | ParquetResults:
        coords: dict[str, Any] = dict(labels)
        forms = {}
        for x in quantities:
            one = np.arange(min(1, x.n_rows))
            x.begin(one)
            shown = x.at_rows(one)
            others = shown.shape[2:]
            dims = [*x.dims, *(f"{x.name}_dim_{i}" for i in range(len(x.dims), 1 + len(others)))]
            coords |= {d: x.coords[d] for d in dims[1:] if d in x.coords}
            if self._quantiles is None:
                sizes = self._n_chains, self._n_draws, counts[x.name], *others
                forms[x.name] = Form(("chain", "draw", *dims), sizes, shown.dtype, 2)
            else:
                if x.n_categories:
                    dims, others = [*dims, f"{x.name}_category"], (*others, x.n_categories)
                    coords |= {d: x.coords[d] for d in dims[-1:] if d in x.coords}
                sizes = counts[x.name], *others, 1 + len(self._quantiles)
                forms[x.name] = Form((*dims, "summary"), sizes, np.dtype(float), 0)
        if self._quantiles is None:
            coords |= self._coords
        else:
            coords["summary"] = ["mean", *(f"{100 * q:g}%" for q in self._quantiles)]
        if self._out is not None and self._out.suffix == SUFFIX:
            return ParquetResults(forms, coords, self._out)
        return Results(forms, coords, self._out)

    def _fill(
        self,
        results: Results | ParquetResults,
        x: Quantity,
        chosen: np.ndarray,
        first: int,
        task: Any,
    ) -> None:
        """Evaluate rows, and put them from a place on."""
        at_once = results.rows_at_once(x.name)
        n_draws, size = self._n_chains * self._n_draws, x.least
        for start in range(0, len(chosen), at_once):
            piece = chosen[start : start + at_once]
            kept: list[np.ndarray] = []
            for part in np.split(piece, range(ROWS_OF_EFFECTS, len(piece), ROWS_OF_EFFECTS)):
                x.begin(part)
                while len(part):
                    found = x.at_rows(part[:size])
                    kept.append(self._kept(found, x))
                    part = part[found.shape[1] :]
                    size = max(x.least, rows_of_block(n_draws, int(np.prod(found.shape[2:]))))
                    self._bar.update(task, advance=found.shape[1])
            axis = 2 if self._quantiles is None else 0
            results.put(x.name, first + start, np.concatenate(kept, axis=axis))

    def _kept(self, found: np.ndarray, x: Quantity) -> np.ndarray:
        if self._quantiles is None:
            return found.reshape(self._n_chains, self._n_draws, *found.shape[1:])
        if not x.n_categories:
            return mean_and_quantiles(found, self._quantiles, x.manifold)
        # Codes have an order only by chance: what has a mean is to be in a category.
        each = (found == code for code in range(x.n_categories))
        return np.stack([mean_and_quantiles(is_in, self._quantiles, None) for is_in in each], -2)


def _chosen(rows: ArrayLike | slice | None, n: int) -> np.ndarray:
    """Return the numbers of chosen rows of n."""
    if rows is None or isinstance(rows, slice):
        return np.arange(n)[slice(None) if rows is None else rows]
    given = np.atleast_1d(np.asarray(rows))
    if given.dtype == bool and given.shape != (n,):
        raise ValueError(f"`rows` expected a mask of {n:,} rows, got {given.shape}.")
    try:
        return np.arange(n)[given]
    except IndexError as error:
        raise ValueError(f"`rows` expected numbers of {n:,} rows: {error}.") from None
