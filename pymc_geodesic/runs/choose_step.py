#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What a run samples: the model as given or with minibatches of its rows, and with which step."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from pymc.model import Model

from pymc_geodesic.algorithms.default_schedules import has_default_schedule
from pymc_geodesic.distributions.symmetric_dirichlet import known_concentration
from pymc_geodesic.kernel.jax.processes import start
from pymc_geodesic.manifolds import Simplex
from pymc_geodesic.potential.minibatch import has_minibatch
from pymc_geodesic.potential.variables import manifold_in
from pymc_geodesic.rows.checks_of_entries import error_of_quadrature
from pymc_geodesic.rows.convert import BATCH_SIZE, Converted, converted
from pymc_geodesic.runs.deterministics import how_to_compute
from pymc_geodesic.runs.local_posterior import points
from pymc_geodesic.stages import log
from pymc_geodesic.step_methods import SGNHT, SGRLD, gSGNHT
from pymc_geodesic.step_methods.step import Step

__all__ = [
    "Sampled",
    "StepArgument",
    "has_sparse_prior",
    "in_batches",
    "require_continuous",
    "sampled_model",
    "step_class_for",
    "step_for",
]

StepArgument = Step | type[Step] | Callable[..., Step] | None
"""A step, a class of steps, or a function that returns a step."""

# Below it the density of a probability vector's square roots has poles at the corners, on which
# geodesic steps fail; see ``docs/choosing.md``.
SPARSE_BELOW = 0.5


def step_for(step: StepArgument, *, model: Model) -> Step:
    """Return the step of a run: the given one, or a new one.

    Parameters
    ----------
    step : Step, type of Step, callable or None
        If None, :func:`step_class_for` chooses it.
    model : Model
        The model.

    Raises
    ------
    ValueError, TypeError
        If it is no step of this package for all variables of the model.
    """
    start()
    if isinstance(step, list | tuple):
        raise TypeError(
            f"`step` expected one step for all variables, got {len(step)} of them. Pass several "
            "steps to `pm.sample`."
        )
    if isinstance(step, Step):
        return _required(step, model)
    make: Any = step_class_for(model) if step is None else step
    if isinstance(make, type) and not issubclass(make, Step):
        raise TypeError(
            f"`step` expected a step of pymc_geodesic, its class, or a function that returns a "
            f"step; got the class {make.__name__}. Pass other steps to `pm.sample`."
        )
    if not callable(make):
        raise TypeError(
            "`step` expected a step of pymc_geodesic, its class, or a function that returns a "
            f"step; got {step!r}."
        )
    with model:
        return _required(make(), model)


def step_class_for(model: Model) -> type[Step]:
    """Choose a step by the manifolds of the variables.

    It is :class:`SGRLD` if all variables are probability vectors, and some have a concentration
    below one half or are the topics of :class:`LatentDirichletAllocation`; :class:`gSGNHT` if a
    variable is on a curved manifold; and else :class:`SGNHT`.

    Raises
    ------
    ValueError
        If the model has discrete variables, or needs a step size that no step finds.
    """
    require_continuous(model)
    manifolds = [manifold_in(model, rv) for rv in model.free_RVs]
    others = [
        rv.name
        for rv, manifold in zip(model.free_RVs, manifolds, strict=True)
        if not isinstance(manifold, Simplex)
    ]
    has_latents = has_default_schedule(model)
    if not others and (has_latents or has_sparse_prior(model)):
        return SGRLD
    found = SGNHT if all(manifold.is_flat for manifold in manifolds) else gSGNHT
    if has_latents:
        listed = ", ".join(f"`{name}`" for name in others)
        raise ValueError(
            "`step=None` expected topics with a Dirichlet prior and no other variables, because "
            "the words of documents have latent topics and no step finds a step size for other "
            f"variables; got {listed}. Pass a step with a step size, such as "
            f"`step=pmg.{found.__name__}(step_size=1e-3)`."
        )
    return found


def require_continuous(model: Model) -> None:
    """Raise an error if a variable of the model is discrete."""
    if model.discrete_value_vars:
        names = ", ".join(f"`{model.values_to_rvs[v].name}`" for v in model.discrete_value_vars)
        raise ValueError(
            f"The model expected continuous variables only, got {names}. Sum discrete variables "
            "out of the model."
        )


def has_sparse_prior(model: Model) -> bool:
    """Return whether some Dirichlet prior has its mass in the corners of the simplex."""
    found = [known_concentration(rv) for rv in model.free_RVs]
    return any(x is not None and bool(np.min(x) < SPARSE_BELOW) for x in found)


def _required(step: Any, model: Model) -> Step:
    if not isinstance(step, Step):
        raise TypeError(
            f"`step` expected a step of pymc_geodesic, got {type(step).__name__}. Pass other steps "
            "to `pm.sample`."
        )
    if step.model is not model:
        raise ValueError(
            "`step` expected a step that was created for this model, got a step of another model."
        )
    sampled = {value.name for value in step.vars}
    if left := [model.values_to_rvs[v].name for v in model.value_vars if v.name not in sampled]:
        listed = ", ".join(f"`{name}`" for name in left)
        raise ValueError(
            f"`step` expected one step for all variables, got a step that leaves out {listed}. "
            "Pass it all variables, or pass several steps to `pm.sample`."
        )
    return step


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
