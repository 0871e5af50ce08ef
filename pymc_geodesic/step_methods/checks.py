#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Keywords of steps: their types, their signature, their checks, alone and with an algorithm.

Constructors pass shared keywords on as ``**options``. Here they are written out for ``help``, and
unknown ones raise an error before they reach a constructor that the user does not know.
"""

from __future__ import annotations

import inspect

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, TypedDict

import numpy as np

from numpy.typing import ArrayLike
from pymc.model import Model
from pymc.util import get_random_generator

from pymc_geodesic.algorithms.algorithm import Algorithm
from pymc_geodesic.latents.gmc import LocalGMC
from pymc_geodesic.manifolds import Manifold
from pymc_geodesic.potential.noise_matrices import is_noise_matrix
from pymc_geodesic.sampling.problem import Problem
from pymc_geodesic.tuning.mass_adaptation import MassArgument
from pymc_geodesic.tuning.self_tuner import VarianceReduction
from pymc_geodesic.validation import flag, mapping, no_backend, pymc_model, share

__all__ = [
    "GradientOptions",
    "ModelOptions",
    "StepOptions",
    "TrajectoryOptions",
    "check_keywords",
    "complete_signature",
    "require_fitting",
    "require_known",
    "require_shapes",
    "require_values",
]

# A smaller error would need millions of transitions per effective draw.
LEAST_ACCURACY = 1e-4


def check_keywords(keywords: Mapping[str, Any]) -> None:
    """Check keywords by their names; None stands for a default.

    Raises
    ------
    ValueError, TypeError
        If a keyword has an invalid value.
    """
    for name, value in keywords.items():
        if name in CHECKS and value is not None:
            CHECKS[name](name, value)


def require_values(name: str, point: Mapping[str, np.ndarray], model: Model) -> None:
    """Raise an error for a point that lacks a value variable of the model.

    Raises
    ------
    ValueError
        If a variable is missing.
    """
    wanted = [value.name for value in model.value_vars]
    if missing := [value for value in wanted if value not in point]:
        raise ValueError(
            f"`{name}` expected a value for each of {wanted}, as `model.initial_point()` returns "
            f"them; got none for {missing}."
        )


def require_shapes(name: str, point: Mapping[str, Any], start: Mapping[str, np.ndarray]) -> None:
    """Raise an error for a point with a value of another shape than the start of a chain has.

    Raises
    ------
    ValueError
        If a shape differs.
    """
    for variable, value in start.items():
        if variable in point and np.shape(point[variable]) != np.shape(value):
            raise ValueError(
                f"`{name}` expected a value of shape {np.shape(value)} for `{variable}`, as "
                f"`model.initial_point()` returns it, got one of shape {np.shape(point[variable])}."
            )


def _local(name: str, value: Any) -> None:
    if not isinstance(value, LocalGMC):
        raise TypeError(
            f"`{name}` expected a `pmg.LocalGMC`, such as `pmg.LocalGMC([theta])`; got {value!r}."
        )


def _manifolds(name: str, value: Any) -> None:
    mapping(name, value, what=MANIFOLDS)
    if not all(isinstance(manifold, Manifold) for manifold in value.values()):
        raise TypeError(f"`{name}` expected {MANIFOLDS}, got {value!r}.")


def _model(name: str, value: Any) -> None:
    pymc_model(value)


def _generator(name: str, value: Any) -> None:
    try:
        get_random_generator(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"`{name}` expected a generator or a seed, got {value!r}.") from error


def _variables(name: str, value: Any) -> None:
    if not isinstance(value, str | Sequence) and not hasattr(value, "owner"):
        raise TypeError(f"`{name}` expected variables or their names, got {value!r}.")


LOADERS = "loaders by the name of their `pm.Data`, such as {'batch': loader}"


MANIFOLDS = "manifolds by the name of their variable, such as {'x': pmg.Box(0, 1)}"


VALUES = "values by name, as `model.initial_point()` returns them"


CHECKS: Mapping[str, Callable[[str, Any], Any]] = {
    "accuracy": partial(share, least=LEAST_ACCURACY),
    "backend": no_backend,
    "blocked": flag,
    "center": partial(mapping, what=VALUES),
    "data": partial(mapping, what=LOADERS),
    "initial_point": partial(mapping, what=VALUES),
    "local": _local,
    "manifolds": _manifolds,
    "metropolis": flag,
    "model": _model,
    "replacement": flag,
    "rng": _generator,
    "trust_total_size": flag,
    "vars": _variables,
}


def require_fitting(
    name: str, algorithm: Algorithm, problem: Problem, gradient_noise: Any, *, has_step_size: bool
) -> None:
    """Raise an error for noise that the algorithm cannot use, or a missing step size.

    Raises
    ------
    ValueError
        If they do not fit.
    """
    if algorithm.needs_step_size and not has_step_size:
        raise ValueError(
            f"`{name}` expected a `step_size`, because the tuning phase cannot choose one for "
            f"{algorithm.needs_step_size}; got none. Pass a `step_size`."
        )
    if not is_noise_matrix(gradient_noise, problem.variables):
        return
    if not algorithm.takes_covariance:
        raise ValueError(
            f"`gradient_noise` of `{name}` expected variances, got covariances between entries. "
            "Leave it out, because a thermostat finds the noise, or use `pmg.SGGMC` or "
            "`pmg.SGHMC` with their second-order integrator."
        )
    if problem.mass is not None:
        raise ValueError(
            "`gradient_noise` with covariances between entries expected no `mass`, because they "
            f"would change in its frame; got {problem.mass!r}. Leave out one of them."
        )


# Constructors that cannot use these raise an error that names the alternative.
ANSWERED = {"local", "mass"}


class ModelOptions(TypedDict, total=False):
    """Optional keywords that every step takes."""

    mass: MassArgument
    manifolds: Mapping[str, Manifold] | None
    data: Mapping[str, Iterable[np.ndarray]] | None
    model: Model | None
    rng: Any
    initial_point: Mapping[str, np.ndarray] | None
    backend: str | None
    blocked: bool
    trust_total_size: bool


class StepOptions(ModelOptions, total=False):
    """Keywords of steps that may have local variables."""

    local: LocalGMC | None


class TrajectoryOptions(StepOptions, total=False):
    """Keywords that every stochastic-gradient step takes."""

    steps_per_batch: int
    replacement: bool
    gradient_noise: ArrayLike | Mapping[str, ArrayLike] | str | None
    variance_reduction: VarianceReduction | None
    center: Mapping[str, ArrayLike] | None
    accuracy: float


class GradientOptions(TrajectoryOptions, total=False):
    """Keywords of stochastic-gradient steps whose draw is a number of transitions."""

    n_steps: int | Literal["auto"] | None


# None for keywords that are not listed here.
DEFAULTS: Mapping[str, Any] = {
    "steps_per_batch": 1,
    "replacement": True,
    "variance_reduction": "auto",
    "accuracy": 0.05,
    "blocked": True,
    "trust_total_size": False,
}


def complete_signature(
    constructor: Callable[..., None], *, shared: type, withheld: Collection[str]
) -> inspect.Signature:
    """Write out the keywords that a step shares with others.

    Parameters
    ----------
    constructor : callable
        The ``__init__`` of the class.
    shared : type
        The typed dictionary of the keywords that it passes on.
    withheld : collection of str
        Shared keywords that this class does not take.

    Returns
    -------
    inspect.Signature
        The signature that ``help`` shows.
    """
    own = dict(inspect.signature(constructor).parameters)
    del own["self"]
    own.pop("options", None)
    for name, annotation in shared.__annotations__.items():
        if name not in {*own, *withheld}:
            own[name] = inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=DEFAULTS.get(name),
                annotation=getattr(annotation, "__forward_arg__", annotation),
            )
    return inspect.Signature(list(own.values()))


def require_known(cls: type, keywords: Mapping[str, Any]) -> None:
    """Raise an error for keywords that a step does not take.

    Raises
    ------
    TypeError
        If there is such a keyword.
    """
    known = [name for name in inspect.signature(cls).parameters if name != "vars"]
    if unknown := [name for name in keywords if name not in {"vars", *known, *ANSWERED}]:
        listed = ", ".join(f"`{name}`" for name in unknown)
        raise TypeError(
            f"`{cls.__name__}` expected keywords among {', '.join(known)}; got {listed}."
        )
