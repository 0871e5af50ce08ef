#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The complete signature of a step: its own keywords, and those it shares with others.

Constructors pass shared keywords on as ``**options``. Here they are written out for ``help``, and
unknown ones are refused before they reach a constructor that the user does not know.
"""

from __future__ import annotations

import inspect

from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["complete_signature", "require_known"]

# Constructors that have no use for these say what to use instead.
ANSWERED = {"local", "mass"}


def complete_signature(cls: type, *, withheld: Iterable[str]) -> None:
    """Write the keywords of all constructors that a step passes through into its signature.

    Parameters
    ----------
    cls : type
        The class; ``inspect.signature`` and ``help`` show the result.
    withheld : iterable of str
        Keywords of base classes that this class sets itself or has no use for.
    """
    found: dict[str, inspect.Parameter] = {}
    for base in cls.__mro__:
        init = vars(base).get("__init__")
        if base is object or init is None:
            continue
        for name, parameter in inspect.signature(init).parameters.items():
            if parameter.kind is not parameter.VAR_KEYWORD and name not in {"self", *withheld}:
                found.setdefault(name, parameter)
    variables = found.pop("vars")
    cls.__signature__ = inspect.Signature([variables, *found.values()])


def require_known(cls: type, keywords: Mapping[str, Any]) -> None:
    """Refuse keywords that a step does not take.

    Raises
    ------
    TypeError
        If there is one.
    """
    known = [name for name in inspect.signature(cls).parameters if name != "vars"]
    if unknown := [name for name in keywords if name not in {"vars", *known, *ANSWERED}]:
        listed = ", ".join(f"`{name}`" for name in unknown)
        raise TypeError(
            f"`{cls.__name__}` expected keywords among {', '.join(known)}; got {listed}."
        )
