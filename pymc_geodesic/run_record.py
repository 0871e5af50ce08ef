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

from pymc_geodesic.entry_names import entry_name

__all__ = [
    "ATTRIBUTE",
    "STATISTIC",
    "SUPERCHAINS",
    "ModeRecord",
    "ModesRecord",
    "RunRecord",
    "advice_on_modes",
    "batch_size_of",
    "install",
    "of_modes",
    "read_records",
    "with_modes",
    "write_record",
]

STATISTIC, ATTRIBUTE = "sampler", "pymc_geodesic"
# Attribute of draws of many chains: the number of chains from which the others continue in turn.
SUPERCHAINS = "n_superchains"
# Settings of where a step runs rather than how it samples, and those recorded elsewhere.
NOT_SETTINGS = {"blocked", "initial_point", "model", "rng", "vars"}
# Longer than the text of any schedule; arrays are truncated.
LONGEST = 200


class ModeRecord(NamedTuple):
    """A mode of the posterior other than the heaviest, and where it is farthest from that.

    Attributes
    ----------
    weight : float
        Its share of the probability, by Laplace's approximation.
    variable : str
        Name of the variable that differs most.
    place : sequence of int
        Index of its entry.
    value, heaviest : float
        Values of this entry at the mode and at the heaviest one.
    distance : float
        Between them, in standard deviations around the heaviest mode.
    """

    weight: float
    variable: str
    place: Sequence[int]
    value: float
    heaviest: float
    distance: float

    @property
    def entry(self) -> str:
        """The entry as it is written in Python."""
        return entry_name(self.variable, self.place)


class ModesRecord(NamedTuple):
    """What a search for other modes before the first draw has found.

    Attributes
    ----------
    weight : float
        Share of the heaviest mode.
    others : list of ModeRecord
        Other modes with more than a hundredth of the probability; not those that are one of the
        found with other labels.
    counts : sequence of int
        How many chains began in each mode, the heaviest first.
    n_starts : int
        Points from which was searched.
    not_looked : str
        Why it could not be searched; empty if it was.
    """

    weight: float = 1.0
    others: Sequence[ModeRecord] = ()
    counts: Sequence[int] = ()
    n_starts: int = 0
    not_looked: str = ""


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
    modes : ModesRecord or None
        What a search for other modes has found; None for a step that does not tune itself.
    batch_size : int, optional
        Rows of a batch of ``pm.Minibatch``.
    """

    step: str
    settings: dict[str, Any]
    manifolds: dict[str, str]
    angles: Sequence[str] = ()
    components: Sequence[str] = ()
    modes: ModesRecord | None = None
    batch_size: int | None = None


def write_record(
    step: str,
    settings: Mapping[str, Any],
    manifolds: Mapping[str, str],
    *,
    angles: Sequence[str] = (),
    components: Sequence[str] = (),
    batch_size: int | None = None,
) -> str:
    """Write a record as text, for the statistic of the same name."""
    given = {
        name: _plain(value)
        for name, value in settings.items()
        if name not in NOT_SETTINGS and value is not None
    }
    record = {"step": step, "settings": given, "manifolds": dict(manifolds)}
    others = {
        "angles": list(angles),
        "components": list(components),
        "batch_size": batch_size,
    }
    return json.dumps(record | {key: found for key, found in others.items() if found})


def of_modes(modes: ModesRecord) -> str:
    """Describe several modes in sentences."""
    beside = [
        f"Another has {one.weight:.2g}: there `{one.entry}` is {one.value:.3g} instead of "
        f"{one.heaviest:.3g}, {one.distance:.2g} standard deviations away."
        for one in modes.others
    ]
    text = (
        f"The posterior has {len(modes.others) + 1} modes that matter. The heaviest has "
        f"{modes.weight:.2g} of the probability, by Laplace's approximation. {' '.join(beside)}"
    )
    if (n_chains := sum(modes.counts)) < 2:
        return text
    counts = [f"{n:d}" for n in modes.counts]
    shares = f"{', '.join(counts[:-1])} and {counts[-1]}"
    return f"{text} Of the {n_chains} chains that were tuned, {shares} began in these modes."


def advice_on_modes(modes: ModesRecord) -> str:
    """Say what to do with several modes."""
    return (
        "Say in the model which mode is meant, by a prior or a constraint on "
        f"`{modes.others[0].variable}`. Or weigh the chains of each mode by its share of the "
        "probability: draws of all chains together have other shares."
    )


def with_modes(text: str, modes: ModesRecord | None) -> str:
    """Add what is known of the posterior's modes to a record."""
    if modes is None:
        return text
    others = [one._asdict() for one in modes.others]
    return json.dumps(json.loads(text) | {"modes": modes._asdict() | {"others": others}})


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
    return [_read(str(text)) for text in texts]


def batch_size_of(idata: xr.DataTree) -> int | None:
    """Return the rows of a batch of a run; None if it read no batches."""
    return next((x.batch_size for x in read_records(idata) if x.batch_size), None)


def _read(text: str) -> RunRecord:
    found = json.loads(text)
    if (modes := found.get("modes")) is not None:
        others = tuple(ModeRecord(**one) for one in modes["others"])
        found["modes"] = ModesRecord(**modes | {"others": others})
    return RunRecord(**found)


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
    # Chains that tune themselves alone may have found different numbers of modes.
    steps = np.atleast_2d(values[:, 0].T if values.ndim > 2 else values[:, 0])
    texts = [[text for text in chains if isinstance(text, str) and text] for chains in steps]
    return [max(of_chains, key=len) for of_chains in texts if of_chains]


def _plain(value: Any) -> Any:
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    is_number = isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biuf"
    if is_number and value.ndim == 0:
        return value.item()
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
