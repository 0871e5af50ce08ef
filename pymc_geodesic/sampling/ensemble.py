#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Many chains after a tuning phase that some of them have made: arrays with the chain first."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from copy import deepcopy

import numpy as np

from pymc_geodesic.kernel.ensemble import DrawsOfChains, EnsembleKernel
from pymc_geodesic.kernel.jax.random_inputs import DrawnRows
from pymc_geodesic.kernel.transitions import TransitionKernel
from pymc_geodesic.sampling.advance import prepare
from pymc_geodesic.sampling.calls import Calls
from pymc_geodesic.sampling.centers import weights_of
from pymc_geodesic.sampling.chain import Chain, GradientChain
from pymc_geodesic.sampling.run import Arrays
from pymc_geodesic.sampling.stochastic import StochasticSampler
from pymc_geodesic.sampling.warnings import warning_of
from pymc_geodesic.schedules import ConstantSchedule
from pymc_geodesic.tuning.energy_range import BATCHES

__all__ = ["MOST_TUNED", "Ensemble", "can_be_arrays", "can_multiply", "is_ready"]

# Chains that make a tuning phase: they measure scales and correlations by all of their draws, and
# more of them would take longer and know hardly more. The others begin where these end.
MOST_TUNED = 16
# Parts of states that the statistics of an ensemble know.
KNOWN_FIELDS = {"position", "velocity", "thermostat"}


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
        sampler.algorithm.kernel is None
        and calls.makes_several(chain)
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

    Attributes
    ----------
    tuned : list of GradientChain
        The chains from which it began.
    n_drawn : int
        Draws since then.
    """

    def __init__(
        self, sampler: StochasticSampler, tuned: Sequence[GradientChain], n_chains: int
    ) -> None:
        self.tuned: list[GradientChain] = deepcopy(list(tuned))
        prepare(sampler, self.tuned)
        self._sampler, self.n_chains, self.n_drawn = sampler, n_chains, 0
        self._keys = _keys(self.tuned, n_chains)
        self._kernel = _kernel(sampler.calls, self.tuned, n_chains)
        which = np.arange(n_chains) % len(self.tuned)
        self._has_left = _Leaving(self.tuned, which)

    def advance(
        self, n_draws: int, *, thin: int = 1, names: Collection[str] | None = None
    ) -> tuple[list[Chain], Arrays, Arrays]:
        """Move all chains.

        Parameters
        ----------
        n_draws : int
            Draws of each chain, a multiple of ``thin``.
        thin : int, default 1
            Interval of the draws to keep.
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
        n_steps, n_kept = self.tuned[0].settings.n_steps, n_draws // thin
        drawn = self._kernel(self._keys, first=self.n_drawn * n_steps, n_kept=n_kept, thin=thin)
        is_first = self.n_drawn == 0
        self.n_drawn += n_draws
        values = self._sampler.problem.named(drawn.values)
        kept = {name: x for name, x in values.items() if names is None or name in names}
        return [*self.tuned], kept, self._statistics(drawn, is_first=is_first)

    def _statistics(self, drawn: DrawsOfChains, *, is_first: bool) -> Arrays:
        sampler, first = self._sampler, self.tuned[0]
        ran_off = self._has_left(drawn)
        stats = sampler.statistics.of_chains(first, drawn, diverging=drawn.diverging | ran_off)
        stats["warning"] = np.full(drawn.energy.shape, None)
        if is_first:
            for number, chain in enumerate(self.tuned):
                stats["warning"][number, 0] = warning_of(
                    sampler.problem.name, chain, False, mishap="", advice=""
                )
        self._warn_of(stats, drawn.diverging, ran_off)
        return stats

    def _warn_of(self, stats: Arrays, undone: np.ndarray, ran_off: np.ndarray) -> None:
        """Put one warning at the first draw of all chains that was undone or ran off."""
        chain = self.tuned[0]
        if chain.has_warned or not (undone | ran_off).any():
            return
        chain.monitors.ran_off = "diverged: it left the range of the tuning phase"
        if not ran_off.any():
            chain.monitors.ran_off = None
        algorithm = self._sampler.algorithm
        warning = warning_of(
            self._sampler.problem.name,
            chain,
            True,
            mishap=algorithm.mishap,
            advice=algorithm.advice,
        )
        chain.monitors.ran_off = None
        draw, number = np.argwhere((undone | ran_off).T)[0]
        stats["warning"][number, draw] = warning


class _Leaving:
    """Whether chains leave the range of the tuning phase, by positions and energies."""

    def __init__(self, tuned: Sequence[GradientChain], which: np.ndarray) -> None:
        self._monitors = [chain.monitors for chain in tuned]
        self._limits = np.array([m.energy.limit for m in self._monitors])[which]
        self._n_above = np.zeros(len(which), int)

    def __call__(self, drawn: DrawsOfChains) -> np.ndarray:
        """Return an array of ``(chain, draw)``."""
        left = self._monitors[0].overflows(drawn.values)
        # The limit is NaN before it is known, and comparisons with it are false.
        above = drawn.energy > self._limits[:, None]
        for draw in range(above.shape[1]) if above.any() else ():
            self._n_above = np.where(above[:, draw], self._n_above + 1, 0)
            left[:, draw] |= self._n_above >= BATCHES
        if not above[:, -1].any():
            self._n_above[:] = 0
        return left


def _keys(tuned: Sequence[GradientChain], n_chains: int) -> np.ndarray:
    """Return a key for each chain, which does not depend on the number of chains."""
    roots = [deepcopy(chain.rng).integers(2**32, size=2).tolist() for chain in tuned]
    numbers = [divmod(i, len(tuned)) for i in range(n_chains)]
    seeds = [np.random.SeedSequence([*roots[which], number]) for number, which in numbers]
    return np.array([seed.generate_state(2) for seed in seeds], "uint32")


def _kernel(calls: Calls, tuned: Sequence[GradientChain], n_chains: int) -> EnsembleKernel:
    """Return the kernel of all chains, which starts where those that were tuned are."""
    first = tuned[0]
    kernel = calls.kernel_of(first)
    assert isinstance(kernel, TransitionKernel), "`can_multiply` excludes others"
    parts = calls.parts(calls.length(first))
    weights = weights_of(first)
    listed = None if weights is None else weights.listed
    return EnsembleKernel(
        kernel,
        [calls.example(chain, parts[0]) for chain in tuned],
        n_chains=n_chains,
        n_calls=len(parts),
        rows=[DrawnRows(n, listed) for n, _ in first.batches.sizes],
    )
