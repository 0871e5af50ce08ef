#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Initial values of a model that is taken apart and put together again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pymc.model import Model
from pymc.util import treedict

__all__ = ["InitialValues", "give_initial_values", "hidden_initial_values"]


class InitialValues(treedict):
    """Initial values that do not keep PyMC from taking a model apart.

    PyMC refuses to do so as soon as one of ``values()`` is not ``None``, and thereby to compute the
    log likelihood of a model with initial values, which has nothing to do with them. Everything
    that starts a sampler reads them by key.
    """

    def values(self):
        """Return ``None`` for every variable."""
        return dict.fromkeys(self).values()


@contextmanager
def hidden_initial_values(model: Model) -> Iterator[None]:
    """Hide the initial values of a model, with which PyMC does not take it apart."""
    kept = model.rvs_to_initial_values
    model.rvs_to_initial_values = dict.fromkeys(kept)
    try:
        yield
    finally:
        model.rvs_to_initial_values = kept


def give_initial_values(model: Model, source: Model) -> None:
    """Give the variables of a model the initial values that those of ``source`` have."""
    kept = source.rvs_to_initial_values
    model.rvs_to_initial_values = InitialValues({model[rv.name]: kept[rv] for rv in kept})
