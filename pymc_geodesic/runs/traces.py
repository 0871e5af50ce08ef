#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A ``DataTree`` in the form of ``pm.sample``, from the draws of all chains."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pymc
import xarray as xr

from pymc.model import Model

from pymc_geodesic.run_record import ATTRIBUTE
from pymc_geodesic.runs.deterministics import Traced
from pymc_geodesic.runs.labels import Labels, labels_of
from pymc_geodesic.runs.sampled_models import constants, observations
from pymc_geodesic.sampling.log import log
from pymc_geodesic.sampling.run import Arrays

__all__ = ["Drawn", "to_datatree"]

# Statistics that PyMC leaves out too.
UNUSED = {"warning", "tune", "in_warmup"}


@dataclass(frozen=True)
class Drawn:
    """The draws of a phase, equally many for all chains.

    Attributes
    ----------
    values, statistics : dict of str to ndarray, shape (chains, draws, ...)
        PyMC's values and the statistics.
    is_tuning : bool
        Whether it is the tuning phase.
    """

    values: Arrays
    statistics: Arrays
    is_tuning: bool


def to_datatree(
    phases: list[Drawn],
    *,
    model: Model,
    traced: Traced,
    record: str,
    tune: int,
    seconds: float,
    plain: bool = False,
) -> xr.DataTree:
    """Return draws in the form of ``pm.sample``.

    Parameters
    ----------
    phases : list of Drawn
        The draws.
    model : Model
        The model, for coordinates and data.
    traced : Traced
        Variables to return.
    record : str
        Record of the step.
    tune : int
        Length of the tuning phase.
    seconds : float
        Duration of the run.
    plain : bool
        Whether to leave out all that can fail or last: Deterministics, coordinates and data.
    """
    # Imported on first use, because ArviZ imports JAX if installed.
    from arviz_base import dict_to_dataset

    labels = labels_of(model)
    dims, coords = ({}, {}) if plain else (labels.dims, labels.coords)
    attrs = {"sampling_time": seconds, "tuning_steps": tune}
    posteriors, statistics = {}, {}
    for drawn in phases:
        [shape] = {x.shape for x in drawn.statistics.values()}
        found = traced.kept(drawn.values, shape, only_free=plain)
        prefix = "warmup_" if drawn.is_tuning else ""
        posteriors[f"{prefix}posterior"] = dict_to_dataset(
            {labels.name(name): x for name, x in found.items()},
            inference_library=pymc,
            # Many chains may be longer than their draws.
            check_conventions=False,
            coords=coords,
            dims=dims,
            attrs=attrs,
        )
        statistics[f"{prefix}sample_stats"] = dict_to_dataset(
            {name: x for name, x in drawn.statistics.items() if name not in UNUSED},
            inference_library=pymc,
            check_conventions=False,
            coords=coords,
            attrs=attrs | {ATTRIBUTE: record},
        )
    groups: dict[str, xr.Dataset] = posteriors | statistics
    if not plain:
        for name, find in (("observed_data", observations), ("constant_data", constants)):
            if (data := _data(name, find, model, labels)) is not None:
                groups[name] = data
    return xr.DataTree.from_dict(groups)


def _data(
    name: str, find: Callable[[Model], Mapping[str, Any]], model: Model, labels: Labels
) -> xr.Dataset | None:
    """Return a group of the model's data; None if there are none, or if it cannot be made."""
    from arviz_base import dict_to_dataset

    try:
        found = {key: np.asarray(value) for key, value in find(model).items()}
        if not found and name == "constant_data":
            return None
        return dict_to_dataset(
            found,
            inference_library=pymc,
            coords=labels.coords,
            dims=labels.dims,
            sample_dims=[],
        )
    except Exception as error:
        log.warning(f"The group `{name}` is left out of the result: {error}.")
        return None
