#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A check that the log density of a batch is a sum over its rows."""

from __future__ import annotations

import numpy as np

from pymc_geodesic.data_checks.row_density import NoRowDensity, Point, RowDensity

__all__ = ["require_independent_rows"]

# Number of rows in the compared batches: few, so that one row changes their common statistics.
N_ROWS = 8
# Distance from the start, in unconstrained coordinates. At coefficients of zero no row matters.
SHIFT = 0.3

NEEDED = (
    "A batch can estimate the log likelihood only if it is a sum over rows, where each term is a "
    "function of the parameters and its row."
)


def require_independent_rows(density: RowDensity, point: Point, head: np.ndarray) -> None:
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
