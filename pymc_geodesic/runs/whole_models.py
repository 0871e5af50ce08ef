#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The model that a run samples: the given one, or one with minibatches of its rows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr

from pymc.model import Model

from pymc_geodesic.potential.minibatch import has_minibatch
from pymc_geodesic.rows.checks_of_entries import error_of_quadrature
from pymc_geodesic.rows.convert import BATCH_SIZE, Converted, converted
from pymc_geodesic.runs.choose_step import StepArgument
from pymc_geodesic.runs.deterministics import how_to_compute
from pymc_geodesic.runs.local_posterior import points
from pymc_geodesic.sampling.log import log
from pymc_geodesic.step_methods.step import Step

__all__ = ["Sampled", "in_batches", "sampled_model"]


# Draws at which quadrature is checked, and the error in standard deviations that is not reported.
N_DRAWS, ACCEPTED_ERROR = 20, 0.1


@dataclass(frozen=True)
class Sampled:
    """The model that a run samples.

    Attributes
    ----------
    model : Model
        The given model, or one with minibatches.
    batch_size : int, optional
        Rows of a batch of a model that was converted.
    converted : Converted, optional
        How it was converted.
    """

    model: Model
    batch_size: int | None = None
    converted: Converted | None = None

    @property
    def left_out(self) -> list[str]:
        """Names of variables that the result has only if they are asked for."""
        found = self.converted
        return [] if found is None else [*found.from_rows, *found.without]

    def log(self, *, var_names: Sequence[str] | None, unsaid: Collection[str] = ()) -> None:
        """Say what is sampled, and what the result lacks but for some names."""
        if self.converted is None:
            return
        log.info(
            "A transition reads a batch of rows: the run samples "
            f"`pmg.minibatch(model, batch_size={self.batch_size})`."
        )
        for sentence in _how_to_draw(self.converted):
            log.info(sentence)
        lacking = [name for name in self.converted.from_rows if name not in unsaid]
        if var_names is None and lacking:
            listed = ", ".join(f"`{name}`" for name in lacking)
            them = "it is" if len(lacking) == 1 else "they are"
            model = self.converted.conversion.model
            of_rows = [name for name in lacking if model[name].ndim]
            others = [name for name in lacking if not model[name].ndim]
            ways = [_how_to_predict(of_rows)] if of_rows else []
            ways += [how_to_compute(*others)] if others else []
            log.info(
                f"{listed} would be computed from all rows at every draw, and so "
                f"{them} not in the result. {' '.join(ways)}"
            )

    def check(self, idata: xr.DataTree) -> None:
        """Warn if the quadrature over variables that are integrated out is too coarse."""
        if self.converted is None or not self.converted.integrated:
            return
        rng = np.random.default_rng(0)
        posterior = idata["posterior"].to_dataset()
        names = [rv.name for rv in self.model.free_RVs]
        if any(name not in posterior for name in names):
            return
        every = max(1, posterior.sizes["chain"] * posterior.sizes["draw"] // N_DRAWS)
        draws = list(points(posterior.isel(draw=slice(None, None, every)), names))
        for local, error in error_of_quadrature(self.converted.conversion, draws, rng).items():
            if error > ACCEPTED_ERROR:
                log.warning(
                    f"The integral over {local} is inaccurate: with more nodes the log density "
                    f"changes by {error:.2g} more at some draws than at others, which moves means "
                    "by up to as many standard deviations. Sample these variables with the others: "
                    "name them in `var_names`."
                )


def _how_to_predict(names: Sequence[str]) -> str:
    """Return how Deterministics of rows are summarised after a run."""
    listed = ", ".join(f'"{name}"' for name in names)
    return (
        f"`pmg.predict(idata, model, var_names=[{listed}])` returns the mean and quantiles of each "
        "row."
    )


def _how_to_draw(found: Converted) -> Iterator[str]:
    """Say which variables are integrated out, and how to draw them."""
    if found.integrated:
        others = sorted(set(found.without) - {*found.integrated, *found.unused})
        lacking = ", ".join(f"`{name}`" for name in [*found.integrated, *others])
        yield (
            f"{_are(found.integrated)} integrated out, row by row. The result does not have "
            f'{lacking}. `pmg.local_posterior(idata, {{"{found.integrated[0]}": [...]}}, '
            "model=model)` draws chosen entries. To sample all of them with the others, name them "
            "in `var_names`."
        )
    if found.unused:
        listed = ", ".join(f'"{name}"' for name in found.unused)
        them = "it" if len(found.unused) == 1 else "them"
        yield (
            f"{_are(found.unused)} left out, because nothing else depends on {them}. "
            f"`pm.sample_posterior_predictive(idata, model=model, var_names=[{listed}])` draws "
            f"{them}."
        )


def _are(names: Sequence[str]) -> str:
    return f"{', '.join(f'`{name}`' for name in names)} {'is' if len(names) == 1 else 'are'}"


def sampled_model(
    model: Model, step: StepArgument, batch_size: int | None, *, kept: Collection[str] = ()
) -> Sampled:
    """Return the model that a run samples.

    A model without minibatches is converted if a step is chosen here, or for a ``batch_size``.
    Variables that are ``kept`` are not integrated out.

    Raises
    ------
    DependentRowsError
        If its rows depend on each other.
    ValueError
        If it has no more rows than a batch; for a ``batch_size`` of a model or a step that has its
        own.
    """
    if has_minibatch(model) or isinstance(step, Step):
        if batch_size is not None:
            own = "step already exists" if isinstance(step, Step) else "model has `pm.Minibatch`"
            raise ValueError(
                f"`batch_size` expected None because the {own}, got {batch_size!r}. Leave it out."
            )
        return Sampled(model)
    if step is not None and batch_size is None:
        return Sampled(model)
    batch_size = BATCH_SIZE if batch_size is None else batch_size
    found = converted(model, batch_size=batch_size, kept=kept)
    return Sampled(found.model, batch_size, found)


def in_batches(model: Model) -> Model:
    """Return a model with minibatches; the given one if rows are few or cannot be divided."""
    try:
        return sampled_model(model, None, None).model
    except ValueError:
        return model
