#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A model prepared for a sampler: its potential, its variables, its data, local variables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from pymc.exceptions import SamplingError
from pymc.model import Model

from pymc_geodesic.data_checks import DataChecks
from pymc_geodesic.data_checks.indices import require_fixed_indices
from pymc_geodesic.kernel.host_functions import Change
from pymc_geodesic.latents.gmc import LocalGMC
from pymc_geodesic.latents.latents import NOTHING, Drawn, Latents
from pymc_geodesic.manifolds import Manifold
from pymc_geodesic.mass import Mass
from pymc_geodesic.mass.tangent import TangentMass, separated
from pymc_geodesic.potential import Potential
from pymc_geodesic.potential.centering import inside, outside
from pymc_geodesic.potential.deterministics import warn_of_batch_deterministics
from pymc_geodesic.potential.total_size import warn_of_poles, warn_of_row_variables
from pymc_geodesic.potential.variables import (
    UNCONSTRAINED,
    Coordinates,
    as_points,
    geometry_names,
    manifold_in,
)
from pymc_geodesic.sampling.chain import ExactChain, GradientChain
from pymc_geodesic.sampling.explain import impossible_start
from pymc_geodesic.sampling.variables import Variables, global_and_local, requested_manifolds
from pymc_geodesic.stages import log
from pymc_geodesic.tuning.mass_adaptation import MassArgument, begin_mass

__all__ = ["Options", "Problem"]

Values = Mapping[str, np.ndarray]
"""PyMC's values by name."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of all step methods; see their docstrings."""

    model: Model
    vars: Variables | None = None
    mass: MassArgument = None
    manifolds: Mapping[str, Manifold] | None = None
    data: Mapping[str, Iterable[np.ndarray]] | None = None
    local: LocalGMC | None = None
    initial_point: Values | None = None
    trust_total_size: bool = False


class Problem:
    """The variables that a sampler moves, with their potential and manifold.

    Parameters
    ----------
    name : str
        Name of the step method, for messages.
    options : Options
        Options of the user.
    full_data : bool
        Whether all rows are used instead of batches.
    restarts_local : bool
        Whether local variables start anew with each batch.
    coordinates : mapping, optional
        Other coordinates for variables on a manifold.

    Attributes
    ----------
    names, conditioned_names : list of str
        PyMC's value variables that are sampled, and those of other steps.
    latents : Latents
        Draws anew for each batch.
    requested : frozenset of str
        Names of variables whose coordinates are given, and not to be found.
    is_nonsmooth : bool
        Whether noise and curvature may grow much within the posterior, where a scale is small.
    near : mapping or None
        Where the search of a mode begins, if not at the model's start.
    """

    def __init__(
        self,
        name: str,
        options: Options,
        *,
        full_data: bool,
        restarts_local: bool = True,
        coordinates: Coordinates | None = None,
    ) -> None:
        model = options.model
        require_fixed_indices(model)
        self.name = name
        self._options, self._restarts_local = options, restarts_local
        self._full_data = full_data
        values, local_values = global_and_local(model, options.vars, options.local)
        names = [model.values_to_rvs[value].name for value in values]
        self.mass, tangent = separated(options.mass, names)
        self.sampled_values = [v for v in model.value_vars if v in {*values, *local_values}]
        self.start = model.initial_point()
        requested = requested_manifolds(model, names, options.manifolds)
        self._coordinates = {**(coordinates or {}), **requested}
        self._coordinates |= self._stretched(tangent)
        self.requested = frozenset(self._coordinates)
        self._centering: Mapping[str, np.ndarray] = {}
        self.is_nonsmooth = False
        self.near: Values | None = None
        self._potential: Potential | None = self._write()
        self.data_checks = DataChecks(
            model,
            self.potential.data_sources,
            point=self.start,
            batches=not full_data,
            local=[model.values_to_rvs[value] for value in local_values],
            trust_total_size=options.trust_total_size,
        )
        self._read()
        warn_of_poles(self.variables)
        warn_of_row_variables(model, self.variables)
        warn_of_batch_deterministics(model)
        self.manifold_names = geometry_names(model, (*values, *local_values))
        # Logged before a step that takes long.
        log.info(f"Compiling {name} ...")

    def with_coordinates(
        self, masses: Mapping[str, TangentMass], *, log_ratios: Sequence[str] = ()
    ) -> Problem:
        """Return the same problem, with some variables in those of tangent masses or log ratios."""
        other = copy(self)
        flat = dict.fromkeys(log_ratios, UNCONSTRAINED)
        other._coordinates = self._coordinates | self._stretched(masses) | flat
        return other._written_again()

    def with_centering(
        self,
        exponents: Mapping[str, np.ndarray],
        *,
        is_nonsmooth: bool,
        near: Values | None = None,
    ) -> Problem:
        """Return the same problem, with some variables in partially centred coordinates."""
        other = copy(self)
        other._centering, other.is_nonsmooth, other.near = exponents, is_nonsmooth, near
        return other._written_again()

    def _written_again(self) -> Problem:
        self._potential = self._write()
        self._read()
        return self

    def _stretched(self, masses: Mapping[str, TangentMass]) -> dict[str, Manifold]:
        model = self._options.model
        return {
            name: mass.coordinates(
                self._coordinates.get(name, manifold_in(model, model[name])), name
            )
            for name, mass in masses.items()
        }

    def _write(self) -> Potential:
        """Write the potential in the present coordinates."""
        options, start = self._options, self.start
        values, local_values = global_and_local(options.model, options.vars, options.local)
        return Potential(
            options.model,
            values,
            initial_point=start if options.initial_point is None else options.initial_point,
            full_data=self._full_data,
            coordinates=self._coordinates,
            data=options.data,
            local=local_values,
            centering=self._centering,
        )

    def _read(self) -> None:
        """Read from the potential what samplers need."""
        if not self._full_data:
            self.potential.sources = self.data_checks.sources
        self.variables, self.manifold = self.potential.variables, self.potential.manifold
        local = self.potential.local
        self.local_variables = () if local is None else local.variables
        self.names = [variable.value.name for variable in self.variables]
        self.conditioned_names = [value.name for value in self.potential.conditioned_values]
        values = [variable.value for variable in self.variables]
        outer = outside(self.variables, values)
        own = inside(self.variables, values)
        self._to_position = Change(values, as_points(self.variables, own))
        self._to_values = Change(values, [outer[value] for value in values])

    @property
    def potential(self) -> Potential:
        """The potential; a worker, which needs only compiled functions, has none."""
        if self._potential is None:
            raise RuntimeError(
                "The graph of the model is not available in this process, because pickling leaves "
                "it out."
            )
        return self._potential

    @property
    def has_graph(self) -> bool:
        """Whether the potential is available."""
        return self._potential is not None

    def without_graph(self) -> Problem:
        """Return the same without the potential."""
        other = copy(self)
        other._potential = None
        return other

    def make_latents(self) -> Latents:
        """Compile the draws of latent variables for each batch."""
        return Latents(
            self.potential,
            self._options.local,
            position=self.position_of(self.start),
            point=self.start,
            restart=self._restarts_local,
        )

    def begin_mass(self) -> tuple[Mass | None, Any]:
        """Return the initial mass of a chain, and its adaptation."""
        return begin_mass(self.mass, self.variables, has_leapfrog=self._full_data)

    @property
    def dtype(self) -> str:
        """Type of the variables."""
        return self.variables[0].position.dtype

    def position_of(self, point: Values) -> tuple[np.ndarray, ...]:
        """Return the point of the embedding for PyMC's values."""
        values = [np.asarray(point[name]) for name in self.names]
        return tuple(self._to_position(values))

    def named(self, values: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
        """Return PyMC's values by name for those that a kernel returns."""
        return dict(zip(self.names, self._to_values(values), strict=True))

    def values_in(self, point: Values) -> dict[str, np.ndarray]:
        """Return PyMC's values of the sampled variables, including local ones."""
        local = [variable.value.name for variable in self.local_variables]
        return {name: np.asarray(point[name]) for name in (*self.names, *local)}

    def draw_latents(
        self,
        latents: Latents,
        chain: GradientChain | ExactChain,
        rows: Sequence[np.ndarray],
        rng: np.random.Generator,
        *,
        trial: bool = False,
    ) -> Drawn:
        """Draw the local variables and the expectations of one batch, or none for a trial."""
        if not latents:
            return NOTHING
        return latents.draw(
            chain.latents,
            rng,
            position=chain.state.position,
            values=chain.values,
            conditioned=self.conditioned_in(chain.others),
            rows=[row[0] for row in rows],
            tune=chain.tune and not trial,
            trial=trial,
        )

    def conditioned_in(self, others: Values) -> list[np.ndarray]:
        """Return PyMC's values of the variables of other steps, in the order of the kernels."""
        return [np.asarray(others[name]) for name in self.conditioned_names]

    def off_manifold(self, point: Values) -> tuple[str, str] | None:
        """Return a variable that is not on its manifold, and why."""
        for variable in (*self.variables, *self.local_variables):
            if problem := variable.check(point[variable.value.name]):
                return variable.name, problem
        return None

    def impossible_start(self, point: Values, energy: float) -> SamplingError:
        """Create the error for a start with infinite energy or without a gradient."""
        return impossible_start(self._options.model, point, energy=energy, names=self.names)

    def trial_steps(self, n_steps: int) -> np.ndarray:
        """Step sizes too short to move, whose square is still a normal number."""
        return np.full(n_steps, np.sqrt(np.finfo(self.dtype).tiny), self.dtype)

    def zero_noise(self, n_steps: int, shapes: Sequence[tuple[int, ...]]) -> list[np.ndarray]:
        """Return noise for transitions that must not move."""
        return [np.zeros((n_steps, *shape), self.dtype) for shape in shapes]
