#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Exact draws of the matrix Langevin distribution, by Hoff's rejection.

Rotated to :math:`F V = H` with orthogonal columns, longest first, columns are proposed one after
the other: the j-th from the von Mises-Fisher distribution with parameter :math:`N_j^\top h_j` on
the sphere of the complement :math:`N_j` of those before it. The proposal's density differs from the
target's by a factor that does not exceed one,

.. math::

    \prod_j Z_{n - j + 1}(|N_j^\top h_j|) / Z_{n - j + 1}(|h_j|).

One test accepts or rejects all columns, for this factor and Wood's envelopes together.
"""

import math

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from pytensor.raise_op import Assert
from pytensor.tensor.linalg import eigh
from pytensor.tensor.variable import TensorVariable

from pymc_geodesic.distributions.matrix_constant import log_one_column
from pymc_geodesic.distributions.von_mises_fisher import propose_heights

__all__ = ["draw_frames"]

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
    columns, log_accept, rng = _propose(rotated, n_proposals, (*tuple(size), n_proposals), rng)
    rng, uniform = pm.Uniform.dist(size=log_accept.shape, rng=rng, return_next_rng=True)
    first = pt.argmax(pt.lt(pt.log(uniform), log_accept), axis=-1)[..., None, None, None]
    frames = pt.take_along_axis(pt.stack(columns, axis=-1), first, axis=-3)[..., 0, :, :]
    return pt.specify_shape(frames @ vectors.mT, (*[None] * (frames.ndim - 2), n, p)), rng


def _propose(rotated: TensorVariable, n_proposals: int, shape, rng):
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
