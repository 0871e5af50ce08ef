#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Expected values of observed variables: those of directions and categories are no means."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import pytensor.tensor as pt

from pymc.distributions.distribution import SymbolicRandomVariable
from pymc.distributions.mixture import MixtureRV
from pymc.distributions.moments import mean
from pymc.exceptions import UndefinedMomentException
from pytensor.tensor import TensorVariable
from pytensor.tensor.random.basic import CategoricalRV

from pymc_geodesic.distributions.angles import WrappedNormalRV
from pymc_geodesic.distributions.spherical_cauchy import SphericalCauchyRV
from pymc_geodesic.distributions.von_mises_fisher import PowerSphericalRV, VonMisesFisherRV
from pymc_geodesic.distributions.wrapped_cauchy import CardioidRV, WrappedCauchyRV

__all__ = ["expected", "probabilities_of"]


def expected(name: str, rv: TensorVariable) -> TensorVariable:
    """Return the expected value of a variable.

    That of a direction is its mean direction, that of a category the probabilities of all.

    Raises
    ------
    ValueError
        If it is not known in closed form.
    """
    try:
        return _expected(rv.owner.op, rv)
    except (NotImplementedError, UndefinedMomentException):
        raise ValueError(
            f"`kind` expected 'response' for `{name}`, because PyMC has no closed form of the mean "
            f"of {_name(rv.owner.op)}, got 'mean'. The mean of responses is the same, with a "
            "standard error of their deviation over the root of the number of draws. Or name a "
            "Deterministic in `var_names`."
        ) from None


@singledispatch
def _expected(op: Any, rv: TensorVariable) -> TensorVariable:
    return mean(rv)


@_expected.register
def _(op: CategoricalRV, rv: TensorVariable) -> TensorVariable:
    p = rv.owner.inputs[-1]
    return pt.broadcast_to(p, (*rv.shape, p.shape[-1]))


@_expected.register(CardioidRV)
@_expected.register(PowerSphericalRV)
@_expected.register(SphericalCauchyRV)
@_expected.register(VonMisesFisherRV)
@_expected.register(WrappedCauchyRV)
@_expected.register(WrappedNormalRV)
def _(op: SymbolicRandomVariable, rv: TensorVariable) -> TensorVariable:
    _, _, direction, *_ = rv.owner.inputs
    return pt.broadcast_to(direction, rv.shape)


def probabilities_of(rv: TensorVariable) -> TensorVariable | None:
    """Return the probabilities of a variable whose values are codes of categories, or None.

    Those of a mixture are of its first component: they tell the number of categories.
    """
    node = rv.owner
    if isinstance(node.op, CategoricalRV):
        return node.inputs[-1]
    # Generator and weights come first.
    if isinstance(node.op, MixtureRV) and (component := node.inputs[2]).owner is not None:
        return probabilities_of(component)
    return None


def _name(op: Any) -> str:
    return getattr(op, "_print_name", [type(op).__name__])[0]
