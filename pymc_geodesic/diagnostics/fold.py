#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Signs and labels of components that a model leaves open: whether it does, and one choice."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import xarray as xr

from pymc.model import Model
from scipy.optimize import linear_sum_assignment

from pymc_geodesic.diagnostics.gradients import ModelPoints, model_points
from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.potential.total_size import missing_rows
from pymc_geodesic.rows.builders import given_model

__all__ = ["are_exchangeable", "are_rotated", "fold_components"]

# Change of the log density by a permutation that is put down to rounding.
ROUNDING = 1e-3
# Residual of a rotation, as a share of the distances between components, with which it explains
# as much as a permutation.
SMALL_RESIDUAL = 0.25


def are_exchangeable(
    known: ModelPoints | None, model: Model | None, name: str, order: np.ndarray
) -> bool:
    """Return whether the log density is the same for components in another order.

    Every variable with one axis of as many entries is permuted too, such as the weights of a
    mixture. Without a model, and without a log density in closed form, it is taken to be the same.

    Parameters
    ----------
    known : ModelPoints or None
        Draws as points of the model.
    model : Model or None
        The model.
    name : str
        The variable with the components along its first axis.
    order : ndarray of int
        The other order.
    """
    if known is None or model is None or known.latent or known.conditioned or missing_rows(model):
        return True
    if name not in [variable.name for variable in known.variables]:
        return True
    gradient, k = HostGradient(known.potential), len(order)
    point = [x[0, -1] for x in known.points]
    moved = [
        np.take(x, order, axis=x.shape.index(k)) if x.shape.count(k) == 1 or v.name == name else x
        for v, x in zip(known.variables, point, strict=True)
    ]
    before, after = (gradient.whole(x).energy for x in (point, moved))
    return bool(abs(after - before) <= ROUNDING * (1 + abs(before)))


def are_rotated(means: np.ndarray) -> bool:
    """Return whether chains with more components than coordinates differ by rotations alone.

    Points of a latent space, such as positions of nodes, are known up to a rotation. Many points of
    few coordinates are near others in any rotation, so that a permutation seems to fit as well.

    Parameters
    ----------
    means : ndarray, shape (C, K, V)
        Mean components of every chain.
    """
    if means.shape[1] <= means.shape[2]:
        return False
    centred = means - means.mean(axis=1, keepdims=True)
    spread = np.mean(np.sum(centred**2, axis=-1))
    residuals = []
    for other in means[1:]:
        left, _, right = np.linalg.svd(other.T @ means[0])
        residuals.append(np.mean(np.sum((other @ (left @ right) - means[0]) ** 2, axis=-1)))
    return bool(np.mean(residuals) < SMALL_RESIDUAL * spread)


# Rounds of matching draws to their mean, which hardly moves after the first.
N_ROUNDS = 20
# Draws of each chain at which the log density is compared, and how well it agrees.
N_COMPARED, TOLERANCE = 3, 1e-6


def fold_components(
    idata: xr.DataTree,
    axes: Mapping[str, int],
    *,
    signs: Collection[str] = (),
    permute: bool = False,
    model: Model | None = None,
) -> xr.DataTree:
    """Choose signs and labels of components that a model leaves open, the same in all draws.

    Loadings and scores may change sign together, and the components of a mixture may change places.
    Chains in different copies of one mode then seem to disagree, and a mean over the copies is
    meaningless. Each draw is replaced by the equivalent draw that is nearest to the mean of the
    result, in squared distance of the first variable. Both have the same log density, which is
    checked at some draws, so the result follows the posterior up to the symmetry.

    Parameters
    ----------
    idata : DataTree
        Result of ``pm.sample``.
    axes : mapping of str to int
        Variables with an entry for each component, and the axis of the components in each of them,
        not counting chains and draws. Draws are compared by the first variable.
    signs : collection of str
        Variables that change sign together.
    permute : bool, default False
        Whether the components may change places.
    model : Model, optional
        The model that was given to :func:`sample`; by default that of the context.

    Returns
    -------
    DataTree
        A copy, with the variables of ``axes`` changed.

    Raises
    ------
    ValueError
        If the log density of the model changes with the signs or labels, a name is unknown, numbers
        of components differ, or neither signs nor labels are to be chosen.

    References
    ----------
    Stephens, M. (2000). Dealing with label switching in mixture models. JRSS B 62. Section 4.

    Papastamoulis, P. and Ntzoufras, I. (2022). On the identifiability of Bayesian factor analytic
    models. Statistics and Computing 32. DOI 10.1007/s11222-022-10084-4

    Examples
    --------
    >>> import arviz as az, numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> with pm.Model() as model:
    ...     loadings = pm.Normal("loadings", shape=2)
    ...     _ = pm.Normal("y", (loadings**2).sum(), 0.1, observed=5.0)
    >>> draws = np.random.default_rng(1).choice([-1, 1], (4, 100, 2)) * np.array([1.0, 2.0])
    >>> idata = az.from_dict({"posterior": {"loadings": draws}})
    >>> folded = pmg.fold_components(idata, {"loadings": 0}, signs=["loadings"], model=model)
    >>> np.ptp(folded.posterior["loadings"].values, axis=(0, 1))
    array([0., 0.])
    """
    draws = _components(idata, axes, signs)
    if not signs and not permute:
        raise ValueError("`fold_components` expected `signs` or `permute=True`, got neither.")
    n_chains, n_draws, n = next(iter(draws.values())).shape[:3]
    rng = np.random.default_rng(1)
    shape = (n_chains, n_draws, n)
    orders = np.broadcast_to(np.arange(n), shape)
    orders = rng.permuted(orders, axis=-1) if permute else orders
    trial = orders, rng.choice([-1.0, 1.0], shape) if signs else np.ones(shape)
    model = given_model(model)
    before = _energies(idata, model)
    after = _energies(_with(idata, draws, trial, axes, signs), model)
    change = np.max(np.abs(after - before) / (1 + np.abs(before)))
    if not change <= TOLERANCE:
        raise ValueError(
            "`fold_components` expected a log density that does not depend on signs and labels of "
            f"components, got one that changes by a share of {change:.2g}. Name all variables that "
            "change together, and use priors that are the same for all components."
        )
    first = next(iter(axes))
    choice = _nearest(draws[first], signed=first in signs, permute=permute)
    return _with(idata, draws, choice, axes, signs)


def _components(
    idata: xr.DataTree, axes: Mapping[str, int], signs: Collection[str]
) -> dict[str, np.ndarray]:
    """Return draws with the components along the third axis."""
    posterior = idata["posterior"]
    if unknown := [name for name in (*axes, *signs) if name not in posterior or name not in axes]:
        raise ValueError(f"`axes` expected variables of the posterior, got none for {unknown}.")
    if signs and next(iter(axes)) not in signs:
        raise ValueError(
            f"`axes` expected to begin with a variable of `signs`, got {next(iter(axes))!r}."
        )
    draws = {
        name: np.moveaxis(
            _array(posterior[name])[..., None], axis + 2 if axis >= 0 else axis - 1, 2
        )
        for name, axis in axes.items()
    }
    if len(numbers := {values.shape[2] for values in draws.values()}) > 1:
        raise ValueError(f"`axes` expected one number of components, got {sorted(numbers)}.")
    return draws


def _array(values: xr.DataArray) -> np.ndarray:
    return values.transpose("chain", "draw", ...).to_numpy()


def _with(
    idata: xr.DataTree,
    draws: Mapping[str, np.ndarray],
    choice: tuple[np.ndarray, np.ndarray],
    axes: Mapping[str, int],
    signs: Collection[str],
) -> xr.DataTree:
    """Return a copy with the components in other orders and with other signs, in each draw."""
    orders, factors = choice
    posterior = idata["posterior"].to_dataset().copy()
    for name, values in draws.items():
        kept = (..., *[None] * (values.ndim - 3))
        chosen = np.take_along_axis(values, orders[kept], axis=2)
        if name in signs:
            chosen = chosen * factors[kept]
        axis = axes[name] + 2 if axes[name] >= 0 else axes[name] - 1
        moved = np.moveaxis(chosen, 2, axis)[..., 0]
        dims = posterior[name].transpose("chain", "draw", ...).dims
        posterior[name] = (dims, moved.astype(values.dtype), posterior[name].attrs)
    result = idata.copy()
    result["posterior"] = xr.DataTree(posterior)
    return result


def _energies(idata: xr.DataTree, model: Model) -> np.ndarray:
    """Potential energies of the whole data at some draws."""
    found = model_points(idata, model, max_draws=N_COMPARED)
    host = HostGradient(found.potential)
    energies = []
    for index in np.ndindex(found.points[0].shape[:2]):
        host.conditioned = [value[index] for value in found.conditioned]
        energies.append(host.whole([x[index] for x in found.points]).energy)
    return np.array(energies)


def _nearest(draws: np.ndarray, *, signed: bool, permute: bool) -> tuple[np.ndarray, np.ndarray]:
    """Choose for each draw (chain, draw, K, ...) what is nearest to the mean of the chosen."""
    n = draws.shape[2]
    flat = draws.reshape(-1, n, int(np.prod(draws.shape[3:]))).astype(float)
    reference = flat[-1]
    for _ in range(N_ROUNDS):
        found = [_match(x, reference, signed=signed, permute=permute) for x in flat]
        orders, signs = (np.array(part) for part in zip(*found, strict=True))
        mean = (np.take_along_axis(flat, orders[..., None], axis=1) * signs[..., None]).mean(axis=0)
        if np.allclose(mean, reference):
            break
        reference = mean
    shape = draws.shape[:3]
    return orders.reshape(shape), signs.reshape(shape)


def _match(
    x: np.ndarray, reference: np.ndarray, *, signed: bool, permute: bool
) -> Sequence[np.ndarray]:
    """Return the order and the signs with the least squared distance from the reference."""
    products = reference @ x.T
    near = np.abs(products) if signed else products
    order = (
        linear_sum_assignment((x**2).sum(axis=1) - 2 * near)[1] if permute else np.arange(len(x))
    )
    chosen = products[np.arange(len(x)), order]
    return order, np.where(signed & (chosen < 0), -1.0, 1.0)
