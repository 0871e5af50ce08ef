#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The Kent distribution on the sphere in three dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytensor.tensor as pt

from pymc.distributions.dist_math import check_parameters
from pytensor.tensor.variable import TensorVariable

from pymc_geodesic.distributions.base import RandomGraph, on_manifold, on_support, with_signature
from pymc_geodesic.distributions.kent_constant import KentCosine, kent_log_normalizer
from pymc_geodesic.distributions.transforms import unit_vector
from pymc_geodesic.distributions.unimodal import draw_unimodal
from pymc_geodesic.distributions.unit_vectors import (
    UnitVectorDistribution,
    check_shape,
    cosine,
    normalised,
    random_signs,
)
from pymc_geodesic.distributions.validation import (
    as_float_tensor,
    check_broadcast,
    check_lengths,
    check_numbers,
    constant_value,
    has_unit_norm,
)
from pymc_geodesic.distributions.von_mises_fisher import draw_cosine
from pymc_geodesic.manifolds import Sphere
from pymc_geodesic.validation import UNIT_NORM_TOLERANCE

__all__ = ["Kent", "KentRV"]


class KentRV(RandomGraph):
    """Random graph of :class:`Kent`."""

    extended_signature = "[rng],[size],(n,n),(),()->[rng],(n)"

    @classmethod
    def draw(cls, frame, kappa, beta, *, size, rng):
        """Draw the cosine to the mean direction, and then the angle around it."""
        kappa_, beta_ = pt.broadcast_arrays(kappa, beta)
        height = KentCosine(kappa_, beta_)
        next_rng, s = draw_unimodal(
            height.log_density, mode=height.mode, width=height.width, size=size, rng=rng
        )
        squared_sine = 1.0 / pt.cosh(s) ** 2
        # Twice the angle has a von Mises distribution, and all quadrants have the same probability.
        double, one_minus_square, next_rng = draw_cosine(2, beta_ * squared_sine, size, next_rng)
        minor = one_minus_square[..., 0] / (1.0 + double[..., 0])
        next_rng, signs = random_signs((2, *tuple(size)), next_rng)
        major = signs[0] * pt.sqrt(0.5 * squared_sine * (1.0 + double[..., 0]))
        parts = [pt.tanh(s), major, signs[1] * pt.sqrt(0.5 * squared_sine * minor)]
        draws = (frame * pt.stack(parts, axis=-1)[..., None, :]).sum(axis=-1)
        return next_rng, normalised(draws)


@with_signature()
class Kent(UnitVectorDistribution):
    r"""
    Kent distribution on the unit sphere in three dimensions: elliptical contours.

    The last axis is a unit vector of :math:`\mathbb{R}^3`. The density is with respect to the
    surface (Hausdorff) measure of the sphere, with the columns :math:`\gamma_i` of ``frame``:

    .. math::

        f(x) = c(\kappa, \beta) \, \exp \left\{ \kappa \gamma_1^\top x
        + \beta \left[ (\gamma_2^\top x)^2 - (\gamma_3^\top x)^2 \right] \right\}

    ========  ==========================================
    Support   :math:`x \in \mathbb{R}^3, |x| = 1`
    Mode      :math:`\gamma_1` if :math:`2 \beta \le \kappa`; otherwise two on the great circle
              through :math:`\gamma_1` and :math:`\gamma_2`
    ========  ==========================================

    Parameters
    ----------
    frame : tensor_like of float, shape (..., 3, 3)
        Orthonormal columns: the mean direction and the major and the minor axis.
    kappa : tensor_like of float, shape (...)
        Concentration, at least 0.
    beta : tensor_like of float, shape (...)
        Ovalness, at least 0. At 0 the distribution is von Mises-Fisher.

    Raises
    ------
    ValueError
        If known values of ``frame`` do not have orthonormal columns (within 1e-6), known values of
        ``kappa`` or ``beta`` are negative or not finite, or ``observed`` does not hold unit
        vectors. Symbolic parameters are checked when the log density is evaluated.

    Notes
    -----
    The normaliser has a relative error below 1e-10 for parameters up to 1e4, whatever their ratio;
    see :func:`~pymc_geodesic.distributions.kent_constant.kent_log_normalizer`. Draws are exact up
    to an event of probability below 1e-12. The log density of a value off the sphere is -inf. The
    default transform is :class:`~pymc_geodesic.distributions.transforms.UnitVectorTransform`.

    References
    ----------
    .. [1] Kent, J. T. (1982). The Fisher-Bingham distribution on the sphere. Journal of the Royal
           Statistical Society B 44. DOI 10.1111/j.2517-6161.1982.tb01189.x

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> data = np.eye(3)
    >>> with pm.Model():
    ...     kappa = pm.HalfNormal("kappa", 50.0)
    ...     ratio = pm.Uniform("ratio", 0.0, 1.0)
    ...     beta = 0.5 * ratio * kappa
    ...     x = pmg.Kent("x", frame=np.eye(3), kappa=kappa, beta=beta, observed=data)
    >>> x.type.shape
    (3, 3)
    """

    rv_type = KentRV

    @classmethod
    def dist(cls, frame: Any, kappa: Any, beta: Any, **kwargs) -> TensorVariable:
        """Return a variable that is not registered in a model."""
        frame, kappa, beta = (as_float_tensor(x) for x in (frame, kappa, beta))
        _check_frame(frame)
        for argument, value in {"kappa": kappa, "beta": beta}.items():
            check_numbers(
                value,
                argument,
                "Kent",
                holds=lambda value: value >= 0,
                expected="numbers of 0 or more",
                advice="To change a sign, change the columns of `frame`.",
            )
        shapes = {"frame": frame.type.shape[:-2], "kappa": kappa.type.shape}
        check_broadcast(shapes | {"beta": beta.type.shape}, "Kent")
        check_shape(kwargs.get("shape"), 3, "Kent")
        return super().dist([frame, kappa, beta], **kwargs)

    def support_point(rv, size, frame, kappa, beta) -> TensorVariable:
        """Return a mode."""
        along = pt.minimum(kappa / pt.maximum(2.0 * beta, kappa + 1e-9), 1.0)[..., None]
        along = pt.where((2.0 * beta > kappa)[..., None], along, 1.0)
        mode = along * frame[..., 0] + pt.sqrt(1.0 - along**2) * frame[..., 1]
        return pt.broadcast_to(mode, rv.shape)

    def logp(value, frame, kappa, beta) -> TensorVariable:
        """Return the log density with respect to the surface measure."""
        check_lengths({"frame": 3, "the value": value.type.shape[-1]}, "Kent")
        mean, major, minor = (cosine(value, frame[..., i]) for i in range(3))
        res = kappa * mean + beta * (major - minor) * (major + minor)
        res = on_support(res + kent_log_normalizer(kappa, beta), value, has_unit_norm)
        return check_parameters(
            res,
            kappa >= 0,
            beta >= 0,
            _is_frame(frame),
            msg="kappa >= 0, beta >= 0, orthonormal columns of frame (within 1e-6)",
        )


def _is_frame(frame):
    """Return whether the columns of arrays or tensors are orthonormal within 1e-6."""
    products = (frame[..., :, :, None] * frame[..., :, None, :]).sum(axis=-3)
    return abs(products - np.eye(3)).max(axis=(-2, -1)) <= 2 * UNIT_NORM_TOLERANCE


def _check_frame(frame: TensorVariable) -> None:
    shape = frame.type.shape
    if frame.ndim < 2 or any(size not in (3, None) for size in shape[-2:]):
        raise ValueError(
            "`Kent` expected matrices of three rows and columns in the last two axes of `frame`, "
            f"got a shape of {shape}. Its columns are the mean direction, the major and the minor "
            "axis. In other dimensions use `pmg.Bingham` or `pmg.ProjectedNormal`."
        )
    value = constant_value(frame)
    if value is not None and not np.all(_is_frame(value)):
        raise ValueError(
            "`Kent` expected orthonormal columns in `frame`, got "
            f"{np.array2string(value.reshape(-1, 3, 3)[0], precision=4)}. Orthonormalise them with "
            "`np.linalg.qr`."
        )


on_manifold(Kent, Sphere(), unit_vector)
