#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Common parts of the distributions of frames and rotations, and the uniform rotation."""

import math

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from pymc.distributions.distribution import Continuous
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.tensor.variable import TensorVariable
from scipy.special import multigammaln

from pymc_geodesic.distributions.base import (
    ChecksObserved,
    RandomGraph,
    on_manifold,
    on_support,
    with_signature,
)
from pymc_geodesic.distributions.transforms import rotation
from pymc_geodesic.distributions.validation import constant_value, finite_value, static_shape
from pymc_geodesic.manifolds import SpecialOrthogonal
from pymc_geodesic.manifolds.orthonormal import is_rotation, largest_overlap
from pymc_geodesic.validation import UNIT_NORM_TOLERANCE

__all__ = [
    "FrameDistribution",
    "RotationDistribution",
    "UniformRotation",
    "UniformRotationRV",
    "check_frames",
    "check_parameter",
    "check_shape",
    "known_shape",
    "log_rotations_area",
    "log_stiefel_area",
    "require_frame_shape",
]


def log_stiefel_area(n: int, p: int) -> float:
    r"""Log area of the Stiefel manifold, in the metric of the space of all n x p matrices.

    .. math::

        2^{p (p - 1) / 4} \, \frac{2^p \pi^{n p / 2}}{\Gamma_p(n / 2)}

    The first factor belongs to the metric: a rotation of two columns into each other changes both
    of them, and is longer by :math:`\sqrt 2` than in the measure whose total is usually printed.

    References
    ----------
    Muirhead, R. J. (1982). Aspects of Multivariate Statistical Theory, theorem 2.1.15.

    Examples
    --------
    >>> round(math.exp(log_stiefel_area(3, 1)) / math.pi, 6)
    4.0
    """
    log_haar = p * math.log(2) + 0.5 * n * p * math.log(math.pi) - float(multigammaln(0.5 * n, p))
    return log_haar + 0.25 * p * (p - 1) * math.log(2)


def log_rotations_area(n: int) -> float:
    r"""Log area of the rotations of n-space: half that of all orthogonal matrices.

    In three dimensions the area is ``2 sqrt(2)`` times the :math:`8 \pi^2` of rotation angles.
    """
    return log_stiefel_area(n, n) - math.log(2)


def require_frame_shape(n: Any, p: Any, owner: str) -> tuple[int, int]:
    """Return n and p as integers if frames of p columns in n-space can be sampled.

    Raises
    ------
    TypeError
        If they are not whole numbers.
    ValueError
        If p is not between 1 and n - 1.
    """
    if not all(isinstance(number, int | np.integer) for number in (n, p)):
        raise TypeError(f"`{owner}` expected whole numbers as `n` and `p`, got {n!r} and {p!r}.")
    if p == n > 1:
        raise ValueError(
            f"`{owner}` expected fewer columns than rows, got {n} of both. Square frames have two "
            "components, rotations and reflections, which no path connects. Use "
            "`pmg.UniformRotation` or `pmg.MatrixFisher` for rotations, or leave out the last "
            "column, which the others determine up to its sign."
        )
    if not 1 <= p < n:
        raise ValueError(f"`{owner}` expected 1 <= p < n, got n = {n} and p = {p}.")
    return int(n), int(p)


def known_shape(support_shape: Any) -> tuple[int, int]:
    """Return the shape of one matrix, which the distributions store as a constant."""
    value = constant_value(support_shape)
    assert value is not None, "the shape of one matrix is a constant"
    n, p = map(int, value)
    return n, p


def check_shape(shapes: Mapping[str, Any], expected: tuple[int, int], owner: str) -> None:
    """Raise an error if the last two axes of an array or tensor are known and not as expected."""
    for argument, shape in shapes.items():
        known = [_known_length(length) for length in tuple(shape)]
        fits = all(found in (None, size) for found, size in zip(known[-2:], expected, strict=False))
        if len(known) < 2 or not fits:
            raise ValueError(
                f"`{owner}` expected matrices of shape {expected} in the last two axes of "
                f"`{argument}`, got shape {tuple(known)}."
            )


def _known_length(length: Any) -> int | None:
    """Return the length of an axis, which PyMC passes as a shared variable for named dimensions."""
    if isinstance(length, SharedVariable):
        return int(length.get_value())
    value = constant_value(length)
    return None if value is None else int(value)


def check_parameter(parameter: TensorVariable, owner: str) -> tuple[int, int]:
    """Return the shape of the matrix F of an exponential family, which must be finite.

    Raises
    ------
    ValueError
        If the last two axes are not known, or a known entry is not finite.
    """
    shape = parameter.type.shape[-2:]
    if len(shape) < 2 or None in shape:
        raise ValueError(
            f"`{owner}` expected a matrix of known shape in the last two axes of `F`, got shape "
            f"{parameter.type.shape}. Give unknown axes a length with `pt.specify_shape`."
        )
    value = constant_value(parameter)
    if value is not None and not np.all(np.isfinite(value)):
        raise ValueError(f"`{owner}` expected finite entries in `F`, got {value}.")
    n, p = shape
    return n, p


def check_frames(x: Any, argument: str, owner: str, *, rotations: bool = False) -> None:
    """Raise an error if ``x`` is known and lacks orthonormal columns in its last two axes.

    Parameters
    ----------
    x : tensor_like
        Array, list or tensor. Symbolic tensors other than constants pass.
    argument, owner : str
        Names of the argument and the distribution in the message.
    rotations : bool
        Whether determinants must be 1, too.

    Raises
    ------
    ValueError
        When ``x`` has fewer than two axes, a value is missing or infinite, an inner product of
        columns is off by more than 2e-6, or a rotation is a reflection.
    """
    if len(static_shape(x)) < 2:
        raise ValueError(
            f"`{owner}` expected matrices in the last two axes of `{argument}`, got shape "
            f"{static_shape(x)}."
        )
    columns = "matrices with orthonormal columns in the last two axes"
    value = finite_value(x, argument, owner, expected=columns)
    if value is None:
        return
    if np.any(largest_overlap(value) > 2 * UNIT_NORM_TOLERANCE):
        raise ValueError(
            f"`{owner}` expected {columns} of `{argument}`, got inner products off by "
            f"{largest_overlap(value).max():.6g}. Use the nearest such matrices: `u @ vt` of `u, "
            f"_, vt = np.linalg.svd({argument}, full_matrices=False)`."
        )
    if rotations and np.any(np.linalg.det(value) < 0):
        raise ValueError(
            f"`{owner}` expected rotation matrices in `{argument}`, got reflections of "
            "determinant -1. Change the sign of one column."
        )


class FrameDistribution(ChecksObserved, Continuous):
    """A distribution of matrices with orthonormal columns: checks of observed data."""

    check_observed = staticmethod(check_frames)


class RotationDistribution(ChecksObserved, Continuous):
    """A distribution of rotation matrices: checks of observed data."""

    check_observed = staticmethod(partial(check_frames, rotations=True))


class UniformRotationRV(RandomGraph):
    """Random graph of :class:`UniformRotation`."""

    extended_signature = "[rng],[size],(s)->[rng],(n,n)"

    @classmethod
    def draw(cls, support_shape, *, size, rng):
        """Return the generator's next state and draws."""
        shape = known_shape(support_shape)
        next_rng, noise = pm.Normal.dist(size=(*tuple(size), *shape), rng=rng, return_next_rng=True)
        draws = SpecialOrthogonal().random_point(noise)
        return next_rng, draws


@with_signature()
class UniformRotation(RotationDistribution):
    r"""
    Uniform distribution of rotation matrices.

    The last two axes are a matrix X of shape (n, n) with :math:`X^\top X = I` and determinant 1.
    The density is constant, one over the area, with respect to the surface (Hausdorff) measure in
    the space of all matrices. In three dimensions the area is :math:`16 \sqrt 2\, \pi^2`: in this
    metric a rotation by the small angle h has length :math:`\sqrt 2\, h`.

    ========  ==========================================
    Support   :math:`X \in \mathbb{R}^{n \times n}, X^\top X = I, \det X = 1`
    Mean      0
    ========  ==========================================

    Parameters
    ----------
    n : int, default 3
        Dimension of the space, 2 or more.

    Raises
    ------
    TypeError
        When n is not a whole number.
    ValueError
        If n is below 2, a shape does not end in (n, n), or ``observed`` does not hold rotations.

    Notes
    -----
    The log density of a matrix that is not a rotation is -inf. Leading axes of ``shape`` are
    independent rotations. The default transform is
    :class:`~pymc_geodesic.distributions.transforms.RotationTransform`.

    References
    ----------
    .. [1] Mardia, K. V. and Jupp, P. E. (2000). Directional Statistics, section 13.2.
           DOI 10.1002/9780470316979

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> reference = np.random.default_rng(1).normal(size=(10, 3))
    >>> with pm.Model():
    ...     attitude = pmg.UniformRotation("attitude")
    ...     turned = (attitude * reference[:, None, :]).sum(-1)
    ...     x = pm.Normal("x", turned, 0.1, observed=reference[:, [1, 2, 0]])
    >>> attitude.type.shape
    (3, 3)
    """

    rv_type = UniformRotationRV

    @classmethod
    def dist(cls, n: int = 3, **kwargs) -> TensorVariable:
        """Return a variable that is not registered in a model."""
        if not isinstance(n, int | np.integer):
            raise TypeError(f"`UniformRotation` expected a whole number as `n`, got {n!r}.")
        if n < 2:
            raise ValueError(f"`UniformRotation` expected n of 2 or more, got {n}.")
        if isinstance(shape := kwargs.get("shape"), tuple | list):
            check_shape({"shape": shape}, (n, n), "UniformRotation")
        return super().dist([pt.as_tensor([n, n], dtype="int64")], **kwargs)

    def support_point(rv, size, support_shape) -> TensorVariable:
        """Return the identity."""
        return pt.broadcast_to(pt.eye(rv.type.shape[-1], dtype=rv.dtype), rv.shape)

    def logp(value, support_shape) -> TensorVariable:
        """Return the log density with respect to the surface measure."""
        n, _ = known_shape(support_shape)
        check_shape({"the value": value.type.shape}, (n, n), "UniformRotation")
        log_density = pt.full(value.shape[:-2], -log_rotations_area(n), dtype=value.dtype)
        return on_support(log_density, value, is_rotation)


on_manifold(UniformRotation, SpecialOrthogonal(), rotation)
