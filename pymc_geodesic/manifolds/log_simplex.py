#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The probability simplex in log probabilities, for dynamics with coordinates of their own."""

from __future__ import annotations

import pytensor.tensor as pt

from pytensor.tensor import TensorVariable

from pymc_geodesic.manifolds.base import Manifold

__all__ = ["LogSimplex"]


class LogSimplex(Manifold):
    r"""Probability vectors as ``u = log(p)``, normalised so that :math:`\sum_k e^{u_k} = 1`.

    Not an isometric embedding: it has no geodesics, and no volume term is added, so that densities
    stay those of ``p`` with respect to Lebesgue measure on its first K - 1 entries. Gradients in
    ``u`` are :math:`p_k \partial_k`, which need no division by small entries.
    """

    name = "LogSimplex"

    def dim(self, n: int) -> int:  # noqa: D102
        return n - 1

    def to_tangent(self, x: TensorVariable, u: TensorVariable) -> TensorVariable:  # noqa: D102
        return u - (pt.exp(x) * u).sum(axis=-1, keepdims=True)

    def geodesic(self, x, v, t):
        """Refuse: the coordinates are not isometric."""
        raise NotImplementedError("LogSimplex has no geodesics; use Simplex.")

    def project(self, x: TensorVariable) -> TensorVariable:  # noqa: D102
        return x - pt.logsumexp(x, axis=-1, keepdims=True)

    def embed(self, value: TensorVariable) -> TensorVariable:  # noqa: D102
        return pt.log(value)

    def unembed(self, x: TensorVariable) -> TensorVariable:  # noqa: D102
        return pt.exp(x)
