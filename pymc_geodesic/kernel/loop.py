#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""The loop of the transitions of a call: its gradients, and the end of what is not finite.

The gradient also gives the configurational temperature. For a vector field F that does not depend
on the chain, :math:`E[F \cdot \nabla U] = T E[\operatorname{div} F]` under the density
:math:`\exp(-U / T)`. The fields are those of the manifolds, chosen by a *reference*: means over
past draws.

The splittings evaluate the gradient half a step away from the positions that they return. F is
evaluated at the start of the transition instead. For a Gaussian target the average is then exactly
the temperature of the draws. Positions half a step away are too wide by
:math:`1 / (1 - \epsilon^2 \omega^2 / 4)`, like the velocities of a thermostat.

Only the first transition of each batch counts. Later transitions start where the batch's own noise
has moved the chain. By the virial theorem a thermostat fixes the average over *these* at one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pymc_geodesic import arrays
from pymc_geodesic.arrays import Array
from pymc_geodesic.kernel.blocks import Scalars
from pymc_geodesic.kernel.interface import CenterArrays, Inputs, leaves_of, rebuilt
from pymc_geodesic.manifolds import Point, Product
from pymc_geodesic.manifolds.fields import Visit
from pymc_geodesic.potential import (
    ControlVariateEstimator,
    HalvedEstimator,
    MinibatchEstimator,
)
from pymc_geodesic.potential.estimate import PotentialEnergy
from pymc_geodesic.potential.estimator import Halved
from pymc_geodesic.potential.noise_models import NoiseModel

__all__ = [
    "MakeEstimator",
    "Totals",
    "Virial",
    "estimator_for",
    "joined_moments",
    "loop",
    "numbers_of_moments",
    "reference_shapes",
    "undo_if_not_finite",
]

MakeEstimator = Callable[..., MinibatchEstimator | HalvedEstimator]
"""Makes an estimator from what changes between transitions: ``indices``, ``width``, ``memory``."""


def estimator_for(
    potential: PotentialEnergy,
    noise_model: NoiseModel,
    *,
    manifold: Product,
    center: CenterArrays,
    halves: Halved | None,
) -> MakeEstimator:
    """Return a function that makes the estimator of a transition.

    Parameters
    ----------
    potential : PotentialEnergy
        Gives energies and gradients.
    noise_model : NoiseModel
        Model of the gradient's noise.
    manifold : Product
        Gives the frame of velocities and gradients.
    center : CenterArrays
        The center of control variates; empty without.
    halves : {"all", "curved"} or None
        Variables whose noise is estimated, together with gradients, from the two halves of a batch.

    Returns
    -------
    callable
        See :data:`MakeEstimator`.
    """
    make: Callable[..., MinibatchEstimator] = MinibatchEstimator
    if center.point:
        point, at_center = (tuple(arrays) for arrays in center)
        make = partial(ControlVariateEstimator, center=point, center_gradient=at_center)
    make = partial(make, potential, noise_model, manifold=manifold)
    return make if halves is None else partial(_halved, make, halves)


def _halved(make: Callable[..., MinibatchEstimator], which: Halved, **batch) -> HalvedEstimator:
    return HalvedEstimator(make(**batch), which=which)


# exp(-20) damps a velocity completely. Gradient noise that needs such damping would change the
# velocity by six times its thermal value at every transition.
LARGEST_DAMPING = 20.0


def undo_if_not_finite(
    manifold: Product,
    old: tuple[Any, Any],
    new: tuple[Any, Any],
    noise: Point,
    step_size: Array,
) -> tuple[tuple[Any, Any], list[Array], Array]:
    """Keep the old state and memory if the new ones are not finite, with a velocity drawn anew.

    The kinetic energy is finite exactly if every velocity is, and a position can only become
    infinite one transition after its velocity has overflowed. A thermostat does not overflow: it
    would stop a diverging chain forever wherever it is, so such a transition is undone too.
    """
    (old_state, old_memory), state = old, new[0]
    if velocity := getattr(state, "velocity", ()):
        points = manifold.squared_norm(velocity)
        squares = [square.sum() for square in points]
        temperatures = [
            # Scalar variables have one each.
            of_points if isinstance(factor, Scalars) else square / float(dim)
            for factor, of_points, square, dim in zip(
                manifold.factors, points, squares, manifold.dims, strict=True
            )
        ]
        finite = ~arrays.isinf(sum(squares)) & ~arrays.isnan(sum(squares))
        for xi in getattr(state, "thermostat", ()):
            finite = finite & arrays.all(arrays.abs(xi) * step_size < LARGEST_DAMPING)
        fresh = tuple(noise[: len(velocity)])
        old_state = old_state._replace(velocity=manifold.to_tangent(old_state.position, fresh))
    else:
        temperatures = []
        total = sum(position.sum() for position in state.position)
        finite = ~arrays.isinf(total) & ~arrays.isnan(total)
    pairs = zip(leaves_of(new), leaves_of((old_state, old_memory)), strict=True)
    kept = [arrays.where(finite, moved, x) for moved, x in pairs]
    return rebuilt(new, kept), temperatures, finite


IN_BOUNDS = "promise_in_bounds"


class Totals(NamedTuple):
    """Sums over the transitions that were made.

    Attributes
    ----------
    kinetic, configurational : array
        Of the temperatures; of configurational ones over fresh transitions.
    n_fresh : array of int
        Number of these.
    finite : array of bool
        Whether all states were finite.
    """

    kinetic: Any
    configurational: Any
    n_fresh: Any
    finite: Any


def loop(
    manifold: Product, one_transition: Callable, state: Any, inputs: Inputs, *, shares_rows: bool
) -> tuple[Any, Any, Totals]:
    """Make the transitions; return the last state and memory, and totals."""
    import jax
    import jax.numpy as jnp

    begin = state, tuple(inputs.memory)

    def step(i, carried):
        old, memory = carried
        noise, rows = [_at(x, i) for x in inputs.noise], list(inputs.rows)
        step_size = _at(inputs.step_sizes, i) if inputs.step_sizes.ndim else inputs.step_sizes
        if not shares_rows:
            rows = [_at(x, i) for x in rows]
        new, new_memory, positional = one_transition(old, memory, tuple(noise), rows, step_size)
        (new, new_memory), temperatures, finite = undo_if_not_finite(
            manifold, (old, memory), (new, new_memory), tuple(noise), step_size
        )
        pairs = zip(leaves_of((new, new_memory)), leaves_of(carried), strict=True)
        kept = rebuilt(begin, [jnp.asarray(x, y.dtype) for x, y in pairs])
        is_fresh = _at(inputs.fresh, i) & finite
        positional = jnp.where(is_fresh, _joined(positional), 0)
        return kept, Totals(_joined(temperatures), positional, is_fresh.astype("int32"), finite)

    def iterate(i, carried):
        (state, before) = carried
        state, one = step(i, state)
        sums = [a + b for a, b in zip(before[:-1], one[:-1], strict=True)]
        return state, Totals._make([*sums, before.finite & one.finite])

    shapes = jax.eval_shape(lambda: step(0, begin)[1])
    zeros = [jnp.zeros(x.shape, x.dtype) for x in shapes[:-1]]
    n = len(inputs.fresh) if inputs.made is None else inputs.made.sum()
    begun = begin, Totals._make([*zeros, jnp.array(True)])
    (last, memory), totals = jax.lax.fori_loop(0, n, iterate, begun)
    return last, memory, totals._replace(kinetic=totals.kinetic / n)


def _joined(numbers: Sequence[Any]) -> Any:
    """Put numbers and vectors into one vector: each costs as much as a small operation."""
    import jax.numpy as jnp

    return jnp.concatenate([jnp.ravel(x) for x in numbers]) if numbers else jnp.zeros(0)


def _at(x: Any, i: Any) -> Any:
    # JAX would compile a test of the index, which is in bounds.
    return x.at[i].get(mode=IN_BOUNDS, wrap_negative_indices=False)


def reference_shapes(manifold: Product) -> list[tuple[int, ...]]:
    """Shape of each array of the reference, for all variables in order."""
    pairs = zip(manifold.factors, manifold.shapes, strict=True)
    return [shape for factor, own in pairs for shape in factor.field_shapes(own)]


def numbers_of_moments(manifold: Product) -> list[int]:
    """Count the arrays of the reference that belong to each variable."""
    pairs = zip(manifold.factors, manifold.shapes, strict=True)
    return [len(factor.field_shapes(own)) for factor, own in pairs]


def joined_moments(
    manifold: Product, values: Sequence[np.ndarray], moments: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """Join the outputs of the kernel to the moments of all variables."""
    rest, triples = iter(moments), zip(manifold.factors, manifold.shapes, values, strict=True)
    return [
        value if factor.is_flat else next(rest)
        for factor, shape, value in triples
        for _ in factor.field_shapes(shape)
    ]


class Virial:
    """Configurational temperatures of the variables of a kernel.

    Parameters
    ----------
    manifold : Product
        The manifold of the variables.
    reference : sequence of array
        The means that choose the fields.
    """

    def __init__(self, manifold: Product, *, reference: Sequence[Array]) -> None:
        self.manifold, self.reference = manifold, reference

    def moments(self, position: Point) -> list[Array]:
        """Write the quantities whose means are the reference, at the last position of a call.

        Flat variables are left out: :func:`joined_moments` uses their values.
        """
        pairs = zip(self.manifold.factors, position, strict=True)
        return [m for factor, x in pairs if not factor.is_flat for m in factor.field_moments(x)]

    def temperatures(self, start: Point, evaluation: tuple[Point, Point] | None) -> list[Array]:
        """Temperature of each variable from one transition; NaN if it evaluated no gradient."""
        if evaluation is None:
            pairs = zip(self.manifold.factors, start, strict=True)
            nan = [np.asarray(np.nan, dtype=x.dtype) for x in start]
            return [
                arrays.full_like(x, np.nan) if isinstance(factor, Scalars) else none
                for (factor, x), none in zip(pairs, nan, strict=True)
            ]
        found, references = [], iter(self.reference)
        dims = map(float, self.manifold.dims)
        for factor, shape, dim, *visit in zip(
            self.manifold.factors, self.manifold.shapes, dims, start, *evaluation, strict=True
        ):
            own = [next(references) for _ in factor.field_shapes(shape)]
            terms = factor.field_work(Visit(*visit), own, dim=dim)
            found.append(1 + (terms.work - terms.divergence) / terms.expected)
        return found
