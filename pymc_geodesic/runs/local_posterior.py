#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Effects of chosen groups, and entries that a run has integrated out, at its draws."""

from __future__ import annotations

import warnings

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from pymc.model import Model
from pytensor.tensor import TensorVariable

from pymc_geodesic.groups.conditional import N_CANDIDATES, ConditionalEffects
from pymc_geodesic.groups.grouped_rows import GroupedRows
from pymc_geodesic.groups.marginal import MarginalLikelihoodRV
from pymc_geodesic.potential.batch_structure import batched_variables, observed_rv
from pymc_geodesic.potential.minibatch import BatchSource, find_batch_sources
from pymc_geodesic.rows.builders import given_model
from pymc_geodesic.rows.conditional_entries import ConditionalEntries
from pymc_geodesic.rows.convert import BATCH_SIZE
from pymc_geodesic.run_record import batch_size_of
from pymc_geodesic.validation import data_tree, whole

__all__ = ["entries_at_draws", "local_posterior", "points", "warn_of_few"]


# Below this share of the candidates a group's draws repeat a few of them.
LEAST_SHARE = 0.05


def entries_at_draws(
    posterior: xr.Dataset,
    chosen: Mapping[str, Sequence[Any]],
    *,
    model: Model,
    batch_size: int,
    rng: np.random.Generator,
) -> xr.DataTree:
    """Draw chosen entries at each draw of the other variables."""
    if len(chosen) != 1:
        raise ValueError(
            f"`groups` expected the entries of one variable, got {sorted(chosen)}. Call it for "
            "each; those of the same rows are drawn together."
        )
    [(name, given)] = chosen.items()
    labels = np.atleast_1d(np.asarray(given))
    if name not in {rv.name for rv in model.free_RVs}:
        free = ", ".join(f"`{rv.name}`" for rv in model.free_RVs)
        raise ValueError(f"`groups` expected a free variable, which are {free}; got `{name}`.")
    numbers = partial(_numbers, model, name, labels)
    conditional = ConditionalEntries(model, name, numbers, batch_size=batch_size)
    draws: list[list[np.ndarray]] = [[] for _ in conditional.variables]
    least = np.full(len(labels), np.inf)
    for values in points(posterior, conditional.needed):
        found, n_effective = conditional.draw(rng, values)
        for kept, x in zip(draws, found, strict=True):
            kept.append(x)
        least = np.minimum(least, n_effective)
    warn_of_few(labels, least)
    shape = posterior.sizes["chain"], posterior.sizes["draw"]
    arrays = {}
    for one, axis, kept in zip(conditional.variables, conditional.axes, draws, strict=True):
        array = np.reshape(kept, (*shape, *np.shape(kept[0])))
        own = model.named_vars_to_dims.get(one)
        own = own or [f"{one}_dim_{i}" for i in range(array.ndim - 2)]
        coords = {"chain": posterior["chain"], "draw": posterior["draw"], str(own[axis]): labels}
        names = ["chain", "draw", *map(str, own)]
        arrays[one] = xr.DataArray(array, dims=names, coords=coords)
    return xr.DataTree.from_dict({"posterior": xr.Dataset(arrays)})


def _numbers(model: Model, name: str, labels: np.ndarray, axis: int) -> np.ndarray:
    """Return the numbers of entries, by their coordinates."""
    dims = model.named_vars_to_dims.get(name)
    known = None if dims is None else model.coords.get(dims[axis])
    if known is None:
        known = range(model.eval_rv_shapes()[name][axis])
    found = pd.Index(known).get_indexer(labels)
    if len(unknown := labels[found < 0]):
        raise ValueError(
            f"`groups` expected entries of `{name}`, got {len(unknown)} that are not there, such "
            f"as {unknown.tolist()[0]!r}."
        )
    return found


def points(posterior: xr.Dataset, names: Sequence[str]) -> Iterator[dict[str, np.ndarray]]:
    """Yield the values of variables at each draw."""
    if missing := [name for name in names if name not in posterior]:
        raise ValueError(f"`idata` expected draws of {missing}, got {sorted(posterior.data_vars)}.")
    arrays = {name: posterior[name].transpose("chain", "draw", ...).values for name in names}
    for chain in range(posterior.sizes["chain"]):
        for draw in range(posterior.sizes["draw"]):
            yield {name: x[chain, draw] for name, x in arrays.items()}


def warn_of_few(labels: np.ndarray, n_effective: np.ndarray) -> None:
    """Warn of groups whose draws are few of the candidates."""
    labels = labels[n_effective < LEAST_SHARE * N_CANDIDATES]
    if len(labels):
        warnings.warn(
            f"{len(labels)} of the groups, such as '{labels[0]}', have effects far from a normal "
            "distribution: their draws repeat a few candidates. Sample the model of these groups "
            "alone by NUTS instead.",
            UserWarning,
            stacklevel=4,
        )


def local_posterior(
    idata: xr.DataTree,
    groups: Sequence[Any] | np.ndarray | Mapping[str, Sequence[Any]],
    *,
    rows: GroupedRows | None = None,
    model: Model | None = None,
    thin: int = 1,
    random_seed: int | np.random.Generator | None = None,
) -> xr.DataTree:
    r"""Draw the effects of chosen groups, which sampling has not kept.

    .. math::

        p(u_g \mid y) = \int p(u_g \mid \phi, y_g) \, p(\phi \mid y) \, d\phi

    with one draw of :math:`u_g` for each draw of the global variables :math:`\phi`.

    Parameters
    ----------
    idata : DataTree
        Draws of the global variables, of ``pm.sample`` or ``pmg.sample``.
    groups : sequence or mapping
        Labels of groups, as in the column that ``rows`` was grouped by. For a model of all rows,
        the name of a variable that :func:`sample` has integrated out, with the coordinates of its
        entries, or their numbers if it has no coordinates: ``{"person": ["ann", "bob"]}``.
    rows : GroupedRows, optional
        The groups of the model. For a model of all rows leave it out.
    model : pymc.Model, optional
        The model that was given to :func:`sample`, or one with the global variables of ``idata``
        and one :class:`MarginalLikelihood`; by default that of the context. It need not be the one
        that was sampled: draws of a model with :class:`GroupLikelihood` and local variables have
        the same global variables.
    thin : int, default 1
        Use every so many draws of ``idata``.
    random_seed : int or Generator, optional
        Source of the draws.

    Returns
    -------
    DataTree
        Its posterior has the variable ``effect`` with the dimensions ``chain``, ``draw`` and the
        name of the groups' column, whose coordinates are the labels. For a model of all rows it has
        the variable itself, and others of the same entries that are drawn together with it.

    Raises
    ------
    ValueError
        If a group or entry is unknown or has no rows, if a variable is not one that is integrated
        out, or if the model has not exactly one such likelihood of these groups.

    Warns
    -----
    UserWarning
        If the normal approximation of some group is so far off that its draws are not reliable.

    Notes
    -----
    Each draw is chosen among 200 candidates from a Student t distribution around the mode, by their
    densities; there is no Markov chain. Effects of different groups are drawn given the same global
    variables, so that differences between groups can be taken draw by draw.

    Examples
    --------
    >>> import arviz as az, numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> y = np.random.default_rng(1).normal(size=20)
    >>> rows = pmg.GroupedRows({"user": np.repeat(["ann", "bob"], 10), "y": y}, by="user")
    >>> with pm.Model() as model:
    ...     y, mask = pm.Minibatch(rows["y"], rows.mask, batch_size=1)
    ...     mu = pm.Normal("mu")
    ...     effect = pm.Normal.dist(mu, 1.0, shape=y.shape[0])
    ...     each = pm.Normal.dist(effect[:, None], 1.0)
    ...     _ = pmg.MarginalLikelihood("y", each, effect, mask, observed=y, total_size=len(rows))
    >>> idata = az.from_dict({"posterior": {"mu": np.zeros((2, 50))}})
    >>> found = pmg.local_posterior(idata, ["bob"], rows=rows, model=model, random_seed=1)
    >>> found.posterior["effect"].dims
    ('chain', 'draw', 'user')
    """
    model = given_model(model)
    posterior = data_tree(idata)["posterior"].to_dataset()
    posterior = posterior.isel(draw=slice(None, None, whole("thin", thin)))
    rng = np.random.default_rng(random_seed)
    if isinstance(groups, Mapping):
        batch_size = batch_size_of(idata) or BATCH_SIZE
        return entries_at_draws(posterior, groups, model=model, batch_size=batch_size, rng=rng)
    if rows is None:
        raise ValueError(
            "`rows` expected the `GroupedRows` of the model, got None. For a model of all rows "
            'name the variable: `groups={"effect": [...]}`.'
        )
    labels = np.atleast_1d(np.asarray(groups))
    positions = rows.positions(labels)
    conditional = ConditionalEffects(model, *_likelihood_of(model, rows))
    draws, least = [], np.full(len(labels), np.inf)
    for values in points(posterior, conditional.names):
        found = conditional.draw(rng, values, positions)
        draws.append(found.effects)
        least = np.minimum(least, found.n_effective)
    warn_of_few(labels, least)
    n_chains, n_draws = posterior.sizes["chain"], posterior.sizes["draw"]
    effects = np.reshape(draws, (n_chains, n_draws, len(labels), -1))
    effects = effects[..., 0] if effects.shape[-1] == 1 else effects
    dims = ["chain", "draw", rows.by, *["effect_dim"] * (effects.ndim - 3)]
    coords = {"chain": posterior["chain"], "draw": posterior["draw"], rows.by: labels}
    dataset = xr.Dataset({"effect": (dims, effects)}, coords=coords)
    return xr.DataTree.from_dict({"posterior": dataset})


def _likelihood_of(model: Model, rows: GroupedRows) -> tuple[TensorVariable, BatchSource]:
    """Find the likelihood of the groups, and its batches."""
    found = [
        (rv, source)
        for source in find_batch_sources(model)
        for rv in batched_variables(model, source.batches)
        if isinstance(observed_rv(rv).owner.op, MarginalLikelihoodRV) and source.n_rows == len(rows)
    ]
    if len(found) != 1:
        raise ValueError(
            f"`model` expected one `pmg.MarginalLikelihood` of the {len(rows):,} groups of `rows` "
            f"in a `pm.Minibatch`, got {len(found)}. For draws of a model with local variables, "
            "write the same model with their effects integrated out, and pass it here."
        )
    return found[0]
