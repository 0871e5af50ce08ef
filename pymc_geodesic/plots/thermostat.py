#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Plots of temperature, thermostat and step size over the draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr

from matplotlib.axes import Axes
from numpy.typing import ArrayLike
from scipy.stats import gamma

from pymc_geodesic.diagnostics.geometry import geometries, intrinsic_dimension
from pymc_geodesic.plots.style import color_of

__all__ = ["plot_thermostat", "temperature_band"]

TEMPERATURE = "kinetic_temperature"
FREEDOM = "degrees_of_freedom"
FRICTIONS = ("thermostat", "friction")


def plot_thermostat(
    idata: xr.DataTree,
    *,
    var_names: str | Sequence[str] | None = None,
    group: str = "sample_stats",
    dims: Mapping[str, int] | None = None,
    prob: float = 0.9,
    axes: ArrayLike | None = None,
) -> np.ndarray:
    r"""Draw the kinetic temperature, the thermostat and the step size over the draws.

    There is a panel for each temperature: that of all variables, and that of each if there are
    several. Its band holds the temperature of a draw with probability `prob` if the sampler is in
    equilibrium at temperature one; see :func:`temperature_band`. Draws that stay above or below are
    too hot or too cold; ``docs/troubleshooting.md`` says what to change.

    Parameters
    ----------
    idata : DataTree
        Result of ``pm.sample`` with a step of this package.
    var_names : str or sequence of str, optional
        Variables whose own temperature and thermostat are shown; all by default. With an empty list
        only those of all variables together are shown.
    group : str
        ``"warmup_sample_stats"`` shows the tuning phase, if it was kept by
        ``discard_tuned_samples=False``.
    dims : mapping of str to int, optional
        Degrees of freedom of variables, by name. By default they are read from the sample
        statistics, or else from the shapes of the draws, with one fewer for each unit vector and
        probability vector. Pass those of variables with other constraints.
    prob : float
        Probability of the band.
    axes : array_like of matplotlib.axes.Axes, optional
        One per panel; a new figure by default.

    Returns
    -------
    numpy.ndarray of matplotlib.axes.Axes
        The panels, from top to bottom: temperatures, thermostats or friction, step size.

    Raises
    ------
    ValueError
        If the group has none of these statistics or lacks those of a named variable, or `axes` has
        another length.

    Examples
    --------
    >>> import arviz as az, numpy as np, pymc_geodesic as pmg
    >>> rng = np.random.default_rng(1)
    >>> stats = {
    ...     "kinetic_temperature": rng.chisquare(3, size=(2, 200)) / 3,
    ...     "thermostat": rng.normal(10.0, 0.5, size=(2, 200)),
    ...     "step_size": np.full((2, 200), 0.01),
    ... }
    >>> x = rng.normal(size=(2, 200, 3))
    >>> idata = az.from_dict({"posterior": {"x": x}, "sample_stats": stats})
    >>> axes = pmg.plot_thermostat(idata)
    """
    found = idata[group].to_dataset()
    names = _panels(found, var_names)
    if not names:
        raise ValueError(
            f"The group `{group}` expected `{TEMPERATURE}`, `thermostat`, `friction` or "
            f"`step_size`, got {sorted(map(str, found.data_vars))}. Use draws of a step of this "
            "package."
        )
    axes = _axes(axes, len(names))
    freedom = _degrees_of_freedom(idata, found, dims or {})
    for ax, name in zip(axes, names, strict=True):
        _draw_chains(ax, found[name], name)
        if name in freedom:
            _draw_band(ax, temperature_band(freedom[name], prob, **_averaging(found, name)))
        elif name.startswith(TEMPERATURE):
            ax.axhline(1, color="0.25", linewidth=1)
    if found.sizes["chain"] > 1:
        handles, labels = axes[0].get_legend_handles_labels()
        axes[0].legend(
            handles, labels, loc="lower right", bbox_to_anchor=(1, 1), ncols=8, frameon=False
        )
    axes[-1].set_xlabel("draw")
    return axes


def temperature_band(
    dim: int,
    prob: float,
    *,
    n_steps: int = 1,
    step_size: float | None = None,
    friction: float | None = None,
) -> tuple[float, float]:
    r"""Return the equal-tailed interval of the kinetic temperature of a draw.

    The temperature of one transition, :math:`v^\top v / m`, has the distribution
    :math:`\chi^2_m / m`. A draw records the mean over its n transitions, whose velocities
    decorrelate at the rate of the friction :math:`\xi`: squares have the correlation
    :math:`\rho^k`, with :math:`\rho = e^{-2 \xi \epsilon}`, over k transitions. Such a mean has
    about the variance of the mean of

    .. math::

        n_e = n \Big/ \Big( 1 + 2 \sum_{k=1}^{n-1} (1 - k / n)\, \rho^k \Big)

    independent transitions, and about the distribution :math:`\chi^2_{m n_e} / (m n_e)`.

    Parameters
    ----------
    dim : int
        Degrees of freedom m.
    prob : float
        Probability of the interval.
    n_steps : int
        Number n of transitions per draw.
    step_size, friction : float, optional
        :math:`\epsilon` and :math:`\xi`. Without them a draw counts as one transition,
        which gives the widest possible interval.

    Returns
    -------
    tuple of float
        Lower and upper end.

    Notes
    -----
    :math:`\rho` is exact for a free particle. In a potential well, velocity and position
    exchange energy, but the sum of the correlations stays about the same. A thermostat keeps the
    mean over long times closer to one than this interval.

    Examples
    --------
    >>> low, high = temperature_band(10, 0.9)
    >>> round(low, 3), round(high, 3)
    (0.394, 1.831)
    """
    independent = 1.0
    if step_size is not None and friction is not None:
        lags = np.arange(1, n_steps)
        correlation = np.exp(-2 * max(friction, 0.0) * step_size * lags)
        independent = n_steps / (1 + 2 * np.sum((1 - lags / n_steps) * correlation))
    shape = 0.5 * dim * independent
    low, high = gamma.ppf([0.5 - prob / 2, 0.5 + prob / 2], shape, scale=1 / shape)
    return float(low), float(high)


def _panels(found: xr.Dataset, var_names: str | Sequence[str] | None) -> list[str]:
    """Return the names of the statistics to show: of all variables together, then of each."""
    if isinstance(var_names, str):
        var_names = [var_names]
    panels = []
    for statistic in (TEMPERATURE, *FRICTIONS):
        own = [str(n) for n in found.data_vars if str(n).startswith(f"{statistic}_")]
        if var_names is not None:
            wanted = [f"{statistic}_{variable}" for variable in var_names]
            missing = [name for name in wanted if name not in found]
            if missing and statistic == TEMPERATURE:
                raise ValueError(
                    f"`var_names` expected the statistics {missing}, got {sorted(own)}. Leave it "
                    "out to show all."
                )
            own = [name for name in wanted if name in found]
        # The mean of several thermostats adds nothing.
        show_all = statistic in found and (statistic == TEMPERATURE or not own)
        panels += [statistic] * show_all + own
    return panels + ["step_size"] * ("step_size" in found)


def _degrees_of_freedom(
    idata: xr.DataTree, found: xr.Dataset, given: Mapping[str, int]
) -> dict[str, int]:
    """Return the degrees of freedom of each temperature, if known."""
    freedom = {}
    prefix = f"{TEMPERATURE}_"
    names = map(str, found.data_vars)
    variables = [name.removeprefix(prefix) for name in names if name.startswith(prefix)]
    for variable in variables or (None,):
        statistic = FREEDOM if variable is None else f"{FREEDOM}_{variable}"
        name = TEMPERATURE if variable is None else prefix + variable
        if variable is None and len(given) == 1:
            [freedom[name]] = given.values()
        elif variable is not None and variable in given:
            freedom[name] = given[variable]
        elif statistic in found:
            freedom[name] = int(found[statistic].values.flat[0])
        elif (dim := _dim_of_draws(idata, variable)) is not None:
            freedom[name] = dim
    if variables and len(freedom) == len(variables):
        freedom[TEMPERATURE] = sum(freedom.values())
    return freedom


def _dim_of_draws(idata: xr.DataTree, variable: str | None) -> int | None:
    if "posterior" not in idata.children:
        return None
    draws = idata["posterior"].to_dataset().transpose("chain", "draw", ...)
    if variable is None and len(draws.data_vars) == 1:
        [variable] = map(str, draws.data_vars)
    if variable not in draws:
        return None
    [geometry] = geometries(draws[[variable]]).values()
    return intrinsic_dimension(draws[variable], geometry)


def _averaging(found: xr.Dataset, name: str) -> dict[str, Any]:
    """Return number, step size and friction of the transitions in a temperature's average."""
    suffix = name.removeprefix(TEMPERATURE)
    frictions = [f + s for f in FRICTIONS for s in (suffix, "") if f + s in found]
    if "n_steps" not in found or "step_size" not in found or not frictions:
        return {}
    return {
        # Self-tuned chains differ; the fewest transitions give the widest band.
        "n_steps": int(found["n_steps"].min()),
        "step_size": float(found["step_size"].mean()),
        "friction": float(found[frictions[0]].mean()),
    }


def _axes(axes: ArrayLike | None, n: int) -> np.ndarray:
    if axes is None:
        size = 8.0, 0.8 + 1.25 * n
        _, axes = plt.subplots(n, 1, figsize=size, sharex=True, squeeze=False, layout="constrained")
    axes = np.ravel(axes)
    if len(axes) != n:
        raise ValueError(f"`axes` expected {n}, one per panel, got {len(axes)}.")
    return axes


def _draw_chains(ax: Axes, values: xr.DataArray, name: str) -> None:
    for i, chain in enumerate(values["chain"].values):
        style = {"color": color_of(i), "linewidth": 0.8, "alpha": 0.75, "zorder": 2}
        ax.plot(values["draw"], values.sel(chain=chain), label=f"chain {chain}", **style)
    ax.set_ylabel(_label(name), fontsize=9)
    ax.spines[["top", "right"]].set_visible(False)
    ax.margins(x=0.01)


def _draw_band(ax: Axes, band: tuple[float, float]) -> None:
    ax.axhspan(*band, color="0.88", linewidth=0, zorder=0)
    ax.axhline(1, color="0.25", linewidth=1, zorder=3)


def _label(name: str) -> str:
    for statistic in (TEMPERATURE, *FRICTIONS):
        if name.startswith(f"{statistic}_"):
            return f"{statistic.split('_')[-1]}\n{name.removeprefix(f'{statistic}_')}"
    return name.replace("_", " ")
