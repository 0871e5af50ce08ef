#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Local variables: those of the rows of a batch, and expectations over them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np
import pytensor.tensor as pt

from pymc.model import Model
from pymc.variational.minibatch_rv import MinibatchRandomVariable
from pytensor.gradient import grad
from pytensor.graph.op import Op
from pytensor.graph.replace import clone_replace, vectorize_graph
from pytensor.graph.traversal import ancestors
from pytensor.tensor import TensorVariable

from pymc_geodesic.graph_inputs import evaluated, graph_input
from pymc_geodesic.manifolds import Point, Product
from pymc_geodesic.potential.lifted_data import lift_data
from pymc_geodesic.potential.log_density import LogDensity, without_checks
from pymc_geodesic.potential.row_checks import with_checks_of_rows
from pymc_geodesic.potential.stream import Source
from pymc_geodesic.potential.variables import SampledVariable

__all__ = [
    "LocalExpectation",
    "LocalPotential",
    "averaged_over_draws",
    "find_expectations",
    "require_rows_of_batches",
    "rows_of",
    "sizes_of",
]


class LocalExpectation(Op):
    r"""An expectation over latent variables of the rows, estimated for each minibatch.

    If the latent variables z of a distribution cannot be summed out, it writes the joint log
    density of data and latent variables, with expectations in place of the sufficient statistics.
    By Fisher's identity,

    .. math::

        \nabla \log p(x \mid \phi) = E_{z \mid x, \phi} \nabla \log p(x, z \mid \phi),

    its gradient with the expectation held fixed is that of the log density. The
    stochastic-gradient steps call :meth:`estimate` once per minibatch. Nothing else can evaluate
    it.
    """

    @abstractmethod
    def estimate(self, rng: np.random.Generator, *inputs: np.ndarray) -> np.ndarray:
        """Estimate the output from the values of the inputs."""

    def perform(self, node, inputs, output_storage):
        """Raise an error, because there is no value without a random generator."""
        raise NotImplementedError(
            f"The log density of this model has no closed form ({type(self).__name__}), so only "
            "its gradient can be estimated. Sample it with `pmg.SGRLD`, `pmg.SGNHT` or another "
            "stochastic-gradient step of pymc_geodesic. Instead of its log likelihood, "
            "`pmg.topics.document_completion_perplexity` compares models by held-out words."
        )


def find_expectations(outputs: list[TensorVariable]) -> list[TensorVariable]:
    """Find the expectations that graphs depend on."""
    return [
        variable
        for variable in ancestors(outputs)
        if variable.owner is not None and isinstance(variable.owner.op, LocalExpectation)
    ]


def rows_of(variables: Sequence[SampledVariable]) -> int:
    """Return the common number of rows of local variables.

    Raises
    ------
    ValueError
        If their first axes differ, or one variable has no axis.
    """
    shapes = {variable.name: variable.shape for variable in variables}
    lengths = {shape[0] for shape in shapes.values() if shape}
    without_rows = [v for v in variables if len(v.shape) <= v.manifold.ndim_core]
    if len(lengths) != 1 or without_rows:
        raise ValueError(
            "`local` expected variables whose first axes are the rows of the same batch, got "
            f"shapes {shapes}."
        )
    return lengths.pop()


def require_rows_of_batches(
    sources: Sequence[Source],
    variables: Sequence[SampledVariable],
    *,
    full_data: bool,
) -> None:
    """Raise an error unless local variables have as many rows as a batch."""
    if full_data and sources:
        raise ValueError(
            "An exact sampler expected local variables for all rows of the data, got a model with "
            "`pm.Minibatch`. Pass the whole data as `observed`."
        )
    n_rows = rows_of(variables)
    sizes = [source.batch_size for source in sources]
    if sizes and n_rows not in sizes:
        raise ValueError(
            "`local` expected variables whose first axis is the row of the batch, got "
            f"{[variable.name for variable in variables]} with {n_rows} rows and batches of "
            f"{sizes}."
        )


def sizes_of(model: Model, variables: Sequence[SampledVariable]) -> dict[TensorVariable, int]:
    """Return the number of rows of the whole data for each local variable.

    Raises
    ------
    ValueError
        If no observed variable depends on a local one.
    """
    sizes = {}
    for variable in variables:
        children = [rv for rv in model.observed_RVs if variable.rv in ancestors([rv])]
        if not children:
            raise ValueError(
                f"The local variable `{variable.name}` expected an observed variable that depends "
                "on it, got none."
            )
        scaled = [rv for rv in children if isinstance(rv.owner.op, MinibatchRandomVariable)]
        sizes[variable.rv] = (
            int(evaluated(scaled[0].owner.inputs[1])) if scaled else variable.shape[0]
        )
    return sizes


def averaged_over_draws(
    terms: Sequence[TensorVariable],
    variables: Sequence[SampledVariable],
) -> tuple[list[TensorVariable], Point]:
    """Replace local variables by several draws, and dependent terms by their mean.

    Parameters
    ----------
    terms : sequence of TensorVariable
        Unsummed terms of the log density.
    variables : sequence of SampledVariable
        The local variables.

    Returns
    -------
    terms : list of TensorVariable
        The terms. Those that depend on the draws have no parameter checks.
    draws : tuple of TensorVariable
        Inputs for the draws, ``(n_draws, n_rows, ...)``, one per variable.
    """
    # In the order of the variables, not of a set, because compiled functions are cached by graph.
    draws = {
        x: graph_input(f"{x.name}_draws", dtype=x.dtype, shape=(None, *x.type.shape))
        for x in (variable.position for variable in variables)
    }
    averaged = []
    for term in terms:
        if not draws.keys().isdisjoint(ancestors([term])):
            [free] = without_checks([term], impossible=False)
            many = vectorize_graph(free, draws)
            term = many.sum() / next(iter(draws.values())).shape[0]
        averaged.append(term)
    return averaged, tuple(draws.values())


class LocalPotential:
    """Energy of each row's local variables given the global ones, without ``total_size``.

    Parameters
    ----------
    model : pymc.Model
        The model; it is not changed.
    variables, local_variables : sequence of SampledVariable
        The global variables, which are conditioned on, and the local variables.
    rows : mapping
        The rows to use, for each source of minibatches.

    Raises
    ------
    ValueError
        If the local variables of different rows are not independent.
    """

    def __init__(
        self,
        model: Model,
        variables: Sequence[SampledVariable],
        local_variables: Sequence[SampledVariable],
        *,
        rows: Mapping,
    ) -> None:
        self.variables = tuple(local_variables)
        self.n_rows = rows_of(local_variables)
        self.manifold = Product(
            [variable.manifold for variable in local_variables],
            shapes=[variable.shape for variable in local_variables],
        )
        self._positions = tuple(variable.position for variable in (*local_variables, *variables))
        self._rows = tuple(rows.values())
        density = LogDensity(model, [*variables, *local_variables], rows=rows, scaled=False)
        own = {variable.position for variable in local_variables}
        terms = [term for term in density.terms() if not own.isdisjoint(ancestors([term]))]
        for term in terms:
            self._require_rows(term)
        starts = [density.start_of(variable) for variable in local_variables]
        given = [start for start in starts if start is not None]
        lifted = lift_data([*terms, *given])
        self._terms = lifted[: len(terms)]
        known = iter(lifted[len(terms) :])
        self._starts = [None if start is None else next(known) for start in starts]

    def _require_rows(self, term: TensorVariable) -> None:
        if term.ndim == 0 or term.type.shape[0] not in (None, self.n_rows):
            names = ", ".join(f"`{variable.name}`" for variable in self.variables)
            raise ValueError(
                f"`local` expected every term of the log density that depends on {names} to have "
                f"the {self.n_rows} rows of the batch as its first axis, got a term of shape "
                f"{term.type.shape}. Variables that rows share are not local."
            )

    def energy_and_gradient(
        self, local: Point, position: Point, indices: Sequence[TensorVariable]
    ) -> tuple[TensorVariable, Point]:
        """Energy of each row, and its gradient in the embedding of its variables."""
        own = [variable.position for variable in self.variables]
        checked = with_checks_of_rows(self._terms, own, n_rows=self.n_rows)
        energy = -sum(term.sum(axis=tuple(range(1, term.ndim))) for term in checked)
        total = pt.add(*[-term.sum() for term in without_checks(self._terms, impossible=False)])
        gradient = grad(total, own)
        energy, *gradient = self._at([energy, *gradient], (*local, *position), indices)
        return energy, tuple(gradient)

    def start(self, default: Point, position: Point, indices: Sequence[TensorVariable]) -> Point:
        """Point to start from: that of the data's distribution if known, otherwise ``default``."""
        known = [start for start in self._starts if start is not None]
        at = iter(self._at(known, (*default, *position), indices)) if known else iter(())
        pairs = zip(self._starts, default, strict=True)
        return tuple(x if start is None else next(at) for start, x in pairs)

    def _at(self, graphs, position: Point, indices: Sequence[TensorVariable]):
        replacements = dict(zip(self._positions, position, strict=True))
        replacements |= dict(zip(self._rows, indices, strict=True))
        return clone_replace(list(graphs), replace=replacements, rebuild_strict=False)
