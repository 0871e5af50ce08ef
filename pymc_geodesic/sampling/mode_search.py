#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Chains that begin in different modes: the search for these, and what chains of one share."""

from __future__ import annotations

import math

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace

import numpy as np

from pymc.initial_point import make_initial_point_fn
from pymc.model import Model
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Constant

from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.kernel.interpreted import Interpreted
from pymc_geodesic.mass.arrays import Mass
from pymc_geodesic.run_record import ModeRecord, ModesRecord
from pymc_geodesic.sampling.chain import Chain, GradientChain, tuning_of
from pymc_geodesic.sampling.forecast import Clock
from pymc_geodesic.sampling.problem import Problem
from pymc_geodesic.tuning.anchor import around
from pymc_geodesic.tuning.modes import LARGEST, LEAST_WEIGHT, N_DRAWN, Modes, find_modes

__all__ = ["ModeSearch", "Share", "by_mode", "level", "modes_of", "restart_clock", "shared_out"]


def shared_out(weights: Sequence[float], n_chains: int) -> list[int]:
    """Return the mode of each chain: one for each mode, and the others in proportion.

    Parameters
    ----------
    weights : sequence of float
        Of the modes, the heaviest first.
    n_chains : int
        Chains.
    """
    counts = np.array([int(i < n_chains) for i in range(len(weights))])
    for _ in range(n_chains - int(counts.sum())):
        # Where the number of chains is farthest below its share.
        counts[np.argmax(np.array(weights) * n_chains - counts)] += 1
    return [int(i) for i in np.repeat(np.arange(len(weights)), counts)]


def by_mode(chains: Sequence[GradientChain]) -> list[list[GradientChain]]:
    """Divide chains into those that began in one mode, in their order."""
    groups: dict[int, list[GradientChain]] = {}
    for chain in chains:
        groups.setdefault(tuning_of(chain).mode, []).append(chain)
    return list(groups.values())


def restart_clock(chains: Sequence[GradientChain]) -> None:
    """Begin to measure the time of draws, of all chains, which move at the same time."""
    first = chains[0]
    tuning = tuning_of(first)
    n_chains = len(chains) if tuning.modes is None else sum(tuning.modes.counts)
    clock = Clock.started(first.n_drawn, n_chains=n_chains, began=tuning.began)
    for chain in chains:
        tuning_of(chain).clock = clock


def level(chains: Sequence[GradientChain]) -> None:
    """Give all chains the largest number of transitions per draw: one call of a kernel moves all.

    Chains that are tuned apart may have chosen different ones.
    """
    most = max(chain.settings.n_steps for chain in chains)
    for chain in chains:
        if chain.settings.n_steps != most:
            chain.settings = replace(chain.settings, n_steps=most)


def modes_of(chains: Sequence[Chain]) -> ModesRecord | None:
    """Return what chains know of the modes; None if they have not looked for others."""
    tuning = getattr(chains[0], "tuning", None)
    return None if tuning is None else tuning.modes


type Share = tuple[Sequence[GradientChain], list[np.ndarray] | None]
"""Chains that begin in one mode, and the mode, or None for that which is known."""

# Draws around a mode by which distances from it are measured.
N_AROUND = 32
# Observed numbers of a model without minibatches, whose energy is always that of all rows.
MOST_DATA = 50_000
SEED = 0
UPDATED = "an update begins where the earlier draws are"


class ModeSearch:
    """Look for other modes of a posterior.

    Parameters
    ----------
    problem : Problem
        The problem to sample.
    gradient : HostGradient
        Its energies and gradients.
    model : pymc.Model
        The model, for draws of the prior.
    is_near : bool
        Whether chains begin where earlier draws are.

    Attributes
    ----------
    not_looked : str
        Why it cannot; empty if it can.
    """

    def __init__(
        self, problem: Problem, gradient: HostGradient, *, model: Model, is_near: bool
    ) -> None:
        self._problem, self._gradient, self._model = problem, gradient, model
        self.not_looked = UPDATED if is_near else _reason(problem, gradient, model)
        self._drawn = [] if self.not_looked else _drawn(problem, model)

    def share_out(
        self,
        chains: Sequence[GradientChain],
        start: Sequence[np.ndarray],
        mass: Mass,
        *,
        moves: bool,
    ) -> list[Share]:
        """Look for other modes, and share out the chains among them if they may move.

        Parameters
        ----------
        chains : sequence of GradientChain
            Chains before their first draw, whose tuning states are told what was found.
        start : sequence of ndarray
            Where a search has come to.
        mass : Mass
            In whose frame the posterior has about unit variance there.
        moves : bool
            Whether chains may begin elsewhere: the user has given no start.

        Returns
        -------
        list of (list of GradientChain, point or None)
            The chains of each mode, and where it is; None for that of ``start``, which is first.
        """
        # A generator of its own: the draws of a posterior with one mode do not depend on it.
        rng = deepcopy(chains[0].rng)
        modes = None
        if not self.not_looked:
            modes = find_modes(self._gradient, start, mass, drawn=self._drawn, rng=rng)
        if modes is not None and moves:
            modes = modes._replace(found=[x for x in modes.found if x.weight >= LEAST_WEIGHT])
        weights = [mode.weight for mode in modes.found] if modes is not None else []
        if not weights or not moves:
            numbers = [0 if modes is None or modes.own is None else modes.own] * len(chains)
        elif len(chains) == 1:
            numbers = [int(rng.choice(len(weights), p=np.divide(weights, np.sum(weights))))]
        else:
            numbers = shared_out(weights, len(chains))
        counts = np.bincount(numbers, minlength=len(weights)).tolist()
        record = self._record(modes, mass, rng)._replace(counts=counts)
        for chain, number in zip(chains, numbers, strict=True):
            tuning = tuning_of(chain)
            tuning.modes, tuning.mode = record, number
        if modes is None or not weights or not moves:
            return [(chains, None)]
        shares: list[Share] = []
        for group in by_mode(chains):
            number = tuning_of(group[0]).mode
            shares.append((group, None if number == modes.own else modes.found[number].point))
        return sorted(shares, key=lambda share: share[1] is not None)

    def _record(self, modes: Modes | None, mass: Mass, rng: np.random.Generator) -> ModesRecord:
        """Return what a run keeps: weights, and where modes are farthest from the heaviest."""
        if modes is None:
            return ModesRecord(not_looked=self.not_looked)
        if not modes.found:
            why = "the search from the start did not end at a mode"
            return ModesRecord(n_starts=modes.n_starts, not_looked=why)
        heaviest, *others = modes.found
        if not others:
            return ModesRecord(n_starts=modes.n_starts)
        points = [mode.point for mode in modes.found]
        for _ in range(N_AROUND):
            noise = [rng.standard_normal(np.shape(x)).astype(x.dtype) for x in heaviest.point]
            points.append(around(self._gradient, heaviest.point, mass, noise))
        values = self._variables(points)
        n = len(modes.found)
        widths = {name: x[n:].std(axis=0) for name, x in values.items()}
        found = [
            _farthest({name: (x[i], x[0]) for name, x in values.items()}, widths, mode.weight)
            for i, mode in enumerate(others, start=1)
        ]
        return ModesRecord(heaviest.weight, tuple(found), n_starts=modes.n_starts)

    def _variables(self, points: Sequence[Sequence[np.ndarray]]) -> dict[str, np.ndarray]:
        """Return the model's variables at some points, ``(point, ...)``."""
        model = self._model
        variables = [
            v for v in model.free_RVs if model.rvs_to_values[v].name in self._problem.names
        ]
        graphs = model.replace_rvs_by_values(variables)
        inputs = [model.rvs_to_values[v] for v in variables]
        function = Interpreted(inputs, graphs)
        rows = []
        for point in points:
            values = [np.asarray(x) for x in self._gradient.to_values(*point)]
            named = self._problem.named(values)
            rows.append(function(*(named[value.name] for value in inputs)))
        columns = zip(*rows, strict=True)
        pairs = zip(variables, columns, strict=True)
        return {variable.name: np.array(x, float) for variable, x in pairs}


def _reason(problem: Problem, gradient: HostGradient, model: Model) -> str:
    """Say why other modes cannot be looked for."""
    size = sum(math.prod(shape) for shape in problem.manifold.shapes)
    if gradient.is_stream:
        return "the data come from a loader"
    if problem.potential.conditioned or problem.potential.local is not None:
        return "other variables are sampled by another step or for each batch"
    if not problem.manifold.has_geodesics:
        return "the step moves probabilities in coordinates without geodesics"
    if size > LARGEST:
        return f"the variables have {size:,} entries, more than {LARGEST}"
    if not gradient.n_rows and _n_observed(model) > MOST_DATA:
        return "the model has many rows and no minibatches"
    return ""


def _n_observed(model: Model) -> int:
    """Count the observed numbers of a model, as far as they are in memory."""
    values = [model.rvs_to_values[rv] for rv in model.observed_RVs]
    held = [x.get_value(borrow=True) for x in values if isinstance(x, SharedVariable)]
    held += [x.data for x in values if isinstance(x, Constant)]
    return sum(int(np.size(x)) for x in held)


def _drawn(problem: Problem, model: Model) -> list[tuple[np.ndarray, ...]]:
    """Draw starts from the prior; none if that is not possible, as with a flat one."""
    priors: Mapping = dict.fromkeys(model.free_RVs, "prior")
    try:
        draw = make_initial_point_fn(
            model=model, overrides=priors, jitter_rvs=set(), return_transformed=True
        )
        points = [draw(SEED + i) for i in range(N_DRAWN)]
    # Distributions may raise anything where they have no draws.
    except Exception:
        return []
    found = []
    for point in points:
        if all(np.all(np.isfinite(x)) for x in point.values()):
            found.append(problem.position_of(point))
    return found


def _farthest(
    values: Mapping[str, tuple[np.ndarray, np.ndarray]],
    widths: Mapping[str, np.ndarray],
    weight: float,
) -> ModeRecord:
    """Find the entry by which a mode is farthest from the heaviest one."""
    tiny = np.finfo(float).tiny
    distances = {
        name: np.abs(a - b) / np.maximum(widths[name], tiny) for name, (a, b) in values.items()
    }
    name = max(distances, key=lambda key: float(np.max(distances[key], initial=0.0)))
    place = np.unravel_index(int(np.argmax(distances[name])), distances[name].shape)
    there, here = (float(x[place]) for x in values[name])
    return ModeRecord(
        weight, name, [int(i) for i in place], there, here, float(distances[name][place])
    )
