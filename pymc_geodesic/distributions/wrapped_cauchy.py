#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The wrapped Cauchy and the cardioid distribution of angles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from pymc.distributions.dist_math import check_parameters
from pytensor.tensor.variable import TensorVariable

from pymc_geodesic.distributions.angles import (
    AngleDistribution,
    direction_and_length,
    is_angle,
    mean_direction,
)
from pymc_geodesic.distributions.base import RandomGraph, on_support, with_signature
from pymc_geodesic.manifolds.euclidean import wrapped

__all__ = ["Cardioid", "CardioidRV", "WrappedCauchy", "WrappedCauchyRV"]


class WrappedCauchyRV(RandomGraph):
    """Random graph of :class:`WrappedCauchy`."""

    extended_signature = "[rng],[size],(),()->[rng],()"

    @classmethod
    def draw(cls, mu, rho, *, size, rng):
        """Return the generator's next state and draws."""
        options = {"size": size, "return_next_rng": True}
        next_rng, turn = pm.Uniform.dist(-0.5, 0.5, rng=rng, **options)
        draws = wrapped(mu + 2 * pt.arctan((1 - rho) / (1 + rho) * pt.tan(np.pi * turn)))
        return next_rng, draws


@with_signature()
class WrappedCauchy(AngleDistribution):
    r"""
    Wrapped Cauchy distribution: a Cauchy variable wrapped around the circle.

    The density is with respect to length on the circle:

    .. math::

        f(x \mid \mu, \rho) = \frac{1}{2 \pi} \,
        \frac{1 - \rho^2}{1 + \rho^2 - 2 \rho \cos(x - \mu)}

    ================  ==========================================
    Support           :math:`x \in [-\pi, \pi]`
    Mean direction    :math:`\mu`
    Resultant length  :math:`\rho`
    ================  ==========================================

    Parameters
    ----------
    mu : tensor_like of float
        Mean direction in radians, any number.
    rho : tensor_like of float
        Resultant length, from 0, the uniform distribution, to below 1.

    Raises
    ------
    ValueError
        If known values of ``rho`` are out of range, or ``observed`` does not hold angles from -pi
        to pi. Symbolic parameters are checked when the log density is evaluated.

    Notes
    -----
    Draws are exact. Free variables are on the :class:`~pymc_geodesic.manifolds.Circle`, where -pi
    and pi are the same point.

    References
    ----------
    .. [1] Mardia, K. V. and Jupp, P. E. (2000). Directional Statistics, section 3.5.7.
           DOI 10.1002/9780470316979

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> angles = np.random.default_rng(1).uniform(-np.pi, np.pi, 100)
    >>> with pm.Model():
    ...     rho = pm.Beta("rho", 2.0, 2.0)
    ...     x = pmg.WrappedCauchy("x", mu=0.0, rho=rho, observed=angles)
    >>> x.type.shape
    (100,)
    """

    rv_type = WrappedCauchyRV
    support_point = mean_direction

    @classmethod
    def dist(cls, mu: Any, rho: Any, **kwargs) -> TensorVariable:
        """Return a variable that is not registered in a model."""
        mu, rho = direction_and_length(
            mu,
            rho,
            "WrappedCauchy",
            holds=lambda rho: (rho >= 0) & (rho < 1),
            expected="resultant lengths from 0 to below 1",
        )
        return super().dist([mu, rho], **kwargs)

    def logp(value, mu, rho) -> TensorVariable:
        """Return the log density with respect to length."""
        # Has no cancellation if rho and the cosine are near one.
        spread = (1 - rho) ** 2 + 4 * rho * pt.sin(0.5 * (value - mu)) ** 2
        res = pt.log1p(rho) + pt.log1p(-rho) - pt.log(spread) - np.log(2 * np.pi)
        res = on_support(res.astype(value.dtype), value, is_angle)
        return check_parameters(res, rho >= 0, rho < 1, msg="0 <= rho < 1")


class CardioidRV(RandomGraph):
    """Random graph of :class:`Cardioid`."""

    extended_signature = "[rng],[size],(),()->[rng],()"

    @classmethod
    def draw(cls, mu, rho, *, size, rng):
        """Return the generator's next state and draws."""
        options = {"size": size, "return_next_rng": True}
        # Mix a uniform angle with one of density (1 + cos) / (2 pi), half of which has a sine with
        # the density of a half circle.
        next_rng, choice = pm.Uniform.dist(0.0, 1.0, rng=rng, **options)
        next_rng, uniform = pm.Uniform.dist(-np.pi, np.pi, rng=next_rng, **options)
        next_rng, sine = pm.Beta.dist(1.5, 1.5, rng=next_rng, **options)
        angle = pt.where(choice < 2 * rho, 2 * pt.arcsin(2 * sine - 1), uniform)
        draws = wrapped(mu + angle)
        return next_rng, draws


@with_signature()
class Cardioid(AngleDistribution):
    r"""
    Cardioid distribution, whose density is a constant plus a cosine.

    The density is with respect to length on the circle:

    .. math::

        f(x \mid \mu, \rho) = \frac{1 + 2 \rho \cos(x - \mu)}{2 \pi}

    ================  ==========================================
    Support           :math:`x \in [-\pi, \pi]`
    Mean direction    :math:`\mu`
    Resultant length  :math:`\rho`
    ================  ==========================================

    Parameters
    ----------
    mu : tensor_like of float
        Mean direction in radians, any number.
    rho : tensor_like of float
        Resultant length, from 0, the uniform distribution, to 1/2.

    Raises
    ------
    ValueError
        If known values of ``rho`` are out of range, or ``observed`` does not hold angles from -pi
        to pi. Symbolic parameters are checked when the log density is evaluated.

    Notes
    -----
    Draws are exact. Free variables are on the :class:`~pymc_geodesic.manifolds.Circle`, where -pi
    and pi are the same point.

    References
    ----------
    .. [1] Mardia, K. V. and Jupp, P. E. (2000). Directional Statistics, section 3.5.5.
           DOI 10.1002/9780470316979

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> angles = np.random.default_rng(1).uniform(-np.pi, np.pi, 100)
    >>> with pm.Model():
    ...     rho = pm.Uniform("rho", 0.0, 0.5)
    ...     x = pmg.Cardioid("x", mu=0.0, rho=rho, observed=angles)
    >>> x.type.shape
    (100,)
    """

    rv_type = CardioidRV
    support_point = mean_direction

    @classmethod
    def dist(cls, mu: Any, rho: Any, **kwargs) -> TensorVariable:
        """Return a variable that is not registered in a model."""
        mu, rho = direction_and_length(
            mu,
            rho,
            "Cardioid",
            holds=lambda rho: (rho >= 0) & (rho <= 0.5),
            expected="resultant lengths from 0 to 1/2",
        )
        return super().dist([mu, rho], **kwargs)

    def logp(value, mu, rho) -> TensorVariable:
        """Return the log density with respect to length."""
        res = pt.log1p(2 * rho * pt.cos(value - mu)) - np.log(2 * np.pi)
        res = on_support(res.astype(value.dtype), value, is_angle)
        return check_parameters(res, rho >= 0, rho <= 0.5, msg="0 <= rho <= 1/2")
