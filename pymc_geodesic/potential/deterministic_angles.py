#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Deterministics that are angles: whole multiples of an arctangent of two coordinates."""

from __future__ import annotations

import numpy as np

from pymc.model import Model
from pytensor.compile.ops import ViewOp
from pytensor.graph import Constant, Variable
from pytensor.scalar import Add, ArcTan2, Identity, Mul, Neg, Sub
from pytensor.tensor.basic import Join, MakeVector
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.shape import Reshape
from pytensor.tensor.subtensor import AdvancedSubtensor, Subtensor

__all__ = ["deterministic_angles"]

# Operations that change neither the values nor their meaning, and those that join several arrays.
SAME_VALUES = (ViewOp, DimShuffle, Reshape, Subtensor, AdvancedSubtensor)
JOINING = (Join, MakeVector)


def deterministic_angles(model: Model) -> list[str]:
    """Return the names of the Deterministics that are angles in radians, up to whole turns.

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
    ...     _ = pm.Deterministic("twice", 2 * pt.arctan2(x[1], x[0]))
    ...     _ = pm.Deterministic("length", pt.sqrt((x**2).sum()))
    >>> deterministic_angles(model)
    ['angle', 'twice']
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
    if isinstance(scalar, ArcTan2):
        return True
    constants = [x.data for x in node.inputs if isinstance(x, Constant)]
    others = [x for x in node.inputs if not isinstance(x, Constant)]
    # A whole multiple still jumps by whole turns, and a turned angle by one.
    whole = not isinstance(scalar, Mul) or all(_is_whole(x) for x in constants)
    same = isinstance(scalar, (Add, Identity, Mul, Neg, Sub)) and whole
    return same and len(others) == 1 and _is_arctangent(others[0])


def _is_whole(values: np.ndarray) -> bool:
    return bool(np.all((values == np.round(values)) & (values != 0)))
