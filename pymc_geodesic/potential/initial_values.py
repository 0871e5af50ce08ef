#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Initial values of a model while its graph is rebuilt."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pymc.model import Model
from pymc.util import treedict

__all__ = ["InitialValues", "give_initial_values", "hidden_initial_values"]


class InitialValues(treedict):
    """Initial values that let PyMC convert a model into a graph.

    PyMC raises an error if any of ``values()`` is not ``None``, and so cannot compute the log
    likelihood of a model with initial values. Code that starts a sampler reads them by key.
    """

    def values(self):
        """Return ``None`` for every variable."""
        return dict.fromkeys(self).values()


@contextmanager
def hidden_initial_values(model: Model) -> Iterator[None]:
    """Hide the initial values of a model, so that PyMC converts it into a graph."""
    kept = model.rvs_to_initial_values
    model.rvs_to_initial_values = dict.fromkeys(kept)
    try:
        yield
    finally:
        model.rvs_to_initial_values = kept


def give_initial_values(model: Model, source: Model) -> None:
    """Copy the initial values of the variables of ``source`` to a model."""
    kept = source.rvs_to_initial_values
    model.rvs_to_initial_values = InitialValues({model[rv.name]: kept[rv] for rv in kept})
