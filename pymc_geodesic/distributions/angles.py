#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Common parts of the distributions of angles: checks of data and parameters, the support."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytensor.tensor as pt

from pymc.distributions.continuous import CircularContinuous
from pytensor.tensor.variable import TensorVariable

from pymc_geodesic.distributions.validation import check_numbers, constant_value
from pymc_geodesic.manifolds.circle import wrapped

__all__ = [
    "AngleDistribution",
    "check_mean_direction",
    "check_resultant_length",
    "is_angle",
    "mean_direction",
]

# The tolerance of the manifold, for angles stored in single precision.
_TOLERANCE = 1e-6


class AngleDistribution(CircularContinuous):
    """A distribution of angles from -pi to pi: checks of observed data."""

    def __new__(cls, name: str, *args, observed: Any = None, **kwargs) -> TensorVariable:
        """Add the variable to the model on the context stack."""
        if observed is not None:
            _check_angles(observed, cls.__name__)
        return super().__new__(cls, name, *args, observed=observed, **kwargs)


def mean_direction(rv, size, mu, *others) -> TensorVariable:
    """Return the mean direction, as a support point."""
    return pt.broadcast_to(wrapped(mu), rv.shape)


def check_mean_direction(mu: TensorVariable, owner: str) -> None:
    """Raise an error if ``mu`` is known and has angles of more than a turn, such as degrees.

    Raises
    ------
    ValueError
        See :func:`~pymc_geodesic.distributions.validation.check_numbers`.
    """
    check_numbers(
        mu,
        "mu",
        owner,
        holds=lambda mu: abs(mu) <= 2 * np.pi + _TOLERANCE,
        expected="angles from -2 pi to 2 pi",
        advice="Convert degrees with `np.deg2rad`.",
    )


def check_resultant_length(
    rho: TensorVariable, owner: str, *, holds: Callable, expected: str
) -> None:
    """Raise an error if ``rho`` is known and not a possible resultant length.

    Raises
    ------
    ValueError
        See :func:`~pymc_geodesic.distributions.validation.check_numbers`.
    """
    advice = "To reverse the direction, add pi to `mu`."
    check_numbers(rho, "rho", owner, holds=holds, expected=expected, advice=advice)


def is_angle(x):
    """Return whether entries of an array or a tensor are from -pi to pi."""
    return abs(x) <= np.pi + _TOLERANCE


def _check_angles(observed: Any, owner: str) -> None:
    value = constant_value(observed)
    if value is None or bool(np.all(is_angle(value))):
        return
    raise ValueError(
        f"`{owner}` expected finite angles from -pi to pi in `observed`, got values in "
        f"[{np.min(value):.6g}, {np.max(value):.6g}]. Convert degrees with `np.deg2rad`, and wrap "
        "angles with `(x + np.pi) % (2 * np.pi) - np.pi`."
    )
