#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The beginning of a run or its continuation, and arguments that only ``pm.sample`` has."""

from __future__ import annotations

import time

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, wraps
from numbers import Number
from pathlib import Path
from typing import Any

from pymc.model import Model

from pymc_geodesic.kernel.jax.resident import has_accelerator
from pymc_geodesic.runs.checkpoints.checkpoint import Checkpoint, RunOnDisk
from pymc_geodesic.runs.checkpoints.identity import identity_of
from pymc_geodesic.runs.cluster.on_workers import OnWorkers
from pymc_geodesic.runs.deterministics import Traced
from pymc_geodesic.runs.in_memory import InMemory, Running
from pymc_geodesic.runs.refined import corrected_error
from pymc_geodesic.runs.run_loop import InProcess, Move, Phase, RunLoop
from pymc_geodesic.runs.starts import InitialValues, RandomSeed, begin_chains, seeds
from pymc_geodesic.runs.until import Until
from pymc_geodesic.sampling import Chain, ChainMethod
from pymc_geodesic.sampling.ensemble import MOST_TUNED, can_multiply
from pymc_geodesic.stages import log
from pymc_geodesic.step_methods.progress import Progress
from pymc_geodesic.step_methods.step import Step

__all__ = ["Plan", "begin_run", "with_hints"]

# Arguments that a continued run may have otherwise: draws do not depend on how many follow.
MAY_CHANGE = {"draws", "until"}


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The arguments of a run; see :func:`pymc_geodesic.runs.sample`.

    ``model`` is the model that was given, in whose terms the result is. The step has that which is
    sampled. ``batch_size`` is None if they are the same. ``exact`` names an exact sampler.
    """

    model: Model
    batch_size: int | None
    tuning: Phase
    sampling: Phase
    traced: Traced
    running: Running | None
    var_names: Sequence[str] | None
    n_chains: int
    random_seed: RandomSeed
    initvals: InitialValues
    chain_method: ChainMethod
    checkpoint: Path | None
    checkpoint_every: float
    client: Any
    exact: str | None = None
    refine: bool = False
    until: Until | None = None
    began: float = field(default_factory=time.perf_counter)
    _began_here: float = field(default_factory=time.process_time)

    def seconds(self) -> float:
        """Return what the run has taken so far, by the clock that the cost of gradients has.

        That is the processor's: on a busy machine a share of the time that has passed would be a
        multiple of it. Of workers of a cluster this process does not know it.
        """
        passed = time.perf_counter() - self.began
        if self.client is not None:
            return passed
        return min(passed, time.process_time() - self._began_here)

    @property
    def value_names(self) -> list[str]:
        """Value variables on which something depends that is kept."""
        running = [] if self.running is None else self.running.value_names
        return [*dict.fromkeys([*self.traced.value_names, *running])]

    @property
    def most_tuned(self) -> int:
        """Number of chains that make a tuning phase, where many can continue from a few."""
        is_each = self.initvals is not None and not isinstance(self.initvals, Mapping)
        one_by_one = is_each or self.client is not None or self.checkpoint is not None
        return self.n_chains if one_by_one else min(self.n_chains, MOST_TUNED)

    def arguments(self, method: ChainMethod) -> dict[str, Any]:
        """Return the arguments that can be written as JSON."""
        return {
            "draws": self.sampling.n_draws,
            "tune": self.tuning.n_draws,
            "chains": self.n_chains,
            "thin": self.sampling.thin,
            "batch_size": self.batch_size,
            "var_names": None if self.var_names is None else list(self.var_names),
            "discard_tuned_samples": not self.tuning.is_kept,
            "chain_method": method,
            "until": None if self.until is None else self.until.goals,
        }


def begin_run(plan: Plan, step: Step, progress: Progress) -> tuple[InMemory | Checkpoint, RunLoop]:
    """Begin a run, and count the draws that its checkpoint holds.

    Parameters
    ----------
    plan : Plan
        The arguments.
    step : Step
        The step.
    progress : Progress
        Receives the progress of workers of a cluster.

    Returns
    -------
    keep : InMemory or Checkpoint
        Storage of the draws.
    loop : RunLoop
        Makes the draws.
    """
    chain_seeds = seeds(plan.random_seed, plan.n_chains)

    def begin(n_chains: int = plan.n_chains) -> list[Chain]:
        return begin_chains(
            step.sampler,
            step.model,
            chain_seeds=chain_seeds[:n_chains],
            initvals=plan.initvals,
            tune=plan.tuning.n_draws,
            draws=plan.sampling.n_draws,
        )

    keep: InMemory | Checkpoint
    if plan.checkpoint is None:
        chains = begin(plan.most_tuned)
        if len(chains) < plan.n_chains and not can_multiply(step.sampler, chains[0]):
            chains = begin()
        keep = InMemory(
            (plan.tuning, plan.sampling),
            model=plan.model,
            traced=plan.traced,
            record=step.record,
            began=plan.began,
            running=plan.running,
            n_superchains=len(chains) if len(chains) < plan.n_chains else None,
        )
    else:
        keep = _open(plan, step, plan.chain_method, plan.checkpoint, chain_seeds, begin)
        chains = keep.chains
    try:
        if plan.checkpoint is not None:
            _count(plan, chains[0].n_drawn)
            if plan.until is not None and plan.sampling.n_made:
                before = keep.datatree()
                assert before is not None, "draws were made"
                plan.until.recall(before)
        move = _move(plan, step, plan.chain_method, progress)
    except BaseException:
        keep.close(failed=True)
        raise
    if plan.until is not None and plan.refine:
        plan.until.correct = partial(
            corrected_error,
            keep,
            step.sampler,
            plan.until.traced,
            model=plan.model,
            spent=plan.seconds,
        )
    return keep, RunLoop(move, chains, keep=keep, longest=plan.checkpoint_every)


def _move(plan: Plan, step: Step, method: ChainMethod, progress: Progress) -> Move:
    names = plan.value_names
    if plan.client is None:
        many = plan.n_chains > plan.most_tuned
        return InProcess(
            step.sampler,
            chain_method=method,
            names=names,
            n_chains=plan.n_chains,
            as_arrays=plan.checkpoint is None and (many or has_accelerator()),
        )
    return OnWorkers(
        plan.client, step.sampler, chain_method=method, names=names, watch=progress.watch
    )


def _open(
    plan: Plan, step: Step, method: ChainMethod, path: Path, chain_seeds: Any, begin: Any
) -> Checkpoint:
    arguments = plan.arguments(method)
    identity = identity_of(
        plan.model,
        step,
        chain_seeds=chain_seeds,
        initvals=plan.initvals,
        arguments={name: value for name, value in arguments.items() if name not in MAY_CHANGE},
    )
    # Without a seed or starts, those on disk are used.
    free = {"the seeds"} if plan.random_seed is None else set()
    free |= {"`initvals`"} if plan.initvals is None else set()
    run = RunOnDisk(
        path,
        plan.checkpoint_every,
        identity,
        arguments,
        model=plan.model,
        step=step,
        traced=plan.traced,
        free=frozenset(free),
    )
    return Checkpoint(run, begin, began=plan.began)


def _count(plan: Plan, n_drawn: int) -> None:
    """Count draws of an earlier process."""
    tuning, sampling = plan.tuning, plan.sampling
    tuning.n_made = min(n_drawn, tuning.n_draws)
    sampling.n_made = n_drawn - tuning.n_made
    if sampling.n_made > sampling.n_draws:
        raise ValueError(
            f"`draws` expected at least {sampling.n_made}, which the checkpoint holds, got "
            f"{sampling.n_draws}. Read the draws with `pmg.read`."
        )
    if n_drawn:
        log.info(f"Continuing after {n_drawn} draws of each chain")


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
