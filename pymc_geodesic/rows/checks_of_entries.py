#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Checks of local variables that are integrated out: with the model of all rows, and more nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pymc.model import Model
from pytensor.graph.basic import Variable

from pymc_geodesic.groups.modes import log_integral
from pymc_geodesic.kernel.interpreted import Interpreted
from pymc_geodesic.potential.full_data import full_data
from pymc_geodesic.rows.conversion import Conversion, Integrated
from pymc_geodesic.rows.integration import RowFunction, rows_of_entries
from pymc_geodesic.rows.proof import Point, tolerance_for

__all__ = ["error_of_quadrature", "require_equal_entries"]

# Rows at which the quadrature is checked, and how many times as many nodes in each dimension.
N_ROWS, MORE = 300, 3


def require_equal_entries(model: Model, conversion: Conversion, points: Sequence[Point]) -> None:
    """Compare log densities at some points, before local variables are integrated out.

    Parameters
    ----------
    model : Model
        With all of its data.
    conversion : Conversion
        How it is divided into rows.
    points : sequence of mapping
        Where both are defined.

    Raises
    ------
    RuntimeError
        If they differ. This would be an error of the conversion.
    """
    parts = conversion.integrated
    whole = full_data(conversion.model_of_batches(but={part.name for part in parts}))
    others = [*whole.basic_RVs, *whole.potentials]
    given = [x for x in [*model.basic_RVs, *model.potentials] if x.name not in conversion.left_out]
    tolerance = tolerance_for(model)
    for point in points:
        drawn = _variables(model, point)
        found = _total(whole, others, point)
        found += sum(_of_rows(part, conversion, model, point, drawn) for part in parts)
        expected = _total(model, given, point)
        expected += sum(_of_entries(part, model, point) for part in parts)
        if not np.isclose(found, expected, rtol=tolerance, atol=tolerance, equal_nan=True):
            raise RuntimeError(
                f"The rows of the model expected the log density {expected}, got {found} with "
                f"{sorted(conversion.left_out)} to be integrated out. Name these in `var_names`, "
                "and please report this."
            )


def error_of_quadrature(
    conversion: Conversion, draws: Sequence[Mapping[str, np.ndarray]], rng: np.random.Generator
) -> dict[str, float]:
    """Measure by how much the error of the log density varies over the posterior.

    A constant error has no effect. One that varies by one moves means by about one standard
    deviation.

    Parameters
    ----------
    conversion : Conversion
        A model with variables that are integrated out.
    draws : sequence of mapping
        Values of the other free variables, by name.
    rng : Generator
        Chooses the rows.

    Returns
    -------
    dict of str to float
        Standard deviations, by the names of variables.
    """
    found = {}
    for part in conversion.integrated:
        of_rows = np.flatnonzero(part.local.has_entry)
        chosen = rng.choice(of_rows, min(N_ROWS, len(of_rows)), replace=False)
        rows = rows_of_entries(
            part.local, part.terms, conversion.facts, batch_size=len(chosen), of_rows=chosen
        )
        given = rows.joint, rows.prior, rows.effect
        nodes = rows.n_nodes, MORE * rows.n_nodes
        both = [log_integral(*given, start=rows.start, n_nodes=n) for n in nodes]
        function = RowFunction(rows, both, conversion.values)
        errors = np.array([np.subtract(*function(draw)).sum() for draw in draws])
        found[", ".join(f"`{name}`" for name in part.local.names)] = float(
            errors.std() * len(of_rows) / len(chosen)
        )
    return found


def _variables(model: Model, point: Point) -> dict[str, np.ndarray]:
    """Return the free variables at a point of PyMC's values."""
    graphs = model.replace_rvs_by_values(model.free_RVs)
    found = Interpreted(model.value_vars, graphs)(*(point[x.name] for x in model.value_vars))
    return {rv.name: x for rv, x in zip(model.free_RVs, found, strict=True)}


def _total(model: Model, variables: Sequence[Variable], point: Point) -> float:
    if not variables:
        return 0.0
    terms = [x.sum() for x in model.logp(vars=list(variables), sum=False)]
    found = Interpreted(model.value_vars, terms)(*(point[x.name] for x in model.value_vars))
    return float(np.sum(found))


def _of_rows(
    part: Integrated,
    conversion: Conversion,
    model: Model,
    point: Point,
    drawn: Mapping[str, np.ndarray],
) -> float:
    """Return the log density of rows and entries together."""
    rows, local = part.rows, part.local
    columns = [
        np.moveaxis(np.take(point[model.rvs_to_values[model[name]].name], at, axis), axis, 0)
        for name, axis, at in zip(local.names, local.axes, rows.labels, strict=True)
    ]
    effect = np.concatenate([x.reshape(rows.n_rows, -1) for x in columns], axis=1)
    function = RowFunction(rows, [rows.joint], conversion.values, inputs=[rows.effect])
    return float(function(drawn, effect.astype(rows.effect.dtype))[0].sum())


def _of_entries(part: Integrated, model: Model, point: Point) -> float:
    """Return the log density of the entries of the rows."""
    variables = [model[name] for name in part.local.names]
    function = Interpreted(model.value_vars, model.logp(vars=variables, sum=False))
    found = function(*(point[x.name] for x in model.value_vars))
    return float(
        sum(
            np.take(term, at, min(axis, term.ndim - 1)).sum()
            for term, axis, at in zip(found, part.local.axes, part.rows.labels, strict=True)
        )
    )
