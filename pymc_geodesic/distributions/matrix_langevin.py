#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""The matrix Langevin distribution of frames, with exact draws by Hoff's rejection.

Rotated to :math:`F V = H` with orthogonal columns, longest first, columns are proposed one after
the other: the j-th from the von Mises-Fisher distribution with parameter :math:`N_j^\top h_j` on
the sphere of the complement :math:`N_j` of those before it. The proposal's density differs from the
target's by a factor that does not exceed one,

.. math::

    \prod_j Z_{n - j + 1}(|N_j^\top h_j|) / Z_{n - j + 1}(|h_j|).

One test accepts or rejects all columns, for this factor and Wood's envelopes together.
"""

import math

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from pytensor.raise_op import Assert
from pytensor.tensor.linalg import eigh, svd
from pytensor.tensor.variable import TensorVariable

from pymc_geodesic.distributions.base import RandomGraph, on_manifold, on_support, with_signature
from pymc_geodesic.distributions.frames import (
    FrameDistribution,
    check_parameter,
    check_shape,
    log_stiefel_area,
    require_frame_shape,
)
from pymc_geodesic.distributions.matrix_constant import log_mean_exponential, log_one_column
from pymc_geodesic.distributions.transforms import frame
from pymc_geodesic.distributions.validation import as_float_tensor, static_shape
from pymc_geodesic.distributions.von_mises_fisher import propose_heights
from pymc_geodesic.manifolds import Stiefel
from pymc_geodesic.manifolds.orthonormal import has_orthonormal_columns

__all__ = ["MatrixLangevin", "MatrixLangevinRV", "draw_frames"]


# Probability that no proposal is accepted.
FAILURE = 1e-14
# Share of Wood's proposals that is accepted at least (two dimensions, large concentration).
LEAST_OF_WOOD = 0.657
# With p equal and large singular values the factor's mean is 2^(-p (p - 1) / 4), its least: 0.71,
# 0.35 and 0.125 for p = 2, 3 and 4, but 1 / 32 for 5.
MOST_COLUMNS = 4


_too_many = Assert(
    f"Random draws of `MatrixLangevin` expected at most {MOST_COLUMNS} columns, because with more "
    "the exact method rejects nearly all proposals. Sample the distribution as a free variable "
    "with `pmg.GMC` instead."
)


def draw_frames(parameter: TensorVariable, *, size, rng) -> tuple[TensorVariable, TensorVariable]:
    """Draw frames of matrix Langevin distributions, in an array of shape ``size``.

    Proposals of a draw lie along an axis of fixed length, which needs no loop and compiles on every
    backend.

    Returns
    -------
    TensorVariable, TensorVariable
        The draws, of shape ``(*size, n, p)``, and the next generator.
    """
    n, p = parameter.type.shape[-2:]
    if p > MOST_COLUMNS:
        rng, noise = pm.Normal.dist(size=(*tuple(size), n, p), rng=rng, return_next_rng=True)
        return _too_many(noise, pt.constant(False)), rng
    least = LEAST_OF_WOOD**p * 2 ** (-p * (p - 1) / 4)
    n_proposals = math.ceil(math.log(FAILURE) / math.log1p(-least))
    vectors = eigh(parameter.mT @ parameter)[1][..., ::-1]
    rotated = pt.broadcast_to(parameter @ vectors, (*tuple(size), n, p))
    columns, log_accept, rng = _propose(rotated, (*tuple(size), n_proposals), rng)
    rng, uniform = pm.Uniform.dist(size=log_accept.shape, rng=rng, return_next_rng=True)
    first = pt.argmax(pt.lt(pt.log(uniform), log_accept), axis=-1)[..., None, None, None]
    frames = pt.take_along_axis(pt.stack(columns, axis=-1), first, axis=-3)[..., 0, :, :]
    return pt.specify_shape(frames @ vectors.mT, (*[None] * (frames.ndim - 2), n, p)), rng


def _propose(rotated: TensorVariable, shape, rng):
    """Draw the columns of all proposals, and their part of the log acceptance probability."""
    n, p = rotated.type.shape[-2:]
    columns: list[TensorVariable] = []
    log_accept = pt.zeros(shape, dtype=rotated.dtype)
    for j in range(p):
        target = rotated[..., None, :, j]
        rng, noise = pm.Normal.dist(size=(*shape, n), rng=rng, return_next_rng=True)
        rng, other = pm.Normal.dist(size=(*shape, n), rng=rng, return_next_rng=True)
        # If no part of the target remains, any direction will do.
        tiny = np.asarray(1e-150 if rotated.dtype == "float64" else 1e-18, rotated.dtype)
        pull = _complement(target + tiny * other, columns)
        kappa = pt.sqrt((pull**2).sum(axis=-1))
        direction = pull / kappa[..., None]
        below, above, log_ratio, rng = propose_heights(n - j, kappa, shape, rng)
        tangent = _unit(_complement(noise, [*columns, direction]))
        column = (1 - below)[..., None] * direction + pt.sqrt(below * above)[..., None] * tangent
        columns.append(_unit(_complement(column, columns)))
        whole = pt.sqrt((target**2).sum(axis=-1))
        log_accept += log_ratio + log_one_column(n - j, kappa) - log_one_column(n - j, whole)
    return columns, log_accept, rng


def _complement(x: TensorVariable, columns: list[TensorVariable]) -> TensorVariable:
    for column in columns:
        x = x - column * (column * x).sum(axis=-1, keepdims=True)
    return x


def _unit(x: TensorVariable) -> TensorVariable:
    return x / pt.sqrt((x * x).sum(axis=-1, keepdims=True))


class MatrixLangevinRV(RandomGraph):
    """Random graph of :class:`MatrixLangevin`."""

    extended_signature = "[rng],[size],(n,p)->[rng],(n,p)"

    @classmethod
    def draw(cls, parameter, *, size, rng):
        """Return the generator's next state and draws."""
        draws, next_rng = draw_frames(parameter, size=size, rng=rng)
        return next_rng, draws


@with_signature()
class MatrixLangevin(FrameDistribution):
    r"""
    Matrix Langevin distribution of frames, also called matrix von Mises-Fisher.

    The last two axes are a matrix X of shape (n, p) with :math:`X^\top X = I`. The density is with
    respect to the surface (Hausdorff) measure of the Stiefel manifold in the space of all matrices:

    .. math::

        f(X \mid F) = \frac{e^{\operatorname{tr} F^\top X}}
        {A_{n,p} \; {}_0F_1(n / 2; F^\top F / 4)}, \qquad
        A_{n,p} = 2^{p (p - 1) / 4} \, \frac{2^p \pi^{n p / 2}}{\Gamma_p(n / 2)}

    With one column it is the von Mises-Fisher distribution with :math:`F = \kappa \mu`.

    ========  ==========================================
    Support   :math:`X \in \mathbb{R}^{n \times p}, X^\top X = I`
    Mode      the polar factor :math:`F (F^\top F)^{-1/2}`
    ========  ==========================================

    Parameters
    ----------
    F : tensor_like of float, shape (..., n, p)
        Any matrix with p < n. With zero the distribution is uniform; the singular values are the
        concentrations.

    Raises
    ------
    ValueError
        If the last two axes of F are not known or p is not between 1 and n - 1, known values of F
        are not finite, or ``observed`` does not have orthonormal columns.

    Notes
    -----
    The constant has a relative error below 1e-9 with one or two columns, by integration over one
    dimension. With three or more it is a saddlepoint approximation: the log density is off by up to
    0.04 for n = 4, 0.008 for n = 8 and 4e-4 for n = 30, nearly the same for all F of a posterior;
    see :func:`~pymc_geodesic.distributions.matrix_constant.log_saddlepoint`. If F is known the
    constant has no influence on other variables.

    Random draws are exact, by Hoff's rejection of columns drawn one after the other, but for an
    event of probability below 1e-14. They need up to four columns: with more, hardly any proposal
    is accepted, and drawing raises an error. Densities and samplers take any number of columns.

    The log density of a matrix without orthonormal columns is -inf. The default transform is
    :class:`~pymc_geodesic.distributions.transforms.FrameTransform`.

    References
    ----------
    .. [1] Khatri, C. G. and Mardia, K. V. (1977). The von Mises-Fisher matrix distribution in
           orientation statistics. Journal of the Royal Statistical Society B 39.
    .. [2] Hoff, P. D. (2009). Simulation of the matrix Bingham-von Mises-Fisher distribution, with
           applications to multivariate and relational data. Journal of Computational and Graphical
           Statistics 18. DOI 10.1198/jcgs.2009.07177

    Examples
    --------
    >>> import pymc as pm, pymc_geodesic as pmg
    >>> with pm.Model():
    ...     x = pmg.MatrixLangevin("x", [[3.0, 0.0], [0.0, 1.5], [0.5, 0.0]])
    >>> x.type.shape
    (3, 2)
    """

    rv_type = MatrixLangevinRV

    def __new__(cls, name: str, *args, observed: Any = None, **kwargs) -> TensorVariable:
        """Add the variable to the model on the context stack."""
        rv = super().__new__(cls, name, *args, observed=observed, **kwargs)
        if observed is not None:
            shapes = {"observed": static_shape(observed)}
            check_shape(shapes, rv.type.shape[-2:], "MatrixLangevin")
        return rv

    @classmethod
    def dist(cls, F: Any, **kwargs) -> TensorVariable:
        """Return a variable that is not registered in a model."""
        parameter = as_float_tensor(F)
        n, p = check_parameter(parameter, "MatrixLangevin")
        require_frame_shape(n, p, "MatrixLangevin")
        if isinstance(shape := kwargs.get("shape"), tuple | list):
            check_shape({"shape": shape}, (n, p), "MatrixLangevin")
        return super().dist([parameter], **kwargs)

    def support_point(rv, size, parameter) -> TensorVariable:
        """Return the mode."""
        left, _, right = svd(parameter, full_matrices=False)
        return pt.broadcast_to(left @ right, rv.shape)

    def logp(value, parameter) -> TensorVariable:
        """Return the log density with respect to the surface measure."""
        n, p = parameter.type.shape[-2:]
        check_shape({"the value": value.type.shape}, (n, p), "MatrixLangevin")
        log_constant = log_mean_exponential(parameter, n=n, p=p)
        trace = (parameter * value).sum(axis=(-1, -2))
        log_density = trace - log_constant - np.asarray(log_stiefel_area(n, p), value.dtype)
        return on_support(log_density, value, has_orthonormal_columns)


on_manifold(MatrixLangevin, Stiefel(), frame)
