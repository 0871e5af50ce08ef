#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Warnings about a model: densities with poles, variables that belong to the rows of a batch."""

from __future__ import annotations

import warnings

from collections.abc import Sequence

import numpy as np
import pytensor.tensor as pt

from pymc.model import Model
from pymc.variational.minibatch_rv import MinibatchRandomVariable
from pytensor.compile.mode import Mode
from pytensor.gradient import grad
from pytensor.graph.traversal import ancestors
from pytensor.tensor import TensorVariable

from pymc_geodesic.distributions.concentration import known_concentration
from pymc_geodesic.potential.log_density import LogDensity
from pymc_geodesic.potential.minibatch import batch_sources
from pymc_geodesic.potential.variables import SampledVariable

__all__ = ["row_variables", "warn_of_poles", "warn_of_row_variables"]


def warn_of_poles(variables: Sequence[SampledVariable]) -> None:
    """Warn of Dirichlet variables whose density is infinite at the facets of the simplex."""
    for variable in variables:
        least = variable.manifold.poles_below
        if not least:
            continue
        alpha = known_concentration(variable.rv)
        if alpha is not None and np.min(alpha) < least:
            warnings.warn(
                f"The Dirichlet variable `{variable.name}` has concentrations down to "
                f"{np.min(alpha):g}. Below {least:g} its density in the square-root coordinates is "
                "infinite at entries of zero, where geodesic samplers fail unless the data fills "
                "every entry. Sample it with `pmg.SGRLD`.",
                UserWarning,
                stacklevel=2,
            )


def warn_of_row_variables(model: Model, variables: Sequence[SampledVariable]) -> None:
    """Warn of variables with an entry for each row of a batch, which the next batch would share."""
    for name, data in row_variables(model, variables).items():
        warnings.warn(
            f"The variable `{name}` has an entry for each of the {data.type.shape[0]} rows of a "
            f"batch of `{data.name}`. It is sampled as one variable that all batches share, so "
            "every batch uses the same entries for different rows. If it belongs to the rows, pass "
            f"it as `local=pmg.LocalGMC([{name}])`.",
            UserWarning,
            stacklevel=2,
        )


def row_variables(model: Model, variables: Sequence[SampledVariable]) -> dict[str, TensorVariable]:
    """Find the variables that belong to the rows of a batch, each with the data of these rows.

    A variable whose first axis is as long as the batch belongs to the rows if the log density of a
    row depends on the entry of this row and on no other entry.
    """
    found = {}
    for data in model.observed_RVs:
        if not isinstance(data.owner.op, MinibatchRandomVariable):
            continue
        n_rows = data.type.shape[0] if data.ndim else None
        above = set(ancestors([data]))
        for variable in variables:
            fits = n_rows not in (None, 1) and variable.shape[:1] == (n_rows,)
            if fits and variable.rv in above and _belongs_to_rows(model, data, variable):
                found[variable.name] = data
    return found


def _belongs_to_rows(model: Model, data: TensorVariable, variable: SampledVariable) -> bool:
    sources = batch_sources(model)
    rows = [source.placeholder("rows", None) for source in sources]
    density = LogDensity(model, (), rows=dict(zip(sources, rows, strict=True)), scaled=False)
    log_density = density.terms()[model.basic_RVs.index(data)]
    point = model.initial_point()
    n_rows = variable.shape[0]
    # A transform along the rows, such as that of one probability vector, mixes them.
    if log_density.ndim == 0 or point[variable.value.name].shape[0] != n_rows:
        return False
    looked_at = {0, n_rows // 2, n_rows - 1}
    # Only the structure matters, so any point will do at which no gradient is zero by chance.
    rng = np.random.default_rng(1)
    point = {name: x + 0.1 * rng.uniform(size=x.shape) for name, x in point.items()}
    gradients = [
        grad(log_density[i].sum(), variable.value, disconnected_inputs="ignore") for i in looked_at
    ]
    values = {value: point[value.name].astype(value.dtype) for value in model.value_vars}
    found = pt.stack(gradients).eval(
        values | {x: np.arange(y.batch_size) for x, y in zip(rows, sources, strict=True)},
        mode=Mode(linker="py", optimizer=None),
        on_unused_input="ignore",
    )
    depends = np.any(found.reshape(len(looked_at), n_rows, -1) != 0, axis=-1)
    return all(
        np.array_equal(np.flatnonzero(row), [i]) for i, row in zip(looked_at, depends, strict=True)
    )
