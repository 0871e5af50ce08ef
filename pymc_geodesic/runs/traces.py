#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A ``DataTree`` in the form of ``pm.sample``, from draws; the model that it has sampled."""

from __future__ import annotations

import warnings

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pymc
import xarray as xr

from pymc.model import Model
from pymc.pytensorf import extract_obs_data
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Variable
from pytensor.graph.traversal import ancestors

from pymc_geodesic.potential.minibatch import has_minibatch
from pymc_geodesic.rows.convert import minibatch
from pymc_geodesic.run_record import ATTRIBUTE, batch_size_of
from pymc_geodesic.runs.deterministics import Traced
from pymc_geodesic.sampling.run import Arrays
from pymc_geodesic.stages import log

__all__ = [
    "Drawn",
    "Labels",
    "constants",
    "labels_of",
    "observations",
    "sampled_model",
    "to_datatree",
]

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


@dataclass(frozen=True)
class Labels:
    """What names the arrays of a result, and their axes and entries.

    Attributes
    ----------
    names : dict of str to str
        Names in the result that differ from those in the model.
    dims : dict of str to list of str
        Dimensions of variables, by their names in the result.
    coords : dict of str to ndarray
        Coordinates of dimensions.
    texts : tuple of str
        Dimensions whose coordinates are texts in place of what the model has.
    """

    names: dict[str, str]
    dims: dict[str, list[str]]
    coords: dict[str, np.ndarray]
    texts: tuple[str, ...]

    def name(self, name: str) -> str:
        """Return the name of a variable in the result."""
        return self.names.get(name, name)

    def log(self) -> None:
        """Say what is called otherwise than in the model."""
        for name, new in self.names.items():
            log.warning(
                f"The variable `{name}` is `{new}` in the result, in which `{name}` is an axis."
            )
        for dim in self.texts:
            log.warning(
                f"The coordinates of `{dim}` are texts in the result, such as "
                f"{str(self.coords[dim][0])!r}: files hold no others but numbers and dates."
            )


def labels_of(model: Model) -> Labels:
    """Return the labels of a model's variables in a result."""
    variables = model.unobserved_RVs
    taken = {"chain", "draw"}
    for x in variables:
        taken |= {f"{x.name}_dim_{i}" for i in range(x.ndim)}
    names: dict[str, str] = {}
    known = {x.name for x in variables}
    for name in known & taken:
        new = f"{name}_"
        while new in known | taken:
            new += "_"
        names[name] = new
    known_dims = model.named_vars_to_dims.items()
    dims = {names.get(name, name): [str(dim) for dim in own] for name, own in known_dims}
    given = {dim: values for dim, values in model.coords.items() if values is not None}
    coords = {dim: _array(values) for dim, values in given.items()}
    texts = tuple(dim for dim, x in coords.items() if x is None)
    arrays = {
        dim: np.array([_text(label) for label in given[dim]]) if x is None else x
        for dim, x in coords.items()
    }
    return Labels(names, dims, arrays, texts)


def _array(values: Sequence[Any]) -> np.ndarray | None:
    """Return labels as PyMC does; None if they are no array, or objects that no file holds."""
    try:
        array = np.array(values)
    except ValueError:
        return None
    if array.ndim == 1 and array.dtype == object:
        # Dates of pandas are objects with a type of their own.
        dates = [getattr(value, "to_datetime64", None) for value in values]
        return np.array([date() for date in dates if date]) if all(dates) else None
    return array if array.ndim == 1 else None


def _text(label: Any) -> str:
    return ", ".join(map(str, label)) if isinstance(label, tuple | list) else str(label)


def sampled_model[T: Model | None](model: T, idata: xr.DataTree) -> T:
    """Return the model that was sampled, given that of all rows or the model itself."""
    batch_size = batch_size_of(idata)
    if model is None or batch_size is None or has_minibatch(model):
        return model
    # What the run has integrated out is not in its result.
    there = [str(name) for name in idata["posterior"].data_vars] if "posterior" in idata else []
    kept = [rv.name for rv in model.free_RVs if rv.name in there]
    return minibatch(model, batch_size=batch_size, var_names=kept)


def observations(model: Model) -> dict[str, np.ndarray]:
    """Return the observed data, by the names of variables."""
    found = {}
    for rv in model.observed_RVs:
        try:
            found[rv.name] = _values(model.rvs_to_values[rv])
        except TypeError:
            warnings.warn(f"`{rv.name}` has no data that can be stored.", UserWarning, stacklevel=2)
    return found


def constants(model: Model) -> dict[str, np.ndarray]:
    """Return the other data, by their names."""
    used = set(ancestors([*model.basic_RVs, *model.deterministics, *model.potentials]))
    only_observed = set(model.rvs_to_values.values()) - used
    return {x.name: _values(x) for x in model.data_vars if x not in only_observed}


def _values(data: Variable) -> np.ndarray:
    if not isinstance(data, SharedVariable):
        return extract_obs_data(data)
    found = np.asarray(data.get_value(borrow=True)).view()
    # Changes to a result must not change the model.
    found.flags.writeable = False
    return found
