#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The statistics that a stochastic-gradient sampler records for each draw."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pymc.stats.convergence import SamplerWarning

from pymc_geodesic.algorithms.algorithm import Algorithm
from pymc_geodesic.kernel.ensemble import DrawsOfChains
from pymc_geodesic.kernel.interface import Outputs
from pymc_geodesic.latents.latents import LOCAL_STATISTICS
from pymc_geodesic.sampling.chain import GradientChain
from pymc_geodesic.sampling.problem import Problem

__all__ = ["TransitionStatistics", "averaged", "merged"]

Types = dict[str, tuple[Any, list | None]]


class TransitionStatistics:
    """The statistics of a step; documented with :class:`SGGMC`.

    Parameters
    ----------
    problem : Problem
        The problem to sample.
    algorithm : Algorithm
        The algorithm, for its own statistics.
    has_velocity : bool
        Whether there is a kinetic temperature.
    reduces : bool
        Whether control variates may be used.
    """

    def __init__(
        self, problem: Problem, algorithm: Algorithm, *, has_velocity: bool, reduces: bool
    ) -> None:
        self._names = [variable.name for variable in problem.variables]
        self._dims = problem.manifold.dims
        self._share = np.array(self._dims) / sum(self._dims)
        self._algorithm, self._has_velocity, self._reduces = algorithm, has_velocity, reduces
        self._fixed = self._of_each("degrees_of_freedom", self._dims) if has_velocity else {}
        if has_velocity:
            self._fixed["degrees_of_freedom"] = sum(self._dims)
        self._has_local = problem.potential.local is not None
        # In coordinates of its own, log ratios, words that a topic does not have count like the
        # others. They are most, and do not come as near to zero as they should: a temperature of
        # 0.4 says nothing of the words that it has, of which it is 1.07 (arXiv, 30 topics).
        is_sparse = bool(algorithm.coordinates and problem.potential.expectations)
        self._tells_positions = algorithm.tells_positions and not is_sparse

    def types(self, chain: GradientChain) -> Types:
        """Return the type of every statistic, as PyMC requires."""
        number: tuple[Any, list | None] = (np.float64, [])
        types: Types = {"step_size": number, "potential_estimate": number}
        types |= {
            "n_steps": (np.int64, []),
            "diverging": (bool, []),
            "warning": (SamplerWarning, None),
        }
        named = ["configurational_temperature"] if self._tells_positions else []
        named += ["kinetic_temperature"] if self._has_velocity else []
        if self._algorithm.grouping is not None:
            named.append("thermostat")
        shared = self._algorithm.grouping == "shared"
        for name in named:
            types[name] = number
            if name != "thermostat" or not shared:
                types |= dict.fromkeys(self._of_each(name, self._dims), number)
        types |= dict.fromkeys(self._fixed, (np.int64, []))
        others = [*self._algorithm.statistic_names]
        others += ["gradient_variance_ratio"] if self._reduces else []
        others += LOCAL_STATISTICS if self._has_local else ()
        if chain.mass_adaptation is not None:
            others += list(chain.mass_adaptation.statistics)
        return types | dict.fromkeys(others, number)

    def of_draw(
        self, chain: GradientChain, outputs: Outputs, *, step_size: float, noise_variance: float
    ) -> dict[str, Any]:
        """Compute the statistics of a draw from the outputs of the kernel."""
        settings, algorithm = chain.settings, self._algorithm
        stats = {
            "step_size": step_size,
            "potential_estimate": float(outputs.energy),
            "n_steps": settings.n_steps,
            "diverging": bool(outputs.diverging) or chain.monitors.ran_off is not None,
        }
        if self._tells_positions:
            stats |= self._temperatures(outputs.configurational, chain.monitors.is_informative)
        if self._has_velocity:
            stats |= self._per_variable("kinetic_temperature", outputs.kinetic)
        if algorithm.grouping is not None:
            stats |= self._thermostats(chain.state.thermostat)
        if self._reduces and chain.tuning is not None:
            stats["gradient_variance_ratio"] = chain.tuning.variance_ratio
        if chain.mass_adaptation is not None:
            stats |= chain.mass_adaptation.statistics
        own = algorithm.statistics(
            chain.state,
            step_size=step_size,
            noise_variance=noise_variance,
            n_steps=settings.n_steps,
            parameters=settings.parameters,
        )
        return stats | self._fixed | own

    def of_chains(
        self, chain: GradientChain, drawn: DrawsOfChains, *, diverging: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Compute the statistics of draws ``(chain, draw)`` that continue from a tuned chain."""
        settings, shape = chain.settings, diverging.shape
        own: dict[str, Any] = {"step_size": settings.step_size, "n_steps": settings.n_steps}
        if self._reduces and chain.tuning is not None:
            own["gradient_variance_ratio"] = chain.tuning.variance_ratio
        own |= self._algorithm.statistics(
            chain.state,
            step_size=settings.step_size,
            noise_variance=0.0,
            n_steps=settings.n_steps,
            parameters=settings.parameters,
        )
        # With thousands of chains, copies take as long as the draws.
        stats = {name: np.broadcast_to(x, shape) for name, x in (own | self._fixed).items()}
        energy = drawn.energy.astype(float, copy=False)
        stats |= {"potential_estimate": energy, "diverging": diverging}
        if self._tells_positions:
            shown, known = drawn.configurational, chain.monitors.is_informative
            if not known.all():
                shown = np.where(known, shown, np.nan)
            stats |= self._by_variable("configurational_temperature", drawn.configurational, shown)
        if self._has_velocity:
            stats |= self._by_variable("kinetic_temperature", drawn.kinetic, drawn.kinetic)
        if self._algorithm.grouping is not None:
            means = [x.reshape(*shape, -1).mean(axis=2) for x in drawn.thermostat]
            if self._algorithm.grouping == "shared":
                stats["thermostat"] = means[0].astype(float)
            else:
                together = np.stack(means, axis=-1)
                stats |= self._by_variable("thermostat", together, together)
        return stats

    def _by_variable(
        self, name: str, values: np.ndarray, shown: np.ndarray
    ) -> dict[str, np.ndarray]:
        """As :meth:`_per_variable`, for arrays whose last axis is the variable."""
        values, shown = (x.astype(float, copy=False) for x in (values, shown))
        if len(self._names) == 1:
            return {name: values[..., 0]}
        return {name: values @ self._share} | self._of_each(name, np.moveaxis(shown, -1, 0))

    def _thermostats(self, thermostat: Sequence[np.ndarray]) -> dict[str, float]:
        # The `mean` of a single number costs several times as much as reading it.
        means = [float(xi.mean()) if xi.ndim else xi.item() for xi in thermostat]
        if self._algorithm.grouping == "shared":
            return {"thermostat": means[0]}
        return self._per_variable("thermostat", np.array(means))

    def _temperatures(self, values: np.ndarray, is_informative: np.ndarray) -> dict[str, float]:
        """Of positions: of variables on a ridge with others only the total is known."""
        name = "configurational_temperature"
        alone = np.where(is_informative, values, np.nan)
        return self._per_variable(name, values) | self._of_each(name, alone.tolist())

    def _per_variable(self, name: str, values: np.ndarray) -> dict[str, float]:
        """One statistic for all variables, weighted by dimension, and one for each."""
        if len(values) == 1:
            return {name: values.item()}
        return {name: float(self._share @ values)} | self._of_each(name, values.tolist())

    def _of_each(self, name: str, values: Iterable[Any]) -> dict[str, Any]:
        if len(self._names) == 1:
            return {}
        return {f"{name}_{variable}": v for variable, v in zip(self._names, values, strict=True)}


def merged(outputs: Sequence[Outputs]) -> Outputs:
    """Join the outputs of consecutive calls of equal length: the last state, statistics of all."""
    if len(outputs) == 1:
        return outputs[0]
    return outputs[-1]._replace(
        kinetic=np.mean([output.kinetic for output in outputs], axis=0),
        configurational=_known_mean(np.array([output.configurational for output in outputs])),
        diverging=any(bool(output.diverging) for output in outputs),
    )


def averaged(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    """Average the same numbers of several batches."""
    if len(rows) == 1:
        return rows[0]
    return {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}


def _known_mean(table: np.ndarray) -> np.ndarray:
    """Mean of each variable over the calls that have one."""
    known = np.all(np.isfinite(table), axis=1)
    return np.mean(table[known], axis=0) if known.any() else table[0]
