#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Whether a density is the same for both signs of vectors, as it is for axes."""

from __future__ import annotations

import numpy as np
import pytensor

from pymc.model import Model
from pytensor.compile.mode import Mode
from pytensor.graph.replace import clone_replace
from pytensor.tensor import TensorVariable

__all__ = ["is_even"]

# Pairs of points that are compared, and largest relative difference of each term of their log
# densities: far above rounding, far below the effect of a row of data.
N_PAIRS, TOLERANCE = 3, 1e-8
# Largest change of the unconstrained values of the other variables. Without it the density could be
# even by chance, for instance with scores of zero.
JITTER = 1.0


def is_even(model: Model, rv: TensorVariable) -> bool:
    """Return whether no term of the log density changes with the sign of any vector of ``rv``.

    The comparison is made at random points, with the same minibatches for both signs.

    Parameters
    ----------
    model : pymc.Model
        The model; it is not changed.
    rv : TensorVariable
        A free variable of axes along its last axis, whose transform keeps signs.
    """
    value = model.rvs_to_values[rv]
    signs = value.type("signs")
    terms = model.logp(sum=False)
    turned = clone_replace(terms, replace={value: value * signs}, rebuild_strict=False)
    inputs = [*model.value_vars, signs]
    # Evaluated a few times: rewriting and compiling would take longer.
    mode = Mode(linker="py", optimizer="fast_compile")
    evaluate = pytensor.function(inputs, [*terms, *turned], mode=mode, on_unused_input="ignore")
    point, rng = model.initial_point(), np.random.default_rng(1)
    found = [_pair(model, point, value, evaluate, rng) for _ in range(N_PAIRS)]
    return all(_agree(first, second) for first, second in found)


def _pair(model, point, value, evaluate, rng):
    """Evaluate all terms at a random point and at one with other signs."""
    moved = [
        point[v.name] + rng.uniform(-JITTER, JITTER, np.shape(point[v.name])).astype(v.dtype)
        if v.dtype.startswith("float")
        else point[v.name]
        for v in model.value_vars
    ]
    axes = point[value.name]
    signs = np.where(rng.uniform(size=(*axes.shape[:-1], 1)) < 0.5, -1.0, 1.0)
    # At least one vector changes its sign.
    signs.flat[rng.integers(signs.size)] = -1.0
    with np.errstate(all="ignore"):
        results = evaluate(*moved, np.broadcast_to(signs, axes.shape).astype(axes.dtype))
    half = len(results) // 2
    return results[:half], results[half:]


def _agree(first, second) -> bool:
    """Return whether all entries are finite and the same."""
    return all(
        bool(np.all(np.abs(a - b) <= TOLERANCE * (1 + np.abs(a)))) and bool(np.all(np.isfinite(a)))
        for a, b in zip(map(np.asarray, first), map(np.asarray, second), strict=True)
    )
