#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Conversion of arrays of draws to a ``DataTree``, by PyMC's own converter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from pymc.backends.arviz import to_inference_data
from pymc.backends.base import MultiTrace
from pymc.backends.ndarray import NDArray
from pymc.model import Model
from pymc.stats.convergence import log_warnings
from pymc.util import drop_warning_stat

from pymc_geodesic.run_record import STATISTIC
from pymc_geodesic.runs.convergence import warnings_of_convergence
from pymc_geodesic.runs.deterministics import Traced
from pymc_geodesic.runs.running_moments import TraceOfStatistics
from pymc_geodesic.sampling.run import Arrays

__all__ = ["Drawn", "to_datatree"]


@dataclass(frozen=True)
class Drawn:
    """The draws of a run, equally many for all chains.

    Attributes
    ----------
    values, statistics : dict of str to ndarray, shape (chains, n_warmup + n_draws, ...)
        PyMC's values and the statistics; those of the tuning phase, if they are kept, come first.
    record : str
        Record of the step.
    n_warmup, n_draws : int
        Numbers of kept draws.
    tune : int
        Length of the tuning phase.
    seconds : float
        Duration of the run.
    """

    values: Arrays
    statistics: Arrays
    record: str
    n_warmup: int
    n_draws: int
    tune: int
    seconds: float


def to_datatree(drawn: Drawn, *, model: Model, traced: Traced, checks: bool = True) -> xr.DataTree:
    """Return draws in the form of ``pm.sample``.

    Parameters
    ----------
    drawn : Drawn
        The draws.
    model : Model
        The model, for coordinates and data.
    traced : Traced
        Variables to return.
    checks : bool
        Whether to check convergence.
    """
    trace = _multitrace(drawn, model, traced)
    idata = to_inference_data(trace, model=model, save_warmup=drawn.n_warmup > 0)
    if checks and drawn.n_draws and traced.variables:
        log_warnings(warnings_of_convergence(idata, model))
    return drop_warning_stat(idata)


def _multitrace(drawn: Drawn, model: Model, traced: Traced) -> MultiTrace:
    [shape] = {x.shape for x in drawn.statistics.values()}
    samples = traced(drawn.values, shape)
    record = np.full(shape, drawn.record, dtype=object)
    statistics = drawn.statistics | {STATISTIC: record}
    dtypes = {name: x.dtype for name, x in statistics.items()}
    n_chains = len(record)
    traces = []
    make = NDArray if traced.variables else TraceOfStatistics
    for chain in range(n_chains):
        trace = make(
            model=model,
            vars=traced.variables,
            fn=_unused,
            var_shapes={name: x.shape[2:] for name, x in samples.items()},
            var_dtypes={name: x.dtype for name, x in samples.items()},
        )
        trace.setup(0, chain, [dtypes])
        trace.samples = {name: x[chain] for name, x in samples.items()}
        trace._stats = [{name: x[chain] for name, x in statistics.items()}]
        trace.draws = trace.draw_idx = drawn.n_warmup + drawn.n_draws
        traces.append(trace)
    multitrace = MultiTrace(traces)
    report = multitrace.report
    report._n_tune, report._n_draws = drawn.tune, drawn.n_draws
    report._t_sampling = drawn.seconds
    return multitrace


def _unused(*arrays: np.ndarray) -> Any:
    """Replace the function with which PyMC's traces compute variables from a point."""
    raise NotImplementedError
