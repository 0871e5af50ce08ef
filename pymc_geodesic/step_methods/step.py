#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The interface to PyMC: a step that moves a chain by one draw."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from inspect import Signature
from typing import Any, ClassVar, Self

import numpy as np

from pymc.step_methods import STEP_METHODS
from pymc.step_methods.compound import BlockedStep, Competence, StepMethodState
from pymc.step_methods.state import dataclass_state
from pymc.util import get_random_generator
from pytensor.tensor import TensorVariable
from rich.progress import TextColumn

from pymc_geodesic.algorithms.default_schedules import default_starts
from pymc_geodesic.kernel.jax.processes import FreshProcess, is_dead
from pymc_geodesic.potential.components import components_in
from pymc_geodesic.potential.deterministics import deterministic_angles
from pymc_geodesic.potential.minibatch import batch_sources
from pymc_geodesic.potential.random_gradients import claim, guarded_competence, require_all_sampled
from pymc_geodesic.run_record import STATISTIC, ModesRecord, with_modes, write_record
from pymc_geodesic.sampling.advance import Sampler, next_draw, place
from pymc_geodesic.sampling.chain import Chain
from pymc_geodesic.sampling.mode_search import modes_of
from pymc_geodesic.sampling.problem import Options
from pymc_geodesic.sampling.variables import Variables
from pymc_geodesic.stages import log
from pymc_geodesic.step_methods.checks import (
    StepOptions,
    check_keywords,
    complete_signature,
    require_known,
    require_values,
)
from pymc_geodesic.step_methods.progress import (
    Shown,
    Update,
    log_above_the_progress_bar,
    progress_columns,
    progress_updates,
)
from pymc_geodesic.tuning.mass_adaptation import MassRecord
from pymc_geodesic.validation import pymc_model

__all__ = ["Step"]


@dataclass_state
class StepState(StepMethodState):
    """Everything besides the point that the next draw depends on: the chain."""

    chain: Chain


class Step(BlockedStep):
    """A thin user of a sampler, one draw per call.

    A subclass with a ``name`` is registered with PyMC.

    Parameters
    ----------
    vars : variable, name or sequence of these, optional
        Variables to sample.
    make : callable
        ``(options, keywords) -> sampler``, from the shared options and the other keywords.
    keywords : mapping
        Shared keywords, as passed to the public class.

    Attributes
    ----------
    sampler : Sampler
        The parts that all chains share; see :func:`pymc_geodesic.sampling.advance`.
    chain : Chain
        The chain that ran last, here or in the process that draws for this one.
    """

    default_blocked = True
    _elsewhere: FreshProcess | None = None
    _state_class = StepState
    __signature__: ClassVar[Signature]
    shared: ClassVar[type] = StepOptions
    shown: ClassVar[Sequence[Shown]] = ()
    withheld: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        cls.__signature__ = complete_signature(
            cls.__init__, shared=cls.shared, withheld=cls.withheld
        )
        # Our steps claim no variable, so models that do not name them are sampled as before.
        # Being asked is what lets them warn when PyMC's own steps are about to sample batches.
        if "name" in vars(cls):
            STEP_METHODS.append(cls)

    def __new__(cls, *args: Any, **keywords: Any) -> Self:
        """Raise an error for unknown keywords, then let PyMC create one or several steps."""
        require_known(cls, keywords)
        check_keywords(keywords | {"vars": args[0]} if args else keywords)
        # Workers of PyMC make the step anew, and would warn again.
        keywords.pop("backend", None)
        return super().__new__(cls, *args, **keywords)

    def __init__(
        self,
        vars: Variables | None,
        make: Callable[[Options, dict[str, Any]], Sampler],
        keywords: Mapping[str, Any],
    ) -> None:
        options = dict(keywords)
        self.model = model = pymc_model(options.pop("model", None))
        self.rng = get_random_generator(options.pop("rng", None))
        for name in ("blocked", "backend"):
            options.pop(name, None)
        if options.get("initial_point") is not None:
            require_values("initial_point", options["initial_point"], model)
        shared = {name: options.pop(name) for name in SHARED if name in options}
        given = Options(model=model, vars=vars, **shared)
        self.sampler = make(given, options)
        problem = self.sampler.problem
        self.vars = problem.sampled_values
        self._manifold_names = problem.manifold_names
        self._angles = deterministic_angles(model)
        self.chain = self.sampler.begin(self.rng, problem.start, tune=0, draws=0)
        self.stats_dtypes_shapes = self.sampler.types(self.chain) | {STATISTIC: (object, [])}
        self.stats_dtypes = [{n: dtype for n, (dtype, _) in self.stats_dtypes_shapes.items()}]
        self.awaits_first_draw = False
        self._described: tuple[ModesRecord | None, str] = None, ""
        claim(model, self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Join the other steps of the chain in the worker."""
        self.__dict__.update(state)
        claim(self.model, self)

    def setup_chain(self, rng: np.random.Generator, tune: int, draws: int) -> None:
        """Begin a chain; its position follows with its first draw."""
        super().setup_chain(rng, tune, draws)
        self.awaits_first_draw = True
        if is_dead():
            if self._elsewhere is None:
                self._elsewhere = FreshProcess(self)
            self._elsewhere.call("setup_chain", self.rng, tune, draws)
            # The other steps of the chain are here.
            self._elsewhere.call("__setattr__", "awaits_first_draw", False)
            return
        self.chain = self.sampler.begin(
            self.rng, self.sampler.problem.start, tune=tune, draws=draws
        )

    def step(
        self, point: dict[str, np.ndarray]
    ) -> tuple[dict[str, np.ndarray], list[dict[str, Any]]]:
        """Make the transitions of one draw from ``point``."""
        if self.awaits_first_draw:
            require_all_sampled(self.model)
            [point] = default_starts(self.model, [point], self.rng)
        if self._elsewhere is not None:
            return self._elsewhere.call("step", point)
        place(self.sampler, self.chain, point)
        stats = next_draw(self.sampler, self.chain)
        stats[STATISTIC] = self._record_of(modes_of([self.chain]))
        return {**point, **self.chain.values}, [stats]

    def stop_tuning(self) -> None:
        """Freeze the results of the tuning phase."""
        if self._elsewhere is not None:
            self._elsewhere.call("stop_tuning")
        else:
            self.sampler.stop_tuning(self.chain)

    @property
    def chain(self) -> Chain:
        """The chain that ran last, here or in the process that draws for this one."""
        return (
            self._chain
            if self._elsewhere is None
            else self._elsewhere.call("__getattribute__", "chain")
        )

    @chain.setter
    def chain(self, chain: Chain) -> None:
        if self._elsewhere is None:
            self._chain = chain
        else:
            self._elsewhere.call("__setattr__", "chain", chain)

    @property
    def tune(self) -> bool:
        """Whether the chain is in its tuning phase."""
        return self.chain.tune

    @tune.setter
    def tune(self, tune: bool) -> None:
        chain = self.chain
        chain.tune = bool(tune)
        self.chain = chain

    @property
    def mass_history(self) -> list[MassRecord]:
        """The mass after each M step of the chain that ran last in this process."""
        adaptation = self.chain.mass_adaptation
        return [] if adaptation is None else adaptation.history

    @cached_property
    def record(self) -> str:
        """What a run keeps of this step. PyMC gives the arguments after the constructor's end."""
        _, settings = self.__getnewargs_ex__()
        pairs = components_in(self.model).items()
        sources = batch_sources(self.model)
        return write_record(
            type(self).__name__,
            settings,
            self._manifold_names,
            angles=self._angles,
            components=sorted({name for rows, free in pairs for name in (rows, *free)}),
            batch_size=max((source.batch_size for source in sources), default=None),
        )

    def _record_of(self, modes: ModesRecord | None) -> str:
        """Return the record with what a chain has found, which does not change once it is there."""
        if modes is not self._described[0]:
            self._described = modes, with_modes(self.record, modes)
        return self._described[1] or self.record

    @staticmethod
    def competence(var: TensorVariable, has_grad: bool) -> Competence:
        """Claim no variable: users choose these steps, and plain ``pm.sample()`` is unchanged."""
        return guarded_competence(var)

    @classmethod
    def _progressbar_config(cls, n_chains: int = 1) -> tuple[list[TextColumn], dict[str, list]]:
        return progress_columns(cls.shown, n_chains)

    def _make_progressbar_update_functions(self) -> tuple[Update]:
        log_above_the_progress_bar()
        if getattr(self.sampler, "tuning", None) is not None:
            log.info(
                f"{type(self).__name__} searches for the mode in each chain, and measures "
                "curvature and gradient noise there"
            )
        return progress_updates(self.shown)


SHARED = ("mass", "manifolds", "data", "local", "initial_point", "trust_total_size")
"""Keywords that mean the same for every sampler."""
