#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The model that its author would have written with ``pm.Minibatch``."""

from __future__ import annotations

import warnings

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from pymc.model import Model
from pytensor.graph.traversal import ancestors

from pymc_geodesic.rows.builders import given_model
from pymc_geodesic.rows.checks_of_entries import require_equal_entries
from pymc_geodesic.rows.conversion import Conversion
from pymc_geodesic.rows.proof import require_equal
from pymc_geodesic.validation import whole

__all__ = ["BATCH_SIZE", "Converted", "converted", "minibatch"]

BATCH_SIZE = 500
"""Rows of a batch: enough that a transition costs more than its overhead.

A step that tunes itself takes a multiple where that makes draws cheaper or their noise harmless.
"""


class Converted(NamedTuple):
    """A model with minibatches, from one that was written for all rows.

    Attributes
    ----------
    model : Model
        The new model.
    from_rows : list of str
        Deterministics of the model that was given for which all rows are needed at every draw.
    integrated : list of str
        Free variables of the model that was given that are integrated out.
    unused : list of str
        The same, of those on which nothing else depends.
    without : list of str
        All of these, and Deterministics that depend on them.
    conversion : Conversion
        How the model was divided into rows.
    """

    model: Model
    from_rows: list[str]
    integrated: list[str]
    unused: list[str]
    without: list[str]
    conversion: Conversion


def minibatch(
    model: Model | Any | None = None,
    *,
    batch_size: int = BATCH_SIZE,
    var_names: Sequence[str] | None = None,
) -> Model:
    """Return a model with minibatches of its data, from one that was written for all rows.

    Each observed variable with more rows than a batch is drawn from ``pm.Minibatch`` and scaled by
    ``total_size``; priors, names, transforms and initial values stay. From each observed variable
    the index of rows is moved through the model, operation by operation, until it meets data, of
    which rows are taken, or a free variable, which is indexed. Each rule is an identity. The log
    density of all rows, put together from batches, is then compared with that of the model at two
    points.

    Free variables with an entry for each row are integrated out if the entries are independent
    given all other variables. Missing values on which nothing else depends are left out, which is
    exact. One or two numbers for each entry are integrated by adaptive quadrature, as in
    :class:`MarginalLikelihood`.

    Parameters
    ----------
    model : pymc.Model, bambi.Model or object, optional
        A model with all of its data; by default that of the context. It is not changed, except that
        one of Bambi is built.
    batch_size : int
        Rows of a batch. Observed variables with at most so many rows keep all of them.
    var_names : sequence of str, optional
        Free variables that are not to be integrated out, or Deterministics of such.

    Returns
    -------
    pymc.Model
        A new model with the same free variables but those that are integrated out. Deterministics
        of the rows are left out: compute them with the model that was given.

    Raises
    ------
    DependentRowsError
        If rows depend on each other; the operation that is the reason is named.
    ValueError
        If the model already has minibatches, or no more rows than a batch.

    Warns
    -----
    UserWarning
        If a free variable has an entry for each row and cannot be integrated out, since all of
        them move at every transition.

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> y = np.random.default_rng(1).normal(2.0, 1.0, 10_000)
    >>> with pm.Model(coords={"row": range(10_000)}) as model:
    ...     mean = pm.Normal("mean", 0.0, 10.0)
    ...     _ = pm.Normal("y", mean, 1.0, observed=y, dims="row")
    >>> batches = pmg.minibatch(model, batch_size=100)
    >>> [rv.name for rv in batches.free_RVs], batches["y"].type.shape
    (['mean'], (100,))
    """
    return converted(given_model(model), batch_size=batch_size, kept=var_names or ()).model


def converted(model: Model, *, batch_size: int, kept: Collection[str] = ()) -> Converted:
    """Convert a model, and say what was left out; see :func:`minibatch`."""
    conversion = Conversion(model, whole("batch_size", batch_size))
    found = conversion.model_of_batches()
    points = require_equal(model, found)
    conversion.integrate(_free(model, kept))
    if conversion.left_out:
        require_equal_entries(model, conversion, points)
        found = conversion.model_of_batches()
    for name, n in conversion.entries_of_rows():
        warnings.warn(
            f"`{name}` expected fewer entries than rows, got one for each of the {n:,} rows. "
            "All of them move at every transition, which takes as long as all rows.",
            UserWarning,
            stacklevel=3,
        )
    without = conversion.without
    order = [x.name for x in model.unobserved_RVs]
    return Converted(
        found,
        [name for name in conversion.computed_from_rows() if name not in without],
        [name for name in order if name in conversion.integrated_names],
        [name for name in order if name in conversion.left_out - conversion.integrated_names],
        [name for name in order if name in without],
        conversion,
    )


def _free(model: Model, names: Collection[str]) -> set[str]:
    """Return the names of the free variables that variables are computed from."""
    named = [x for x in model.unobserved_RVs if x.name in names]
    behind = set(ancestors(named))
    return {x.name for x in model.free_RVs if x in behind}
