#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Errors and warnings for models with ``pm.Minibatch`` data and PyMC's own steps."""

from __future__ import annotations

import warnings

from pymc.model import Model

from pymc_geodesic.potential.minibatch import find_batch_sources, has_minibatch
from pymc_geodesic.potential.total_size import require_total_size
from pymc_geodesic.validation import pymc_model

__all__ = ["check_minibatch", "warn_minibatch"]

MINIBATCH_MESSAGE = (
    "The model draws its data by `pm.Minibatch`, so PyMC's own step methods (NUTS and the others) "
    "would see a different random log probability at every evaluation and return meaningless draws "
    "without an error. Sample all its variables with steps of pymc_geodesic, such as "
    "`pm.sample(step=pmg.gSGNHT())`, or write the model with the full data."
)


def check_minibatch(model: Model, *, trust_total_size: bool = False) -> None:
    """Raise an error if a model has ``pm.Minibatch`` data, which PyMC's own steps cannot sample.

    Without a step of this package, ``pm.sample()`` runs NUTS on such a model without an error,
    although every gradient comes from another batch. The draws are meaningless. Call this function
    before ``pm.sample()`` in code that must exclude this.

    Parameters
    ----------
    model : pymc.Model
        The model about to be sampled.
    trust_total_size : bool, default False
        Accept a ``total_size`` that is not the number of rows, as the steps do with this argument.

    Raises
    ------
    ValueError
        If the model depends on ``pm.Minibatch``. The message differs if no step can sample the
        model, because ``total_size`` is not the number of rows or the log likelihood is not a sum
        over rows.

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> with pm.Model() as model:
    ...     x = pm.Normal("x")
    ...     y = pm.Minibatch(np.zeros(100), batch_size=10)
    ...     _ = pm.Normal("y", x, observed=y, total_size=100)
    >>> try:
    ...     pmg.check_minibatch(model)
    ... except ValueError as error:
    ...     print(str(error)[:41])
    The model draws its data by `pm.Minibatch
    """
    if has_minibatch(pymc_model(model)):
        sources = find_batch_sources(model)
        require_total_size(model, sources, trust_total_size=trust_total_size)
        raise ValueError(MINIBATCH_MESSAGE)


def warn_minibatch(model: Model) -> None:
    """Warn that a step of PyMC is about to sample a model with ``pm.Minibatch`` data."""
    if has_minibatch(model):
        warnings.warn(MINIBATCH_MESSAGE, UserWarning, stacklevel=2)
