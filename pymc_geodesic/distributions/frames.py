#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Common parts of the distributions of frames and rotations: areas and checks of arguments."""

import math

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from pymc.distributions.distribution import Continuous
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.tensor.variable import TensorVariable
from scipy.special import multigammaln

from pymc_geodesic.distributions.base import ChecksObserved
from pymc_geodesic.distributions.validation import constant_value, finite_value, static_shape
from pymc_geodesic.manifolds.orthonormal import largest_overlap
from pymc_geodesic.validation import UNIT_NORM_TOLERANCE

__all__ = [
    "FrameDistribution",
    "RotationDistribution",
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
