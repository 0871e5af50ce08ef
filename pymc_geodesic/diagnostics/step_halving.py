#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The bias due to the step size, from coupled chains at the step size and at half of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr

from pymc.model import Model

from pymc_geodesic.diagnostics.extrapolation import extrapolated, has_failed, statistics_of
from pymc_geodesic.entry_names import entry_name
from pymc_geodesic.kernel.representatives import without_seam
from pymc_geodesic.manifolds.registry import recorded_manifolds
from pymc_geodesic.rows.builders import given_model
from pymc_geodesic.run_record import ATTRIBUTE
from pymc_geodesic.runs.choose_step import StepArgument, sampled_model
from pymc_geodesic.runs.deterministics import Traced
from pymc_geodesic.runs.halved import halve
from pymc_geodesic.runs.starts import InitialValues, RandomSeed
from pymc_geodesic.stages import log
from pymc_geodesic.validation import flag, mapping, share, whole

__all__ = ["StepHalving", "step_halving"]


@dataclass(frozen=True)
class StepHalving:
    """Result of :func:`step_halving`.

    Attributes
    ----------
    table : DataFrame
        Indexed by entry and by statistic, ``mean`` or ``sd``: its ``estimate`` at the step size
        and ``halved``; the estimated ``bias`` at the step size, with its Monte Carlo standard error
        ``bias_error``, its interval from ``bias_low`` to ``bias_high`` and its quotient by the
        error, ``z``; the same, ``extrapolated`` to a step size of zero; the ``gain``, by which
        independent runs would have to be longer for the same error of the bias.
    order : int
        Power of the step size to which the bias is proportional.
    step_size : float
        The larger of the two step sizes.
    runs : tuple of DataTree
        The draws at the step size and at half of it.
    probability : float
        Probability of the intervals.
    n_transitions : int
        Transitions of all chains after the tuning phase: three times those of the run at the step
        size alone.
    n_diverging : int
        Draws with a transition that was undone.
    failed : tuple of str
        Entries for which the coupling failed; see :func:`step_halving`.
    """

    table: pd.DataFrame
    order: int
    step_size: float
    runs: tuple[xr.DataTree, xr.DataTree]
    probability: float
    n_transitions: int
    n_diverging: int
    failed: tuple[str, ...]

    def __str__(self) -> str:
        """Write sentences about the most significant bias, the cost and the coupling."""
        worst = self.table.loc[self.table["z"].abs().idxmax()]
        entry, statistic = worst.name
        text = f"At step size {self.step_size:.3g} the {statistic} of {entry} is off by "
        text += f"{worst['bias']:.3g} +- {worst['bias_error']:.2g}"
        if (entry, "sd") in self.table.index:
            share_of_sd = worst["bias"] / self.table.loc[(entry, "sd"), "extrapolated"]
            text += f" ({share_of_sd:.2g} posterior standard deviations)"
        text += (
            f", the most significant of {len(self.table)} biases of order {self.order}; at half "
            f"the step size it is 1/{2**self.order} of that. This took {self.n_transitions:_d} "
            f"transitions; independent runs would need {self.table['gain'].median():.2g} times as "
            "many."
        )
        if self.n_diverging:
            text += f" {self.n_diverging} draws had a transition that was undone."
        if self.failed:
            text += f" The coupling failed for {len(self.failed)} of {len(self.table)} statistics."
        return text


def step_halving(
    model: Model,
    step: StepArgument = None,
    *,
    functions: Mapping[str, Callable[[xr.Dataset], xr.DataArray]] | None = None,
    var_names: Sequence[str] | None = None,
    order: int | None = None,
    draws: int = 1000,
    tune: int = 1000,
    chains: int = 4,
    coupled: bool = True,
    probability: float = 0.9,
    random_seed: RandomSeed = None,
    initvals: InitialValues = None,
) -> StepHalving:
    r"""Estimate the bias due to the step size from coupled chains at half the step size.

    If the bias is of order p, two averages :math:`\hat f_\epsilon` at step sizes :math:`\epsilon`
    give the bias and, by Richardson extrapolation, its removal,

    .. math::

        \hat f_0 = \frac{2^p \hat f_{\epsilon / 2} - \hat f_\epsilon}{2^p - 1}, \qquad
        \text{bias} = \hat f_\epsilon - \hat f_0,

    with p of two for the splitting dynamics and one for :class:`SGLD`, :class:`SGRLD` and the Euler
    form of :class:`SGNHT`.

    Chains are tuned at the step size. Then each gets a partner with the same friction and mass,
    which makes two transitions of half the step size in the time of one. Both use the same noise:
    the increment of the longer transition is the sum of the increments of the two shorter ones. The
    longer transition uses the rows of the first shorter one. The two chains therefore stay close to
    each other, and the error of their difference, which gives the bias, is much smaller than that
    of independent runs. Each chain by itself has the distribution of an ordinary run at its step
    size.

    Parameters
    ----------
    model : Model
        The model to sample, as for :func:`sample`.
    step : StochasticStep, type of StochasticStep or callable, optional
        A stochastic-gradient step, its class, or a function that returns a step; by default that of
        :func:`sample`. If it has no ``step_size``, it tunes itself, and the bias is measured at the
        step size that it finds.
    functions : mapping of str to callable, optional
        Further quantities whose mean is to be reported: functions of the Dataset of the draws,
        which return a DataArray with its dimensions ``chain`` and ``draw``.
    var_names : sequence of str, optional
        Variables to report; all of the posterior by default.
    order : int, optional
        The order p; by default that of the step.
    draws : int
        Number of draws kept per chain. Before them a tenth as many are discarded.
    tune : int
        Draws of the tuning phase, in which only the chains at the step size move.
    chains : int
        Number of pairs of chains.
    coupled : bool
        Whether the chains of a pair share noise and rows. Otherwise they are independent.
    probability : float, default 0.9
        Probability of the intervals.
    random_seed, initvals
        As for :func:`sample`.

    Returns
    -------
    StepHalving
        Print it for a summary in words; ``table`` has all entries.

    Raises
    ------
    ValueError
        If the step is not a stochastic-gradient step for all variables, or if chains cannot be
        coupled: for variables local to the rows, data from a loader, ``replacement=False`` and
        step sizes that change.

    Warns
    -----
    log
        If the coupling fails for an entry. It has failed if the gain is below two, or if the
        difference of the chains has fewer than 100 effective draws. The chains of a pair separate
        if the posterior has several modes, or if the friction is so small that neighbouring paths
        diverge. With a small gain the interval is valid but wide; with few effective draws it is
        unreliable.

    Notes
    -----
    Gradient noise that is not accounted for heats a chain in proportion to the step size, whatever
    the order of the splitting. To remove this bias, pass ``order=1``.

    The coupling is limited by the noise of minibatches, as the longer transition sees half of the
    rows of the shorter ones. If this noise widens the variance of the posterior by a share d, the
    gain is at most of the order of 1 / d.

    The intervals account for Monte Carlo errors, not for higher powers of the step size. If the
    bias is large, repeat at half the step size.

    References
    ----------
    Durmus, A., Simsekli, U., Moulines, E., Badeau, R. and Richard, G. (2016). Stochastic gradient
    Richardson-Romberg Markov chain Monte Carlo. NIPS.

    Chada, N. K., Leimkuhler, B., Paulin, D. and Whalley, P. A. (2023). Unbiased kinetic Langevin
    Monte Carlo with inexact gradients. arXiv:2311.05025.

    Examples
    --------
    >>> import pymc as pm, pymc_geodesic as pmg
    >>> with pm.Model() as model:
    ...     x = pm.Gamma("x", 3, 1)
    ...     step = pmg.SGHMC(step_size=0.5, friction=1.0)
    >>> result = pmg.step_halving(model, step, random_seed=1)
    >>> result.order, result.step_size, result.failed
    (2, 0.5, ())
    >>> bool(result.table.loc[("x", "mean"), "gain"] > 10)
    True
    """
    functions = mapping("functions", functions or {}, what="functions by name")
    model = given_model(model)
    sampled = sampled_model(model, step, None, kept=var_names or ())
    found = halve(
        sampled.model,
        step,
        traced=Traced(model, var_names, unless_named=sampled.left_out),
        draws=whole("draws", draws),
        tune=tune if tune == 0 else whole("tune", tune),
        n_chains=whole("chains", chains),
        coupled=flag("coupled", coupled),
        random_seed=random_seed,
        initvals=initvals,
    )
    order = found.order if order is None else whole("order", order)
    probability = share("probability", probability)
    runs = _datatree(found.coarse, found.record), _datatree(found.fine, found.record)
    table, failed = _table(*runs, functions=functions, order=order, probability=probability)
    if coupled and failed:
        log.warning(
            f"The coupling failed for {len(failed)} of {len(table)} statistics, among them "
            f"{failed[0]}. Their intervals are wide or unreliable. Increase the friction or "
            "`draws`, or decrease the step size."
        )
    return StepHalving(
        table=table,
        order=order,
        step_size=found.step_size,
        runs=runs,
        probability=probability,
        n_transitions=found.n_transitions,
        n_diverging=found.n_diverging,
        failed=tuple(failed) if coupled else (),
    )


def _datatree(arrays: Mapping[str, np.ndarray], record: str) -> xr.DataTree:
    # ArviZ imports JAX if installed.
    import arviz

    found = arviz.from_dict({"posterior": dict(arrays)})
    found["sample_stats"] = xr.DataTree(xr.Dataset(attrs={ATTRIBUTE: record}))
    return found


def _table(
    coarse: xr.DataTree,
    fine: xr.DataTree,
    *,
    functions: Mapping[str, Callable[[xr.Dataset], xr.DataArray]],
    order: int,
    probability: float,
) -> tuple[pd.DataFrame, list[str]]:
    """Extrapolate all statistics; name those for which the coupling failed."""
    datasets = [run["posterior"].to_dataset() for run in (coarse, fine)]
    means = [dict(x.data_vars) | {name: f(x) for name, f in functions.items()} for x in datasets]
    rows, failed, manifolds = {}, [], recorded_manifolds(coarse)
    for name in means[0]:
        pair = [x[name].transpose("chain", "draw", ...).to_numpy() for x in means]
        manifold = None if name in functions else manifolds.get(name)
        pair = np.split(without_seam(manifold, np.concatenate(pair, axis=1)), 2, axis=1)
        for index in np.ndindex(pair[0].shape[2:]):
            label = entry_name(name, index)
            entries = [np.asarray(x[(slice(None), slice(None), *index)], float) for x in pair]
            for found in statistics_of(*entries, with_sd=name not in functions):
                row = extrapolated(found, order=order, probability=probability)
                rows[label, found.name] = row
                if has_failed(found, row["gain"]):
                    failed.append(f"the {found.name} of {label}")
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index = pd.MultiIndex.from_tuples(rows, names=["entry", "statistic"])
    return table, failed
