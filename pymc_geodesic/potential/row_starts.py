#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Good starts for the variables of a row, given by the distribution of the row's data."""

from __future__ import annotations

from collections.abc import Callable

from pytensor.tensor import TensorVariable

__all__ = ["local_start", "register_local_start"]

Start = Callable[..., TensorVariable]

_STARTS: dict[type, Start] = {}


def register_local_start(distribution: type, start: Start) -> None:
    """Register a start for the first parameter of a distribution, which belongs to each row.

    Parameters
    ----------
    distribution : type
        Class of the random variable operation.
    start : callable
        ``(op, value, *parameters) -> start``, symbolic; it must not depend on the parameter.
    """
    _STARTS[distribution] = start


def local_start(
    rv: TensorVariable, value: TensorVariable, *, parameter: TensorVariable
) -> TensorVariable | None:
    """Return a start for ``parameter`` if the distribution of ``rv`` registered one."""
    if (start := _STARTS.get(type(rv.owner.op))) is None:
        return None
    parameters = rv.owner.op.dist_params(rv.owner)
    return start(rv.owner.op, value, *parameters) if parameters[0] is parameter else None
