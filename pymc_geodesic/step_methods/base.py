#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What every step method of the package shares: its variables, its start, its warnings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from pymc.exceptions import SamplingError
from pymc.model import Model, modelcontext
from pymc.stats.convergence import SamplerWarning, WarningType
from pymc.step_methods.compound import BlockedStep, Competence
from pymc.util import get_random_generator

from pymc_geodesic.data_checks import DataChecks
from pymc_geodesic.kernel import Backend
from pymc_geodesic.latents.gmc import LocalGMC
from pymc_geodesic.latents.latents import LOCAL_STATISTICS, Latents
from pymc_geodesic.manifolds import Manifold
from pymc_geodesic.mass import Mass
from pymc_geodesic.potential import Potential
from pymc_geodesic.potential.batch_deterministics import warn_of_batch_deterministics
from pymc_geodesic.potential.poles import warn_of_poles
from pymc_geodesic.potential.row_variables import warn_of_row_variables
from pymc_geodesic.potential.variables import SampledVariable, geometry_names
from pymc_geodesic.run_record import STATISTIC, write_record
from pymc_geodesic.step_methods.arguments import Variables, global_and_local
from pymc_geodesic.step_methods.checks import check_keywords, require_values
from pymc_geodesic.step_methods.explain import impossible_start
from pymc_geodesic.step_methods.guard import claim, guarded_competence, require_all_sampled
from pymc_geodesic.step_methods.messages import log, log_above_the_progress_bar
from pymc_geodesic.step_methods.progress import Shown, progress_columns, progress_updates
from pymc_geodesic.step_methods.signature import complete_signature, require_known
from pymc_geodesic.tuning.mass_adaptation import MassArgument, MassRecord, begin_mass

__all__ = ["GeodesicStep"]


class GeodesicStep(BlockedStep):
    """Base of the package's step methods.

    Subclasses set ``manifolds`` to False if they work in flat space only, and implement
    :meth:`_run`, which maps a point to the next one and its statistics.
    """

    default_blocked = True
    manifolds = True
    takes_local: ClassVar[bool] = True
    restarts_local: ClassVar[bool] = True
    has_velocity: ClassVar[bool] = True
    full_data = False
    coordinates: ClassVar[Mapping[type[Manifold], Manifold]] = {}
    shown: ClassVar[Sequence[Shown]] = ()
    mishap = "made a transition to a state that is not finite and undid it"
    advice = "Decrease `step_size`."

    withheld: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        complete_signature(cls, withheld=cls.withheld)

    def __new__(cls, *args: Any, **keywords: Any) -> Self:
        """Refuse unknown keywords, then let PyMC make a step or one for each variable."""
        require_known(cls, keywords)
        check_keywords(keywords | {"vars": args[0]} if args else keywords)
        return super().__new__(cls, *args, **keywords)

    def __init__(
        self,
        vars: Variables | None = None,
        *,
        mass: MassArgument = None,
        data: Mapping[str, Iterable[np.ndarray]] | None = None,
        local: LocalGMC | None = None,
        model: Model | None = None,
        rng: Any = None,
        initial_point: Mapping[str, np.ndarray] | None = None,
        backend: str | None = None,
        compile_kwargs: dict[str, Any] | None = None,
        blocked: bool = True,
        trust_total_size: bool = False,
    ) -> None:
        self.model = model = modelcontext(model)
        values, local_values = global_and_local(model, vars, local)
        self.vars = [v for v in model.value_vars if v in {*values, *local_values}]
        self.rng = get_random_generator(rng)
        self.backend = Backend.resolve(backend, compile_kwargs)
        self.tune = False
        start = model.initial_point()
        point = start if initial_point is None else initial_point
        require_values("initial_point", point, model)
        self.potential = Potential(
            model,
            values,
            initial_point=point,
            static_shapes=self.backend.is_jax,
            full_data=self.full_data,
            coordinates=self.coordinates,
            data=data,
            local=local_values,
        )
        self.data_checks = DataChecks(
            model,
            self.potential.data_sources,
            point=start,
            batches=not self.full_data,
            local=[model.values_to_rvs[value] for value in local_values],
            trust_total_size=trust_total_size,
        )
        if not self.full_data:
            self.potential.sources = self.data_checks.sources
        self._require_supported(self.potential.variables)
        warn_of_poles(self.potential.variables)
        warn_of_row_variables(model, self.potential.variables)
        warn_of_batch_deterministics(model)
        self.variables = self.potential.variables
        local_potential = self.potential.local
        self.local_variables = () if local_potential is None else local_potential.variables
        if mass is not None and not self.has_velocity:
            raise ValueError(
                f"`{type(self).__name__}` has no velocities, and so no `mass`, got {mass!r}."
            )
        self.fixed_mass, self.mass_adaptation = begin_mass(mass, self.variables)
        self._conditioned = [value.name for value in self.potential.conditioned_values]
        self._names = [variable.value.name for variable in self.variables]
        self.latents = Latents(
            self.potential,
            local,
            point=start,
            restart=self.restarts_local,
            backend=self.backend,
        )
        self._require_fit_for_latents(local)
        if self.latents.sampler is not None:
            self._declare({name: (np.float64, []) for name in LOCAL_STATISTICS})
        self._manifold_names = geometry_names(model, (*values, *local_values))
        self._declare({STATISTIC: (object, [])})
        self._start_checked = False
        self._warned = False
        self.awaits_first_draw = False
        claim(model, self)
        log.info(f"Compiling {type(self).__name__} for {self.backend.name} ...")

    def _require_supported(self, variables: Sequence[SampledVariable]) -> None:
        for variable in variables:
            if not self.manifolds and not variable.is_flat:
                raise ValueError(
                    f"`{type(self).__name__}` expected variables of Euclidean space, got "
                    f"`{variable.name}` on a {variable.manifold.name.lower()}. Use `pmg.gSGNHT` or "
                    "`pmg.SGGMC`, which move every variable on its own manifold."
                )

    def _require_fit_for_latents(self, local: LocalGMC | None) -> None:
        if self.latents and not self.takes_local:
            what = "variables local to the rows" if local else "a likelihood with latent variables"
            raise ValueError(
                f"`{type(self).__name__}` cannot sample a model with {what}. Use `pmg.gSGNHT`, "
                "`pmg.SGGMC`, `pmg.SGNHT`, `pmg.SGHMC`, `pmg.SGLD` or `pmg.SGRLD`; or "
                "`pmg.GMCWithinGibbs` for local variables of the whole data."
            )

    def __getstate__(self) -> dict[str, Any]:
        """Leave the graph behind: a worker needs only the compiled function."""
        state = self.__dict__.copy()
        state["potential"] = None
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Join the other steps of the chain in the worker."""
        self.__dict__.update(state)
        claim(self.model, self)

    def setup_chain(self, rng, tune: int, draws: int) -> None:
        """Reset everything that belongs to one chain."""
        super().setup_chain(rng, tune, draws)
        self.tune = bool(tune)
        self.awaits_first_draw = True
        self._start_checked = False
        self._warned = False
        if self.mass_adaptation is not None:
            self.mass_adaptation.reset()
        self.latents.reset()
        self._reset()

    @property
    def mass_history(self) -> list[MassRecord]:
        """The mass after each M step of the chain that ran last in this process."""
        return [] if self.mass_adaptation is None else self.mass_adaptation.history

    def step(self, point):
        """Make the transitions of one draw from ``point``."""
        if self.awaits_first_draw:
            require_all_sampled(self.model)
        if not self._start_checked:
            self._check_start(point)
            self._start_checked = True
        point, stats = self._run(point)
        return point, [stats | {STATISTIC: self._record}]

    @cached_property
    def _record(self) -> str:
        """What a run keeps of this step. PyMC gives the arguments after the constructor's end."""
        _, settings = self.__getnewargs_ex__()
        return write_record(type(self).__name__, settings, self._manifold_names)

    def _check_start(self, point) -> None:
        for variable in (*self.variables, *self.local_variables):
            if problem := variable.check(point[variable.value.name]):
                raise SamplingError(
                    f"The start of `{variable.name}` is off its manifold: {problem}. Pass a value "
                    "on it as `initvals`, or leave the start out."
                )
        self.data_checks.check_start(point)
        energy = self._dry_run(point)
        if not np.isfinite(energy):
            raise impossible_start(self.model, point, energy=energy, names=self._names)

    def _draw_latents(self, point, rows: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
        """Draw what is local to a batch; return the point with the new local values."""
        return {**point, **self.latents.draw(self.rng, point, rows, tune=self.tune)}

    def _moved(self, point, values: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
        """Return the point with new values of the global variables."""
        return {**point, **dict(zip(self._names, values, strict=True))}

    def _conditions(self, point) -> list[np.ndarray]:
        """Everything that the dynamics are conditioned on, as the kernel takes it."""
        return [*(np.asarray(point[name]) for name in self._conditioned), *self.latents.arrays]

    def _warning(
        self, diverging: bool, *, mishap: str | None = None, advice: str | None = None
    ) -> SamplerWarning | None:
        """One warning a chain: what happened and which parameter mends it.

        What happens on the way to the posterior, in the tuning phase, is only recorded.
        """
        if not diverging or self._warned or self.tune:
            return None
        self._warned = True
        message = (
            f"{type(self).__name__} {mishap or self.mishap}; such draws are marked `diverging`. "
            f"{advice or self.advice}"
        )
        return SamplerWarning(WarningType.DIVERGENCE, message, "warn")

    @staticmethod
    def competence(var, has_grad) -> Competence:
        """Claim no variable: users choose these steps, plain ``pm.sample()`` stays as it is."""
        return guarded_competence(var)

    @property
    def _mass(self) -> Mass | None:
        return self.fixed_mass if self.mass_adaptation is None else self.mass_adaptation.mass

    @property
    def _mass_arrays(self) -> Sequence[np.ndarray]:
        mass = self._mass
        return () if mass is None else mass.arrays

    @property
    def _mass_statistics(self) -> dict[str, float]:
        return {} if self.mass_adaptation is None else self.mass_adaptation.statistics

    def _observe(self, position: Sequence[np.ndarray], velocity: Sequence[np.ndarray]) -> None:
        """Let the mass learn from one draw."""
        if self.mass_adaptation is not None:
            self.mass_adaptation.observe(position, velocity, tune=self.tune)

    def _require_diagonal_mass(self) -> None:
        if self._mass is not None and not self._mass.is_diagonal:
            raise ValueError(
                "`gradient_noise` expected a diagonal mass, because noise that is independent "
                "between entries is not so in the frame of a dense one; got a dense `mass`. Use a "
                "diagonal mass, or a thermostat and no `gradient_noise`."
            )

    def _declare(self, stats: dict[str, tuple]) -> None:
        """Add statistics that depend on the model or the arguments."""
        self.stats_dtypes_shapes = self.stats_dtypes_shapes | stats
        self.stats_dtypes = [{name: dtype for name, (dtype, _) in self.stats_dtypes_shapes.items()}]

    @classmethod
    def _progressbar_config(cls, n_chains=1):
        return progress_columns(cls.shown, n_chains)

    def _make_progressbar_update_functions(self):
        log_above_the_progress_bar()
        return progress_updates(self.shown)

    def _reset(self) -> None:
        raise NotImplementedError

    def _run(self, point) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        raise NotImplementedError

    def _trial_step(self, n_steps: int) -> np.ndarray:
        """Step sizes too short to move, whose square is still a normal number."""
        dtype = self.variables[0].position.dtype
        return np.full(n_steps, np.sqrt(np.finfo(dtype).tiny), dtype)

    def _dry_run(self, point) -> float:
        """Potential energy at ``point``; not finite where the gradient is not."""
        raise NotImplementedError
