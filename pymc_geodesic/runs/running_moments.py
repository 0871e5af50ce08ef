#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Means, standard deviations and every k-th draw of large variables, updated during sampling."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import xarray as xr

from pymc.backends.ndarray import NDArray
from pymc.model import Model
from pytensor.tensor import TensorVariable

from pymc_geodesic.kernel.representatives import Representatives, without_seam
from pymc_geodesic.manifolds import Circle, Manifold, Product, manifold_named
from pymc_geodesic.potential.deterministics import deterministic_angles, uses_batch
from pymc_geodesic.potential.variables import geometry_names
from pymc_geodesic.runs.traces import labels_of
from pymc_geodesic.validation import pymc_model, whole

__all__ = ["RunningMoments", "TraceOfStatistics", "manifolds_of"]


class RunningMoments:
    r"""Keep the moments of large variables, and every k-th draw, instead of all draws.

    Pass it to ``pm.sample`` as ``callback``, and list in ``var_names`` the variables whose draws
    are recorded as usual. For each chain and entry the mean and the variance are updated as

    .. math::

        m_n = m_{n-1} + \frac{x_n - m_{n-1}}{n}, \qquad
        S_n = S_{n-1} + (x_n - m_{n-1}) (x_n - m_n), \qquad s_n^2 = \frac{S_n}{n - 1},

    without the draws of the tuning phase. Angles and axes have the coordinates nearest to
    :math:`m_{n-1}`, so that a mean angle may be beyond pi.

    Parameters
    ----------
    var_names : sequence of str
        Free variables and Deterministics.
    every : int, optional
        Also keep the draws ``every``, ``2 * every`` and so on, for quantiles and for functions of
        whole draws. By default none is kept.
    model : Model, optional
        The model that is sampled; by default that of the context.

    Raises
    ------
    ValueError
        If the model has no such variable, or one depends on ``pm.Minibatch`` data.

    Notes
    -----
    A chain needs the memory of three draws in double precision, plus that of the draws that are
    kept. PyMC drops the draws of the tuning phase only at the end, so that a variable in the trace
    takes ``(tune + draws) * chains`` times its size.

    With ``var_names=[]``, or Deterministics alone, also pass ``compute_convergence_checks=False``
    to ``pm.sample``: these checks fail without draws of a free variable. Without this
    callback PyMC considers a trace without variables empty, and raises "Not enough samples to build
    a trace".

    References
    ----------
    Welford, B. P. (1962). Note on a method for calculating corrected sums of squares and products.
    Technometrics 4.

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> data = np.random.default_rng(1).normal([1.0, 2.0, 3.0], 1.0, (1000, 3))
    >>> with pm.Model():
    ...     mean, scale = pm.Normal("mean", 0, 10, shape=3), pm.HalfNormal("scale")
    ...     batch = pm.Minibatch(data, batch_size=50)
    ...     _ = pm.Normal("y", mean, scale, observed=batch, total_size=(1000, None))
    ...     running = pmg.RunningMoments(["mean"], every=10)
    ...     idata = pm.sample(
    ...         draws=200,
    ...         tune=500,
    ...         chains=2,
    ...         step=pmg.SGNHT(),
    ...         callback=running,
    ...         var_names=["scale"],
    ...         random_seed=1,
    ...         progressbar=False,
    ...     )
    >>> idata["running"] = running.to_datatree()
    >>> idata["running/mean"]["mean"].mean("chain").values.round(0)
    array([1., 2., 3.])
    >>> dict(idata["running/draws"]["mean"].sizes)
    {'chain': 2, 'draw': 20, 'mean_dim_0': 3}
    """

    def __init__(
        self, var_names: Sequence[str], *, every: int | None = None, model: Model | None = None
    ) -> None:
        model = pymc_model(model)
        self.var_names = [var_names] if isinstance(var_names, str) else list(var_names)
        self.every = None if every is None else whole("every", every)
        self._model, self._outputs = model, _outputs_of(model, self.var_names)
        self._manifolds = manifolds_of(model, self.var_names)
        self._labels = labels_of(model)
        self._chains: dict[int, dict[str, _Moments]] = {}

    def __call__(self, trace: NDArray, draw: Any) -> None:
        """Add a draw; PyMC calls this after each."""
        if draw.draw_idx == 0:
            _keep_without_variables(trace)
            self._chains[draw.chain] = self._begin()
        if not draw.tuning:
            self.add(draw.chain, self._values(draw.point))

    def add(self, chain: int, values: Sequence[np.ndarray]) -> None:
        """Add a draw of a chain: the values of the variables, in the order of ``var_names``."""
        moments = self._chains.setdefault(chain, self._begin())
        for name, value in zip(self.var_names, values, strict=True):
            moments[name].add(value, every=self.every)

    def _begin(self) -> dict[str, _Moments]:
        return {name: _Moments(self._manifolds.get(name)) for name in self.var_names}

    @cached_property
    def _values(self) -> Callable[[Any], list[np.ndarray]]:
        """The variables as functions of a point of value variables, which are compiled."""
        inputs = self._model.value_vars
        return self._model.compile_fn(self._outputs, inputs=inputs, on_unused_input="ignore")

    def to_datatree(self) -> xr.DataTree:
        """Return the moments, and the draws that were kept.

        Returns
        -------
        DataTree
            Groups ``mean`` and ``sd``, with ``n_draws`` of each chain, and with ``every`` the group
            ``draws``; variables have the dimension ``chain`` before their own.

        Raises
        ------
        ValueError
            If a chain has no draws after its tuning phase.
        """
        chains = [self._chains[number] for number in sorted(self._chains)]
        counts = [moments.n for chain in chains for moments in chain.values()]
        if not counts or not min(counts):
            raise ValueError(
                "`RunningMoments` expected draws after the tuning phase, got none. Pass it to "
                "`pm.sample` as `callback`."
            )
        groups = {
            "mean": self._dataset(chains, lambda moments: moments.mean, is_place=True),
            "sd": self._dataset(chains, lambda moments: moments.sd),
        }
        if self.every is not None:
            # An interrupted chain has fewer.
            n = min(len(moments.kept) for chain in chains for moments in chain.values())
            groups["draws"] = self._dataset(chains, lambda m: np.stack(m.kept[:n]), n_kept=n)
        return xr.DataTree.from_dict(groups)

    def _dataset(
        self,
        chains: Sequence[Mapping[str, _Moments]],
        read: Callable[[_Moments], np.ndarray],
        *,
        is_place: bool = False,
        n_kept: int | None = None,
    ) -> xr.Dataset:
        leading = ["chain"]
        coords: dict[str, Any] = {"chain": sorted(self._chains)}
        if n_kept is not None and self.every is not None:
            leading.append("draw")
            coords["draw"] = self.every * np.arange(1, n_kept + 1) - 1
        arrays = {}
        for name in self.var_names:
            values = np.stack([read(chain[name]) for chain in chains])
            if is_place:
                # The means of all chains about one center.
                values = without_seam(self._manifolds.get(name), values[:, None])[:, 0]
            n_own = values.ndim - len(leading)
            new, known = self._labels.name(name), self._labels.coords
            own = self._labels.dims.get(new) or [f"{new}_dim_{i}" for i in range(n_own)]
            arrays[new] = ([*leading, *own], values)
            coords |= {dim: known[dim] for dim in own if dim in known}
        n_draws = [min(moments.n for moments in chain.values()) for chain in chains]
        return xr.Dataset(arrays, coords, attrs={"n_draws": n_draws})


class _Moments:
    """Mean and sum of squares of one variable in one chain, and the kept draws."""

    def __init__(self, manifold: Manifold | None) -> None:
        self.n, self._manifold = 0, manifold
        self.mean = np.zeros(())
        self.squares = np.zeros(())
        self.kept: list[np.ndarray] = []
        self._representatives: Representatives | None = None

    def add(self, value: np.ndarray, *, every: int | None) -> None:
        if self.n == 0:
            self.mean, self.squares = np.zeros(value.shape), np.zeros(value.shape)
        self.n += 1
        change = self._near(value) - self.mean
        self.mean += change / self.n
        # The second factor, the distance from the new mean, is (1 - 1 / n) times the first.
        change *= change
        change *= 1 - 1 / self.n
        self.squares += change
        if every is not None and self.n % every == 0:
            self.kept.append(np.array(value))

    def _near(self, value: np.ndarray) -> np.ndarray:
        """Return the coordinates of a draw that are nearest to the mean so far."""
        if self._manifold is None or self.n == 1:
            return value
        if self._representatives is None:
            product = Product([self._manifold], shapes=[value.shape])
            self._representatives = Representatives(product)
        [near] = self._representatives.of_point([value], [self.mean.astype(value.dtype)])
        return near

    @property
    def sd(self) -> np.ndarray:
        return (
            np.sqrt(self.squares / (self.n - 1)) if self.n > 1 else np.full_like(self.mean, np.nan)
        )


def manifolds_of(model: Model, wanted: Sequence[str]) -> dict[str, Manifold]:
    """Return the manifolds of variables of which it is known, Deterministic angles too."""
    values = [model.rvs_to_values[rv] for rv in model.free_RVs if rv.name in wanted]
    names = geometry_names(model, values)
    names |= dict.fromkeys(deterministic_angles(model), Circle.name)
    found = {key: manifold_named(name) for key, name in names.items()}
    return {key: manifold for key, manifold in found.items() if manifold is not None}


def _outputs_of(model: Model, names: Sequence[str]) -> list[TensorVariable]:
    """Return the graphs of the variables."""
    known = {variable.name: variable for variable in [*model.free_RVs, *model.deterministics]}
    if unknown := [name for name in names if name not in known]:
        raise ValueError(
            f"`var_names` expected free variables and Deterministics of the model, {list(known)}, "
            f"got {unknown}."
        )
    if of_batches := [name for name in names if uses_batch([known[name]])]:
        raise ValueError(
            "`var_names` expected variables that do not depend on `pm.Minibatch` data, got "
            f"{of_batches}, which belong to other rows at every draw. Compute them afterwards with "
            "`pm.compute_deterministics(idata, model=pmg.full_data(model))`."
        )
    return model.replace_rvs_by_values([known[name] for name in names])


class TraceOfStatistics(NDArray):
    """A trace without variables; PyMC would compute its length as zero and drop the run."""

    def __len__(self) -> int:
        return self.draw_idx


def _keep_without_variables(trace: NDArray) -> None:
    # Only the callback has access to the trace of ``var_names=[]``.
    if type(trace) is NDArray and not trace.varnames:
        trace.__class__ = TraceOfStatistics
