#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Runs of ``pm.sample``, and models with minibatches or with all rows."""

from __future__ import annotations

import logging
import time
import warnings

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pymc as pm

import pymc_geodesic as pmg

__all__ = ["Run", "SamplingClock", "flat", "of_seeds", "rows", "sample", "set_step_size"]


class Run(NamedTuple):
    """Draws and statistics of one run as arrays ``(chain, draw, ...)``, and its wall time."""

    draws: dict[str, np.ndarray]
    stats: dict[str, np.ndarray]
    seconds: float


class SamplingClock:
    """A ``callback`` of ``pm.sample`` that times the draws that are kept.

    For chains of one process. What comes before the last draw of the tuning phase is left out:
    compilation, the search of a center, tuning.

    Attributes
    ----------
    seconds : float
        Seconds of the processor, all threads together, for the kept draws of all chains: what else
        runs on the machine does not count.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self._last = time.process_time()

    def __call__(self, trace: Any, draw: Any) -> None:
        """Note the time of a draw."""
        now = time.process_time()
        if not draw.tuning:
            self.seconds += now - self._last
        self._last = now


def sample(model: pm.Model, step: Callable[[], Any], **options: Any) -> Run:
    """Run ``pm.sample`` quietly and in this process; ``step`` builds the step method."""
    logging.getLogger("pymc").setLevel(logging.ERROR)
    start = time.perf_counter()
    with model, warnings.catch_warnings():
        # Few chains, and chains that are wrong on purpose: PyMC warns of both.
        warnings.simplefilter("ignore", UserWarning)
        idata = pm.sample(
            step=step(), cores=1, progressbar=False, compute_convergence_checks=False, **options
        )
    seconds = time.perf_counter() - start
    groups = [
        {name: np.asarray(values) for name, values in idata[group].data_vars.items()}
        for group in ("posterior", "sample_stats")
    ]
    return Run(*groups, seconds)


def of_seeds(model: pm.Model, step: Any, seeds: Sequence[int], **options: Any) -> list[Run]:
    """Run one chain with each seed; the step is compiled once."""
    return [sample(model, lambda: step, chains=1, random_seed=seed, **options) for seed in seeds]


def rows(minibatch: bool, *arrays: np.ndarray, batch_size: int = 100) -> tuple[list, dict]:
    """Data as a model takes them, and the keywords of the observed variable."""
    if not minibatch:
        return list(arrays), {}
    batch = pm.Minibatch(*arrays, batch_size=batch_size)
    batch = batch if isinstance(batch, list | tuple) else [batch]
    return list(batch), {"total_size": len(arrays[0])}


def flat(draws: Mapping[str, np.ndarray], names: Sequence[str]) -> np.ndarray:
    """Entries of some variables side by side: ``(chain, draw, entry)``."""
    arrays = [np.asarray(draws[name]) for name in names]
    return np.concatenate([a.reshape(*a.shape[:2], -1) for a in arrays], axis=-1)


def set_step_size(step: Any, step_size: float | Any, **parameters: float) -> None:
    """Have the chains of a step begin with another step size or schedule, and other parameters."""
    schedule = step_size if callable(step_size) else pmg.ConstantSchedule(step_size)
    settings = step.sampler.settings
    step.sampler.settings = replace(
        settings, schedule=schedule, parameters={**settings.parameters, **parameters}
    )
