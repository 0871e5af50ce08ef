#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The bivariate von Mises distribution of two angles, the sine model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytensor.tensor as pt

from pymc.distributions.dist_math import check_parameters
from pymc.distributions.transforms import _default_transform
from pytensor.tensor.variable import TensorVariable

from pymc_geodesic.distributions.angles import AngleDistribution, check_mean_direction, is_angle
from pymc_geodesic.distributions.base import RandomGraph, on_support, with_signature
from pymc_geodesic.distributions.kent_constant import log_i0e
from pymc_geodesic.distributions.transforms import torus
from pymc_geodesic.distributions.unimodal import draw_unimodal, log_integral, mode_and_width
from pymc_geodesic.distributions.unit_vectors import check_shape, random_signs
from pymc_geodesic.distributions.validation import (
    as_float_tensor,
    check_broadcast,
    check_lengths,
    check_numbers,
)
from pymc_geodesic.distributions.von_mises_fisher import draw_cosine
from pymc_geodesic.manifolds.euclidean import wrapped

__all__ = ["BivariateVonMises", "BivariateVonMisesRV", "sine_model_log_normalizer"]


class _FirstAngle:
    r"""The first angle, centred, in ``s = -log tan(angle / 2)``, where its cosine is ``tanh s``.

    Given the first, the second angle has a von Mises distribution of concentration
    :math:`a = \sqrt{\kappa_2^2 + \lambda^2 \sin^2}`, so that the density of the first is
    :math:`e^{\kappa_1 \cos} I_0(a)`, which has one mode from 0 to pi.
    """

    def __init__(
        self, kappa_1: TensorVariable, kappa_2: TensorVariable, lam: TensorVariable
    ) -> None:
        self.kappa_1, self.kappa_2, self.squared = kappa_1, kappa_2, lam**2
        # The modes without the dependence, and of the exponent for a strong dependence.
        alone = 2.0 * kappa_1 / (1.0 + pt.sqrt(1.0 + 4.0 * kappa_1**2))
        # The one accounts for a small concentration of the second angle.
        ratio = (1.0 + kappa_2**2 + self.squared) / pt.maximum(
            self.squared * (self.squared + kappa_1**2), np.finfo(kappa_1.dtype).tiny
        )
        self.mode, self.width = mode_and_width(alone, kappa_1 * pt.sqrt(ratio), self._derivatives)

    def _derivatives(self, s: TensorVariable) -> tuple[TensorVariable, TensorVariable]:
        """Return the slope of the log density in s and minus its curvature, both roughly."""
        t, w = pt.tanh(s), 1.0 / pt.cosh(s) ** 2
        root = pt.sqrt(1.0 + self.kappa_2**2 + self.squared * w)
        # The ratio of Bessel functions divided by its argument, with an error of up to a tenth.
        pull = self.squared / (1.0 + root)
        slope = self.kappa_1 * w - t * (1.0 + w * pull)
        bend = pull * (1.0 - 3.0 * t**2 + t**2 * w * pull / root)
        return slope, pt.maximum(w * (2.0 * self.kappa_1 * t + 1.0 + bend), 0.25)

    def second(self, squared_sine: TensorVariable) -> TensorVariable:
        """Return the concentration of the second angle."""
        squares = self.kappa_2**2 + self.squared * squared_sine
        return pt.sqrt(pt.maximum(squares, np.finfo(squares.dtype).tiny))

    def log_density(self, s: TensorVariable) -> TensorVariable:
        """Return the log density of s minus kappa_1, for points along a last axis."""
        log_sine = np.log(2.0) - pt.abs(s) - pt.log1p(pt.exp(-2.0 * pt.abs(s)))
        squares = (self.kappa_2**2)[..., None] + self.squared[..., None] * pt.exp(2.0 * log_sine)
        a = pt.sqrt(pt.maximum(squares, np.finfo(squares.dtype).tiny))
        return -2.0 * self.kappa_1[..., None] * pt.sigmoid(-2.0 * s) + a + log_i0e(a) + log_sine


def sine_model_log_normalizer(kappa_1: Any, kappa_2: Any, lam: Any) -> TensorVariable:
    r"""Return the log of the normaliser of the sine model.

    .. math::

        c^{-1} = 4 \pi^2 \sum_{m=0}^\infty \binom{2m}{m}
        \left( \frac{\lambda^2}{4 \kappa_1 \kappa_2} \right)^m I_m(\kappa_1) I_m(\kappa_2)

    Parameters
    ----------
    kappa_1, kappa_2 : tensor_like of float
        Concentrations, not negative.
    lam : tensor_like of float
        Dependence, of either sign. The shapes broadcast.

    Notes
    -----
    It is computed as an integral over the cosine of the first angle, because the series has
    thousands of terms if the dependence is strong. The relative error, with respect to
    ``max(1, abs(result))``, is below 1e-10 for parameters up to 1e4, in double precision.

    References
    ----------
    .. [1] Singh, H., Hnizdo, V. and Demchuk, E. (2002). Probabilistic model for two dependent
           circular variables. Biometrika 89. DOI 10.1093/biomet/89.3.719

    Examples
    --------
    >>> round(float(sine_model_log_normalizer(0.0, 0.0, 0.0).eval()), 6)  # -2 log(2 pi)
    -3.675754
    """
    parameters = pt.broadcast_arrays(*(as_float_tensor(x) for x in (kappa_1, kappa_2, lam)))
    first = _FirstAngle(*parameters)
    log_z = log_integral(first.log_density, mode=first.mode, width=first.width)
    return -np.log(4.0 * np.pi).astype(log_z.dtype) - parameters[0] - log_z


class BivariateVonMisesRV(RandomGraph):
    """Random graph of :class:`BivariateVonMises`."""

    extended_signature = "[rng],[size],(n),(n),()->[rng],(n)"

    @classmethod
    def draw(cls, mu, kappa, lam, *, size, rng):
        """Draw the first angle, and the second given the first."""
        first = _FirstAngle(*pt.broadcast_arrays(kappa[..., 0], kappa[..., 1], lam))
        next_rng, s = draw_unimodal(
            first.log_density, mode=first.mode, width=first.width, size=size, rng=rng
        )
        next_rng, signs = random_signs((2, *tuple(size)), next_rng)
        angle = signs[0] * 2.0 * pt.arctan(pt.exp(-s))
        concentration = first.second(pt.sin(angle) ** 2)
        cosine, squared_sine, next_rng = draw_cosine(2, concentration, size, next_rng)
        other = pt.arctan2(signs[1] * pt.sqrt(squared_sine[..., 0]), cosine[..., 0])
        other = other + pt.arctan2(lam * pt.sin(angle), kappa[..., 1])
        draws = wrapped(mu + pt.stack([angle, other], axis=-1))
        return next_rng, draws


@with_signature()
class BivariateVonMises(AngleDistribution):
    r"""
    Bivariate von Mises distribution of two angles: the sine model.

    The last axis holds two angles. The density is with respect to area on the torus:

    .. math::

        f(x \mid \mu, \kappa, \lambda) = c \, \exp \{ \kappa_1 \cos(x_1 - \mu_1)
        + \kappa_2 \cos(x_2 - \mu_2) + \lambda \sin(x_1 - \mu_1) \sin(x_2 - \mu_2) \}

    ========  ==========================================
    Support   :math:`x \in [-\pi, \pi]^2`
    Mode      :math:`\mu` if :math:`\lambda^2 \le \kappa_1 \kappa_2`; otherwise two
    ========  ==========================================

    Parameters
    ----------
    mu : tensor_like of float, shape (..., 2)
        Mean directions in radians, any numbers.
    kappa : tensor_like of float, shape (..., 2)
        Concentrations, at least 0.
    lam : tensor_like of float, shape (...)
        Dependence, of either sign.

    Raises
    ------
    ValueError
        If known values of ``kappa`` are negative or not finite, an argument does not have two
        entries, or ``observed`` does not hold angles from -pi to pi. Symbolic parameters are
        checked when the log density is evaluated.

    Notes
    -----
    The normaliser is ``sine_model_log_normalizer`` of its module. Draws are exact up to an event of
    probability below 1e-12. Free variables are on a flat torus, the product of two
    :class:`~pymc_geodesic.manifolds.Circle`.

    References
    ----------
    .. [1] Singh, H., Hnizdo, V. and Demchuk, E. (2002). Probabilistic model for two dependent
           circular variables. Biometrika 89. DOI 10.1093/biomet/89.3.719

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> angles = np.random.default_rng(1).uniform(-np.pi, np.pi, (100, 2))
    >>> with pm.Model():
    ...     kappa = pm.HalfNormal("kappa", 10.0, shape=2)
    ...     lam = pm.Normal("lam", 0.0, 5.0)
    ...     x = pmg.BivariateVonMises("x", mu=[0.0, 1.0], kappa=kappa, lam=lam, observed=angles)
    >>> x.type.shape
    (100, 2)
    """

    rv_type = BivariateVonMisesRV

    @classmethod
    def dist(cls, mu: Any, kappa: Any, lam: Any, **kwargs) -> TensorVariable:
        """Return a variable that is not registered in a model."""
        mu, kappa, lam = (as_float_tensor(x) for x in (mu, kappa, lam))
        check_mean_direction(mu, "BivariateVonMises")
        for argument, value in {"mu": mu, "kappa": kappa}.items():
            if value.ndim == 0 or value.type.shape[-1] not in (2, None):
                raise ValueError(
                    "`BivariateVonMises` expected two entries in the last axis of "
                    f"`{argument}`, got a shape of {value.type.shape}. Pass one for each angle."
                )
        check_numbers(
            kappa,
            "kappa",
            "BivariateVonMises",
            holds=lambda kappa: kappa >= 0,
            expected="concentrations of 0 or more",
            advice="To reverse a direction, add pi to its entry of `mu`.",
        )
        shapes = {"mu": mu.type.shape[:-1], "kappa": kappa.type.shape[:-1]}
        check_broadcast(shapes | {"lam": lam.type.shape}, "BivariateVonMises")
        check_shape(kwargs.get("shape"), 2, "BivariateVonMises")
        return super().dist([mu, kappa, lam], **kwargs)

    def support_point(rv, size, mu, kappa, lam) -> TensorVariable:
        """Return the mean directions."""
        return pt.broadcast_to(wrapped(mu), rv.shape)

    def logp(value, mu, kappa, lam) -> TensorVariable:
        """Return the log density with respect to area."""
        lengths = {"parameters": 2, "the value": value.type.shape[-1]}
        check_lengths(lengths, "BivariateVonMises")
        angle = value - mu
        sine = pt.sin(angle)
        res = (kappa * pt.cos(angle)).sum(axis=-1) + lam * sine[..., 0] * sine[..., 1]
        res = res + sine_model_log_normalizer(kappa[..., 0], kappa[..., 1], lam)
        res = on_support(res, value, lambda x: is_angle(x).all(axis=-1))
        return check_parameters(res, pt.all(kappa >= 0, axis=-1), msg="kappa >= 0")


@_default_transform.register(BivariateVonMisesRV)
def _bivariate_von_mises_default_transform(op, rv):
    return torus
