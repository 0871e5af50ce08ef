#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The comparison of a model of some rows with the model that it was made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress

import numpy as np

from pymc.logprob.utils import ParameterValueError
from pymc.model import Model
from pytensor.compile.sharedvalue import SharedVariable

from pymc_geodesic.kernel.interpreted import Interpreted
from pymc_geodesic.potential.full_data import full_data
from pymc_geodesic.potential.minibatch import find_batch_sources

__all__ = ["Point", "require_equal", "tolerance_for"]

# Of the log density. Sums of a million rows in another order differ by 1e-11; data in single
# precision leave 1e-6.
TOLERANCE, SINGLE_TOLERANCE = 1e-8, 1e-5
# Far enough from the initial point that every term moves. If a parameter is not allowed there, as
# when the exponential of raw money overflows, a nearer point is taken.
SPREADS = 0.1, 0.01, 1e-3, 1e-4
# Rows that a message names.
SHOWN = 3

type Point = Mapping[str, np.ndarray]
"""PyMC's values of the free variables, by name."""


def require_equal(model: Model, batches: Model) -> list[Point]:
    """Compare the log densities of all rows at two points.

    Parameters
    ----------
    model : Model
        With all of its data.
    batches : Model
        The same with minibatches.

    Returns
    -------
    list of mapping
        The points. There are none if an index is out of range: the check of the data, which follows
        in every run, names it.

    Raises
    ------
    RuntimeError
        If they differ, with the terms that do. This would be an error of the conversion.
    ValueError
        If the initial point of the model gives its distributions parameters that they forbid.
    """
    whole = full_data(batches)
    try:
        expected = _densities_where_defined(model, batches)
    except IndexError:
        return []
    points = [point for point, _ in expected]
    found = _densities(whole)
    tolerance = tolerance_for(model)
    for point, terms in expected:
        same = found(point)
        totals = sum(same.values()), sum(terms.values())
        if not np.isclose(*totals, rtol=tolerance, atol=tolerance, equal_nan=True):
            differ = [
                name
                for name, value in terms.items()
                if not np.isclose(same.get(name, np.nan), value, rtol=tolerance, atol=tolerance)
            ]
            raise RuntimeError(
                f"The rows of the model expected the log density {totals[1]}, got {totals[0]}. The "
                f"terms that differ are {differ}. Write the model with `pm.Minibatch`, and please "
                "report this."
            )
    return points


def _densities_where_defined(model: Model, batches: Model) -> list[tuple[Point, dict[str, float]]]:
    """Return the terms of the log density at the initial point and at one near it."""
    function = _densities(model)
    first = model.initial_point(random_seed=0)
    try:
        expected = [(first, function(first))]
    except ParameterValueError as error:
        raise ValueError(
            f"`model` expected an initial point at which its parameters are allowed, got one that "
            f"violates {error}. {_advice(batches)}"
        ) from error
    for spread in SPREADS:
        point = _moved(first, spread)
        with suppress(ParameterValueError):
            return [*expected, (point, function(point))]
    return expected


def _advice(batches: Model) -> str:
    """Say what to do where parameters are not allowed: mend data that are not finite, if any."""
    for source in find_batch_sources(batches):
        for tensor in source.tensors:
            if not isinstance(tensor, SharedVariable):
                continue
            data = np.asarray(tensor.get_value(borrow=True))
            if data.dtype.kind != "f":
                continue
            rows = np.flatnonzero(~np.isfinite(data.reshape(len(data), -1)).all(axis=1))
            if len(rows):
                shown = ", ".join(map(str, rows[:SHOWN])) + ", ..." * (len(rows) > SHOWN)
                return (
                    f"Data of {len(rows)} rows are infinite or NaN, such as the logarithm of zero: "
                    f"rows {shown}. Correct or drop them."
                )
    return "Set `initval` of its variables, or scale its covariates."


def _densities(model: Model) -> Callable[[Point], dict[str, float]]:
    """Make a function of the log density of every variable and potential at a point."""
    variables = [*model.basic_RVs, *model.potentials]
    terms = [x.sum() for x in model.logp(vars=variables, sum=False)]
    function, names = Interpreted(model.value_vars, terms), [x.name for x in variables]

    def of(point: Point) -> dict[str, float]:
        values = function(*(point[x.name] for x in model.value_vars))
        return dict(zip(names, map(float, values), strict=True))

    return of


def _moved(point: Point, spread: float) -> Point:
    rng = np.random.default_rng(0)
    return {
        name: x + (spread * rng.normal(size=np.shape(x))).astype(np.asarray(x).dtype)
        for name, x in point.items()
    }


def tolerance_for(model: Model) -> float:
    """Return how far log densities may differ, as a share."""
    values = [*model.value_vars, *model.rvs_to_values.values()]
    return SINGLE_TOLERANCE if any(x.dtype == "float32" for x in values) else TOLERANCE
