#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A new distribution with its own manifold, in one file: hours with a busy time of the day."""

from __future__ import annotations

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from pymc.distributions.continuous import Continuous
from pymc.distributions.dist_math import check_parameters
from pymc.logprob.transforms import CircularTransform

import pymc_geodesic as pmg

from pymc_geodesic import arrays
from pymc_geodesic.distributions.base import RandomGraph, on_manifold, on_support

__all__ = ["Clock", "TimeOfDay"]

DAY = 24.0


class Clock(pmg.Manifold):
    """Hours from 0 to 24, whose ends are the same point; every entry is a point."""

    name = "Clock"
    ndim_core = 0
    mass = "diagonal"
    is_compact = True

    def dim(self, core_shape):  # noqa: D102
        return 1

    def to_tangent(self, x, u):  # noqa: D102
        return u

    def geodesic(self, x, v, t):  # noqa: D102
        return self.project(x + t * v), v

    def project(self, x):  # noqa: D102
        day = np.asarray(DAY, dtype=x.dtype)
        return arrays.clip(x - day * arrays.floor(x / day), 0, day)

    def check(self, value) -> str | None:  # noqa: D102
        if np.all((np.asarray(value) >= 0) & (np.asarray(value) <= DAY)):
            return None
        return f"expected hours from 0 to 24, got {np.min(value):.6g} to {np.max(value):.6g}"


class TimeOfDayRV(RandomGraph):
    """Random graph of :class:`TimeOfDay`."""

    extended_signature = "[rng],[size],(),()->[rng],()"

    @classmethod
    def draw(cls, mu, rho, *, size, rng):
        """Mix a uniform time with the time of density ``(1 + cos) / 24``."""
        options = {"size": size, "return_next_rng": True}
        rng, choice = pm.Uniform.dist(0.0, 1.0, rng=rng, **options)
        rng, uniform = pm.Uniform.dist(0.0, DAY, rng=rng, **options)
        # Half of its angle has a sine with the density of a half circle.
        rng, sine = pm.Beta.dist(1.5, 1.5, rng=rng, **options)
        peaked = DAY / np.pi * pt.arcsin(2 * sine - 1)
        return rng, Clock().project(mu + pt.switch(choice < 2 * rho, peaked, uniform))


class TimeOfDay(Continuous):
    r"""Hours of events with a busy time of the day, with respect to hours.

    .. math::

        f(x \mid \mu, \rho) = \frac{1 + 2 \rho \cos(2 \pi (x - \mu) / 24)}{24}

    ========  ===========================
    Support   :math:`x \in [0, 24]`
    ========  ===========================

    Parameters
    ----------
    mu : tensor_like of float
        The busiest hour.
    rho : tensor_like of float
        How much it stands out, from 0 to 1/2.
    """

    rv_type = TimeOfDayRV
    rv_op = TimeOfDayRV.rv_op

    @classmethod
    def dist(cls, mu, rho, **kwargs):
        """Return a variable that is not registered in a model."""
        return super().dist([mu, rho], **kwargs)

    def support_point(rv, size, mu, rho):
        """Return the busiest hour."""
        return pt.full(rv.shape, mu)

    def logp(value, mu, rho):
        """Return the log density, and -inf for other hours."""
        log_density = pt.log1p(2 * rho * pt.cos(2 * np.pi / DAY * (value - mu))) - np.log(DAY)
        log_density = on_support(log_density, value, lambda x: abs(x - DAY / 2) <= DAY / 2)
        return check_parameters(log_density, rho >= 0, rho <= 0.5, msg="0 <= rho <= 0.5")


class Wrapped(CircularTransform):
    """The hour of any time, for samplers that do not use manifolds."""

    name = "wrapped"

    def backward(self, value, *inputs):
        """Return the hour of the day."""
        return Clock().project(value)


on_manifold(TimeOfDay, Clock(), Wrapped())
