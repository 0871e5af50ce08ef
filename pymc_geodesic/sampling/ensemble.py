#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Many chains after a tuning phase that some of them have made: arrays with the chain first."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from pymc.stats.convergence import SamplerWarning

from pymc_geodesic.kernel.ensemble import DrawsOfChains, EnsembleKernel
from pymc_geodesic.kernel.jax.ensemble import DrawnRows
from pymc_geodesic.kernel.transitions import TransitionKernel
from pymc_geodesic.sampling.advance import prepare
from pymc_geodesic.sampling.calls import Calls
from pymc_geodesic.sampling.chain import Chain, GradientChain
from pymc_geodesic.sampling.inputs import weights_of
from pymc_geodesic.sampling.mode_search import by_mode
from pymc_geodesic.sampling.news import warning_of
from pymc_geodesic.sampling.run import Arrays
from pymc_geodesic.sampling.stochastic import StochasticSampler
from pymc_geodesic.schedules import ConstantSchedule
from pymc_geodesic.tuning.energy_range import BATCHES

__all__ = ["MOST_TUNED", "Ensemble", "can_be_arrays", "can_multiply", "is_ready"]

# Chains that make a tuning phase: they measure scales and correlations by all of their draws, and
# more of them would take longer and know hardly more. The others begin where these end.
MOST_TUNED = 16
# Parts of states that the statistics of an ensemble know.
KNOWN_FIELDS = {"position", "velocity", "thermostat"}
RAN_OFF = "diverged: a chain left the range of the tuning phase"


def can_be_arrays(sampler: object, chain: object) -> bool:
    """Return whether chains can be moved as arrays once they are tuned.

    Not for draws that need the host between two of them (variables local to rows, rows of a loader
    or without replacement, masses that are learned), for step sizes that change, or for statistics
    that are read from single states.
    """
    if not isinstance(sampler, StochasticSampler) or not isinstance(chain, GradientChain):
        return False
    calls, batches = sampler.calls, chain.batches
    return (
        calls.makes_chunks(chain)
        and not chain.memory
        and {*sampler.algorithm.state._fields} <= KNOWN_FIELDS
        and isinstance(chain.settings.schedule, ConstantSchedule)
        and (batches.replacement and batches.steps_per_batch == 1)
    )


def can_multiply(sampler: object, chain: object) -> bool:
    """Return whether many chains can begin where a few end that were tuned."""
    if not can_be_arrays(sampler, chain):
        return False
    assert isinstance(sampler, StochasticSampler)
    assert isinstance(chain, GradientChain)
    return sampler.tuning is not None and chain.monitors.reference.grows


def is_ready(chain: object) -> bool:
    """Return whether a chain that can be moved as arrays has what it needs for that."""
    assert isinstance(chain, GradientChain)
    reference = chain.monitors.reference
    return chain.n_drawn >= chain.tuning_draws and (reference.frozen or reference.grows)


class Ensemble:
    """Chains of one length that continue from some that were tuned.

    Chain i continues from tuned chain i modulo their number, with random numbers of its own. Those
    of one origin are a superchain (Margossian et al. 2024).

    Parameters
    ----------
    sampler : StochasticSampler
        Sampler of the step.
    tuned : sequence of GradientChain
        Chains at the end of their tuning phase, which do not change.
    n_chains : int
        Number of chains.
    thin : int, default 1
        Interval of the draws to keep.

    Attributes
    ----------
    tuned : list of GradientChain
        The chains from which it began.
    n_drawn : int
        Draws since then.
    """

    def __init__(
        self,
        sampler: StochasticSampler,
        tuned: Sequence[GradientChain],
        n_chains: int,
        *,
        thin: int = 1,
    ) -> None:
        self.tuned: list[GradientChain] = deepcopy(list(tuned))
        prepare(sampler, self.tuned)
        self.n_drawn, self._thin = 0, thin
        places = {id(chain): i for i, chain in enumerate(self.tuned)}
        self._parts = []
        for chains in _tuned_together(self.tuned):
            numbers = _numbers(n_chains, len(places), [places[id(chain)] for chain in chains])
            self._parts.append(_Alike(sampler, chains, numbers, thin=thin))

    def advance(
        self, n_draws: int, *, names: Collection[str] | None = None
    ) -> tuple[list[Chain], Arrays, Arrays]:
        """Move all chains; see :func:`pymc_geodesic.sampling.run`.

        Parameters
        ----------
        n_draws : int
            Draws of each chain, a multiple of ``thin``.
        names : collection of str, optional
            Value variables to keep; by default all that are sampled.

        Returns
        -------
        chains : list of GradientChain
            The chains that were tuned.
        draws : dict of str to ndarray, shape (chains, n_draws // thin, ...)
            PyMC's values of the variables.
        statistics : dict of str to ndarray, shape (chains, n_draws // thin)
            Statistics of each kept draw.
        """
        found = [part.advance(self.n_drawn, n_draws // self._thin) for part in self._parts]
        self.n_drawn += n_draws
        values, statistics = (_in_order(found, i, self._parts) for i in range(2))
        kept = {name: x for name, x in values.items() if names is None or name in names}
        return [*self.tuned], kept, statistics


class _Alike:
    """The chains of an ensemble that continue from chains that were tuned together.

    Parameters
    ----------
    sampler : StochasticSampler
        Sampler of the step.
    tuned : sequence of GradientChain
        The chains that were tuned together, which have the same settings.
    numbers : ndarray of int
        Numbers in the ensemble of the chains that continue from them in turn.
    thin : int
        Interval of the draws to keep.
    """

    def __init__(
        self,
        sampler: StochasticSampler,
        tuned: Sequence[GradientChain],
        numbers: np.ndarray,
        *,
        thin: int,
    ) -> None:
        self.numbers, self._sampler, self._tuned = numbers, sampler, tuned
        self._thin = thin
        which = np.arange(len(self.numbers)) % len(tuned)
        self._keys = _keys(tuned, which)
        self._monitors = tuned[0].monitors.of_chains(len(numbers), thin=thin)
        with_velocity = self._monitors.needs_velocities
        n_chains = len(numbers)
        self._kernel = _kernel(sampler.calls, tuned, n_chains, with_velocity=with_velocity)
        self._limits = np.array([chain.monitors.energy.limit for chain in tuned])[which]
        self._n_above = np.zeros(len(which), int)

    def advance(self, begin: int, n_kept: int) -> tuple[Arrays, Arrays]:
        """Make draws after so many, of which so many are kept."""
        first, sampler = self._tuned[0], self._sampler
        transition = begin * first.settings.n_steps
        drawn = self._kernel(self._keys, first=transition, n_kept=n_kept, thin=self._thin)
        ran_off = self._have_left(drawn)
        stats = sampler.statistics.of_chains(first, drawn, diverging=drawn.diverging | ran_off)
        stats["warning"] = np.full(drawn.energy.shape, None)
        if begin == 0:
            for number, chain in enumerate(self._tuned):
                stats["warning"][number, 0] = self._warning(chain)
        self._warn(stats["warning"], drawn, ran_off)
        return sampler.problem.named(drawn.values), stats

    def _warn(self, warnings: np.ndarray, drawn: DrawsOfChains, ran_off: np.ndarray) -> None:
        """Put warnings where the first chain diverges, and after the last draw."""
        first, monitors = self._tuned[0], self._monitors
        diverging = drawn.diverging | ran_off
        if diverging.any():
            draw, number = np.argwhere(diverging.T)[0]
            if ran_off[number, draw]:
                first.monitors.ran_off = RAN_OFF
            warnings[number, draw] = self._warning(first, diverging=True)
            first.monitors.ran_off = None
        for draw in range(drawn.energy.shape[1]):
            velocity = [v[:, draw] for v in drawn.velocity]
            monitors.observe_velocities(drawn.kinetic[:, draw], velocity)
        found = monitors.too_hot, monitors.unbalanced
        first.monitors.too_hot, first.monitors.unbalanced = found
        if any(found):
            warnings[0, -1] = self._warning(first)

    def _warning(self, chain: GradientChain, *, diverging: bool = False) -> SamplerWarning | None:
        return warning_of(self._sampler.problem.name, chain, diverging)

    def _have_left(self, drawn: DrawsOfChains) -> np.ndarray:
        """Return the draws of ``(chain, draw)`` that left the range of the tuning phase."""
        left = self._tuned[0].monitors.overflows(drawn.values)
        # The limit is NaN before it is known, and comparisons with it are false.
        above = drawn.energy > self._limits[:, None]
        if not above.any():
            self._n_above[:] = 0
            return left
        for draw in range(above.shape[1]):
            self._n_above = np.where(above[:, draw], self._n_above + 1, 0)
            left[:, draw] |= self._n_above >= BATCHES
        return left


def _tuned_together(chains: Sequence[GradientChain]) -> list[list[GradientChain]]:
    """Divide chains into those of one mode; all are alike if nothing was tuned."""
    return [list(chains)] if chains[0].tuning is None else by_mode(chains)


def _numbers(n_chains: int, n_tuned: int, places: Sequence[int]) -> np.ndarray:
    """Return the chains that continue from the tuned chains in these places, in turn."""
    rounds = np.arange(0, n_chains, n_tuned)
    numbers = (rounds[:, None] + np.asarray(places)).ravel()
    return numbers[numbers < n_chains]


def _in_order(found: Sequence[Any], which: int, parts: Sequence[_Alike]) -> Arrays:
    """Join the arrays of parts of the chains, in the order of the chains."""
    if len(parts) == 1:
        return found[0][which]
    order = np.argsort(np.concatenate([part.numbers for part in parts]))
    names = found[0][which]
    return {name: np.concatenate([x[which][name] for x in found])[order] for name in names}


def _keys(tuned: Sequence[GradientChain], which: np.ndarray) -> np.ndarray:
    """Return a key for each chain, which does not depend on the number of chains."""
    roots = [deepcopy(chain.rng).integers(2**32, size=2).tolist() for chain in tuned]
    seeds = [
        np.random.SeedSequence([*roots[origin], i // len(tuned)]) for i, origin in enumerate(which)
    ]
    return np.array([seed.generate_state(2) for seed in seeds], "uint32")


def _kernel(
    calls: Calls, tuned: Sequence[GradientChain], n_chains: int, *, with_velocity: bool
) -> EnsembleKernel:
    """Return the kernel of all chains, which starts where those that were tuned are."""
    first = tuned[0]
    kernel = calls.kernel_of(first)
    assert isinstance(kernel, TransitionKernel), "`can_be_arrays` excludes others"
    parts = calls.parts(calls.length(first))
    weights = weights_of(first)
    listed = None if weights is None else weights.listed
    return EnsembleKernel(
        kernel,
        [calls.example(chain, parts[0]) for chain in tuned],
        n_chains=n_chains,
        n_calls=len(parts),
        rows=[DrawnRows(n, listed) for n, _ in first.batches.sizes],
        with_velocity=with_velocity,
    )
