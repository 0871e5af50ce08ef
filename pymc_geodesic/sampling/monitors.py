#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Monitors of a chain of a stochastic-gradient step, which never change its draws."""

from __future__ import annotations

import math

from collections.abc import Sequence
from copy import copy

import numpy as np

from pymc_geodesic.kernel.interface import Outputs
from pymc_geodesic.kernel.loop import reference_shapes
from pymc_geodesic.kernel.streams import BatchStream
from pymc_geodesic.manifolds import Product
from pymc_geodesic.mass import Mass
from pymc_geodesic.potential.variables import SampledVariable
from pymc_geodesic.tuning.energy_range import (
    EnergyRange,
    FieldReference,
    amplification,
    largest_of,
    overflowing,
)
from pymc_geodesic.tuning.velocity_balance import VelocityBalance, VelocityHeat

__all__ = ["Monitors"]

RAN_OFF_ADVICE = (
    "Decrease `step_size` from {step_size:.2g}, and check that the posterior is proper: "
    "`total_size`, the signs of potentials and flat priors."
)
# A step of half a posterior scale changes temperatures by a sixteenth, and a fifth is reported.
MOST_AMPLIFIED = 3.0


class Monitors:
    """The reference of configurational temperatures; detection of diverging and of hot chains.

    Parameters
    ----------
    variables : sequence of SampledVariable
        The variables of the step.
    manifold : Product
        Manifold of the variables.
    tune, draws : int
        Length of the chain.
    tunes_itself : bool
        Whether the step measures the noise of every entry, and balances it.

    Attributes
    ----------
    ran_off : str or None
        How the last draw diverged, if it did: the end of a sentence.
    too_hot : str or None
        After the last draw, what was too hot, if anything: a part of a sentence.
    unbalanced : str or None
        After the last draw, which entries or directions were too hot or too cold: the same.
    is_informative : ndarray of bool, shape (variable,)
        Whether the configurational temperature of each variable by itself means something.
    """

    def __init__(
        self,
        variables: Sequence[SampledVariable],
        *,
        manifold: Product,
        tune: int,
        draws: int,
        tunes_itself: bool,
    ) -> None:
        dtype = variables[0].position.dtype
        self.reference = FieldReference(reference_shapes(manifold), dtype=dtype)
        self.reference.begin(tune=tune, draws=draws)
        self.energy = EnergyRange(manifold.dim)
        # Points of compact manifolds cannot diverge.
        factors = enumerate(zip(variables, manifold.factors, strict=True))
        self._open = {v.name: i for i, (v, factor) in factors if not factor.is_compact}
        self.ran_off: str | None = None
        self._names, self._shapes = [v.name for v in variables], manifold.shapes
        self._flat = [i for i, factor in enumerate(manifold.factors) if factor.is_flat]
        self._draws, self._tunes_itself = draws, tunes_itself
        self._begin(draws=draws, n_chains=1)
        self.too_hot: str | None = None
        self.unbalanced: str | None = None
        self._all = np.zeros(0, dtype=bool)
        self.is_informative = np.ones(len(variables), dtype=bool)

    def settle(self, mass: Mass | None) -> None:
        """End the tuning phase, which has found a mass."""
        self.reference.freeze()
        self.energy.settle()
        if mass is not None and not mass.is_diagonal:
            self.is_informative = amplification(mass, self._shapes) <= MOST_AMPLIFIED

    def overflows(self, values: Sequence[np.ndarray]) -> np.ndarray:
        """Return which draws of ``(chain, draw, ...)`` overflow, as :meth:`observe` does."""
        large = np.zeros(values[0].shape[:2], dtype=bool)
        for x in (values[i] for i in self._open.values()):
            largest = largest_of(x.dtype)
            # Without an array of that size, unless one is too large, or not a number.
            if not (x.max(initial=0) <= largest and x.min(initial=0) >= -largest):
                large |= np.abs(x).reshape(*large.shape, -1).max(axis=2) > largest
        return large

    @property
    def needs_velocities(self) -> bool:
        """Whether velocities of single entries are compared."""
        return self._balance.is_on

    def observe_velocities(self, kinetic: np.ndarray, velocity: Sequence[np.ndarray]) -> None:
        """Observe kinetic temperatures of a kept draw, and its velocities if they are known.

        Parameters
        ----------
        kinetic : ndarray, shape (variables,) or (chains, variables)
            Temperature of each variable.
        velocity : sequence of ndarray
            Those of the variables, of one chain or with the chain as first axis.
        """
        self.too_hot = self._heat.observe(kinetic)
        if velocity:
            self.unbalanced = self._balance.observe([velocity[i] for i in self._flat])

    def of_chains(self, n_chains: int, *, thin: int) -> Monitors:
        """Return monitors of the velocities of many chains together, of which draws are kept."""
        other = copy(self)
        other._begin(draws=self._draws // thin, n_chains=n_chains)
        return other

    def _begin(self, *, draws: int, n_chains: int) -> None:
        self._heat = VelocityHeat(self._names, draws=draws)
        flat = [self._names[i] for i in self._flat], [self._shapes[i] for i in self._flat]
        draws = 0 if self._tunes_itself else draws
        self._balance = VelocityBalance(*flat, draws=draws, n_chains=n_chains)

    def fresh(self, batches: BatchStream, n_steps: int) -> np.ndarray:
        """Return the transitions that measure a temperature: none before there is a reference."""
        if batches.steps_per_batch > 1:
            return batches.fresh(n_steps) & self.reference.known
        if self._all.size != n_steps or self._all[0] != self.reference.known:
            self._all = np.full(n_steps, self.reference.known)
        return self._all

    def observe(
        self,
        outputs: Outputs,
        velocity: Sequence[np.ndarray],
        *,
        n_steps: int,
        batches: BatchStream,
        tune: bool,
    ) -> None:
        """Observe a draw of ``n_steps`` transitions, and the velocity at its end, if any."""
        self.reference.observe(outputs.moments)
        self.ran_off, energy = None, float(outputs.energy)
        if found := overflowing({name: outputs.values[i] for name, i in self._open.items()}):
            name, size = found
            self.ran_off = f"diverged: `{name}` has an entry of size {size:.2g}"
        if tune:
            self.energy.observe(energy)
            return
        self.observe_velocities(outputs.kinetic, velocity)
        draws_per_batch = math.ceil(batches.steps_per_batch / n_steps) if batches.sizes else 0
        if self.energy.has_left(energy, draws_per_batch=draws_per_batch):
            self.ran_off = self.ran_off or (
                f"diverged: its potential energy is {energy:.3g}, but was {self.energy.mean:.3g} "
                f"with a standard deviation of {self.energy.deviation:.2g} in the tuning phase"
            )
