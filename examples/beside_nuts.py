#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""One model sampled twice: with minibatches on its manifolds, and with NUTS on all of the data.

The wind regression, with 20,000 hours, is written for minibatches. gSGNHT samples it as it is.
NUTS samples the result of ``pmg.full_data``, in which all rows replace the batches. NUTS does not
know manifolds: it samples the unit vector as the direction of a vector in the plane. Both find the
same posterior, but need different times.

Conclusion: the two posteriors agree. NUTS is exact and needs no check; the minibatch sampler needs
less time, and its lead grows with the number of rows.
"""

from __future__ import annotations

import time

import matplotlib.pyplot as plt
import numpy as np
import pymc as pm
import xarray as xr

from arviz import ess
from matplotlib.figure import Figure
from shared import main, without_box
from wind import build_model

import pymc_geodesic as pmg

N_HOURS = 20_000
METHODS = {"gSGNHT, minibatches": "posterior", "NUTS, all of the data": "posterior_nuts"}


def run(quick: bool = False) -> xr.DataTree:
    """Sample with both samplers; the draws of NUTS are in the group `posterior_nuts`."""
    options = {"cores": 1, "random_seed": 20261121, "progressbar": False}
    draws, tune, chains = (200, 300, 1) if quick else (1000, 1000, 4)
    start = time.perf_counter()
    with build_model(N_HOURS):
        step = pmg.gSGNHT()
        idata = pm.sample(draws, tune=tune, chains=chains, step=step, **options)
    seconds = {"posterior": time.perf_counter() - start}
    draws, tune, chains = (100, 200, 1) if quick else (1000, 500, 2)
    start = time.perf_counter()
    with pmg.full_data(build_model(N_HOURS)):
        nuts = pm.sample(draws, tune=tune, chains=chains, **options)
    seconds["posterior_nuts"] = time.perf_counter() - start
    idata["posterior_nuts"] = nuts["posterior"]
    for group, taken in seconds.items():
        idata[group].attrs["seconds"] = taken
    return idata


def numbers(idata: xr.DataTree, group: str) -> dict[str, xr.DataArray]:
    """Return each real number of the posterior, with the prevailing wind as an angle in degrees."""
    posterior = idata[group]
    x = posterior["prevailing"]
    angle = np.degrees(np.arctan2(x.sel(axis="north"), x.sel(axis="east")))
    daily = {
        f"daily, {axis}, {phase}": posterior["daily"].sel(axis=axis, phase=phase)
        for axis in ("east", "north")
        for phase in ("cosine", "sine")
    }
    return {"prevailing, degrees": angle, **daily, "kappa": posterior["kappa"]}


def plot(idata: xr.DataTree) -> Figure:
    """Plot the densities of each number from both samplers."""
    figure, axes = plt.subplots(2, 3, figsize=(9, 4.6), layout="constrained")
    colors = {"posterior": "#0072B2", "posterior_nuts": "#D55E00"}
    for label, group in METHODS.items():
        for ax, (name, values) in zip(axes.flat, numbers(idata, group).items(), strict=True):
            filled = group == "posterior"
            ax.hist(
                values.values.ravel(),
                bins=40,
                density=True,
                histtype="stepfilled" if filled else "step",
                alpha=0.4 if filled else 1.0,
                linewidth=1.5,
                color=colors[group],
                label=label,
            )
            ax.set(title=name, yticks=[])
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    without_box(*axes.flat)
    return figure


def report(idata: xr.DataTree) -> str:
    """Print the differences of means and standard deviations, and both times."""
    ours, theirs = (numbers(idata, group) for group in METHODS.values())
    lines = []
    for name in ours:
        sd = theirs[name].std().item()
        shift = (ours[name].mean().item() - theirs[name].mean().item()) / sd
        ratio = ours[name].std().item() / sd
        lines.append(f"{name}: means differ by {shift:+.2f} sd, ratio of sd {ratio:.2f}")
    for label, group in METHODS.items():
        seconds = idata[group].attrs["seconds"]
        effective = min(float(ess(values)) for values in numbers(idata, group).values())
        lines.append(
            f"{label}: {seconds:.1f} s in all, {effective:.0f} effective draws of the worst"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main(__doc__, run=run, plot=plot, report=report)
