#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Exact Cox-Ingersoll-Ross transitions of Gamma variables whose shares are the probabilities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytensor

from pymc_geodesic.algorithms.simplex_coordinates import FLOOR
from pymc_geodesic.algorithms.state import State
from pymc_geodesic.kernel.backend import Backend
from pymc_geodesic.kernel.kernel import KernelOutput
from pymc_geodesic.manifolds.fields import log_ratio_work
from pymc_geodesic.potential import Potential

__all__ = ["CoxIngersollRoss", "cir_transition"]

# Below it the noncentrality overflows, and the process does not move.
# Only trial runs make such steps.
SHORTEST_STEP = 1e-30


def cir_transition(
    rng: np.random.Generator, theta: np.ndarray, shape: np.ndarray, step_size: float
) -> np.ndarray:
    r"""Draw from the transition law of a Cox-Ingersoll-Ross process over time :math:`h`.

    .. math::

        d\theta = (a - \theta)\, dt + \sqrt{2 \theta}\, dW, \qquad
        \theta_{t+h} = \tfrac{1 - e^{-h}}{2}\;
            \chi'^2\!\left(2 a,\; \frac{2 \theta_t e^{-h}}{1 - e^{-h}}\right)

    Its stationary law is Gamma(a, 1). Baker et al. (2018), equation 6.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of the draws.
    theta, shape : ndarray
        State and a, positive; any shapes that broadcast.
    step_size : float
        h.
    """
    scale = -0.5 * np.expm1(-step_size)
    # A very small state has underflowed to the floor's order; its noncentrality is then negligible.
    return scale * rng.noncentral_chisquare(2 * shape, theta * np.exp(-step_size) / scale)


class CoxIngersollRoss:
    r"""Transitions with shapes :math:`a_k = 1 + \pi_k \partial_k \ell` estimated from minibatches.

    The loop and the random numbers are NumPy's: the noncentral chi-squared law has no
    form with a fixed number of random inputs, and NumPy draws it exactly. The gradient is compiled.

    Parameters
    ----------
    potential : Potential
        With simplex variables in log coordinates.
    backend : Backend
        How to compile the gradient.
    """

    def __init__(self, potential: Potential, *, backend: Backend) -> None:
        positions, indices = potential.positions, potential.indices
        gradient = potential.gradient(positions, indices, width=0.0)
        energy = potential.energy(positions, indices)
        inputs = [*potential.conditioned, *positions, *indices]
        self._gradient = backend.compile(inputs, [*gradient, energy])
        # Two maps of a few operations, called once a draw, are not worth compiling.
        values = [variable.value for variable in potential.variables]
        pairs = list(zip(potential.variables, values, positions, strict=True))
        self._to_logs = _interpreted(values, [v.to_position(y) for v, y, _ in pairs])
        self._to_values = _interpreted(positions, [v.to_value(x) for v, _, x in pairs])

    def __call__(
        self,
        state: State,
        *,
        conditioned: Sequence[np.ndarray],
        step_sizes: np.ndarray,
        rows: Sequence[np.ndarray],
        rng: np.random.Generator,
        fresh: np.ndarray,
        reference: Sequence[np.ndarray],
    ) -> KernelOutput:
        """Make one transition for each step size; the rest is as for the other kernel."""
        log_pi, log_total = self._to_logs(*state.position), list(state.auxiliary)
        diverging, temperatures = False, []
        for t, step_size in enumerate(step_sizes):
            batch = [row[t] for row in rows]
            shapes, energy = self._shapes(conditioned, log_pi, batch)
            if not all(np.all(shape > 0) & np.all(np.isfinite(shape)) for shape in shapes):
                diverging = True
                continue
            if step_size <= SHORTEST_STEP:
                continue
            if fresh[t]:
                terms = zip(log_pi, shapes, reference, strict=True)
                temperatures.append([_temperature(*term) for term in terms])
            for i, shape in enumerate(shapes):
                theta = np.exp(log_pi[i] + log_total[i])
                log_pi[i], log_total[i] = _logs(cir_transition(rng, theta, shape, step_size))
        return KernelOutput(
            values=[np.asarray(value) for value in self._to_values(*log_pi)],
            velocity=[],
            thermostat=[],
            estimator=[],
            auxiliary=log_total,
            temperature=[],
            configurational=[float(t) for t in np.mean(temperatures, axis=0)]
            if temperatures
            else [np.nan] * len(log_pi),
            diverging=diverging,
            energy=energy,
            moments=list(log_pi),
        )

    def shapes(
        self,
        state: State,
        *,
        conditioned: Sequence[np.ndarray],
        batch: Sequence[np.ndarray],
    ) -> list[np.ndarray]:
        """Shapes a of every variable at a state, estimated from one batch of each source."""
        return self._shapes(conditioned, self._to_logs(*state.position), batch)[0]

    def _shapes(self, conditioned, log_pi, batch) -> tuple[list[np.ndarray], float]:
        *gradient, energy = self._gradient(*conditioned, *log_pi, *batch)
        return [1.0 - np.asarray(g) for g in gradient], float(energy)


def _temperature(log_pi: np.ndarray, shape: np.ndarray, reference: np.ndarray) -> float:
    """Work of the field of log ratios, over its divergence."""
    dim = shape.size - shape.size // shape.shape[-1]
    return log_ratio_work(np.exp(log_pi), log_pi - reference, -shape) / dim


def _logs(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    theta = np.maximum(theta, FLOOR[theta.dtype.name])
    total = theta.sum(axis=-1, keepdims=True)
    return np.log(theta) - np.log(total), np.log(total)


def _interpreted(inputs, outputs):
    return pytensor.function(
        list(inputs), outputs, mode=pytensor.compile.Mode(linker="py", optimizer=None)
    )
