#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A common order of topics for all chains."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr

from pymc_geodesic.component_order import guessed_geometry, match_chains, match_draws, permuted
from pymc_geodesic.diagnostics.geometry import geometries
from pymc_geodesic.manifolds.registry import recorded_manifolds
from pymc_geodesic.topic_models.read import (
    RUNNING,
    Draws,
    dataset_in,
    posterior_variable,
    read_chains,
)

__all__ = ["align", "aligned_draws", "require_aligned"]


def align(
    idata: xr.DataTree,
    var_name: str = "topics",
    *,
    others: Mapping[str, str] | None = None,
    per_draw: bool = False,
) -> xr.DataTree:
    r"""Give topics the same numbers in all chains.

    The posterior of a topic model does not depend on the order of the topics, and each chain finds
    its own order. The mean topics of every chain are matched to the average of the chains by the
    assignment with the smallest sum of distances. Then the average is updated, until nothing
    changes. The distance of probability vectors is :math:`1 - \sum_v \sqrt{p_v q_v}`
    (Hellinger), that of unit vectors one minus the cosine. Cluster centres and other sets of
    probability vectors or unit vectors are aligned in the same way.

    Parameters
    ----------
    idata : DataTree
        Result of ``pm.sample`` or of ``pmg.sample``, also with ``keep=``, which keeps moments. All
        groups are reordered.
    var_name : str
        The variable with the topics, with K vectors of V entries.
    others : mapping of str to str, optional
        Further variables to reorder, each with its dimension of topics:
        ``{"weights": "weights_dim_0"}``. By default all variables with the dimension of the topics.
    per_draw : bool
        Whether to match every draw separately, for chains in which topics change places.

    Returns
    -------
    DataTree
        A copy with the variables in the new order. The order is that of the first chain, unless
        draws are matched separately.

    Raises
    ------
    ValueError
        If a variable or dimension does not exist or has another size, topics are not matrices, or
        single draws are to be matched although only moments were kept.

    Notes
    -----
    Chains that have found different topics are matched as well as possible. R-hat after the
    alignment, for instance by :func:`pymc_geodesic.summary`, shows whether they agree.

    References
    ----------
    Stephens, M. (2000). Dealing with label switching in mixture models. JRSS B 62. Section 4.

    Examples
    --------
    >>> import arviz as az, numpy as np, pymc_geodesic as pmg
    >>> topics = np.random.default_rng(1).dirichlet([9.0, 1.0, 1.0], size=(2, 50, 2))
    >>> topics[0, :, 1], topics[1, :, 0] = topics[0, :, 1, ::-1], topics[1, :, 0, ::-1]
    >>> idata = az.from_dict({"posterior": {"topics": topics}})
    >>> found = pmg.topics.align(idata).posterior["topics"].mean("draw")
    >>> found.argmax("topics_dim_1").values
    array([[0, 2],
           [0, 2]])
    """
    topics = posterior_variable(idata, var_name)
    draws, dim = topics.to_numpy(), topics.dims[2]
    manifolds = recorded_manifolds(idata)
    if var_name in manifolds:
        geometry = geometries(topics.to_dataset(), manifolds=manifolds)[var_name]
    else:
        geometry = guessed_geometry(draws)
    groups = {group: dataset_in(idata, group) for group in ("posterior", *RUNNING)}
    orders = match_chains(draws, geometry).orders
    if per_draw:
        if any(groups[group] for group in RUNNING):
            raise ValueError(
                "`per_draw` expected all draws, got moments of the group `running`, in which draws "
                "of different orders would be mixed. Leave out `keep=` when you sample."
            )
        per_chain = np.repeat(orders[:, None], draws.shape[1], axis=1)
        reference = permuted(draws, per_chain).mean(axis=(0, 1))
        orders = match_draws(draws, reference, geometry)
    variables = {str(n): v for values in groups.values() for n, v in values.data_vars.items()}
    axes = {var_name: dim, **_others(variables, topics.sizes[dim], var_name, dim, others)}
    found = idata.copy()
    for group, values in groups.items():
        if values:
            found[group] = xr.DataTree(_reordered(values, axes, orders))
    return found


def _reordered(values: xr.Dataset, axes: Mapping[str, str], orders: np.ndarray) -> xr.Dataset:
    """Return a copy of a group with its variables in the orders of each chain, or of each draw."""
    found = values.copy()
    for name in axes.keys() & values.data_vars.keys():
        sample_dims = ("chain", "draw") if "draw" in values[name].dims else ("chain",)
        array = values[name].transpose(*sample_dims, axes[name], ...)
        own = orders
        if len(sample_dims) == 2 and orders.ndim == 2:
            own = np.repeat(orders[:, None], array.sizes["draw"], axis=1)
        ordered = array.copy(data=permuted(array.to_numpy(), own))
        found[name] = ordered.transpose(*values[name].dims)
    return found


def _others(
    variables: Mapping[str, xr.DataArray],
    n_topics: int,
    var_name: str,
    dim: str,
    others: Mapping[str, str] | None,
) -> dict[str, str]:
    if others is None:
        names = [name for name, values in variables.items() if dim in values.dims]
        return {name: dim for name in names if name != var_name}
    for name, axis in others.items():
        dims = variables[name].sizes if name in variables else {}
        if axis not in dims:
            raise ValueError(
                f"`others` expected variables of the posterior with their dimensions, got {name!r} "
                f"with {axis!r}. The variables are "
                f"{ ({name: v.dims[2:] for name, v in variables.items()}) }."
            )
        if dims[axis] != n_topics:
            raise ValueError(
                f"`others` expected dimensions with {n_topics} entries, one per topic, "
                f"got {name!r} with {dims[axis]}. Name the dimension of the topics."
            )
    return dict(others)


def aligned_draws(topics: Draws, var_name: str, *, what: str) -> np.ndarray:
    """Return draws of topics as an array (draws, topics, words), which may be averaged.

    Parameters
    ----------
    topics, var_name : DataTree or array_like, str
        As for :func:`read_chains`.
    what : str
        The function that averages over draws.

    Raises
    ------
    ValueError
        If chains have their topics in different orders; see also :func:`read_chains`.
    """
    chains = read_chains(topics, var_name)
    require_aligned(chains, what)
    return chains.reshape(-1, *chains.shape[-2:])


def require_aligned(draws: np.ndarray, what: str) -> None:
    """Raise a ValueError if chains have their topics in different orders.

    Parameters
    ----------
    draws : ndarray, shape (C, S, K, V)
        Draws of the topics.
    what : str
        The function that would average over chains.
    """
    if len(draws) < 2 or draws.shape[2] < 2:
        return
    matching = match_chains(draws, guessed_geometry(draws))
    if matching.is_identity:
        return
    n_moved = int(matching.moved.any(axis=0).sum())
    raise ValueError(
        f"`{what}` expected topics with the same numbers in all chains, got {n_moved} of "
        f"{draws.shape[2]} topics numbered differently: averages would mix them. "
        "Call `idata = pmg.topics.align(idata)` first, or pass one chain."
    )
