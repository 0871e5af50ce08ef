#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Everything that is drawn anew for each minibatch before the global variables move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pymc.step_methods.state import DataClassState, WithSamplingState, dataclass_state

from pymc_geodesic.kernel.backend import Backend
from pymc_geodesic.kernel.graph import placeholders, to_positions
from pymc_geodesic.latents.gmc import LocalGMC, LocalSampler, LocalSamplerState
from pymc_geodesic.latents.kernel import LocalOutput
from pymc_geodesic.potential import Potential

__all__ = ["LOCAL_STATISTICS", "Latents", "LatentsState"]

LOCAL_STATISTICS = ("local_acceptance", "local_spread", "local_step_size", "local_unmoved")


@dataclass_state
class LatentsState(DataClassState):
    """Resumable state of :class:`Latents`."""

    sampler: LocalSamplerState | None


class Latents(WithSamplingState):
    """Draws of local variables and expectations over latent ones, for one batch at a time.

    Parameters
    ----------
    potential : Potential
        Knows the local variables and the expectations.
    options : LocalGMC, optional
        How the local variables are sampled, if there are any.
    point : mapping
        A point, for the shapes of its values.
    restart : bool
        Whether the local variables of each batch start anew, and not at their last draw.
    backend : Backend
        How to compile.
    """

    _state_class = LatentsState

    def __init__(
        self,
        potential: Potential,
        options: LocalGMC | None,
        *,
        point: Mapping[str, np.ndarray],
        restart: bool,
        backend: Backend,
    ) -> None:
        self._names = [variable.value.name for variable in potential.variables]
        self._conditioned = [value.name for value in potential.conditioned_values]
        self.local_names: list[str] = []
        self.sampler: LocalSampler | None = None
        if potential.local is not None:
            self.local_names = [variable.value.name for variable in potential.local.variables]
            self.sampler = LocalSampler(
                options,
                potential,
                values=_values(point, self._names),
                local_values=_values(point, self.local_names),
                restart=restart,
                backend=backend,
            )
        self._expectations = [found.owner.op for found in potential.expectations]
        self._inputs = self._compile_inputs(potential, point, backend)
        self.arrays: list[np.ndarray] = []
        self.finite = True
        self._of_batches: list[dict[str, float]] = []

    def __bool__(self) -> bool:
        """Tell whether anything is local."""
        return self.sampler is not None or bool(self._expectations)

    def reset(self) -> None:
        """Forget what belongs to another chain."""
        self._of_batches = []
        if self.sampler is not None:
            self.sampler.reset()

    def draw(
        self,
        rng: np.random.Generator,
        point: Mapping[str, np.ndarray],
        rows: Sequence[np.ndarray],
        *,
        tune: bool,
    ) -> dict[str, np.ndarray]:
        """Draw for a batch, set ``arrays``, and return PyMC's values of the local variables."""
        output = self._draw(rng, point, rows, tune=tune)
        if output is None:
            return {}
        self.sampler.learn(output, tune=tune)
        self._of_batches.append(self.sampler.statistics(output))
        return dict(zip(self.local_names, output.values, strict=True))

    def trial(self, point: Mapping[str, np.ndarray], rows: Sequence[np.ndarray]) -> None:
        """Set ``arrays`` and ``finite`` for a batch, and leave no trace in the chain.

        A check that drew from the chain's own generator would change the draws that follow, and a
        chain that is resumed, and checked again, would not go on as it had.
        """
        self._draw(np.random.default_rng(0), point, rows, tune=False)

    def take_statistics(self) -> dict[str, float]:
        """Return the statistics of the batches since the last call, averaged."""
        batches, self._of_batches = self._of_batches, []
        if not batches:
            return {}
        return {name: float(np.mean([x[name] for x in batches])) for name in LOCAL_STATISTICS}

    def _draw(self, rng: np.random.Generator, point, rows, *, tune: bool) -> LocalOutput | None:
        """Set ``arrays`` and ``finite``; return what the sampler of local variables gives."""
        values = _values(point, self._names)
        conditioned = _values(point, self._conditioned)
        self.arrays, output = [], None
        if self.sampler is not None:
            output = self.sampler.draw(
                rng,
                values,
                _values(point, self.local_names),
                conditioned=conditioned,
                rows=rows,
                tune=tune,
            )
            self.arrays += output.draws
            self.finite = output.finite
        for expectation, evaluate in zip(self._expectations, self._inputs, strict=True):
            inputs = evaluate(*conditioned, *values, *rows)
            self.arrays.append(expectation.estimate(rng, *map(np.asarray, inputs)))
        return output

    def _compile_inputs(self, potential: Potential, point, backend: Backend) -> list:
        """Make a function for the inputs of each expectation."""
        values = placeholders("value", _values(point, self._names))
        rows = [index.clone() for index in potential.indices]
        position = to_positions(potential, values)
        inputs = [*potential.conditioned_values, *values, *rows]
        graphs = potential.expectation_inputs(position, rows)
        return [backend.compile(inputs, outputs) for outputs in graphs]


def _values(point: Mapping[str, np.ndarray], names: Sequence[str]) -> list[np.ndarray]:
    # Numba compiles anew for arrays in another memory layout.
    return [np.asarray(point[name], order="C") for name in names]
