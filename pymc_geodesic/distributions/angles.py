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

from pymc_geodesic.distributions.base import ChecksObserved
from pymc_geodesic.distributions.validation import as_float_tensor, check_numbers, constant_value
from pymc_geodesic.manifolds.euclidean import wrapped

__all__ = [
    "AngleDistribution",
    "check_mean_direction",
    "direction_and_length",
    "is_angle",
    "mean_direction",
]

# The tolerance of the manifold, for angles stored in single precision.
_TOLERANCE = 1e-6


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


def direction_and_length(
    mu: Any, rho: Any, owner: str, *, holds: Callable, expected: str
) -> tuple[TensorVariable, TensorVariable]:
    """Read mean directions and resultant lengths.

    Raises
    ------
    ValueError
        See :func:`~pymc_geodesic.distributions.validation.check_numbers`.
    """
    mu, rho = as_float_tensor(mu), as_float_tensor(rho)
    check_mean_direction(mu, owner)
    advice = "To reverse the direction, add pi to `mu`."
    check_numbers(rho, "rho", owner, holds=holds, expected=expected, advice=advice)
    return mu, rho


def is_angle(x):
    """Return whether entries of an array or a tensor are from -pi to pi."""
    return abs(x) <= np.pi + _TOLERANCE


def _check_angles(x: Any, argument: str, owner: str) -> None:
    value = constant_value(x)
    if value is None or bool(np.all(is_angle(value))):
        return
    raise ValueError(
        f"`{owner}` expected finite angles from -pi to pi in `{argument}`, got values in "
        f"[{np.min(value):.6g}, {np.max(value):.6g}]. Convert degrees with `np.deg2rad`, and wrap "
        "angles with `(x + np.pi) % (2 * np.pi) - np.pi`."
    )


class AngleDistribution(ChecksObserved, CircularContinuous):
    """A distribution of angles from -pi to pi: checks of observed data."""

    check_observed = staticmethod(_check_angles)
