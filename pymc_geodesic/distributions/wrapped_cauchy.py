#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The wrapped Cauchy distribution of angles."""

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
from pymc_geodesic.manifolds.circle import wrapped

__all__ = ["WrappedCauchy", "WrappedCauchyRV"]


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
    rv_op = WrappedCauchyRV.rv_op
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
