#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Exact Cox-Ingersoll-Ross transitions of Gamma variables whose shares are the probabilities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc.exceptions import SamplingError

from pymc_geodesic.algorithms.simplex_chart import FLOOR
from pymc_geodesic.kernel.interface import Inputs, Outputs
from pymc_geodesic.kernel.interpreted import Interpreted
from pymc_geodesic.kernel.jax.function import JAXFunction
from pymc_geodesic.manifolds.fields import log_ratio_work
from pymc_geodesic.potential import Potential
from pymc_geodesic.potential.variables import SampledVariable, as_values

__all__ = ["CoxIngersollRoss", "cir_transition", "require_positive_shapes"]

# Below it the noncentrality overflows, and the process does not move.
# Only trial runs make such steps.
SHORTEST_STEP = 1e-30


def cir_transition(
    rng: np.random.Generator, theta: np.ndarray, shape: np.ndarray, step_size: float
) -> np.ndarray:
    r"""Draw from the transition distribution of a Cox-Ingersoll-Ross process over time :math:`h`.

    .. math::

        d\theta = (a - \theta)\, dt + \sqrt{2 \theta}\, dW, \qquad
        \theta_{t+h} = \tfrac{1 - e^{-h}}{2}\;
            \chi'^2\!\left(2 a,\; \frac{2 \theta_t e^{-h}}{1 - e^{-h}}\right)

    Its stationary distribution is Gamma(a, 1). Baker et al. (2018), equation 6.

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

    The loop and the random numbers use NumPy: noncentral chi-squared draws cannot be computed from
    a fixed number of random inputs, and NumPy draws them exactly. The gradient is compiled.

    Parameters
    ----------
    potential : Potential
        With simplex variables in log coordinates.
    """

    most_calls = 1
    mishap = (
        "skipped a transition because not all Gamma shapes 1 + dl/dlog(p), l the log density, were "
        "positive and finite"
    )
    advice = (
        "Exact transitions need a log density that is linear in the log probabilities with weights "
        "above -1; use `dynamics='euler'` for this model."
    )

    def __init__(self, potential: Potential) -> None:
        positions, indices = potential.positions, potential.indices
        gradient = potential.gradient(positions, indices, width=0.0)
        energy = potential.energy(positions, indices)
        inputs = [*potential.conditioned, *positions, *indices]
        self._gradient = JAXFunction(inputs, [*gradient, energy])
        # A map of a few operations, called once per draw, is not worth compiling.
        self._to_values = Interpreted(positions, as_values(potential.variables, positions))

    def __call__(
        self, inputs: Sequence[Sequence[Inputs]], rngs: Sequence[np.random.Generator]
    ) -> list[list[Outputs]]:
        """Make one transition for each step size, of one chain after another."""
        return [[self._moved(call, rng)] for [call], rng in zip(inputs, rngs, strict=True)]

    def _moved(self, inputs: Inputs, rng: np.random.Generator) -> Outputs:
        log_pi, log_total = list(inputs.state.position), list(inputs.state.log_totals)
        diverging, temperatures, energy = False, [], np.nan
        for t, step_size in enumerate(inputs.step_sizes):
            batch = [row[t] for row in inputs.rows]
            shapes, energy = self._shapes(inputs.conditioned, log_pi, batch)
            if not all(np.all(shape > 0) & np.all(np.isfinite(shape)) for shape in shapes):
                diverging = True
                continue
            if step_size <= SHORTEST_STEP:
                continue
            if inputs.fresh[t]:
                terms = zip(log_pi, shapes, inputs.reference, strict=True)
                temperatures.append([_temperature(*term) for term in terms])
            for i, shape in enumerate(shapes):
                theta = np.exp(log_pi[i] + log_total[i])
                log_pi[i], log_total[i] = _logs(cir_transition(rng, theta, shape, step_size))
        unknown = np.full(len(log_pi), np.nan)
        return Outputs(
            state=inputs.state._replace(position=tuple(log_pi), log_totals=tuple(log_total)),
            memory=inputs.memory,
            values=[np.asarray(value) for value in self._to_values(*log_pi)],
            kinetic=np.zeros(0),
            configurational=np.mean(temperatures, axis=0) if temperatures else unknown,
            diverging=diverging,
            energy=energy,
            moments=log_pi,
        )

    def shapes(self, inputs: Inputs) -> list[np.ndarray]:
        """Shapes a of every variable at a state, estimated from the first batch."""
        batch = [row[0] for row in inputs.rows]
        return self._shapes(inputs.conditioned, inputs.state.position, batch)[0]

    def _shapes(self, conditioned, log_pi, batch) -> tuple[list[np.ndarray], float]:
        *gradient, energy = self._gradient(*conditioned, *log_pi, *batch)
        return [1.0 - np.asarray(g) for g in gradient], float(energy)


def require_positive_shapes(
    kernel: CoxIngersollRoss, inputs: Inputs, variables: Sequence[SampledVariable]
) -> None:
    """Raise an error if some shape is not positive at the start."""
    for variable, shape in zip(variables, kernel.shapes(inputs), strict=True):
        # The check of the log density handles values that are not finite.
        if np.all(np.isfinite(shape)) and np.any(shape <= 0):
            raise SamplingError(
                f"`dynamics='cir'` expected weights dl/dlog(p) of `{variable.name}` above -1, "
                "where l is the log density, because one plus the weight is the shape of a Gamma "
                f"distribution; got {np.min(shape) - 1:.4g} at the start. Use `dynamics='euler'` "
                "for this model, or remove the term with a negative weight."
            )


def _temperature(log_pi: np.ndarray, shape: np.ndarray, reference: np.ndarray) -> float:
    """Work of the field of log ratios, over its divergence."""
    dim = shape.size - shape.size // shape.shape[-1]
    return log_ratio_work(np.exp(log_pi), log_pi - reference, -shape) / dim


def _logs(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    theta = np.maximum(theta, FLOOR[theta.dtype.name])
    total = theta.sum(axis=-1, keepdims=True)
    return np.log(theta) - np.log(total), np.log(total)
