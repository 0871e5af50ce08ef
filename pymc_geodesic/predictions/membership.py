#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""To which component of a mixture each row belongs, with what probability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytensor.tensor as pt
import xarray as xr

from pymc.model import Model
from pytensor.tensor import TensorVariable

from pymc_geodesic.component_order import match_draws
from pymc_geodesic.potential.components import mixtures_in
from pymc_geodesic.potential.log_density import without_checks
from pymc_geodesic.predictions.rows_of_model import (
    ModelRows,
    RowsAtDraws,
    blocks,
    flat_draws,
    free_variables,
    rows_of_block,
    whole_model,
)
from pymc_geodesic.rows.builders import given_model
from pymc_geodesic.rows.graphs import log_density_of
from pymc_geodesic.rows.selection import Rows
from pymc_geodesic.stages import log
from pymc_geodesic.validation import data_tree, whole

__all__ = ["membership"]


def membership(
    idata: xr.DataTree,
    model: Model | Any | None = None,
    *,
    var_name: str | None = None,
    max_draws: int = 1_000,
) -> xr.DataArray:
    r"""Return the probability that each row belongs to each component of a mixture.

    Row i is in component k with probability

    .. math::

        p_{ik} = \frac{1}{S} \sum_{s=1}^S
            \frac{w_k f_k(x_i \mid \theta_s)}{\sum_j w_j f_j(x_i \mid \theta_s)},

    an average over draws. The densities are those of the model, whatever the components. Rows are
    processed in blocks, so that memory does not grow with rows times draws.

    Parameters
    ----------
    idata : DataTree
        Result of :func:`sample`.
    model : pymc.Model or object, optional
        The model that was sampled; by default that of the context.
    var_name : str, optional
        An observed mixture, such as a ``pm.Mixture``; by default the only one.
    max_draws : int
        Maximum number of draws that are averaged, evenly thinned.

    Returns
    -------
    DataArray
        Rows and components, with the dims and coords of the model. The probabilities of a row have
        the sum one. ``argmax`` along the last axis is the most probable component.

    Raises
    ------
    ValueError
        If there is no such mixture, its rows depend on each other, or ``idata`` lacks a variable.

    Warns
    -----
    In the log, if chains number the components differently. Those of the first chain are then the
    result's, and the draws of each chain are matched to them.

    References
    ----------
    McLachlan, G. and Peel, D. (2000). Finite Mixture Models, section 1.15.

    Stephens, M. (2000). Dealing with label switching in mixture models. JRSS B 62.

    Examples
    --------
    >>> import arviz as az, numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> with pm.Model(coords={"group": ["low", "high"]}) as model:
    ...     mean = pm.Normal("mean", dims="group")
    ...     _ = pm.Mixture("y", [0.5, 0.5], pm.Normal.dist(mean, 1.0), observed=[-3.0, 2.9])
    >>> draws = np.tile([-3.0, 3.0], (1, 10, 1))
    >>> found = pmg.membership(az.from_dict({"posterior": {"mean": draws}}), model)
    >>> found.dims, found.values.round(3).tolist()
    (('y_dim_0', 'group'), [[1.0, 0.0], [0.0, 1.0]])
    """
    model = whole_model(given_model(model))
    posterior = data_tree(idata)["posterior"].to_dataset()
    found = ModelRows(model)
    name, rows, parts = _mixture(found, var_name)
    thin = -(-posterior.sizes["chain"] * posterior.sizes["draw"] // whole("max_draws", max_draws))
    posterior = posterior.isel(draw=slice(None, None, thin))
    draws = flat_draws(posterior, model.free_RVs)
    free = free_variables([parts])
    if missing := [x.owner.op.name for x in free if x.owner.op.name not in draws]:
        raise ValueError(
            f"`idata` expected draws of {missing}, on which the mixture depends, got those of "
            f"{sorted(draws)}. Sample them too: name them in `var_names`."
        )
    shares = RowsAtDraws(rows, [pt.special.softmax(parts, axis=-1)], draws)
    n, n_chains = rows.n_rows, posterior.sizes["chain"]
    shape = shares(slice(0, 1))[0].shape
    of_chains = np.empty((n_chains, n, *shape[2:]))
    for block in blocks(n, rows_of_block(shape[0], int(np.prod(shape[2:])))):
        one = shares(block)[0]
        of_chains[:, block] = one.reshape(n_chains, -1, *one.shape[1:]).mean(axis=1)
    dims, coords = _axes(model, name, [x.owner.op.name for x in free], of_chains.shape[1:])
    return xr.DataArray(_matched(of_chains, name).mean(axis=0), coords, dims, name="membership")


def _mixture(found: ModelRows, var_name: str | None) -> tuple[str, Rows, TensorVariable]:
    """Return a mixture, its rows, and the log densities of components."""
    observed = [x for x in found.variables if found.is_observed(x) and found.n_rows(x)]
    mixtures = {}
    for name in observed if var_name is None else [x for x in observed if x == var_name]:
        rows = found.rows(found.n_rows(name))
        if (parts := _parts(found, name, rows)) is not None:
            mixtures[name] = rows, parts
    if len(mixtures) != 1:
        listed = ", ".join(f"`{x}`" for x in (mixtures or observed)) or "none"
        raise ValueError(
            f"`var_name` expected an observed mixture, such as a `pm.Mixture`, got {var_name!r}; "
            f"the observed variables are {listed}. Name one whose log density is a logarithm of a "
            "sum over components."
        )
    [(name, (rows, parts))] = mixtures.items()
    return name, rows, parts


def _parts(found: ModelRows, name: str, rows: Rows) -> TensorVariable | None:
    """Return the log weight plus log density of each component, for rows; None if it has none."""
    # The data come first: they give the rows their length.
    value = rows.of(found.variables[name].owner.inputs[1], 0)
    if (drawn := found.drawn(name, rows)) is None:
        return None
    density = without_checks([log_density_of(drawn, value)], impossible=True)
    mixtures = mixtures_in(density)
    return mixtures[0].owner.inputs[0] if len(mixtures) == 1 else None


def _matched(of_chains: np.ndarray, name: str) -> np.ndarray:
    """Give the components of all chains, (chain, row, ..., component), the numbers of the first."""
    first, *others = (x.reshape(-1, x.shape[-1]).T for x in of_chains)
    matched = [match_draws(other[None, None], first, "plain")[0, 0] for other in others]
    orders = [np.arange(len(first)), *matched]
    if any(not np.array_equal(order, orders[0]) for order in orders):
        log.warning(
            f"The chains number the components of `{name}` differently: the memberships have the "
            "numbers of the first chain. `pmg.fold_components` puts draws in one order."
        )
    return np.array([x[..., order] for x, order in zip(of_chains, orders, strict=True)])


def _axes(
    model: Model, name: str, free: Sequence[str], shape: tuple[int, ...]
) -> tuple[list[str], dict[str, Any]]:
    """Return the dims of rows and components, as the model names them, and their coordinates."""
    known = model.named_vars_to_dims
    given = known.get(name) or (None,) * (len(shape) - 1)
    dims = [f"{name}_dim_{i}" if dim is None else str(dim) for i, dim in enumerate(given)]
    dims = dims[: len(shape) - 1]
    # That of the weights, which have no other axis, or of another variable.
    of_free = sorted((known.get(x) or () for x in free), key=len)
    lengths = {str(d): len(model.coords[d]) for own in of_free for d in own if model.coords[d]}
    of_components = [dim for dim, n in lengths.items() if n == shape[-1] and dim not in dims]
    dims.append(of_components[0] if of_components else f"{name}_component")
    coords = model.coords
    return dims, {dim: list(coords[dim]) for dim in dims if coords.get(dim) is not None}
