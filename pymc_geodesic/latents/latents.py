#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Everything that is drawn anew for each minibatch before the global variables move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.tensor import TensorVariable

from pymc_geodesic.kernel.jax.function import JAXFunction
from pymc_geodesic.latents.gmc import LocalGMC, LocalSampler, LocalState
from pymc_geodesic.potential import Potential

__all__ = ["LOCAL_STATISTICS", "NOTHING", "Drawn", "Latents"]

LOCAL_STATISTICS = ("local_acceptance", "local_spread", "local_step_size", "local_unmoved")


class Drawn(NamedTuple):
    """The draws for a batch.

    Attributes
    ----------
    arrays : list of ndarray
        Draws of the local variables, then expectations: inputs of the global variables' kernel.
    values : dict of str to ndarray
        PyMC's values of the local variables.
    statistics : dict of str to float
        Statistics of the sampler of local variables.
    finite : bool
        Whether the energies at the start of the local variables were finite.
    """

    arrays: list[np.ndarray]
    values: dict[str, np.ndarray]
    statistics: dict[str, float]
    finite: bool = True


NOTHING = Drawn([], {}, {})


class Latents:
    """Draws of local variables and expectations over latent ones, for one batch at a time.

    Parameters
    ----------
    potential : Potential
        Contains the local variables and the expectations.
    options : LocalGMC, optional
        How to sample the local variables, if there are any.
    position : sequence of ndarray
        A point of the global variables, for its shapes.
    point : mapping
        PyMC's values, for the shapes of the local ones.
    restart : bool
        Whether the local variables of each batch start anew instead of at their last draw.
    """

    def __init__(
        self,
        potential: Potential,
        options: LocalGMC | None,
        *,
        position: Sequence[np.ndarray],
        point: Mapping[str, np.ndarray],
        restart: bool,
    ) -> None:
        self.names: list[str] = []
        self.sampler: LocalSampler | None = None
        if potential.local is not None:
            assert options is not None, "options name the local variables"
            self.names = [variable.value.name for variable in potential.local.variables]
            self.sampler = LocalSampler(
                options,
                potential,
                position=position,
                local_values=_in_order(point, self.names),
                restart=restart,
            )
        self._expectations = [found.owner.op for found in potential.expectations]
        self._inputs = _compiled_inputs(potential)

    def __bool__(self) -> bool:
        """Return whether anything is local."""
        return self.sampler is not None or bool(self._expectations)

    def begin(self) -> LocalState | None:
        """Return the state of a new chain."""
        return None if self.sampler is None else self.sampler.begin()

    def draw(
        self,
        state: LocalState | None,
        rng: np.random.Generator,
        *,
        position: Sequence[np.ndarray],
        values: Mapping[str, np.ndarray],
        conditioned: Sequence[np.ndarray],
        rows: Sequence[np.ndarray],
        tune: bool,
        trial: bool = False,
    ) -> Drawn:
        """Draw for a batch, and move the state past it unless this is a trial.

        A trial must have its own generator. With the chain's generator it would change the draws
        that follow, and a chain that is resumed, and checked again, would not continue exactly.
        """
        drawn = Drawn([], {}, {})
        if self.sampler is not None:
            assert state is not None, "a chain with local variables has their state"
            given = {"conditioned": conditioned, "position": position, "rows": rows}
            local_values = _in_order(values, self.names)
            outputs = self.sampler.draw(state, rng, tune=tune, local_values=local_values, **given)
            drawn = Drawn(
                list(outputs.draws),
                dict(zip(self.names, outputs.values, strict=True)),
                {} if trial else self.sampler.learn(state, outputs, tune=tune),
                bool(np.all(np.isfinite(outputs.first_energy))),
            )
        for expectation, inputs_of in zip(self._expectations, self._inputs, strict=True):
            inputs = inputs_of([*conditioned, *position, *rows])
            drawn.arrays.append(expectation.estimate(rng, *inputs))
        return drawn


class ExpectationInputs:
    """The inputs of an expectation: data as they are, and compiled functions of the rest."""

    def __init__(self, inputs: Sequence[TensorVariable], outputs: Sequence[TensorVariable]) -> None:
        # A compiled function would copy the data of all rows in every call.
        self._data = [
            x.get_value(borrow=True) if isinstance(x, SharedVariable) else None for x in outputs
        ]
        rest = [x for x in outputs if not isinstance(x, SharedVariable)]
        self._evaluate = JAXFunction(inputs, rest)

    def __call__(self, values: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Evaluate all inputs."""
        found = map(np.asarray, self._evaluate(*values))
        return [next(found) if data is None else data for data in self._data]


def _compiled_inputs(potential: Potential) -> list[ExpectationInputs]:
    """Create a function for the inputs of each expectation."""
    positions = [position.clone() for position in potential.positions]
    rows = [index.clone() for index in potential.indices]
    projected = potential.manifold.project(tuple(positions))
    inputs = [*potential.conditioned_values, *positions, *rows]
    graphs = potential.expectation_inputs(projected, rows)
    return [ExpectationInputs(inputs, outputs) for outputs in graphs]


def _in_order(point: Mapping[str, np.ndarray], names: Sequence[str]) -> list[np.ndarray]:
    return [np.asarray(point[name]) for name in names]
