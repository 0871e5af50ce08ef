#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""An algorithm as a value: everything that the rest of the package knows about a sampler."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from pymc_geodesic.algorithms.thermostat import Grouping
from pymc_geodesic.algorithms.tuning_rules import Rule
from pymc_geodesic.kernel.interface import Dynamics
from pymc_geodesic.kernel.streams import draw_noise
from pymc_geodesic.manifolds import Manifold, Product
from pymc_geodesic.potential.variables import SampledVariable

__all__ = [
    "Algorithm",
    "Integrator",
    "Setup",
    "any_manifold",
    "draw_velocity",
    "flat_only",
]

Integrator = Literal["splitting", "euler"]
"""Second order, or as the papers printed it, first order."""


class Setup(NamedTuple):
    """The arguments from which an initial state is made.

    Attributes
    ----------
    position : tuple of ndarray
        A point of the embedding, one array per variable.
    manifold : Product
        The manifold of the point.
    parameters : Mapping
        Parameters of the dynamics, by name.
    """

    position: tuple[np.ndarray, ...]
    manifold: Product
    parameters: Mapping[str, float]

    @property
    def dtype(self) -> str:
        """Type of the variables."""
        return self.position[0].dtype.name


def _no_statistics(state: Any, **measured: Any) -> dict[str, float]:
    return {}


def any_manifold(name: str, variables: Sequence[SampledVariable]) -> None:
    """Accept variables on every manifold."""


def flat_only(name: str, variables: Sequence[SampledVariable]) -> None:
    """Raise an error for variables on curved manifolds."""
    for variable in variables:
        if not variable.is_flat:
            raise ValueError(
                f"`{name}` expected variables of Euclidean space, got `{variable.name}` on a "
                f"{variable.manifold.name.lower()}. Use `pmg.gSGNHT` or `pmg.SGGMC`, which move "
                "every variable on its own manifold."
            )


@dataclass(frozen=True, kw_only=True)
class Algorithm:
    """A sampler that makes transitions with stochastic gradients.

    Attributes
    ----------
    state : type
        Named tuple of the state, with a field ``position``.
    init : callable
        ``(setup, rng) -> state``: the state of a new chain, arrays in the named tuple. ``rng``
        is the chain's generator.
    dynamics : Dynamics
        The transition, which takes the parameters by their names.
    parameters : mapping of str to callable
        Default of each parameter, given the step size and the number of degrees of freedom.
    n_normals : int
        Standard normals that a transition takes for each entry, in a first axis if several.
    scalar_noise : bool
        Whether a transition takes one random number beside those for each variable.
    statistics : callable
        ``(state, *, step_size, noise_variance, n_steps, parameters) -> dict``: numbers that are
        recorded per draw. The arguments are the state after the draw, the last step size, the
        largest known variance of the gradient noise, and the number of transitions.
    statistic_names : tuple of str
        Names of the statistics.
    order : int
        Power of the step size to which the bias is proportional.
    tuning_rule : callable, optional
        Computes step size and parameters from the measurements of the tuning phase; see
        :mod:`pymc_geodesic.algorithms.tuning_rules`.
    heating_noise : callable, optional
        ``(temperature, *, step_size, **parameters) -> variance``: the mean variance of the
        gradient's noise that gives velocities this temperature, if no thermostat cools them.
    grouping : str, optional
        How thermostats are shared, if the state has any. The tuning phase settles them.
    accelerates : bool
        Whether the transition has a parameter ``tuning``, which makes its thermostat move faster.
    damps : bool
        Whether the transition damps velocities along the difference that an estimate from halves of
        a batch has. If it does, directions of curved points need no thermostats of their own.
    balances : bool
        Whether the transition has a parameter ``measured_noise`` and adds friction for this noise.
    require : callable
        ``(name, variables)``: raises if the algorithm cannot move the variables.
    bind : callable, optional
        ``(variables) -> Algorithm``: the algorithm for these variables, if it depends on them.
    full_data : bool
        Whether the transitions use all rows instead of batches.
    tells_positions : bool
        Whether the gradients give the temperature of the positions.
    step_size_power : int
        Default step sizes are this power of ``sqrt(0.01 / N)``.
    needs_step_size : str
        The feature for which the tuning phase cannot choose a step size, if there is one.
    takes_covariance : bool
        Whether the transition uses covariances of the gradient noise between entries.
    coordinates : mapping of Manifold class to Manifold
        Other coordinates for variables on a manifold.
    """

    state: Any
    init: Callable[[Setup, np.random.Generator], Any]
    dynamics: Dynamics
    parameters: Mapping[str, Callable[[float, int], float]] = field(default_factory=dict)
    n_normals: int = 1
    scalar_noise: bool = False
    statistics: Callable[..., dict[str, float]] = _no_statistics
    statistic_names: tuple[str, ...] = ()
    order: int = 2
    tuning_rule: Rule | None = None
    heating_noise: Callable[..., float] | None = None
    grouping: Grouping | None = None
    accelerates: bool = False
    damps: bool = False
    balances: bool = False
    require: Callable[[str, Sequence[SampledVariable]], None] = any_manifold
    bind: Callable[..., Algorithm] | None = None
    full_data: bool = False
    tells_positions: bool = True
    step_size_power: int = 1
    needs_step_size: str = ""
    takes_covariance: bool = False
    coordinates: Mapping[type[Manifold], Manifold] = field(default_factory=dict)


def draw_velocity(setup: Setup, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Draw standard normals; the kernel projects them onto the tangent space of the first point."""
    return tuple(noise[0] for noise in draw_noise(rng, 1, setup.manifold.shapes, setup.dtype))
