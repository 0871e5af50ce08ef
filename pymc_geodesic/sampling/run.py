#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Move several chains by a segment of draws; runs of any length consist of segments."""

from __future__ import annotations

import pickle

from collections.abc import Collection, Sequence
from typing import Any, Literal

import numpy as np

from pymc_geodesic.sampling.advance import Sampler, prepare
from pymc_geodesic.sampling.chain import Chain, ChainFailure, failing

__all__ = ["Arrays", "ChainMethod", "run"]

ChainMethod = Literal["vectorized", "sequential"]
"""How several chains are moved: with one call of a kernel for all, or with one for each."""

Arrays = dict[str, np.ndarray]
"""Arrays by name, ``(chain, draw, ...)``."""


def run(
    sampler: Sampler,
    chains: Sequence[Chain],
    n_draws: int,
    *,
    chain_method: ChainMethod = "sequential",
    thin: int = 1,
    names: Collection[str] | None = None,
) -> tuple[list[Chain], Arrays, Arrays]:
    """Move chains of equal length by some draws; the given chains do not change.

    In the tuning phase they are tuned together. Afterwards the draws of a chain depend only on the
    chain, not on the method (except for rounding), the lengths of segments or the other chains.

    Parameters
    ----------
    sampler : Sampler
        Sampler of a step: ``step.sampler``.
    chains : sequence of Chain
        From :func:`begin`, or from an earlier call.
    n_draws : int
        Draws of each chain, including those of the tuning phase.
    chain_method : {"vectorized", "sequential"}
        One call of a kernel for all chains, on JAX; or one for each.
    thin : int, default 1
        Interval of the draws to keep. A kept draw is ``diverging`` if any draw since the last kept
        one was.
    names : collection of str, optional
        Value variables to keep; by default all that are sampled.

    Returns
    -------
    chains : list of Chain
        The chains after the draws.
    draws : dict of str to ndarray, shape (chains, n_draws // thin, ...)
        PyMC's values of the variables.
    statistics : dict of str to ndarray, shape (chains, n_draws // thin)
        Statistics of each kept draw.

    Raises
    ------
    ChainFailure
        If a chain fails.

    Examples
    --------
    >>> import pymc as pm, pymc_geodesic as pmg
    >>> from pymc_geodesic.sampling import begin, run
    >>> with pm.Model():
    ...     x = pm.Normal("x", shape=2)
    ...     sampler = pmg.SGHMC(step_size=0.1, friction=1.0).sampler
    >>> chains = [begin(sampler, random_seed=seed, tune=0, draws=30) for seed in range(4)]
    >>> chains, draws, statistics = run(sampler, chains, 20, chain_method="vectorized")
    >>> chains, draws, statistics = run(sampler, chains, 10, chain_method="sequential")
    >>> draws["x"].shape, statistics["diverging"].shape
    ((4, 10, 2), (4, 10))
    """
    moved = _copied(chains)
    rows = _Rows(sampler, moved, n_draws // thin, thin=thin, names=names)
    numbers = [*range(len(moved))]
    # A loader may allow only one reader.
    are_apart = chain_method == "sequential" or sampler.reads_stream
    groups = [[number] for number in numbers] if are_apart else [numbers]
    first = chains[0].n_drawn
    stages = sorted({n - first for n in sampler.stages(chains[0]) if first < n < first + n_draws})
    for begin, end in zip([0, *stages], [*stages, n_draws], strict=True):
        if begin < end:
            prepare(sampler, moved)
        for group in groups:
            _move(sampler, moved, group, rows, draws=(begin, end))
    return moved, rows.draws, rows.statistics


def _copied(chains: Sequence[Chain]) -> list[Chain]:
    """Copy chains; arrays that they share, such as a mass, are shared by the copies too.

    Those that cannot be written to, such as the weights of rows, are not copied.
    """
    kept: list[pickle.PickleBuffer] = []

    def is_copied(buffer: pickle.PickleBuffer) -> bool:
        if buffer.raw().readonly:
            kept.append(buffer)
        return not buffer.raw().readonly

    copy = pickle.dumps(list(chains), protocol=5, buffer_callback=is_copied)
    moved: list[Chain] = pickle.loads(copy, buffers=kept)
    return moved


def _move(
    sampler: Sampler,
    chains: Sequence[Chain],
    group: Sequence[int],
    rows: _Rows,
    *,
    draws: tuple[int, int],
) -> None:
    """Move a group of the chains from one stage to the next, and store their draws."""
    some = [chains[number] for number in group]
    draw, end = draws
    while draw < end:
        try:
            n = min(end - draw, *map(sampler.draws_at_once, some))
            found = sampler.draws(some, n)
        except ChainFailure as failure:
            raise ChainFailure(group[failure.chain]) from failure.__cause__
        except Exception as error:
            if len(group) > 1:
                raise
            raise ChainFailure(group[0]) from error
        for number, chain, statistics in zip(group, some, found, strict=True):
            with failing(number):
                for row, stats in enumerate(statistics, start=draw):
                    rows.put(number, row, chain, stats)
        draw += n
        if draw < end:
            prepare(sampler, some)


class _Rows:
    """Arrays for kept draws."""

    def __init__(
        self,
        sampler: Sampler,
        chains: Sequence[Chain],
        n_kept: int,
        *,
        thin: int,
        names: Collection[str] | None,
    ) -> None:
        shape, self._thin = (len(chains), n_kept), thin
        values = {name: np.asarray(x) for name, x in chains[0].values.items()}
        kept = values if names is None else {name: values[name] for name in names if name in values}
        self.draws = {name: np.empty((*shape, *x.shape), x.dtype) for name, x in kept.items()}
        types = sampler.types(chains[0]).items()
        self.statistics: Arrays = {name: np.zeros(shape, dtype) for name, (dtype, _) in types}
        self._diverged = np.zeros(len(chains), dtype=bool)
        self._unsaid: list[list[Any]] = [[] for _ in chains]

    def put(self, chain_number: int, draw: int, chain: Chain, stats: dict[str, Any]) -> None:
        """Store a draw if it is to be kept, with the divergences since the last kept one."""
        self._diverged[chain_number] |= bool(stats["diverging"])
        unsaid = self._unsaid[chain_number]
        if stats["warning"] is not None:
            unsaid.append(stats["warning"])
        row, position = divmod(draw + 1, self._thin)
        if position:
            return
        place = chain_number, row - 1
        for name, array in self.draws.items():
            array[place] = chain.values[name]
        stats |= {
            "diverging": self._diverged[chain_number],
            "warning": unsaid.pop(0) if unsaid else None,
        }
        for name, array in self.statistics.items():
            array[place] = stats[name]
        self._diverged[chain_number] = False
