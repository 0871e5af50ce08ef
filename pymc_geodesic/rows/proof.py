#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The comparison of a model of some rows with the model that it was made from."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pymc.model import Model

from pymc_geodesic.kernel.interpreted import interpreted
from pymc_geodesic.potential.full_data import full_data

__all__ = ["moved", "require_equal", "tolerance_for"]

# Of the log density. Sums of a million rows in another order differ by 1e-11; data in single
# precision leave 1e-6.
TOLERANCE, SINGLE_TOLERANCE = 1e-8, 1e-5
# Far enough from the initial point that every term moves, near enough that all stay finite.
SPREAD = 0.1


def require_equal(model: Model, batches: Model) -> None:
    """Compare the log densities of all rows at two points.

    Parameters
    ----------
    model : Model
        With all of its data.
    batches : Model
        The same with minibatches.

    Raises
    ------
    RuntimeError
        If they differ, with the terms that do. This would be an error of the conversion.
    """
    whole = full_data(batches)
    first = model.initial_point(random_seed=0)
    points = [first, moved(first)]
    found, expected = _densities(whole, points), _densities(model, points)
    tolerance = tolerance_for(model)
    totals = np.sum(list(found.values()), axis=0), np.sum(list(expected.values()), axis=0)
    if np.allclose(*totals, rtol=tolerance, atol=tolerance, equal_nan=True):
        return
    differ = [
        name
        for name, values in expected.items()
        if not np.allclose(found.get(name, np.nan), values, rtol=tolerance, atol=tolerance)
    ]
    raise RuntimeError(
        f"The rows of the model expected the log density {totals[1]}, got {totals[0]}. The terms "
        f"that differ are {differ}. Write the model with `pm.Minibatch`, and please report this."
    )


def _densities(model: Model, points: list[Mapping[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Return the log density of every variable and potential at some points."""
    variables = [*model.basic_RVs, *model.potentials]
    terms = [x.sum() for x in model.logp(vars=variables, sum=False)]
    function = interpreted(model.value_vars, terms)
    rows = [function(*(point[x.name] for x in model.value_vars)) for point in points]
    names = [variable.name for variable in variables]
    return {
        name: np.array(values) for name, values in zip(names, zip(*rows, strict=True), strict=True)
    }


def moved(point: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return a point near another."""
    rng = np.random.default_rng(0)
    return {
        name: x + (SPREAD * rng.normal(size=np.shape(x))).astype(np.asarray(x).dtype)
        for name, x in point.items()
    }


def tolerance_for(model: Model) -> float:
    """Return how far log densities may differ, as a share."""
    values = [*model.value_vars, *model.rvs_to_values.values()]
    return SINGLE_TOLERANCE if any(x.dtype == "float32" for x in values) else TOLERANCE
