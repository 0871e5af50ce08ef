#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Functions of a symmetric matrix of frictions, and the noise that fits them."""

from __future__ import annotations

from typing import NamedTuple

from pymc_geodesic import arrays
from pymc_geodesic.algorithms.splitting import FRICTION_MARGIN
from pymc_geodesic.arrays import Array
from pymc_geodesic.potential.spectrum import Map, Spectrum

__all__ = ["MatrixBalance", "balanced_matrix"]


class MatrixBalance(NamedTuple):
    """The factors of velocities in B, and of gradients and standard normals in O."""

    damp: Map
    scale: Map
    color: Map


def balanced_matrix(
    spectrum: Spectrum, covariance: Array | None, step_size: Array
) -> MatrixBalance:
    r"""Balance friction C, injected noise and gradient noise V, as matrices.

    With :math:`K = 2 \sinh(C \epsilon)` and :math:`f = \cosh(C \epsilon / 2)`, the friction
    :math:`C'` in use and the factor S of the injected noise are given by

    .. math::

        2 \sinh(C' \epsilon) = K + (\epsilon^2 f V f - K)_+, \qquad
        S S^\top = 2 \sinh(C' \epsilon) - \epsilon^2 f V f .

    The positive part raises C where it cannot dissipate the noise, as
    :func:`~pymc_geodesic.algorithms.splitting.matched_friction` does for numbers. Adding it gives a
    matrix above both, so that the covariance to inject is positive definite.
    """

    def scale(x: Array) -> Array:
        return spectrum.times(lambda c: arrays.cosh(0.5 * step_size * c), x)

    if covariance is None:
        return MatrixBalance(
            lambda x: spectrum.times(lambda c: arrays.exp(-0.5 * step_size * c), x),
            scale,
            lambda x: spectrum.times(lambda c: arrays.sqrt(2 * arrays.sinh(step_size * c)), x),
        )
    f = spectrum.matrix(lambda c: arrays.cosh(0.5 * step_size * c))
    heat = step_size**2 * arrays.dot(f, arrays.dot(covariance, f))
    dissipated = spectrum.matrix(lambda c: 2 * arrays.sinh(step_size * c))
    lacking = Spectrum(*arrays.eigh(FRICTION_MARGIN * heat - dissipated))
    raised = dissipated + lacking.matrix(lambda c: arrays.maximum(c, 0))
    root = arrays.cholesky(raised - heat)
    found = Spectrum(*arrays.eigh(raised))
    return MatrixBalance(
        lambda x: found.times(lambda k: arrays.exp(-0.5 * arrays.arcsinh(0.5 * k)), x),
        scale,
        lambda x: arrays.dot(root, x),
    )
