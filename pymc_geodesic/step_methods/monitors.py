#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What watches over a chain of a stochastic-gradient step and never changes its draws."""

from __future__ import annotations

import math

from collections.abc import Sequence

import numpy as np

from pymc.step_methods.state import DataClassState, WithSamplingState, dataclass_state

from pymc_geodesic.kernel import BatchStream, KernelOutput
from pymc_geodesic.kernel.virial import reference_shapes
from pymc_geodesic.manifolds import Product
from pymc_geodesic.potential.variables import SampledVariable
from pymc_geodesic.tuning.energy_range import EnergyRange, EnergyRangeState, overflowing
from pymc_geodesic.tuning.field_reference import FieldReference, FieldReferenceState

__all__ = ["Monitors"]

RAN_OFF_ADVICE = (
    "Decrease `step_size`, and make sure that the posterior is proper: check `total_size`, the "
    "signs of potentials and flat priors."
)


@dataclass_state
class MonitorsState(DataClassState):
    """State of both monitors."""

    reference: FieldReferenceState
    energy: EnergyRangeState


class Monitors(WithSamplingState):
    """The reference of configurational temperatures, and the watch for chains that run off.

    Parameters
    ----------
    variables : sequence of SampledVariable
        The variables of the step.
    manifold : Product
        Where they are.

    Attributes
    ----------
    ran_off : str or None
        What the last draw did, if it has run off: the end of a sentence.
    """

    _state_class = MonitorsState

    def __init__(self, variables: Sequence[SampledVariable], *, manifold: Product) -> None:
        dtype = variables[0].position.dtype
        self.reference = FieldReference(reference_shapes(manifold), dtype=dtype)
        self.energy = EnergyRange(manifold.dim)
        # Points of compact manifolds have nowhere to run to.
        factors = enumerate(zip(variables, manifold.factors, strict=True))
        self._open = {v.name: i for i, (v, factor) in factors if not factor.is_compact}
        self.ran_off: str | None = None
        self._all = np.zeros(0, dtype=bool)

    def begin(self, *, tune: int, draws: int) -> None:
        """Forget another chain; prepare for one of this length."""
        self.reference.begin(tune=tune, draws=draws)
        self.energy.begin()
        self.ran_off = None

    def settle(self) -> None:
        """End the tuning phase."""
        self.reference.freeze()
        self.energy.settle()

    def fresh(self, batches: BatchStream, n_steps: int) -> np.ndarray:
        """Which transitions tell a temperature: none before there is a reference."""
        if batches.steps_per_batch > 1:
            return batches.fresh(n_steps) & self.reference.known
        if self._all.size != n_steps or self._all[0] != self.reference.known:
            self._all = np.full(n_steps, self.reference.known)
        return self._all

    def observe(
        self, output: KernelOutput, *, n_steps: int, batches: BatchStream, tune: bool
    ) -> None:
        """Look at a draw of ``n_steps`` transitions."""
        self.reference.observe(output.moments)
        self.ran_off = None
        if found := overflowing({name: output.values[i] for name, i in self._open.items()}):
            name, size = found
            self.ran_off = f"ran off: `{name}` has an entry of size {size:.2g}"
        if tune:
            self.energy.observe(output.energy)
            return
        draws_per_batch = math.ceil(batches.steps_per_batch / n_steps) if batches.sizes else 0
        if self.energy.has_left(output.energy, draws_per_batch=draws_per_batch):
            self.ran_off = self.ran_off or (
                f"ran off: its potential energy is {output.energy:.3g}, and was "
                f"{self.energy.mean:.3g} with a standard deviation of {self.energy.deviation:.2g} "
                "in the tuning phase"
            )
