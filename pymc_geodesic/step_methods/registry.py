#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Telling PyMC of the package's step methods."""

from __future__ import annotations

from collections.abc import Iterable

from pymc.step_methods import STEP_METHODS
from pymc.step_methods.compound import BlockedStep

__all__ = ["register_step_methods"]


def register_step_methods(methods: Iterable[type[BlockedStep]]) -> None:
    """Append step methods to PyMC's list, once.

    None of ours claims a variable, so models that do not name them are sampled as before. Being
    asked is what lets them warn when PyMC's own steps are about to sample a minibatch model.
    """
    for method in methods:
        if method not in STEP_METHODS:
            STEP_METHODS.append(method)
