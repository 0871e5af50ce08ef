#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The variables that a step samples, and manifolds for them on request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pymc.distributions.transforms import _default_transform
from pymc.logprob.transforms import IntervalTransform, LogOddsTransform, LogTransform
from pymc.model import Model
from pytensor.graph.traversal import ancestors
from pytensor.tensor import TensorVariable, as_tensor

from pymc_geodesic.graph_inputs import evaluated
from pymc_geodesic.latents.gmc import LocalGMC
from pymc_geodesic.manifolds import Manifold, manifolds_for
from pymc_geodesic.potential.variables import has_custom_transform, manifold_in

__all__ = ["Variables", "global_and_local", "requested_manifolds", "value_variables"]

type Variables = TensorVariable | str | Sequence[TensorVariable | str]
"""Random variables or their names."""


def value_variables(model: Model, vars: Variables | None) -> list[TensorVariable]:
    """Resolve the user's ``vars`` to value variables in the model's order.

    The order matters: PyMC's own steps swap the values of variables given in another order.

    Raises
    ------
    ValueError
        If a variable is not a free variable of the model, or there is none.
    """
    if vars is None:
        if not model.continuous_value_vars:
            raise ValueError(
                "The model expected at least one continuous free variable to sample, got none."
            )
        return list(model.continuous_value_vars)
    chosen = set()
    for var in [vars] if isinstance(vars, str | TensorVariable) else vars:
        rv = model.named_vars.get(var) if isinstance(var, str) else var
        value = model.rvs_to_values.get(rv, rv)
        if value not in model.value_vars:
            free = ", ".join(f"`{free_rv.name}`" for free_rv in model.free_RVs)
            raise ValueError(
                f"`vars` expected free random variables of the model, which are {free}; got "
                f"{getattr(var, 'name', var)!r}."
            )
        chosen.add(value)
    return [value for value in model.value_vars if value in chosen]


def global_and_local(
    model: Model, vars: Variables | None, local: LocalGMC | None
) -> tuple[list[TensorVariable], list[TensorVariable]]:
    """Resolve the user's ``vars`` and ``local``; the default is all variables that are not local.

    Raises
    ------
    ValueError
        See :func:`value_variables`; also for a variable that is in both.
    """
    if local is None:
        return value_variables(model, vars), []
    local_values = value_variables(model, local.vars)
    if vars is None:
        return [v for v in value_variables(model, None) if v not in local_values], local_values
    values = value_variables(model, vars)
    if both := [model.values_to_rvs[v].name for v in values if v in local_values]:
        raise ValueError(f"`vars` and `local` expected different variables, got {both} in both.")
    return values, local_values


Bounds = tuple[np.ndarray, np.ndarray]
ROUNDING = 1e-6


def requested_manifolds(
    model: Model, names: Sequence[str], manifolds: Mapping[str, Manifold] | None
) -> dict[str, Manifold]:
    """Return the requested manifolds, if they are the supports of their variables.

    A variable may be moved on any manifold that is registered for its distribution, between walls
    that are the bounds of its distribution, or in PyMC's unconstrained coordinates.

    Parameters
    ----------
    model : pymc.Model
        The model.
    names : sequence of str
        Names of the variables that the step samples.
    manifolds : mapping of str to Manifold, optional
        The user's request.

    Raises
    ------
    ValueError
        If a name is not that of a variable of the step, or a manifold is not the support of its
        variable: a narrower one would change the posterior.
    """
    manifolds = dict(manifolds or {})
    if unknown := [name for name in manifolds if name not in names]:
        raise ValueError(
            f"`manifolds` expected names of variables that the step samples, {list(names)}; got "
            f"{unknown}."
        )
    for name, manifold in manifolds.items():
        if not (manifold.is_flat or isinstance(manifold, _known(model, model[name]))):
            _require_bounds(model, model[name], manifold)
    return manifolds


def _known(model: Model, rv: TensorVariable) -> tuple[type[Manifold], ...]:
    """Return the curved manifolds that are registered for the distribution of a variable."""
    known = [manifold_in(model, rv)]
    if not has_custom_transform(model, rv):
        known += manifolds_for(rv)
    return tuple(type(manifold) for manifold in known if not manifold.is_flat)


def _require_bounds(model: Model, rv: TensorVariable, manifold: Manifold) -> None:
    own = _bounds_of(model, rv)
    if own is None or manifold.bounds is None:
        raise ValueError(
            f"`manifolds` expected for `{rv.name}` a manifold of its distribution, got "
            f"{manifold!r}. Leave it out, or declare that the manifold is the support of the "
            "distribution by `pmg.register_manifold(..., on_request=True)`."
        )
    pairs = zip(own, manifold.bounds, strict=True)
    if not all(np.allclose(*pair, rtol=ROUNDING, atol=0) for pair in pairs):
        least, largest = (bound.tolist() for bound in own)
        raise ValueError(
            f"`manifolds` expected for `{rv.name}` its whole support, from {least} to {largest}; "
            f"got {manifold!r}. To truncate a variable, use `pm.Truncated` in the model."
        )


def _bounds_of(model: Model, rv: TensorVariable) -> Bounds | None:
    """Return the least and largest values of a variable, if its transform is between bounds."""
    transform = model.rvs_to_transforms[rv]
    if transform is None:
        transform = _default_transform(rv.owner.op, rv)
    if isinstance(transform, LogTransform):
        return np.asarray(0.0), np.asarray(np.inf)
    if isinstance(transform, LogOddsTransform):
        return np.asarray(0.0), np.asarray(1.0)
    if not isinstance(transform, IntervalTransform):
        return None
    bounds = [
        as_tensor(missing if bound is None else bound)
        for bound, missing in zip(
            transform.args_fn(*rv.owner.inputs), (-np.inf, np.inf), strict=True
        )
    ]
    free = set(model.free_RVs)
    if others := sorted({f"`{found.name}`" for found in ancestors(bounds) if found in free}):
        raise ValueError(
            f"`manifolds` expected for `{rv.name}` constant bounds, got some that "
            f"depend on {', '.join(others)}. Scale a variable between fixed bounds, or leave this "
            "one to its transform."
        )
    least, largest = map(evaluated, bounds)
    return least, largest
