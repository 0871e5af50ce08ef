#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What to do about arguments of ``pm.sample`` that ``pmg.sample`` does not have."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from numbers import Number

__all__ = ["with_hints"]

NUTS = "These samplers have no NUTS. Leave it out, or call `pm.sample` for NUTS on all rows."
INSTEAD = {
    "cores": "All chains move together in one process, with all cores. Leave it out.",
    "blas_cores": "All chains move together in one process. Leave it out.",
    "mp_ctx": "All chains move together in one process. Leave it out.",
    "target_accept": (
        "No draw is accepted or rejected. For a smaller bias pass "
        "`step=pmg.SGNHT(accuracy=0.01)`, or `exact='nuts'`."
    ),
    "nuts": NUTS,
    "nuts_sampler": NUTS,
    "nuts_sampler_kwargs": NUTS,
    "max_treedepth": NUTS,
    "init": "Chains start around the mode. Leave it out, or pass starts as `initvals`.",
    "n_init": "Chains start around the mode. Leave it out, or pass starts as `initvals`.",
    "jitter_max_retries": "Chains start around the mode. Leave it out.",
    "return_inferencedata": "The result is always a `DataTree`. Leave it out.",
    "idata_kwargs": "The log likelihood is that of `pmg.loo`. Leave it out.",
    "trace": "Pass `checkpoint='run.zarr'` to write the draws to disk.",
    "callback": "Pass `until` to end a run, or `keep` for running means.",
    "quiet": "Pass `progressbar=False`.",
    "progressbar_theme": "Leave it out.",
    "keep_warning_stat": "Leave it out.",
    "compile_kwargs": "JAX compiles every model. Leave it out.",
}
"""Arguments of ``pm.sample``, and what serves their purpose."""


def with_hints[**P, R](function: Callable[P, R]) -> Callable[P, R]:
    """Let a function answer arguments of ``pm.sample`` that it lacks with what to do instead.

    Raises
    ------
    TypeError
        By the function returned, for such an argument, for a first one that is not a number, and
        for a second one without its name.
    """

    @wraps(function)
    def hinting(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in INSTEAD.keys() & kwargs.keys():
            raise TypeError(f"`{name}` expected no value, got {kwargs[name]!r}. {INSTEAD[name]}")
        if args and not isinstance(args[0], Number):
            raise TypeError(
                f"`draws` expected a number, got an object of type {type(args[0]).__name__}. Write "
                f"`pmg.{function.__name__}(model=...)` if it is the model."
            )
        if len(args) > 1:
            raise TypeError(
                f"`{function.__name__}` expected names for all arguments after `draws`, got "
                f"{args[1]!r} without one. Write `pmg.{function.__name__}({args[0]!r}, "
                f"tune={args[1]!r})` if it is the length of the tuning phase."
            )
        return function(*args, **kwargs)

    return hinting
