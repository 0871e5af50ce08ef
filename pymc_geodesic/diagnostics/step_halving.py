#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The bias due to the step size, from a second run at half the step size."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pymc as pm
import xarray as xr

from pymc_geodesic.diagnostics.monte_carlo import mcse
from pymc_geodesic.step_methods.stochastic import StochasticStep
from pymc_geodesic.validation import positive

__all__ = ["StepHalving", "step_halving"]


@dataclass(frozen=True)
class StepHalving:
    """Result of :func:`step_halving`.

    Attributes
    ----------
    table : DataFrame
        Indexed by entry and by statistic, ``mean`` or ``sd``: its ``estimate`` at the step size
        and ``halved``; the estimated ``bias`` at the step size, with its Monte Carlo standard error
        ``bias_error`` and their quotient ``z``; and ``extrapolated`` to a step size of zero with
        ``extrapolated_error``.
    order : int
        Power of the step size to which the bias is proportional.
    step_size : float
        The larger of the two step sizes.
    runs : tuple of DataTree
        The draws at the step size and at half of it.
    """

    table: pd.DataFrame
    order: int
    step_size: float
    runs: tuple[xr.DataTree, xr.DataTree]

    def __str__(self) -> str:
        """Write a sentence about the most significant bias."""
        worst = self.table.loc[self.table["z"].abs().idxmax()]
        entry, statistic = worst.name
        share = worst["bias"] / self.table.loc[(entry, "sd"), "extrapolated"]
        return (
            f"At step size {self.step_size:.3g} the {statistic} of {entry} is off by "
            f"{worst['bias']:.3g} +- {worst['bias_error']:.2g} ({share:.2g} posterior standard "
            f"deviations), the most significant of {len(self.table)} biases of order {self.order}; "
            f"at half the step size it is 1/{2**self.order} of that."
        )


def step_halving(
    model: pm.Model,
    step: type[StochasticStep] | Callable[[float], StochasticStep],
    *,
    step_size: float,
    options: Mapping[str, Any] | None = None,
    var_names: Sequence[str] | None = None,
    order: int | None = None,
    draws: int = 1000,
    random_seed: int | None = None,
    **sample_options: Any,
) -> StepHalving:
    r"""Estimate the bias due to the step size from a second run at half the step size.

    If the bias is of order p, two averages :math:`\hat f_\epsilon` at step sizes :math:`\epsilon`
    give the bias and, by Richardson extrapolation, its removal,

    .. math::

        \hat f_0 = \frac{2^p \hat f_{\epsilon / 2} - \hat f_\epsilon}{2^p - 1}, \qquad
        \text{bias} = \hat f_\epsilon - \hat f_0,

    with p of two for the splitting dynamics and one for :class:`SGLD`, :class:`SGRLD` and the Euler
    form of :class:`SGNHT`. Both runs cover the same time: the second makes twice as many
    transitions per draw.

    Parameters
    ----------
    model : Model
        The model to sample.
    step : class or callable
        A stochastic-gradient step class of this package, or a function that takes a step size and
        returns such a step. It is called inside the model. With a class, the second
        run takes friction or diffusion from the first; a function has to do so itself.
    step_size : float
        The larger step size :math:`\epsilon`.
    options : mapping, optional
        Further arguments of a step class.
    var_names : sequence of str, optional
        Variables to report; all of the posterior by default.
    order : int, optional
        The order p; by default that of the step.
    draws : int
        Number of draws kept per chain and run.
    random_seed : int, optional
        Seed; the two runs are independent.
    **sample_options
        Passed to ``pm.sample``, such as ``tune``, ``chains`` and ``cores``.

    Returns
    -------
    StepHalving
        Print it for a sentence; ``table`` has all entries.

    Raises
    ------
    ValueError
        If the step is not a stochastic-gradient step.

    Notes
    -----
    Gradient noise that is not accounted for heats a chain in proportion to the step size, whatever
    the order of the splitting. To remove this bias, pass ``order=1``.

    References
    ----------
    Durmus, A., Simsekli, U., Moulines, E., Badeau, R. and Richard, G. (2016). Stochastic gradient
    Richardson-Romberg Markov chain Monte Carlo. NIPS.

    Examples
    --------
    >>> import pymc as pm, pymc_geodesic as pmg
    >>> with pm.Model() as model:
    ...     x = pm.Gamma("x", 3, 1)
    >>> result = pmg.step_halving(
    ...     model,
    ...     pmg.SGHMC,
    ...     step_size=0.5,
    ...     options={"friction": 1.0, "backend": "jax"},
    ...     random_seed=1,
    ...     cores=1,
    ...     progressbar=False,
    ... )
    >>> result.order, result.step_size
    (2, 0.5)
    """
    step_size = positive("step_size", step_size)
    coarse_seed, fine_seed = np.random.SeedSequence(random_seed).spawn(2)
    with model:
        coarse = _build(step, step_size, dict(options or {}))
        kept = coarse.sampler.settings.parameters if isinstance(step, type) else {}
        fine = _build(step, step_size / 2, {**(options or {}), **kept})
    n_steps = 2 * coarse.sampler.settings.n_steps
    fine.sampler.settings = replace(fine.sampler.settings, n_steps=n_steps)
    runs = []
    for built, seed in ((coarse, coarse_seed), (fine, fine_seed)):
        run = pm.sample(
            draws,
            step=built,
            model=model,
            random_seed=int(seed.generate_state(1)[0]),
            **{"progressbar": False} | sample_options,
        )
        runs.append(run)
    order = coarse.order if order is None else order
    table = _extrapolated(*(_summary(run, var_names) for run in runs), order=order)
    return StepHalving(table, order, step_size, (runs[0], runs[1]))


def _build(step: Callable[..., Any], step_size: float, options: dict[str, Any]) -> StochasticStep:
    if isinstance(step, type) and issubclass(step, StochasticStep):
        return step(step_size=step_size, **options)
    built = step(step_size, **options) if not isinstance(step, type) else None
    if not isinstance(built, StochasticStep):
        raise ValueError(
            "`step` expected a stochastic-gradient step class of this package, such as "
            f"`pmg.SGHMC`, or a function from a step size to such a step, got {step!r}."
        )
    return built


def _summary(run: xr.DataTree, var_names: Sequence[str] | None) -> pd.DataFrame:
    """Means and standard deviations of all entries, with their Monte Carlo standard errors."""
    posterior = run["posterior"].to_dataset()
    rows = {}
    for name in posterior.data_vars if var_names is None else var_names:
        values = posterior[name].transpose("chain", "draw", ...).to_numpy()
        for index in np.ndindex(values.shape[2:]):
            entry = values[(slice(None), slice(None), *index)]
            label = f"{name}[{', '.join(map(str, index))}]" if index else name
            rows[label, "mean"] = entry.mean(), float(mcse(entry))
            rows[label, "sd"] = entry.std(), float(mcse(entry, method="sd"))
    table = pd.DataFrame.from_dict(rows, orient="index", columns=["estimate", "error"])
    table.index = pd.MultiIndex.from_tuples(rows, names=["entry", "statistic"])
    return table


def _extrapolated(coarse: pd.DataFrame, fine: pd.DataFrame, *, order: int) -> pd.DataFrame:
    """Extrapolate two runs with independent errors to a step size of zero."""
    power = 2**order
    weights = power / (power - 1), 1 / (power - 1)
    change = coarse["estimate"] - fine["estimate"]
    bias = weights[0] * change
    bias_error = weights[0] * np.hypot(coarse["error"], fine["error"])
    return pd.DataFrame(
        {
            "estimate": coarse["estimate"],
            "halved": fine["estimate"],
            "bias": bias,
            "bias_error": bias_error,
            "z": bias / bias_error,
            "extrapolated": coarse["estimate"] - bias,
            "extrapolated_error": np.hypot(
                weights[0] * fine["error"], weights[1] * coarse["error"]
            ),
        }
    )
