#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What a run keeps of the step that made it: its name, its settings and its manifolds.

PyMC lets a step write statistics but no attributes, so the record travels as a statistic and is
moved to the attributes of ``sample_stats`` when PyMC makes a ``DataTree`` of the trace.
"""

from __future__ import annotations

import json

from collections.abc import Mapping
from functools import wraps
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from pymc.backends.arviz import DataTreeConverter

__all__ = ["ATTRIBUTE", "STATISTIC", "RunRecord", "install", "read_records", "write_record"]

STATISTIC, ATTRIBUTE = "sampler", "pymc_geodesic"
# What says where a step runs and not how it samples, or is written elsewhere.
NOT_SETTINGS = {"backend", "blocked", "compile_kwargs", "initial_point", "model", "rng", "vars"}
# A schedule says all it is in less; an array says enough.
LONGEST = 200


class RunRecord(NamedTuple):
    """One step of a run.

    Attributes
    ----------
    step : str
        Name of its class, such as ``"gSGNHT"``.
    settings : dict of str to Any
        The keyword arguments that it was given; numbers, words, or what ``repr`` says of others.
    manifolds : dict of str to str
        Name of the manifold of each variable that it samples.
    """

    step: str
    settings: dict[str, Any]
    manifolds: dict[str, str]


def write_record(step: str, settings: Mapping[str, Any], manifolds: Mapping[str, str]) -> str:
    """Write a record as text, for the statistic of that name."""
    given = {
        name: _plain(value)
        for name, value in settings.items()
        if name not in NOT_SETTINGS and value is not None
    }
    return json.dumps({"step": step, "settings": given, "manifolds": dict(manifolds)})


def read_records(idata: xr.DataTree) -> list[RunRecord]:
    """Read the records of the steps that made a run; empty if it was made by others.

    Parameters
    ----------
    idata : DataTree
        Result of ``pm.sample``, from memory or from a file.
    """
    if "sample_stats" not in idata:
        return []
    stats = idata["sample_stats"].to_dataset()
    texts = stats.attrs.get(ATTRIBUTE)
    if texts is None:
        texts = _texts(stats[STATISTIC].values) if STATISTIC in stats else []
    texts = [texts] if isinstance(texts, str) else list(texts)
    return [RunRecord(**json.loads(str(text))) for text in texts]


def install() -> None:
    """Have PyMC's converter move records to the attributes. Traces of other steps stay alone."""
    original = DataTreeConverter.sample_stats_to_xarray
    if getattr(original, "moves_records", False):
        return

    @wraps(original)
    def sample_stats_to_xarray(self):
        found = original(self)
        if not found:
            return found
        return {name: _with_attribute(dataset) for name, dataset in found.items()}

    sample_stats_to_xarray.moves_records = True
    DataTreeConverter.sample_stats_to_xarray = sample_stats_to_xarray


def _with_attribute(dataset: xr.Dataset) -> xr.Dataset:
    if STATISTIC not in dataset or dataset[STATISTIC].size == 0:
        return dataset
    texts = _texts(dataset[STATISTIC].values)
    dataset = dataset.drop_vars(STATISTIC)
    # Text alone, and not a list with one entry, survives every file format.
    dataset.attrs[ATTRIBUTE] = texts[0] if len(texts) == 1 else texts
    unused = set(dataset.dims) - {dim for value in dataset.values() for dim in value.dims}
    return dataset.drop_dims(unused)


def _texts(values: np.ndarray) -> list[str]:
    """Read the text of each step from ``(chain, draw)`` or ``(chain, draw, step)``."""
    first = np.atleast_1d(values[0, 0])
    return [text for text in first if isinstance(text, str) and text]


def _plain(value: Any) -> Any:
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if np.ndim(value) == 0 and np.asarray(value).dtype.kind in "biuf":
        return np.asarray(value).item()
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
