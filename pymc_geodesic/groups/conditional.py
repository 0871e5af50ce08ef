#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Draws of the effects of groups given everything else, by importance resampling."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pytensor.tensor as pt

from pymc.model import Model
from pytensor.graph.replace import vectorize_graph
from pytensor.graph.traversal import ancestors
from pytensor.tensor import TensorVariable

from pymc_geodesic.groups.effect_density import EffectDensity, substituted
from pymc_geodesic.groups.modes import normals_at_modes
from pymc_geodesic.kernel.interpreted import Interpreted
from pymc_geodesic.potential.batch_structure import observed_rv
from pymc_geodesic.potential.minibatch import BatchSource

__all__ = ["N_CANDIDATES", "ConditionalEffects", "Resampled", "resampled"]

# Candidates for each draw. If their weights have a coefficient of variation c, the distribution of
# the draw is off by about c**2 / 200 in total variation; for logistic rows c is below .3.
N_CANDIDATES = 200
# Degrees of freedom of the candidates' Student t, whose tails are heavier than those of a normal.
DEGREES_OF_FREEDOM = 5


class Resampled(NamedTuple):
    """Draws of effects.

    Attributes
    ----------
    effects : ndarray, shape (B, d)
        One draw for each group.
    n_effective : ndarray, shape (B,)
        Effective number of candidates of each group.
    """

    effects: np.ndarray
    n_effective: np.ndarray


class ConditionalEffects:
    r"""The conditional distribution of the effects of some groups given global variables.

    Candidates are drawn from a Student t around the mode of each group, with the curvature there;
    one of them is chosen with probability proportional to :math:`\pi / q`.

    Parameters
    ----------
    model : pymc.Model
        The model.
    rv : TensorVariable
        An observed variable with :class:`MarginalLikelihood`.
    source : BatchSource
        Source of the batches of groups.

    Attributes
    ----------
    names : list of str
        The global variables.
    """

    def __init__(
        self,
        model: Model,
        rv: TensorVariable,
        source: BatchSource,
    ) -> None:
        index = pt.lvector("groups")
        free = {x: x.type() for x in model.free_RVs}
        density = _density_of(model, rv, index, source, free)
        used = set(ancestors([density.joint]))
        self.names = [x.name for x, value in free.items() if value in used]
        inputs = [value for value in free.values() if value in used]
        normals = normals_at_modes(
            density.joint, density.prior, density.effect, start=density.start
        )
        candidates = pt.dtensor3("candidates").astype(density.effect.dtype)
        joint = vectorize_graph(density.joint, {density.effect: candidates})
        lower = [x for row in normals.cholesky for x in row]
        self._normals = Interpreted([*inputs, index], [normals.mode, *lower])
        self._joint = Interpreted([*inputs, index, candidates], [joint])

    def draw(
        self, rng: np.random.Generator, values: Mapping[str, np.ndarray], groups: np.ndarray
    ) -> Resampled:
        """Draw an effect of each group, for values of the global variables."""
        given = [np.asarray(values[name]) for name in self.names]
        mode, *entries = self._normals(*given, groups)
        return resampled(rng, mode, entries, lambda x: self._joint(*given, groups, x)[0])


def resampled(
    rng: np.random.Generator,
    mode: np.ndarray,
    entries: Sequence[np.ndarray],
    joint: Callable[[np.ndarray], np.ndarray],
) -> Resampled:
    """Draw an effect of each group by importance resampling.

    Parameters
    ----------
    rng : Generator
        Source of the draws.
    mode : ndarray, shape (B, d)
        The mode of each group.
    entries : sequence of ndarray, shape (B,)
        The lower triangle of the Cholesky factors of the precisions there, row by row.
    joint : callable
        Log densities ``(n, B)`` of candidates ``(n, B, d)``.
    """
    lower = _as_matrices(entries, mode.shape[1])
    shape = (N_CANDIDATES, *mode.shape)
    z = rng.standard_normal(shape)
    z /= np.sqrt(rng.chisquare(DEGREES_OF_FREEDOM, shape[:2]) / DEGREES_OF_FREEDOM)[..., None]
    candidates = mode + np.linalg.solve(np.swapaxes(lower, -1, -2), z[..., None])[..., 0]
    log_density = joint(candidates)
    power = 0.5 * (DEGREES_OF_FREEDOM + mode.shape[1])
    log_weights = log_density + power * np.log1p((z**2).sum(axis=-1) / DEGREES_OF_FREEDOM)
    # The largest of the log weights with Gumbel noise has the probability of its weight.
    chosen = np.argmax(log_weights + rng.gumbel(size=log_weights.shape), axis=0)
    weights = np.exp(log_weights - log_weights.max(axis=0))
    n_effective = weights.sum(axis=0) ** 2 / (weights**2).sum(axis=0)
    return Resampled(candidates[chosen, np.arange(mode.shape[0])], n_effective)


def _density_of(
    model: Model,
    rv: TensorVariable,
    index: TensorVariable,
    source: BatchSource,
    free: Mapping[TensorVariable, TensorVariable],
) -> EffectDensity:
    """Write the density of the effects of the groups with these numbers."""
    node = observed_rv(rv).owner
    value, *inputs = substituted(
        [model.rvs_to_values[rv], *node.inputs], {**source.replacements(index), **free}
    )
    return node.op.density.at(value, inputs)


def _as_matrices(entries: Sequence[np.ndarray], d: int) -> np.ndarray:
    lower = np.zeros((len(entries[0]), d, d))
    for entry, (i, j) in zip(entries, zip(*np.tril_indices(d), strict=True), strict=True):
        lower[:, i, j] = entry
    return lower
