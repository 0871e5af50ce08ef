#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The inverse and the determinant of covariance matrices, as small PyTensor graphs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytensor.tensor as pt

from pytensor.tensor.variable import TensorVariable

__all__ = ["Precision", "precision_of"]


class Precision(NamedTuple):
    """The quantities of a covariance matrix that a Gaussian density needs.

    Attributes
    ----------
    matrix : TensorVariable, shape (..., n, n)
        The inverse.
    half_log_det : TensorVariable, shape (...)
        Half of the log determinant of the covariance.
    is_positive : TensorVariable, shape (...)
        Whether the covariance is positive definite.
    """

    matrix: TensorVariable
    half_log_det: TensorVariable
    is_positive: TensorVariable


def precision_of(cov: TensorVariable) -> Precision:
    """Invert covariance matrices by their Cholesky factors.

    Data have many rows but one matrix: an inverse costs less than solving for every row.
    """
    factor = pt.linalg.cholesky(cov)
    diagonal = pt.diagonal(factor, axis1=-2, axis2=-1)
    is_positive = pt.all(diagonal > 0, axis=-1)
    n = cov.shape[-1]
    identity = pt.broadcast_to(pt.eye(n, dtype=cov.dtype), cov.shape)
    inverse = pt.linalg.solve_triangular(factor, identity, lower=True, b_ndim=2)
    safe = pt.where(diagonal > 0, diagonal, np.asarray(1.0, cov.dtype))
    return Precision(inverse.mT @ inverse, pt.log(safe).sum(axis=-1), is_positive)
