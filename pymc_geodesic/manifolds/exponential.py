#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The exponential of small matrices, from products alone."""

from __future__ import annotations

import math

import numpy as np
import pytensor.tensor as pt

from pytensor.tensor import TensorVariable

__all__ = ["exponential"]

# The series up to this power has an error below rounding for matrices of norm one: 1 / 19! = 8e-18.
DEGREE, WIDTH = 18, 4
# Most squarings, for norms up to 64: a geodesic of ten turns.
MOST_SQUARINGS = 6


def exponential(a: TensorVariable) -> TensorVariable:
    r"""Exponential of small square matrices, by scaling and squaring of the Taylor series.

    :math:`\exp(A) = p(2^{-s} A)^{2^s}`, with the smallest s for which the scaled matrix has a norm
    of at most one, and with the polynomial p evaluated by 7 products (Paterson and Stockmeyer).
    The usual rational approximation needs fewer products, but also a solution of linear equations
    and a choice between degrees, which for matrices of a few rows take several times as long.

    Parameters
    ----------
    a : TensorVariable, shape (..., n, n)
        Matrices. If the norm exceeds 64 the result is not a number: a sampler undoes such a step.

    References
    ----------
    Higham, N. J. (2008). Functions of Matrices, section 10.3.
    """
    norm = abs(a).sum(axis=-2, keepdims=True).max(axis=-1, keepdims=True)
    halvings = pt.ceil(pt.log2(pt.maximum(norm, 1.0)))
    possible = halvings <= MOST_SQUARINGS
    # A norm that is not finite would make the comparisons below false.
    halvings = pt.switch(possible, halvings, 0.0)
    result = _series(a * pt.exp2(-halvings).astype(a.dtype))
    for i in range(MOST_SQUARINGS):
        result = pt.switch(halvings > i, result @ result, result)
    return pt.switch(possible, result, np.asarray(np.nan, dtype=a.dtype))


def _series(a: TensorVariable) -> TensorVariable:
    """Write the Taylor polynomial as one in the fourth power, with cubic coefficients."""
    powers = [pt.eye(a.shape[-1], dtype=a.dtype), a]
    while len(powers) <= WIDTH:
        powers.append(powers[-1] @ a)
    *low, high = powers
    result = None
    for first in range(DEGREE - DEGREE % WIDTH, -1, -WIDTH):
        last = min(first + WIDTH - 1, DEGREE)
        terms = [
            np.asarray(1 / math.factorial(k), dtype=a.dtype) * low[k - first]
            for k in range(first, last + 1)
        ]
        block = pt.add(*terms)
        result = block if result is None else block + high @ result
    return result
