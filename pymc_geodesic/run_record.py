#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The record that a run keeps of its step method: name, settings and manifolds.

PyMC lets a step write statistics but no attributes, so the record travels as a statistic and is
moved to the attributes of ``sample_stats`` when PyMC makes a ``DataTree`` of the trace.
"""

from __future__ import annotations

import json

from collections.abc import Mapping, Sequence
from functools import wraps
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from pymc.backends.arviz import DataTreeConverter

__all__ = ["ATTRIBUTE", "STATISTIC", "RunRecord", "install", "read_records", "write_record"]

STATISTIC, ATTRIBUTE = "sampler", "pymc_geodesic"
# Settings of where a step runs rather than how it samples, and those recorded elsewhere.
NOT_SETTINGS = {"backend", "blocked", "compile_kwargs", "initial_point", "model", "rng", "vars"}
# Longer than the text of any schedule; arrays are truncated.
LONGEST = 200


class RunRecord(NamedTuple):
    """One step method of a run.

    Attributes
    ----------
    step : str
        Name of its class, such as ``"gSGNHT"``.
    settings : dict of str to Any
        The keyword arguments that were given: numbers, strings, or the ``repr`` of other values.
    manifolds : dict of str to str
        Name of the manifold of each sampled variable.
    angles : sequence of str
        Names of Deterministics that are angles.
    components : sequence of str
        Sampled variables whose rows have no order, such as topics.
    """

    step: str
    settings: dict[str, Any]
    manifolds: dict[str, str]
    angles: Sequence[str] = ()
    components: Sequence[str] = ()


def write_record(
    step: str,
    settings: Mapping[str, Any],
    manifolds: Mapping[str, str],
    *,
    angles: Sequence[str] = (),
    components: Sequence[str] = (),
) -> str:
    """Write a record as text, for the statistic of the same name."""
    given = {
        name: _plain(value)
        for name, value in settings.items()
        if name not in NOT_SETTINGS and value is not None
    }
    record = {"step": step, "settings": given, "manifolds": dict(manifolds)}
    names = {"angles": list(angles), "components": list(components)}
    return json.dumps(record | {key: found for key, found in names.items() if found})


def read_records(idata: xr.DataTree) -> list[RunRecord]:
    """Read the records of the steps of a run; empty for steps of other packages.

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
    """Make PyMC's converter move records to the attributes. Other traces do not change."""
    original = DataTreeConverter.sample_stats_to_xarray
    if getattr(original, "moves_records", False):
        return

    @wraps(original)
    def sample_stats_to_xarray(self: DataTreeConverter) -> Any:
        found = original(self)
        if not found:
            return found
        return {name: _with_attribute(dataset) for name, dataset in found.items()}

    sample_stats_to_xarray.moves_records = True  # type: ignore[attr-defined]
    DataTreeConverter.sample_stats_to_xarray = sample_stats_to_xarray


def _with_attribute(dataset: xr.Dataset) -> xr.Dataset:
    if STATISTIC not in dataset or dataset[STATISTIC].size == 0:
        return dataset
    texts = _texts(dataset[STATISTIC].values)
    dataset = dataset.drop_vars(STATISTIC)
    # A string survives every file format; a list with one entry does not.
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
