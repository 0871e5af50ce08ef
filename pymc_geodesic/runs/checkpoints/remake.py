#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Recreate a step in another process, for a model that is given there."""

from __future__ import annotations

import pickle

from typing import Any

from pymc_geodesic.step_methods.step import Step

__all__ = ["recipe", "remake"]

# Left out: the model is given again, `pm.sample` owns the generator, all variables are sampled.
LEFT_OUT = {"model", "rng", "vars", "blocked"}


def recipe(step: Step) -> bytes | None:
    """Pickle the class and the keywords of a step; return None if that is impossible.

    Data streams are left out, because only the user knows where their files are.
    """
    arguments, settings = step.__getnewargs_ex__()
    given = arguments[0] if arguments else settings.get("vars")
    keywords = {k: v for k, v in settings.items() if k not in LEFT_OUT and v is not None}
    if "data" in keywords:
        return None
    if given is not None:
        model = step.model
        values = [given] if isinstance(given, str) or hasattr(given, "owner") else given
        keywords["vars"] = [_name(value, model) for value in values]
    try:
        return pickle.dumps((type(step), keywords), protocol=pickle.HIGHEST_PROTOCOL)
    except Exception:
        return None


def remake(written: bytes | None) -> Step:
    """Recreate a step of the model of the context from its recipe.

    Raises
    ------
    ValueError
        If there is no recipe.
    """
    if written is None:
        raise ValueError(
            "`step` expected the step of the run, which reads a stream or cannot be pickled, got "
            "none. Pass it as you did to `pmg.sample`."
        )
    step_class, keywords = pickle.loads(written)
    return step_class(**keywords)


def _name(variable: Any, model: Any) -> str:
    if isinstance(variable, str):
        return variable
    return getattr(model.values_to_rvs.get(variable, variable), "name", str(variable))
