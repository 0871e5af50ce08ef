#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A new distribution with a manifold of its own, in one file: angles that prefer a direction."""

from __future__ import annotations

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from pymc.distributions.continuous import Continuous
from pymc.distributions.dist_math import check_parameters
from pymc.distributions.distribution import SymbolicRandomVariable
from pymc.distributions.shape_utils import implicit_size_from_params, rv_size_is_none
from pymc.distributions.transforms import _default_transform, circular
from pymc.pytensorf import normalize_rng_param
from pytensor.tensor.random.utils import normalize_size_param

import pymc_geodesic as pmg

__all__ = ["Cardioid", "Circle"]


class Circle(pmg.Manifold):
    """Angles from -pi to pi, whose ends are the same point; every entry is a point."""

    name = "Circle"
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
        turn = np.asarray(2 * np.pi, dtype=x.dtype)
        return x - turn * pt.floor(x / turn + 0.5)

    def check(self, value) -> str | None:  # noqa: D102
        if np.all(np.abs(value) <= np.pi + 1e-6):
            return None
        return f"expected angles from -pi to pi, got up to {np.abs(value).max():.6g}"


class CardioidRV(SymbolicRandomVariable):
    """Random graph of :class:`Cardioid`."""

    name = "Cardioid"
    extended_signature = "[rng],[size],(),()->[rng],()"
    _print_name = ("Cardioid", "\\operatorname{Cardioid}")

    @classmethod
    def rv_op(cls, mu, rho, *, size=None, rng=None):
        """Mix a uniform angle with the angle of density ``(1 + cos) / (2 pi)``."""
        mu, rho = pt.as_tensor(mu), pt.as_tensor(rho)
        rng, size = normalize_rng_param(rng), normalize_size_param(size)
        if rv_size_is_none(full := size):
            full = implicit_size_from_params(mu, rho, ndims_params=(0, 0))
        options = {"size": full, "return_next_rng": True}
        next_rng, choice = pm.Uniform.dist(0.0, 1.0, rng=rng, **options)
        next_rng, uniform = pm.Uniform.dist(-np.pi, np.pi, rng=next_rng, **options)
        # Half of that angle has a sine with the density of a half circle.
        next_rng, sine = pm.Beta.dist(1.5, 1.5, rng=next_rng, **options)
        angle = pt.switch(choice < 2 * rho, 2 * pt.arcsin(2 * sine - 1), uniform)
        draws = Circle().project(mu + angle)
        return cls(inputs=[rng, size, mu, rho], outputs=[next_rng, draws])(rng, size, mu, rho)


class Cardioid(Continuous):
    r"""Cardioid distribution of an angle, with respect to length on the circle.

    .. math::

        f(x \mid \mu, \rho) = \frac{1 + 2 \rho \cos(x - \mu)}{2 \pi}

    ========  ===========================
    Support   :math:`x \in [-\pi, \pi]`
    ========  ===========================

    Parameters
    ----------
    mu : tensor_like of float
        Direction.
    rho : tensor_like of float
        Resultant length, from 0 to 1/2.

    References
    ----------
    Jeffreys, H. (1948). Theory of Probability, second edition. Oxford University Press.
    """

    rv_type = CardioidRV
    rv_op = CardioidRV.rv_op

    @classmethod
    def dist(cls, mu, rho, **kwargs):
        """Return a variable that is not registered in a model."""
        return super().dist([mu, rho], **kwargs)

    def support_point(rv, size, mu, rho):
        """Return the direction."""
        return pt.full(rv.shape, mu)

    def logp(value, mu, rho):
        """Return the log density, and -inf off the circle."""
        log_density = pt.log1p(2 * rho * pt.cos(value - mu)) - np.log(2 * np.pi)
        log_density = pt.switch(pt.abs(value) <= np.pi, log_density, -np.inf)
        return check_parameters(log_density, rho >= 0, rho <= 0.5, msg="0 <= rho <= 0.5")


@_default_transform.register(CardioidRV)
def _cardioid_default_transform(op, rv):
    # For samplers that know nothing of manifolds.
    return circular


pmg.register_manifold(Cardioid, Circle())
