#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Common parts of the distributions of angles, and the wrapped normal distribution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from pymc.distributions.continuous import CircularContinuous
from pymc.distributions.dist_math import check_parameters
from pytensor.tensor.variable import TensorVariable

from pymc_geodesic.distributions.base import ChecksObserved, RandomGraph, on_support, with_signature
from pymc_geodesic.distributions.validation import as_float_tensor, check_numbers, constant_value
from pymc_geodesic.manifolds.euclidean import TOLERANCE, wrapped

__all__ = [
    "AngleDistribution",
    "WrappedNormal",
    "WrappedNormalRV",
    "check_mean_direction",
    "direction_and_length",
    "is_angle",
    "mean_direction",
]


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
        holds=lambda mu: abs(mu) <= 2 * np.pi + TOLERANCE,
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
    return abs(x) <= np.pi + TOLERANCE


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


class WrappedNormalRV(RandomGraph):
    """Random graph of :class:`WrappedNormal`."""

    extended_signature = "[rng],[size],(),()->[rng],()"

    @classmethod
    def draw(cls, mu, sigma, *, size, rng):
        """Return the generator's next state and draws."""
        options = {"size": size, "return_next_rng": True}
        next_rng, noise = pm.Normal.dist(rng=rng, **options)
        draws = wrapped(mu + sigma * noise)
        return next_rng, draws


def _log_by_turns(angle: TensorVariable, sigma: TensorVariable) -> TensorVariable:
    """Sum normal densities over the nearest turns: exact to rounding for sigma up to 1."""
    turns = 2 * np.pi * np.array([-1.0, 0.0, 1.0], dtype=angle.dtype)
    scaled = (angle[..., None] + turns) / sigma[..., None]
    half_log = np.asarray(0.5 * np.log(2 * np.pi), angle.dtype)
    return pt.logsumexp(-0.5 * scaled**2, axis=-1) - pt.log(sigma) - half_log


def _log_by_harmonics(angle: TensorVariable, sigma: TensorVariable) -> TensorVariable:
    """Sum the Fourier series: exact to rounding for sigma of 1 and more."""
    order = np.arange(1.0, 9.0, dtype=angle.dtype)
    weight = pt.exp(-0.5 * (order * sigma[..., None]) ** 2)
    total = (weight * pt.cos(order * angle[..., None])).sum(axis=-1)
    return pt.log1p(2 * total) - np.asarray(np.log(2 * np.pi), angle.dtype)


@with_signature()
class WrappedNormal(AngleDistribution):
    r"""
    Wrapped normal distribution: a normal variable wrapped around the circle.

    The density is with respect to length on the circle:

    .. math::

        f(x \mid \mu, \sigma) = \sum_{k=-\infty}^{\infty}
        \frac{1}{\sigma \sqrt{2 \pi}} e^{-(x - \mu + 2 \pi k)^2 / (2 \sigma^2)}

    ================  ==========================================
    Support           :math:`x \in [-\pi, \pi]`
    Mean direction    :math:`\mu`
    Resultant length  :math:`e^{-\sigma^2 / 2}`
    ================  ==========================================

    Parameters
    ----------
    mu : tensor_like of float
        Mean direction in radians, any number.
    sigma : tensor_like of float
        Scale of the normal variable in radians, positive.

    Raises
    ------
    ValueError
        If known values of ``sigma`` are not positive, or ``observed`` does not hold angles from -pi
        to pi. Symbolic parameters are checked when the log density is evaluated.

    Notes
    -----
    The log density is exact to rounding, by the sum above for :math:`\sigma \le 1` and by its
    Fourier series otherwise. Draws are exact. Free variables are on the
    :class:`~pymc_geodesic.manifolds.Circle`, where -pi and pi are the same point.

    References
    ----------
    .. [1] Mardia, K. V. and Jupp, P. E. (2000). Directional Statistics, section 3.5.7.
           DOI 10.1002/9780470316979

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> angles = np.random.default_rng(1).uniform(-np.pi, np.pi, 100)
    >>> with pm.Model():
    ...     sigma = pm.HalfNormal("sigma", 1.0)
    ...     x = pmg.WrappedNormal("x", mu=np.pi, sigma=sigma, observed=angles)
    >>> x.type.shape
    (100,)
    """

    rv_type = WrappedNormalRV
    support_point = mean_direction

    @classmethod
    def dist(cls, mu: Any, sigma: Any, **kwargs) -> TensorVariable:
        """Return a variable that is not registered in a model."""
        mu, sigma = as_float_tensor(mu), as_float_tensor(sigma)
        check_mean_direction(mu, "WrappedNormal")
        check_numbers(
            sigma,
            "sigma",
            "WrappedNormal",
            holds=lambda sigma: sigma > 0,
            expected="positive scales",
            advice="For a uniform angle use a large scale such as 10.",
        )
        return super().dist([mu, sigma], **kwargs)

    def logp(value, mu, sigma) -> TensorVariable:
        """Return the log density with respect to length."""
        angle = wrapped(value - mu)
        # Each form is used only for scales at which it is exact and its gradient is finite.
        turns = _log_by_turns(angle, pt.minimum(sigma, 1.0))
        harmonics = _log_by_harmonics(angle, pt.maximum(sigma, 1.0))
        res = on_support(pt.where(sigma < 1.0, turns, harmonics), value, is_angle)
        return check_parameters(res, sigma > 0, msg="sigma > 0")
