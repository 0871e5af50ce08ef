#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""How a chain tunes itself: the stages at which it measures."""

from __future__ import annotations

import time

from collections.abc import Sequence

import numpy as np

from pymc.model import Model

from pymc_geodesic.algorithms.algorithm import Algorithm
from pymc_geodesic.algorithms.tuning_rules import faster_rule
from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.sampling.applied_findings import AppliedFindings
from pymc_geodesic.sampling.balance import judged, observe_velocity, rebalance
from pymc_geodesic.sampling.chain import GradientChain, Tuning, tuning_of
from pymc_geodesic.sampling.explain import advice_on_columns
from pymc_geodesic.sampling.forecast import News
from pymc_geodesic.sampling.larger_batches import times_as_many
from pymc_geodesic.sampling.mode_search import ModeSearch, Share, by_mode, level, restart_clock
from pymc_geodesic.sampling.news import news_of_tuning
from pymc_geodesic.sampling.problem import Problem
from pymc_geodesic.sampling.tuning_options import (
    TuningOptions,
    read_center,
    tuned_form,
    unit_mass,
)
from pymc_geodesic.sampling.tuning_stages import Stages, begin_again, more_careful, warn_if_apart
from pymc_geodesic.tuning.self_tuner import Findings, SelfTuner
from pymc_geodesic.tuning.spacing import MOST_TUNING
from pymc_geodesic.tuning.starts import default_start, is_default

__all__ = ["SelfTuning"]

# Fewer draws do not determine a covariance.
FEWEST_DRAWS = 10


class SelfTuning:
    r"""The stages of the tuning phase, of one chain or common to several.

    At its first draw a chain searches a mode, measures the curvature and the gradient noise there,
    and sets mass, step size and friction by the rule of its algorithm; see
    :mod:`pymc_geodesic.algorithms.tuning_rules`. Twice in the first half of the tuning phase the
    mass is corrected by the draws so far and everything is measured again. Near its end the noise
    of samplers without thermostats is corrected by the temperature of velocities. Control variates
    with given step sizes need only the first of these stages.

    For chains that are tuned together, measurements are made once, with the start and the generator
    of the first chain, and their draws are pooled. They start at draws of the Gaussian
    approximation at the mode; a single chain starts at the mode. If other modes are found, chains
    are shared out among them, and those of each mode are tuned together.

    Parameters
    ----------
    problem : Problem
        The problem to sample.
    algorithm : Algorithm
        The algorithm, with its tuning rule.
    gradient : HostGradient
        Energies and gradients of the problem.
    model : Model
        The model, for the start of variables without a given one.
    options : TuningOptions
        The quantities that tuning finds.
    has_velocity : bool
        Whether the algorithm has velocities, and hence a mass.
    can_halve, can_enlarge : bool
        Whether batches can be divided into halves, and whether they may have more rows.
    """

    def __init__(
        self,
        problem: Problem,
        algorithm: Algorithm,
        *,
        gradient: HostGradient,
        model: Model,
        options: TuningOptions,
        has_velocity: bool,
        can_halve: bool = False,
        can_enlarge: bool = False,
    ) -> None:
        self.options = options
        self._name, self._named = problem.name, problem.named
        self._names, self._conditioned = problem.names, problem.conditioned_names
        self._manifold, self._is_nonsmooth = problem.manifold, problem.is_nonsmooth
        self.gradient = gradient
        self._near = None if problem.near is None else problem.position_of(problem.near)
        form = tuned_form(problem, dense=not options.noise_is_known)
        self.balances = (
            options.tunes_itself
            and algorithm.balances
            and form != "diagonal"
            and options.mass is None
            and not options.noise_is_known
            and bool(self.gradient.n_rows)
        )
        self._can_halve, self._can_enlarge = can_halve, can_enlarge
        self.applied = AppliedFindings(
            algorithm,
            own_rule=faster_rule if self.balances else algorithm.tuning_rule,
            options=options,
            manifold=problem.manifold,
            has_velocity=has_velocity,
            balances=self.balances,
            can_halve=can_halve,
        )
        self._tuner = SelfTuner(
            self.gradient,
            form=form,
            reduction=options.reduction,
            center=read_center(problem, self.gradient, options.center),
            is_near=options.is_near,
            fixed_mass=options.mass if has_velocity else unit_mass(problem, dense=True),
            by_entry=self.balances,
            is_nonsmooth=self._is_nonsmooth,
            can_weigh=can_enlarge,
            names=[variable.name for variable in problem.variables],
            advice=advice_on_columns(model, problem.potential.sources),
        )
        self._default_start: dict[str, np.ndarray] = {}
        self._search: ModeSearch | None = None
        if options.tunes_itself:
            self._search = ModeSearch(problem, gradient, model=model, is_near=options.is_near)
            self._default_start = default_start(model, problem.names, point=problem.start)

    def begin(self) -> Tuning:
        """Return the tuning state of a new chain."""
        return Tuning(controlled=self.options.reduction is not None)

    def energy(self, chain: GradientChain) -> float:
        """Return the energy of a chain for the first rows; NaN if the gradient is not finite.

        Nothing is compiled for it.
        """
        self.gradient.conditioned = [np.asarray(chain.others[name]) for name in self._conditioned]
        found = self.gradient(chain.state.position, self.gradient.first_rows())
        finite = all(np.all(np.isfinite(x)) for x in found.gradient)
        return found.energy if finite else np.nan

    def stages(self, chain: GradientChain) -> list[int]:
        """Return the draws before which a chain is measured again."""
        if not self.options.tunes_itself:
            return []
        return Stages(chain.tuning_draws).all(
            balances=self.balances, corrects_temperature=self.applied.corrects_temperature
        )

    def before_draw(self, chains: Sequence[GradientChain]) -> None:
        """Tune chains of equal length before a draw, if it is due: once for all of them."""
        if (first := chains[0]).tuning is None or (first.n_drawn > 0 and not first.tune):
            return
        if not first.tune:
            self.applied.require_scales(self._name)
        if not first.tune and self.options.reduction != "control_variates":
            for chain in chains:
                tuning_of(chain).controlled = False
            return
        self.gradient.conditioned = [np.asarray(first.others[name]) for name in self._conditioned]
        if first.n_drawn == 0:
            self._measure_first(chains)
        elif self.options.tunes_itself:
            for group in by_mode(chains):
                self._measure_again(group)
        level(chains)

    def after_draw(self, chain: GradientChain) -> None:
        """Keep the draw for the next measurement."""
        if self.options.tunes_itself and chain.tune and chain.tuning is not None:
            chain.tuning.window.append([np.array(x) for x in chain.state.position])
            if self.balances or self.applied.corrects_temperature:
                observe_velocity(chain, self._manifold)

    def news(self, chain: GradientChain) -> News | None:
        """Describe the results of tuning, and the cost of draws, in one line."""
        if not self.options.tunes_itself or chain.tuning is None or chain.tuning.found is None:
            return None
        [window] = self.gradient.representatives.of_chains([chain.tuning.window])
        return news_of_tuning(
            self._name,
            chain,
            window=window,
            has_batches=bool(self.gradient.n_rows),
            has_velocity=self.applied.has_velocity,
            seconds_per_pass=self._tuner.seconds_per_pass,
            proposed_step=self.applied.proposed_step(chain.tuning.found),
        )

    def _measure_first(self, chains: Sequence[GradientChain]) -> None:
        """Search the mode, measure there, and start from it; several chains start around it."""
        first = chains[0]
        movable = is_default(self._default_start, first.values, self._names)
        tuning_of(first).began = time.process_time()
        begin = first.state.position if self._near is None or not all(movable) else self._near
        start, found = self._tuner.begin(begin, first.rng, movable=movable)
        shares: list[Share] = [(chains, None)]
        if self._search is not None and first.tune:
            moves = all(movable) and self.options.center is None
            shares = self._search.share_out(chains, start, found.mass, moves=moves)
        for group, point in shares:
            if point is not None:
                start, found = self._tuner.begin(point, first.rng)
            found = self._judged(found, group, start, can_enlarge=self._can_enlarge)
            for chain in group:
                tuning_of(chain).reports = chain is first
                self.applied.apply(chain, found)
                if chain.tune:
                    at = self._tuner.spread(start, found, chain.rng) if len(chains) > 1 else start
                    self._move(chain, at)

    def _move(self, chain: GradientChain, point: Sequence[np.ndarray]) -> None:
        position = tuple(np.asarray(x, order="C") for x in point)
        chain.state = chain.state._replace(position=position)
        values = [np.asarray(x) for x in self.gradient.to_values(*position)]
        chain.values = chain.values | self._named(values)

    def _measure_again(self, chains: Sequence[GradientChain]) -> None:
        """Correct the results by the draws of all chains since the last measurement."""
        first = chains[0]
        found, windows = tuning_of(first).found, [tuning_of(chain).window for chain in chains]
        if found is None or sum(map(len, windows)) < FEWEST_DRAWS:
            return
        windows = self.gradient.representatives.of_chains(windows)
        self.gradient.times = first.batches.times
        now, stages = first.n_drawn, Stages(first.tuning_draws)
        # The way from an approximation's center, many deviations off, looks like a soft direction.
        if now == stages.refined[0] and not found.is_gaussian:
            windows = [window[len(window) // 2 :] for window in windows]
        pooled = [draw for window in windows for draw in window]
        is_slow = self.options.chooses_n_steps and first.settings.n_steps > MOST_TUNING
        late = [stages.late] if is_slow or tuning_of(first).repeats else []
        refines = now in [*stages.refined, *late]
        if refines and self._tuner.have_run_off(found, pooled, first.rng):
            self._retreat(chains, found)
        elif refines:
            found = self._tuner.refine(found, pooled, first.rng)
            can_enlarge = self._can_enlarge and now not in late
            found = self._judged(found, chains, pooled[-1], can_enlarge=can_enlarge)
            before = first.settings
            for chain in chains:
                self.applied.apply(chain, found, spaces=now not in late)
            if now in late:
                self.applied.space(chains, found, windows, made_with=before)
        if now == stages.counted:
            warn_if_apart(self._name, found.mass, windows, self.gradient)
            self.applied.space(chains, found, windows, made_with=first.settings)
        if now in [stages.counted, *late]:
            restart_clock(chains)
        # A late measurement replaces the corrections before it.
        since = max((stage for stage in late if stage <= now), default=0)
        balanced = [stage for stage in stages.balanced if stage > since]
        if self.balances and now in balanced and not (found.halved or found.noise.is_outweighed):
            rebalance(chains, self._manifold, weight=1 / (1 + balanced.index(now)))
        if now == stages.heated and self.applied.cool(chains, found):
            restart_clock(chains)

    def _retreat(self, chains: Sequence[GradientChain], found: Findings) -> None:
        """Begin again near the center, with shorter steps."""
        if (center := found.center) is None:
            raise RuntimeError("Only chains with a center begin again there.")
        found = more_careful(found)
        for chain in chains:
            self.applied.apply(chain, found, spaces=False)
            self._move(chain, self._tuner.spread(center.point, found, chain.rng))
            position = chain.state.position
            begin_again(chain, position, algorithm=self.applied.algorithm, manifold=self._manifold)

    def _judged(
        self,
        found: Findings,
        chains: Sequence[GradientChain],
        point: Sequence[np.ndarray],
        *,
        can_enlarge: bool,
    ) -> Findings:
        """Judge what was measured with the model's batches, and whether they serve."""
        rule = self.applied.rule
        if not self.balances or rule is None:
            return found
        accuracy, now = self.options.accuracy, chains[0].batches.times
        of_these = judged(
            found.of_batches(now),
            rule,
            accuracy=accuracy,
            can_halve=self._can_halve,
            is_nonsmooth=self._is_nonsmooth,
        )
        # Halves of batches balance correlations, too.
        if of_these.halved or not can_enlarge:
            return of_these
        times = times_as_many(found, rule, self.gradient, point, now=now, accuracy=accuracy)
        for chain in chains:
            chain.batches.times, tuning_of(chain).repeats = times, times > now
        return of_these.of_batches(times / now)
