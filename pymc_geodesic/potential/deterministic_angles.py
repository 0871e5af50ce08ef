#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Deterministics that are angles: those that an arctangent of two coordinates computes."""

from __future__ import annotations

from pymc.model import Model
from pytensor.compile.ops import ViewOp
from pytensor.graph import Variable
from pytensor.scalar import ArcTan2, Identity
from pytensor.tensor.basic import Join, MakeVector
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.shape import Reshape
from pytensor.tensor.subtensor import AdvancedSubtensor, Subtensor

__all__ = ["deterministic_angles"]

# Operations that change neither the values nor their meaning, and those that join several arrays.
SAME_VALUES = (ViewOp, DimShuffle, Reshape, Subtensor, AdvancedSubtensor)
JOINING = (Join, MakeVector)


def deterministic_angles(model: Model) -> list[str]:
    """Return the names of the Deterministics that are angles from -pi to pi.

    Parameters
    ----------
    model : Model
        The model.

    Examples
    --------
    >>> import pymc as pm, pytensor.tensor as pt
    >>> from pymc_geodesic.potential.deterministic_angles import deterministic_angles
    >>> with pm.Model() as model:
    ...     x = pm.Normal("x", shape=2)
    ...     _ = pm.Deterministic("angle", pt.arctan2(x[1], x[0]))
    ...     _ = pm.Deterministic("length", pt.sqrt((x**2).sum()))
    >>> deterministic_angles(model)
    ['angle']
    """
    return [variable.name for variable in model.deterministics if _is_arctangent(variable)]


def _is_arctangent(variable: Variable) -> bool:
    if (node := variable.owner) is None:
        return False
    if isinstance(node.op, JOINING):
        parts = [x for x in node.inputs if x.type.dtype == variable.type.dtype]
        return all(map(_is_arctangent, parts))
    if isinstance(node.op, SAME_VALUES):
        return _is_arctangent(node.inputs[0])
    if not isinstance(node.op, Elemwise):
        return False
    scalar = node.op.scalar_op
    is_copy = isinstance(scalar, Identity)
    return isinstance(scalar, ArcTan2) or (is_copy and _is_arctangent(node.inputs[0]))
