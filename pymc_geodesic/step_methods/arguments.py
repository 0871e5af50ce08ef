#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Keywords that step methods share: their types, their defaults, the complete signature.

Constructors pass shared keywords on as ``**options``. Here they are written out for ``help``, and
unknown ones raise an error before they reach a constructor that the user does not know.
"""

from __future__ import annotations

import inspect

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Literal, TypedDict

import numpy as np

from numpy.typing import ArrayLike
from pymc.model import Model

from pymc_geodesic.latents.gmc import LocalGMC
from pymc_geodesic.manifolds import Manifold
from pymc_geodesic.tuning.mass_adaptation import MassArgument
from pymc_geodesic.tuning.self_tuner import VarianceReduction

__all__ = [
    "GradientOptions",
    "ModelOptions",
    "StepOptions",
    "TrajectoryOptions",
    "complete_signature",
    "require_known",
]

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
