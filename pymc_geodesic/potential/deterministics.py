#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Deterministics that depend on a batch, and those that are angles."""

from __future__ import annotations

import warnings

from collections.abc import Iterable

import numpy as np

from pymc.data import MinibatchOp
from pymc.model import Model
from pytensor.compile.ops import ViewOp
from pytensor.graph import Constant, Variable
from pytensor.graph.traversal import ancestors
from pytensor.scalar import Add, ArcTan2, Identity, Mul, Neg, Sub
from pytensor.tensor.basic import Join, MakeVector
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.shape import Reshape
from pytensor.tensor.subtensor import AdvancedSubtensor, Subtensor

__all__ = [
    "batch_deterministics",
    "deterministic_angles",
    "uses_batch",
    "warn_of_batch_deterministics",
]


def uses_batch(variables: Iterable[Variable], *, given: Iterable[Variable] = ()) -> bool:
    """Return whether variables depend on ``pm.Minibatch`` data, if some others are ``given``."""
    return any(
        ancestor.owner is not None and isinstance(ancestor.owner.op, MinibatchOp)
        for ancestor in ancestors(list(variables), blockers=list(given))
    )


def batch_deterministics(model: Model) -> list[str]:
    """List the names of a model's Deterministics that depend on ``pm.Minibatch`` data."""
    return [variable.name for variable in model.deterministics if uses_batch([variable])]


def warn_of_batch_deterministics(model: Model) -> None:
    """Warn that PyMC records a Deterministic for a different random batch at every draw."""
    if names := batch_deterministics(model):
        warnings.warn(
            f"The Deterministics {names} depend on `pm.Minibatch` data: `pm.sample` records them "
            "for a different random batch at every draw. Leave them out with "
            f"`pm.sample(var_names=...)`. `pmg.predict(idata, model, var_names={names})` computes "
            "them for all rows afterwards.",
            UserWarning,
            stacklevel=2,
        )


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
    >>> from pymc_geodesic.potential.deterministics import deterministic_angles
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
