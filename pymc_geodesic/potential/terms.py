#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The terms of a log density, as functions of positions, rows and latent inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytensor.tensor as pt

from pytensor.graph.replace import clone_replace
from pytensor.tensor import TensorVariable

from pymc_geodesic.manifolds import Point
from pymc_geodesic.potential.expectation import find_expectations
from pymc_geodesic.potential.local import averaged_over_draws
from pymc_geodesic.potential.log_density import lift_data
from pymc_geodesic.potential.minibatch import BatchSource
from pymc_geodesic.potential.per_group import per_group
from pymc_geodesic.potential.stream import Source
from pymc_geodesic.potential.variables import SampledVariable

__all__ = ["total", "without_latents"]


def without_latents(
    terms: list[TensorVariable],
    local: Sequence[SampledVariable],
    *,
    static_shapes: bool,
    rows: Mapping[TensorVariable, Source],
) -> tuple[list[TensorVariable], list[TensorVariable], Point]:
    """Write terms of the log density with inputs in place of latent variables of the rows.

    Returns
    -------
    terms : list of TensorVariable
        The terms.
    expectations : list of TensorVariable
        Expectations that are estimated for each batch.
    latents : tuple of TensorVariable
        Inputs for the draws of the local variables, then for the expectations.
    """
    terms, draws = averaged_over_draws(terms, local, static_shapes=static_shapes)
    expectations = find_expectations(terms)
    # Only JAX compiles again for other data, and reuses its compiled functions.
    resident = [source for source in rows.values() if isinstance(source, BatchSource)]
    of_any_length = [x for source in resident for x in source.tensors] if static_shapes else ()
    lifted = lift_data(
        [*terms, *expectations], static_shapes=static_shapes, of_any_length=of_any_length
    )
    terms, expectations = lifted[: len(terms)], lifted[len(terms) :]
    means = {expectation: expectation.type() for expectation in expectations}
    terms = clone_replace(terms, replace=means, rebuild_strict=False)
    batches = {x: source.placeholder("batch", source.batch_size) for x, source in rows.items()}
    return per_group(terms, batches=batches), expectations, (*draws, *means.values())


def total(terms: Sequence[TensorVariable]) -> TensorVariable:
    """Sum all entries of all terms."""
    sums = [term.sum() if term.ndim else term for term in terms]
    return pt.add(*sums) if len(sums) > 1 else sums[0]
