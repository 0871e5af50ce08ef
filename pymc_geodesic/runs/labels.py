#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Names, dimensions and coordinates that a result can hold, whatever those of the model are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pymc.model import Model

from pymc_geodesic.sampling.log import log

__all__ = ["Labels", "labels_of"]


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
