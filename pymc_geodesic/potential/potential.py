#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The potential energy of a model on the product of its variables' manifolds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Any, Self

import numpy as np
import pytensor.tensor as pt

from pymc.model import Model
from pytensor.gradient import DisconnectedType, grad
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors
from pytensor.tensor import TensorVariable

from pymc_geodesic.graph_inputs import graph_input
from pymc_geodesic.manifolds import Point, Product
from pymc_geodesic.potential.centering import carried, coordinates_of
from pymc_geodesic.potential.components import mixtures_in, with_shares
from pymc_geodesic.potential.estimate import Width
from pymc_geodesic.potential.groups_of_rows import groups_of_rows
from pymc_geodesic.potential.local import LocalPotential, require_rows_of_batches, sizes_of
from pymc_geodesic.potential.log_density import LogDensity, without_checks
from pymc_geodesic.potential.stacking import with_softmax_gradients
from pymc_geodesic.potential.stream import Source, find_sources
from pymc_geodesic.potential.terms import (
    for_each_row,
    sum_of_each_row,
    times_factors,
    total,
    with_stacked_scalars,
    without_latents,
)
from pymc_geodesic.potential.variables import Coordinates, as_values, sampled_variables

__all__ = ["Potential"]


class Potential:
    r"""Potential energy :math:`U(x) = -\log \pi_H(x)` and its gradient, for batches or all data.

    Parameters
    ----------
    model : pymc.Model
        The model; it is not changed.
    values : sequence of TensorVariable
        Value variables to sample, in the model's order. The model conditions on its other
        variables.
    initial_point : mapping
        A value for every value variable; only the shapes are read.
    full_data : bool
        Whether to replace every minibatch by its whole data, for the exact potential.
    coordinates : mapping of Manifold class or name to Manifold, optional
        Other coordinates for variables on a manifold, for dynamics that do not use its embedding.
    data : mapping of str to iterable, optional
        Loaders of batches for some ``pm.Data`` of the model, by name.
    local : sequence of TensorVariable
        Value variables of the rows of a batch; gradients are averaged over several draws of them.
    centering : mapping of str to ndarray, optional
        Exponents of effects and of factors of products; see ``centering``.

    Attributes
    ----------
    is_standardised : bool
        Whether the coordinates of some effects are not those on which rows depend.
    conditioned_values : list of TensorVariable
        Value variables of the model that other steps sample.
    local : LocalPotential or None
        Energy of the local variables.
    data_sources : tuple of BatchSource or StreamSource
        Sources of the model's batches.
    sources : tuple of BatchSource or StreamSource
        The same; empty if all data are used.
    expectations : list of TensorVariable
        Expectations over latent variables of the rows, as functions of positions and rows.
    latents : tuple of TensorVariable
        Inputs for the draws of the local variables, then for the expectations.
    row_weights : tuple of TensorVariable
        Factors of rows that are :meth:`weighted`, or their :meth:`shared_out` components.
    functions : object, optional
        What its kernels have made of it, and share.

    Raises
    ------
    ValueError
        If a variable is discrete, or the model's minibatches cannot be scaled to the whole data.
    """

    functions: Any = None

    def __init__(
        self,
        model: Model,
        values: Sequence[TensorVariable],
        *,
        initial_point: Mapping[str, Any],
        full_data: bool = False,
        coordinates: Coordinates | None = None,
        data: Mapping[str, Iterable[np.ndarray]] | None = None,
        local: Sequence[TensorVariable] = (),
        centering: Mapping[str, np.ndarray] | None = None,
    ) -> None:
        self.variables = sampled_variables(
            model,
            values,
            initial_point=initial_point,
            coordinates=coordinates or {},
            moved=coordinates_of(model, values, centering or {}),
        )
        self.is_standardised = any(not variable.is_natural for variable in self.variables)
        local_variables = sampled_variables(
            model, local, initial_point=initial_point, coordinates={}
        )
        self.manifold = Product(
            [variable.manifold for variable in self.variables],
            shapes=[variable.shape for variable in self.variables],
        )
        sampled = {*values, *local}
        self.conditioned_values = [value for value in model.value_vars if value not in sampled]
        self.data_sources = found = find_sources(model, data)
        self.sources = () if full_data else found
        self.indices = tuple(
            source.placeholder(f"batch_{i}", source.batch_size)
            for i, source in enumerate(self.sources)
        )
        # A log density contains the number of rows, so it is built for any number of rows.
        self._rows = tuple(
            source.placeholder(f"rows_{i}", None) for i, source in enumerate(self.sources)
        )
        rows: dict[Source, TensorVariable | None] = dict.fromkeys(found)
        rows |= zip(self.sources, self._rows, strict=True)
        self.local: LocalPotential | None = None
        sizes = {}
        if local:
            require_rows_of_batches(found, local_variables, full_data=full_data)
            sizes = sizes_of(model, local_variables)
            self.local = LocalPotential(model, self.variables, local_variables, rows=rows)
        density = LogDensity(model, (*self.variables, *local_variables), rows=rows, sizes=sizes)
        self._terms, self.expectations, self.latents = without_latents(
            density.terms(),
            local_variables,
            rows=dict(zip(self._rows, self.sources, strict=True)),
        )
        self.row_weights: tuple[TensorVariable, ...] = ()

    @property
    def conditioned(self) -> list[TensorVariable]:
        """Inputs that are constant during the transitions of a call."""
        return [*self.conditioned_values, *self.latents, *self.row_weights]

    @property
    def positions(self) -> Point:
        """Placeholders for the embedded points."""
        return tuple(variable.position for variable in self.variables)

    def energy(self, position: Point, indices: Sequence[TensorVariable]) -> TensorVariable:
        """U at a point, estimated from the rows ``indices`` of each source of minibatches."""
        return self._at(-total(self._energy_terms), position, indices)

    def gradient(
        self, position: Point, indices: Sequence[TensorVariable], *, width: Width
    ) -> Point:
        """dU/dx in the embedding, one tensor per variable, with poles softened over ``width``.

        ``width`` is a length for all variables, or one length per variable.
        """
        return self._at(self._gradients(self._soft_terms(width)), position, indices)

    def energy_and_gradient(
        self, position: Point, indices: Sequence[TensorVariable]
    ) -> tuple[TensorVariable, Point]:
        """U and dU/dx, for samplers that need both at every step."""
        graphs = [-total(self._energy_terms), *self._gradients(self._smooth_terms)]
        energy, *gradient = self._at(graphs, position, indices)
        return energy, tuple(gradient)

    def values(self, position: Point) -> Point:
        """Map a point to PyMC's values."""
        return as_values(self.variables, position)

    def carried(self, vectors: Point, center: Point, position: Point) -> Point:
        """Carry gradients from a center to a position; see ``centering``."""
        return carried(self.variables, vectors, center=center, position=position)

    def scores(
        self, position: Point, indices: Sequence[TensorVariable], *, width: Width
    ) -> tuple[Point, ...]:
        """Gradient of the scaled likelihood of each row alone, for each source of minibatches.

        Every tensor has an additional first axis for the rows. The mean over rows is the part of
        the minibatch gradient that comes from the likelihood.
        """
        return tuple(
            self._at(self._row_gradients(source, width), position, indices)
            for source in range(len(self.sources))
        )

    def weighted(self) -> Self:
        """Return the same with factors of the rows, for rows that are drawn by weight."""
        factors = graph_input("weights", dtype="float32", shape=(None,))
        return self._with_terms(times_factors(self._terms, self._rows[0], factors), [factors])

    def shared_out(self) -> Self | None:
        """Return the bound that EM maximises, with the rows' shares of components as inputs.

        None for a log density that has no mixtures.
        """
        mixtures = self._mixtures(self._terms)
        return self._with_terms(*with_shares(self._terms, mixtures)) if mixtures else None

    def _with_terms(self, terms: list[TensorVariable], weights: Sequence[TensorVariable]) -> Self:
        """Return the same with other terms, and inputs for what they give to each row."""
        other = copy(self)
        for name in ("_energy_terms", "_smooth_terms"):
            other.__dict__.pop(name, None)
        other.functions, other._terms, other.row_weights = None, terms, tuple(weights)
        return other

    def component_densities(
        self, position: Point, indices: Sequence[TensorVariable]
    ) -> list[TensorVariable]:
        """Log weight plus log density of the components of each mixture, along the last axis."""
        mixtures = self._mixtures(without_checks(self._terms, impossible=True))
        return list(self._at([x.owner.inputs[0] for x in mixtures], position, indices))

    def _mixtures(self, terms: Sequence[TensorVariable]) -> list[TensorVariable]:
        """Return mixtures whose components are those of a variable, unlike nodes of quadrature."""
        sizes = {n for variable in self.variables for n in variable.shape}
        return [x for x in mixtures_in(terms) if x.owner.inputs[0].type.shape[-1] in sizes]

    def of_each_row(
        self, position: Point, indices: Sequence[TensorVariable]
    ) -> TensorVariable | None:
        """Scaled log likelihood of each row of the only source; None if it is no sum over rows."""
        terms = sum_of_each_row(without_checks(self._terms, impossible=True), self._rows[0])
        return None if terms is None else self._at([terms], position, indices)[0]

    def groups_of_rows(self, rows: TensorVariable) -> list[TensorVariable]:
        """Return the groups of the rows of the only source, one for each factor of effects."""
        found = groups_of_rows(self._terms, self._rows[0], self.positions)
        return list(self._at(found, self.positions, [rows]))

    def expectation_inputs(
        self, position: Point, indices: Sequence[TensorVariable]
    ) -> list[list[TensorVariable]]:
        """Return the inputs of the estimates of expectations over latent variables of the rows."""
        return [
            list(self._at(list(found.owner.inputs), position, indices))
            for found in self.expectations
        ]

    @cached_property
    def _energy_terms(self) -> list[TensorVariable]:
        return self._stacked(without_checks(self._terms, impossible=True))

    @cached_property
    def _smooth_terms(self) -> list[TensorVariable]:
        return self._stacked(with_softmax_gradients(without_checks(self._terms, impossible=False)))

    def _stacked(self, terms: Sequence[TensorVariable]) -> list[TensorVariable]:
        scalars = [x.position for x in self.variables if x.is_flat and x.shape == ()]
        return with_stacked_scalars(terms, scalars, self._rows)

    def _soft_terms(self, width: Width) -> list[TensorVariable]:
        widths = width if isinstance(width, tuple) else [width] * len(self.variables)
        softened = {
            variable.position: variable.manifold.soften(variable.position, length)
            for variable, length in zip(self.variables, widths, strict=True)
        }
        moved = {x: soft for x, soft in softened.items() if soft is not x}
        return clone_replace(self._smooth_terms, replace=moved, rebuild_strict=False)

    def _row_gradients(self, source: int, width: Width) -> list[TensorVariable]:
        rows = self._rows[source]
        terms = [term for term in self._soft_terms(width) if rows in ancestors([term])]
        one_row = self.sources[source].placeholder("row", 1)
        terms = clone_replace(terms, replace={rows: one_row}, rebuild_strict=False)
        gradients = [-gradient for gradient in self._gradients(terms)]
        return [for_each_row(gradient, one_row, rows) for gradient in gradients]

    def _gradients(self, terms: Sequence[TensorVariable]) -> list[TensorVariable]:
        gradients = grad(
            -total(terms), self.positions, disconnected_inputs="ignore", return_disconnected="zero"
        )
        return [
            pt.zeros_like(position) if isinstance(gradient.type, DisconnectedType) else gradient
            for gradient, position in zip(gradients, self.positions, strict=True)
        ]

    def _at(self, graphs, position: Point, indices: Sequence[TensorVariable]):
        replacements = dict(zip(self.positions, position, strict=True))
        replacements |= dict(zip(self._rows, indices, strict=True))
        result = clone_replace(graphs, replace=replacements, rebuild_strict=False)
        return tuple(result) if isinstance(result, list) else result
