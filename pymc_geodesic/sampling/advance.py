#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The only way to move chains: from chains to the chains some draws later."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any, Protocol

import numpy as np

from pymc.exceptions import SamplingError

from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.sampling.chain import Chain, ChainFailure, Settings, failing
from pymc_geodesic.sampling.problem import Problem

__all__ = ["Sampler", "advance", "begin", "next_draw", "place", "prepare"]

Values = dict[str, np.ndarray]


class Sampler(Protocol):
    """The parts that the chains of a step share: compiled functions, options, data; no chain."""

    problem: Problem
    settings: Settings

    @property
    def reads_stream(self) -> bool:
        """Whether batches come from a loader, which chains read one after another."""
        ...

    @property
    def tunes_in_common(self) -> bool:
        """Whether chains must be together for :meth:`adapt` in their tuning phase."""
        ...

    @property
    def divisible(self) -> HostGradient | None:
        """What sums over partitioned data in the tuning phase, and can be helped by others."""
        ...

    def begin(self, rng: np.random.Generator, point: Values, *, tune: int, draws: int) -> Chain:
        """Return a new chain."""
        ...

    def adapt(self, chains: Sequence[Any]) -> None:
        """Tune chains of equal length before a draw, if it is due."""
        ...

    def stages(self, chain: Any) -> list[int]:
        """Return the draws before which :meth:`adapt` changes something, except the first."""
        ...

    def draws_at_once(self, chain: Any) -> int:
        """Return how many draws :meth:`draws` may make now."""
        ...

    def draws(self, chains: Sequence[Any], n_draws: int) -> list[Iterator[dict[str, Any]]]:
        """Make some draws; return what moves each chain by one at a time, with its statistics."""
        ...

    def stop_tuning(self, chain: Any) -> None:
        """End the tuning phase of a chain."""
        ...

    def trial(self, chains: Sequence[Any]) -> list[float]:
        """Return the energy of each chain; NaN if the gradient is not finite."""
        ...

    def types(self, chain: Any) -> dict[str, tuple[Any, list | None]]:
        """Return the type of every statistic, as PyMC requires."""
        ...


def begin(
    sampler: Sampler,
    *,
    random_seed: int | np.random.SeedSequence | np.random.Generator | None = None,
    point: Values | None = None,
    tune: int,
    draws: int,
) -> Chain:
    """Return a new chain.

    Parameters
    ----------
    sampler : Sampler
        Sampler of a step: ``step.sampler``.
    random_seed : int, SeedSequence or Generator, optional
        Source of all random numbers of the chain.
    point : dict of str to ndarray, optional
        PyMC's value of every free variable; by default the model's initial point.
    tune, draws : int
        Length of the tuning phase, and of what follows.

    Returns
    -------
    Chain
        The chain before its first draw.

    Examples
    --------
    >>> import pymc as pm, pymc_geodesic as pmg
    >>> from pymc_geodesic.sampling import begin
    >>> with pm.Model():
    ...     x = pm.Normal("x", shape=2)
    ...     sampler = pmg.SGHMC(step_size=0.1, friction=1.0).sampler
    >>> chain = begin(sampler, random_seed=1, tune=0, draws=20)
    >>> chain.values["x"], chain.n_drawn
    (array([0., 0.]), 0)
    """
    start = sampler.problem.start if point is None else point
    rng = np.random.default_rng(random_seed)
    return sampler.begin(rng, start, tune=tune, draws=draws)


def advance(
    sampler: Sampler, chain: Chain, n_draws: int
) -> tuple[Chain, dict[str, np.ndarray], list[dict[str, Any]]]:
    """Make draws; the given chain does not change.

    Parameters
    ----------
    sampler : Sampler
        Sampler of a step: ``step.sampler``.
    chain : Chain
        From :func:`begin`, or from an earlier call, in this process or another.
    n_draws : int
        Number of draws, including those of the tuning phase.

    Returns
    -------
    chain : Chain
        The chain after the draws.
    draws : dict of str to ndarray
        PyMC's values of the sampled variables, with the draw as first axis.
    statistics : list of dict
        Statistics of each draw.

    Raises
    ------
    pymc.exceptions.SamplingError
        At the first draw, if the start is impossible.

    Examples
    --------
    >>> import pickle
    >>> import pymc as pm, pymc_geodesic as pmg
    >>> from pymc_geodesic.sampling import advance, begin
    >>> with pm.Model():
    ...     x = pm.Normal("x", shape=2)
    ...     sampler = pmg.SGHMC(step_size=0.1, friction=1.0).sampler
    >>> chain = begin(sampler, random_seed=1, tune=0, draws=20)
    >>> chain, draws, statistics = advance(sampler, chain, 10)
    >>> chain = pickle.loads(pickle.dumps(chain))
    >>> chain, draws, statistics = advance(sampler, chain, 10)
    >>> draws["x"].shape
    (10, 2)
    """
    chain = deepcopy(chain)
    rows, statistics = [], []
    for _ in range(n_draws):
        _end_tuning(sampler, chain)
        statistics.append(next_draw(sampler, chain))
        rows.append(dict(chain.values))
    names = chain.values
    draws = {name: np.array([row[name] for row in rows]) for name in names}
    return chain, draws, statistics


def next_draw(sampler: Sampler, chain: Chain) -> dict[str, Any]:
    """Move a chain by a draw; return its statistics."""
    try:
        _be_ready(sampler, [chain])
        [drawn] = sampler.draws([chain], 1)
        return next(drawn)
    except ChainFailure as failure:
        error = failure.__cause__
    # There is no other chain from which its number would tell it.
    assert error is not None, "`failing` gives failures their causes"
    raise error


def prepare(sampler: Sampler, chains: Sequence[Chain]) -> None:
    """Check starts and tune before a draw of chains of equal length, for all of them together.

    Raises
    ------
    ChainFailure
        If a chain cannot start.
    """
    for chain in chains:
        _end_tuning(sampler, chain)
    _be_ready(sampler, chains)


def _be_ready(sampler: Sampler, chains: Sequence[Chain]) -> None:
    if not all(chain.is_checked for chain in chains):
        _require_starts(sampler, chains)
    sampler.adapt(chains)


def place(sampler: Sampler, chain: Chain, point: Values) -> None:
    """Set the position of a chain from PyMC's values, if it differs."""
    problem = sampler.problem
    chain.others = {name: point[name] for name in problem.conditioned_names}
    if all(_same(point[name], value) for name, value in chain.values.items()):
        return
    chain.state = chain.state._replace(position=problem.position_of(point))
    chain.values = problem.values_in(point)


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    return a is b or np.array_equal(a, b)


def _end_tuning(sampler: Sampler, chain: Chain) -> None:
    if chain.tune and chain.n_drawn >= chain.tuning_draws:
        sampler.stop_tuning(chain)


def _require_starts(sampler: Sampler, chains: Sequence[Chain]) -> None:
    problem = sampler.problem
    for number, chain in enumerate(chains):
        with failing(number):
            if found := problem.off_manifold(chain.values):
                name, why = found
                raise SamplingError(
                    f"The start of `{name}` is not on its manifold: {why}. Pass a value on the "
                    "manifold as `initvals`, or leave out the start."
                )
            problem.data_checks.check_start(chain.point)
    for number, (chain, energy) in enumerate(zip(chains, sampler.trial(chains), strict=True)):
        with failing(number):
            if not np.isfinite(energy):
                raise problem.impossible_start(chain.point, energy)
        chain.is_checked = True
