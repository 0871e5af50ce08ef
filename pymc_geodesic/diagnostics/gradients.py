#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Points and gradients of the potential energy at the draws of a posterior."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import xarray as xr

from pymc.model import Model
from pymc.util import RandomState, get_random_generator
from pytensor.tensor import TensorVariable

from pymc_geodesic.kernel.all_rows import gradients_of_all_rows
from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.potential import Potential
from pymc_geodesic.potential.local import find_expectations
from pymc_geodesic.potential.total_size import missing_rows, row_variables
from pymc_geodesic.potential.variables import SampledVariable
from pymc_geodesic.rows.builders import given_model
from pymc_geodesic.runs.at_draws import at_draws, to_value
from pymc_geodesic.runs.traces import sampled_model
from pymc_geodesic.validation import whole

__all__ = ["Batches", "GradientDraws", "ModelPoints", "gradient_draws", "model_points"]

Batches = int | Literal["all"]
"""Number of minibatches whose mean gradient is used at a draw, or "all" for the whole data."""

# The reciprocal of a probability that underflows to zero must be finite.
LEAST_ROOT = 1e-50


class GradientDraws(NamedTuple):
    """Draws in the embeddings of their manifolds, with gradients.

    Attributes
    ----------
    variables : tuple of SampledVariable
        The continuous free variables.
    points, gradients : list of ndarray
        For each variable ``(chain, draw, *shape)``: the points, and estimates of dU/dx, whose
        errors are independent between draws.
    """

    variables: tuple[SampledVariable, ...]
    points: list[np.ndarray]
    gradients: list[np.ndarray]

    def chosen(self, var_names: Sequence[str] | None) -> GradientDraws:
        """Keep the variables with these names."""
        if var_names is None:
            return self
        names = [variable.name for variable in self.variables]
        if unknown := [name for name in var_names if name not in names]:
            raise ValueError(
                f"`var_names` expected continuous free variables, {names}, got {unknown}."
            )
        kept = [i for i, name in enumerate(names) if name in var_names]
        return GradientDraws(
            tuple(self.variables[i] for i in kept),
            [self.points[i] for i in kept],
            [self.gradients[i] for i in kept],
        )


class ModelPoints(NamedTuple):
    """Draws as inputs of a model's gradient; arrays are ``(chain, draw, *shape)``.

    Attributes
    ----------
    potential : Potential
        The potential of all continuous variables.
    variables : tuple of SampledVariable
        The continuous variables that do not belong to the rows of a batch.
    points : list of ndarray
        Their draws.
    conditioned : list of ndarray
        Draws of the discrete variables.
    latent : tuple of str
        The variables that belong to the rows of a batch, and the observed variables whose log
        density has no closed form. With any of them there is no gradient at a draw.
    """

    potential: Potential
    variables: tuple[SampledVariable, ...]
    points: list[np.ndarray]
    conditioned: list[np.ndarray]
    latent: tuple[str, ...]

    @property
    def latent_names(self) -> str:
        """Names of the latent variables, for a message."""
        return ", ".join(f"`{name}`" for name in self.latent)


def model_points(idata: xr.DataTree, model: Model, *, max_draws: int) -> ModelPoints:
    """Map the draws of a posterior to points of the embeddings, evenly thinned."""
    potential = Potential(
        model, model.continuous_value_vars, initial_point=model.initial_point(random_seed=0)
    )
    rows = row_variables(model, potential.variables)
    variables = tuple(v for v in potential.variables if v.name not in rows)
    free = [rv for rv in model.free_RVs if rv.name not in rows]
    outputs = [_to_point(model, variable) for variable in variables]
    outputs += [to_value(model, model.values_to_rvs[x]) for x in potential.conditioned_values]
    arrays = at_draws(idata, free, outputs, max_draws=max_draws)
    n = len(variables)
    points = [
        np.maximum(x, LEAST_ROOT) if variable.manifold.poles_below else x
        for variable, x in zip(variables, arrays[:n], strict=True)
    ]
    latent = (*rows, *_without_closed_form(model, potential))
    return ModelPoints(potential, variables, points, arrays[n:], latent)


def _without_closed_form(model: Model, potential: Potential) -> list[str]:
    if not potential.expectations:
        return []
    return [rv.name for rv in model.observed_RVs if find_expectations([model.logp(vars=[rv])])]


def gradient_draws(
    idata: xr.DataTree,
    *,
    model: Model | None,
    batches: Batches,
    max_draws: int,
    random_seed: RandomState = None,
) -> GradientDraws:
    r"""Estimate the gradient of the potential energy at draws of a posterior.

    Minibatch gradients are taken relative to those at a center c, the draw nearest to the mean,
    which leaves them unbiased and removes most of their noise,

    .. math::

        \nabla \tilde U(x) - \nabla \tilde U(c) + \nabla U(c).

    Each draw has its own minibatches, so that products of the gradients of two draws are unbiased
    too.

    Parameters
    ----------
    idata : DataTree
        Result of ``pm.sample``.
    model : Model, optional
        The model that was given to :func:`sample`; by default that of the context.
    batches : int or "all"
        Number of minibatches averaged at each draw, or the whole data.
    max_draws : int
        Maximum number of draws per chain; longer chains are thinned evenly.
    random_seed : int or Generator, optional
        For the minibatches.

    Raises
    ------
    ValueError
        If the posterior lacks a variable of the model, gradients are not finite, or the model has
        latent variables of the rows of its batches or lacks rows, which came from a loader.
    """
    n_batches = None if batches == "all" else whole("batches", batches)
    model = sampled_model(given_model(model), idata)
    found = model_points(idata, model, max_draws=whole("max_draws", max_draws))
    _require_gradient(found, model)
    potential, points, conditioned = found.potential, found.points, found.conditioned
    host, rng = HostGradient(potential), get_random_generator(random_seed)
    if not host.n_rows:
        n_batches = None
    middle = _nearest_to_mean(points)
    center = [x[middle] for x in points]
    host.conditioned = [value[middle] for value in conditioned]
    at_center = [] if n_batches is None else host.whole(center).gradient

    def gradient(index: tuple[int, ...]) -> list[np.ndarray]:
        point = [x[index] for x in points]
        host.conditioned = [value[index] for value in conditioned]
        if n_batches is None:
            return host.whole(point).gradient
        # The gradient at the center depends on the conditioned variables.
        if conditioned:
            return _mean([host(point, host.rows(rng)).gradient for _ in range(n_batches)])
        changes = []
        for _ in range(n_batches):
            rows = host.rows(rng)
            here, there = host(point, rows).gradient, host(center, rows).gradient
            changes.append([a - b for a, b in zip(here, there, strict=True)])
        return [a + b for a, b in zip(_mean(changes), at_center, strict=True)]

    indices = list(np.ndindex(points[0].shape[:2]))
    if n_batches is None and not conditioned:
        found_at = gradients_of_all_rows(host, [[x[index] for x in points] for index in indices])
    else:
        at_each = [gradient(index) for index in indices]
        found_at = [np.array(part) for part in zip(*at_each, strict=True)]
    gradients = [part.reshape(x.shape) for part, x in zip(found_at, points, strict=True)]
    _require_finite(potential.variables, gradients)
    return GradientDraws(potential.variables, points, gradients)


def _require_gradient(found: ModelPoints, model: Model) -> None:
    if missing := missing_rows(model):
        raise ValueError(
            f"`model` expected all rows, at which gradients are evaluated, got {missing}. Pass a "
            "model that holds all rows, with the same variables."
        )
    if found.latent:
        raise ValueError(
            "`model` expected a log density in closed form, which has a gradient at the draws, got "
            f"latent variables of the rows ({found.latent_names}). Check such a run with "
            "`pmg.diagnose`, or by its predictions."
        )


def _to_point(model: Model, variable: SampledVariable) -> TensorVariable:
    if variable.is_flat:
        return to_value(model, variable.rv)
    return variable.manifold.embed(variable.rv)


def _nearest_to_mean(points: Sequence[np.ndarray]) -> tuple[int, ...]:
    """Index of the draw nearest to the mean, measured in standard deviations."""
    distance = np.zeros(points[0].shape[:2])
    for x in points:
        flat = x.reshape(*x.shape[:2], -1)
        away = ((flat - flat.mean(axis=(0, 1))) ** 2).sum(axis=-1)
        distance = distance + away / max(away.mean(), np.finfo(float).tiny)
    return tuple(map(int, np.unravel_index(np.argmin(distance), distance.shape)))


def _mean(gradients: Sequence[Sequence[np.ndarray]]) -> list[np.ndarray]:
    return [np.mean(part, axis=0) for part in zip(*gradients, strict=True)]


def _require_finite(variables: Sequence[SampledVariable], gradients: Sequence[np.ndarray]) -> None:
    for variable, gradient in zip(variables, gradients, strict=True):
        finite = np.isfinite(gradient.reshape(*gradient.shape[:2], -1)).all(axis=-1)
        if not finite.all():
            raise ValueError(
                f"The gradient of `{variable.name}` expected finite numbers at every draw, got "
                f"{np.count_nonzero(~finite)} of {finite.size} draws with others. Leave out the "
                "draws of a chain that diverged, or change the model so that its log density has a "
                "gradient at every draw."
            )
