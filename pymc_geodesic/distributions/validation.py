#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Checks of data and parameters, shared by the distributions."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytensor
import pytensor.tensor as pt

from pytensor.graph.basic import Constant, Variable
from pytensor.graph.traversal import explicit_graph_inputs
from pytensor.tensor.variable import TensorVariable

from pymc_geodesic.validation import UNIT_NORM_TOLERANCE

__all__ = [
    "as_float_tensor",
    "check_broadcast",
    "check_covariance",
    "check_lengths",
    "check_numbers",
    "check_square",
    "check_unit_vectors",
    "constant_value",
    "finite_value",
    "has_unit_norm",
    "is_data",
    "static_shape",
]


def as_float_tensor(x: Any) -> TensorVariable:
    """Return ``x`` as a tensor, with numbers and integer tensors cast to ``floatX``."""
    if isinstance(x, Variable):
        x = pt.as_tensor(x)
        return x if x.dtype.startswith("float") else x.astype(pytensor.config.floatX)
    array = np.asarray(x)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"A distribution expected numbers as its parameters, got {x!r}.")
    return pt.as_tensor(array.astype(pytensor.config.floatX))


def constant_value(x: Any) -> np.ndarray | None:
    """Return the array behind ``x`` if it is known without evaluating a graph."""
    if isinstance(x, Constant):
        return np.asarray(x.data)
    if x is None or isinstance(x, Variable):
        return None
    return np.ma.filled(np.ma.asarray(x, dtype="float64"), np.nan)


def finite_value(x: Any, argument: str, owner: str, *, expected: str) -> np.ndarray | None:
    """Return the array behind ``x`` if it is known and has entries.

    Raises
    ------
    ValueError
        When an entry is missing or infinite.
    """
    value = constant_value(x)
    if value is None or value.size == 0:
        return None
    if not np.all(np.isfinite(value)):
        raise ValueError(
            f"`{owner}` expected {expected} of `{argument}`, got missing or infinite values. "
            "Remove or impute these rows before you build the model."
        )
    return value


def static_shape(x: Any) -> tuple[int | None, ...]:
    """Return the shape of an array, or the static shape of a tensor."""
    return x.type.shape if isinstance(x, Variable) else np.shape(x)


def check_unit_vectors(x: Any, argument: str, owner: str) -> None:
    """Raise an error if ``x`` is known and not made of unit vectors in its last axis.

    Parameters
    ----------
    x : tensor_like
        Array, list or tensor. Symbolic tensors other than constants pass.
    argument, owner : str
        Names of the argument and the distribution in the message.

    Raises
    ------
    ValueError
        When ``x`` has no axis, its last axis has length 1, a value is missing or infinite, or
        a norm differs from 1 by more than 1e-6.

    Examples
    --------
    >>> check_unit_vectors([0.6, 0.8], "mu", "VonMisesFisher")
    """
    shape = static_shape(x)
    if len(shape) == 0:
        raise ValueError(
            f"`{owner}` expected unit vectors in the last axis of `{argument}`, got a scalar. "
            f"Pass `{argument}` with two or more elements in the last axis."
        )
    if shape[-1] is not None and shape[-1] < 2:
        raise ValueError(
            f"`{owner}` expected unit vectors of two or more elements in the last axis of "
            f"`{argument}`, got length {shape[-1]}. Pass `{argument}` with at least two."
        )
    value = finite_value(x, argument, owner, expected="unit vectors in the last axis")
    if value is None:
        return
    # Avoids a copy of the data in double precision.
    norms = np.sqrt(np.einsum("...i,...i->...", value, value, dtype="float64"))
    if np.any(np.abs(norms - 1.0) > UNIT_NORM_TOLERANCE):
        raise ValueError(
            f"`{owner}` expected unit vectors in the last axis of `{argument}`, got norms in "
            f"[{norms.min():.6g}, {norms.max():.6g}]. Normalise `{argument}`, for instance with "
            f"`{argument} / np.linalg.norm({argument}, axis=-1, keepdims=True)`."
        )


def check_numbers(
    x: Any, argument: str, owner: str, *, holds: Callable, expected: str, advice: str
) -> None:
    """Raise an error if ``x`` is known and not made of finite numbers of some range.

    Parameters
    ----------
    x : tensor_like
        Array, number or tensor. Symbolic tensors other than constants pass.
    argument, owner : str
        Names of the argument and the distribution in the message.
    holds : callable
        Maps an array to whether each entry is in the range.
    expected, advice : str
        A description of valid entries, such as "positive scales", and a sentence on what to do.

    Raises
    ------
    ValueError
        When an entry is missing, infinite or out of the range.
    """
    value = constant_value(x)
    if value is None or bool(np.all(np.isfinite(value) & holds(value))):
        return
    raise ValueError(
        f"`{owner}` expected finite {expected} in `{argument}`, got values in "
        f"[{np.min(value):.6g}, {np.max(value):.6g}]. {advice}"
    )


def check_square(x: Any, argument: str, owner: str) -> None:
    """Raise an error if ``x`` is known and not made of symmetric matrices in its last two axes.

    Raises
    ------
    ValueError
        When ``x`` has fewer axes, or a value is missing or infinite, or a matrix is not square, is
        smaller than two by two or differs from its transpose.
    """
    shape = static_shape(x)
    rows, columns = shape[-2:] if len(shape) >= 2 else (None, None)
    known = rows is not None and columns is not None
    if len(shape) < 2 or (known and (rows != columns or shape[-1] == 1)):
        raise ValueError(
            f"`{owner}` expected square matrices of two or more rows in the last two axes of "
            f"`{argument}`, got a shape of {tuple(shape)}."
        )
    value = constant_value(x)
    if value is None or value.size == 0:
        return
    off = np.abs(value - np.swapaxes(value, -1, -2)).max()
    if not off <= 1e-6 * np.abs(value).max():
        raise ValueError(
            f"`{owner}` expected finite symmetric matrices in `{argument}`, got one that differs "
            f"from its transpose by {off:.6g}. Pass `0.5 * ({argument} + {argument}.T)` if you "
            "mean only the symmetric part."
        )


def check_covariance(x: Any, argument: str, owner: str) -> None:
    """Raise an error if ``x`` is known and not made of covariance matrices.

    Raises
    ------
    ValueError
        See :func:`check_square`; also when a matrix is not positive definite.
    """
    check_square(x, argument, owner)
    value = constant_value(x)
    if value is None or value.size == 0:
        return
    least = np.linalg.eigvalsh(value).min()
    if not least > 0:
        raise ValueError(
            f"`{owner}` expected positive definite matrices in `{argument}`, got a smallest "
            f"eigenvalue of {least:.6g}. Add a small multiple of the identity."
        )


def has_unit_norm(x):
    """Return whether the norm along the last axis of an array or tensor is 1 within 1e-6."""
    x = x.astype("float64")
    # |x|^2 - 1 is 2 (|x| - 1) to first order.
    return abs((x * x).sum(axis=-1) - 1.0) <= 2.0 * UNIT_NORM_TOLERANCE


def check_lengths(lengths: Mapping[str, int | None], owner: str) -> None:
    """Raise an error if vectors are known to differ in length.

    Parameters
    ----------
    lengths : mapping of str to int or None
        Length of the last axis of each argument, None where it is not known.
    owner : str
        Name of the distribution in the message.

    Raises
    ------
    ValueError
        When two lengths differ.
    """
    known = {name: length for name, length in lengths.items() if length is not None}
    if len(set(known.values())) > 1:
        listed = ", ".join(f"{length} in `{name}`" for name, length in known.items())
        raise ValueError(f"`{owner}` expected vectors of equal length, got {listed}.")


def check_broadcast(shapes: Mapping[str, tuple[int | None, ...]], owner: str) -> None:
    """Raise an error if the leading axes of parameters are known not to broadcast.

    Raises
    ------
    ValueError
        When two lengths of an axis differ and neither is one.
    """
    known = {name: [1 if n is None else n for n in shape] for name, shape in shapes.items()}
    try:
        np.broadcast_shapes(*map(tuple, known.values()))
    except ValueError:
        listed = ", ".join(f"{tuple(shape)} of `{name}`" for name, shape in known.items())
        raise ValueError(
            f"`{owner}` expected leading axes that broadcast against each other, got {listed}."
        ) from None


def is_data(value: TensorVariable) -> bool:
    """Return whether ``value`` depends only on constants, shared variables and indices.

    Such values are data, which no sampler changes: testing every row at every evaluation of the
    log density would be wasteful.
    """
    return not any(
        getattr(root, "dtype", "").startswith("float") for root in explicit_graph_inputs([value])
    )
