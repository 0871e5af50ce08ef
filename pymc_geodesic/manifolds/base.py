#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The geometry that every sampler asks for, and nothing else."""

from __future__ import annotations

from abc import ABC, abstractmethod

from pytensor.tensor import TensorVariable

__all__ = ["Manifold"]


class Manifold(ABC):
    """A manifold embedded isometrically in R^n, batched over leading axes.

    All methods are symbolic (PyTensor) and stateless. Arguments ``x`` (a point), ``v`` (a tangent
    vector at ``x``) and ``u`` (any vector of the embedding) have shape ``(..., n)``: the last axis
    is the embedding, leading axes are independent points. Times ``t`` are scalars.

    A new manifold is a subclass in a file of its own and one registration with
    :func:`pymc_geodesic.manifolds.manifold_of`.

    Notes
    -----
    Samplers work with densities with respect to the surface (Hausdorff) measure of the embedding
    (Byrne and Girolami 2013, section 2). When a random variable's own density refers to another
    measure, :meth:`log_volume` is the term that turns one into the other.
    """

    name: str = "manifold"

    @abstractmethod
    def dim(self, n: int) -> int:
        """Intrinsic dimension of one point embedded in R^n."""

    @abstractmethod
    def to_tangent(self, x: TensorVariable, u: TensorVariable) -> TensorVariable:
        """Project the vector ``u`` orthogonally on the tangent space at ``x``."""

    @abstractmethod
    def geodesic(
        self, x: TensorVariable, v: TensorVariable, t: TensorVariable
    ) -> tuple[TensorVariable, TensorVariable]:
        """Follow the geodesic that leaves ``x`` with velocity ``v`` for time ``t``."""

    @abstractmethod
    def project(self, x: TensorVariable) -> TensorVariable:
        """Return the point of the manifold nearest to ``x``, to remove rounding drift."""

    def embed(self, value: TensorVariable) -> TensorVariable:
        """Map a value of the random variable to its point in the embedding."""
        return value

    def unembed(self, x: TensorVariable) -> TensorVariable:
        """Map a point of the embedding back to a value of the random variable."""
        return x

    def fold(self, x: TensorVariable, v: TensorVariable) -> tuple[TensorVariable, TensorVariable]:
        """Choose one representative where several points mean the same value.

        ``v`` is carried along by the same isometry. ``embed(unembed(x)) == x`` holds after it.
        """
        return x, v

    def log_volume(self, x: TensorVariable) -> TensorVariable | None:
        """Log density of the value's own reference measure with respect to surface measure.

        Shape ``(...)``, up to a constant; None where it is constant.
        """
        return None

    def soften(self, x: TensorVariable, width: TensorVariable) -> TensorVariable:
        """Move ``x`` away, by about ``width``, from where densities on the manifold have poles.

        An unadjusted integrator evaluates its gradient there, so that a pole within reach of one
        step cannot throw the chain. The identity where no density has a pole.
        """
        return x

    def squared_norm(self, v: TensorVariable) -> TensorVariable:
        """Squared length of every tangent vector, shape ``(...)``."""
        return (v * v).sum(axis=-1)

    def envelope(self, variance: TensorVariable) -> TensorVariable:
        """Bound a diagonal covariance by one that commutes with :meth:`to_tangent`.

        Broadcastable to ``variance``: the largest entry along the last axis, except on flat space.
        """
        return variance.max(axis=-1, keepdims=True) if variance.ndim else variance

    def check(self, value) -> str | None:
        """Say in a sentence why the array ``value`` is not on the manifold, or return None."""
        return None

    def __repr__(self) -> str:
        """Name the manifold."""
        return f"{type(self).__name__}()"
