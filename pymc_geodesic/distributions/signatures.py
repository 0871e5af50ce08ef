#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The signatures that ``help`` and the documentation show of distributions.

PyMC adds a variable to the model in ``__new__(name, *args, **kwargs)``, and hands the arguments on
to ``dist``. Users need the names of all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from inspect import Parameter, Signature, signature

from pymc.distributions.distribution import Distribution
from pytensor.tensor.variable import TensorVariable

__all__ = ["with_signature"]


def with_signature[D: type[Distribution]](*, withheld: Collection[str] = ()) -> Callable[[D], D]:
    """Return a decorator that writes out what a distribution takes: its parameters, and PyMC's.

    Parameters
    ----------
    withheld : collection of str
        Names for which the distribution has no use.

    Returns
    -------
    callable
        A decorator of a class.
    """

    def decorate(cls: D) -> D:
        named = [Parameter("name", Parameter.POSITIONAL_OR_KEYWORD, annotation=str)]
        named += [p for p in _parameters(cls.dist) if p.kind is not Parameter.VAR_KEYWORD]
        named += [Parameter("shape", Parameter.KEYWORD_ONLY, default=None)]
        named += [p for p in _parameters(Distribution.__new__) if p.kind is Parameter.KEYWORD_ONLY]
        shown = [p for p in named if p.name not in withheld]
        cls.__signature__ = Signature(shown, return_annotation=TensorVariable)
        return cls

    return decorate


def _parameters(function: Callable) -> list[Parameter]:
    return list(signature(function).parameters.values())
