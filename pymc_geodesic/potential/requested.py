#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Manifolds on request, and whether each is the whole support of its variable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pymc.distributions.transforms import _default_transform
from pymc.logprob.transforms import IntervalTransform, LogOddsTransform, LogTransform
from pymc.model import Model
from pytensor.graph.traversal import ancestors
from pytensor.tensor import TensorVariable, as_tensor

from pymc_geodesic.graph_inputs import evaluated
from pymc_geodesic.manifolds import Manifold, manifolds_for
from pymc_geodesic.potential.variables import has_custom_transform, manifold_in

__all__ = ["requested_manifolds"]

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
