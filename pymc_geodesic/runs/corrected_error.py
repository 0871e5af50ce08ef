#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Errors that the means of a run would have, were it to end now and be corrected."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
import xarray as xr

from pymc.model import Model

from pymc_geodesic.runs.deterministics import Traced
from pymc_geodesic.runs.gradients_at_draws import (
    ENOUGH,
    DrawGradients,
    batches_of_run,
    gradients_of_run,
)
from pymc_geodesic.runs.labels import labels_of
from pymc_geodesic.runs.refined import REFINEMENT, has_constant_step, refined
from pymc_geodesic.sampling.advance import Sampler
from pymc_geodesic.sampling.stochastic import StochasticSampler

__all__ = ["CorrectedError", "Stored", "corrected_error"]

# Of the duration of a run so far, what gradients at its draws may take, and how many.
SHARE, MOST = 0.15, 400


class Stored(Protocol):
    """Storage of the draws of a run."""

    def datatree(self, *, plain: bool = False) -> xr.DataTree | None:
        """Return all draws so far."""
        ...


class CorrectedError(NamedTuple):
    """The largest standard error of a mean, in standard deviations.

    Attributes
    ----------
    error : float
        The error.
    name, number : str and int
        The variable of the model, and the entry among all of it.
    gradients : DrawGradients
        From which it is known.
    """

    error: float
    name: str
    number: int
    gradients: DrawGradients


def corrected_error(
    kept: Stored, sampler: Sampler, traced: Traced, *, model: Model, spent: Callable[[], float]
) -> CorrectedError | None:
    """Return the error of a run so far, None if it cannot be corrected in time.

    Parameters
    ----------
    kept : InMemory or Checkpoint
        The draws.
    sampler : Sampler
        It has made them.
    traced : Traced
        The free variables whose means matter.
    model : Model
        The model.
    spent : callable
        Returns the seconds that the run has taken so far.
    """
    idata = kept.datatree(plain=True)
    if not isinstance(sampler, StochasticSampler) or sampler.tuning is None or idata is None:
        return None
    if not has_constant_step(idata):
        return None
    seconds = SHARE * spent()
    found, _ = gradients_of_run(
        idata, sampler, model, seconds=seconds, most=MOST, is_worth_it=True, fewest=ENOUGH
    )
    if found is None:
        found = batches_of_run(idata, sampler, model, seconds=seconds)
    better = None if found is None else refined(idata, found, traced)
    if found is None or better is None or better.is_unclear:
        return None
    figures, labels = better.idata[REFINEMENT].to_dataset(), labels_of(model)
    errors = []
    for x in traced.variables:
        figure = figures[labels.name(x.name)]
        error, sd = (figure.sel(figure=key).to_numpy().ravel() for key in ("mcse_mean", "sd"))
        relative = error / np.maximum(sd, np.finfo(float).tiny)
        number = int(relative.argmax())
        errors.append(CorrectedError(float(relative[number]), x.name, number, found))
    return max(errors, key=lambda x: x.error)
