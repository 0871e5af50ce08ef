#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Normal variables that a model uses only as a product with an unknown triangular matrix.

Effects of groups with correlated intercepts and slopes are written so if they are not centred,
``z @ L.T`` with the Cholesky factor ``L`` of their covariance. Where data determine the product,
``z`` and the factor form a curved ridge.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pytensor
import pytensor.tensor as pt

from pymc.model import Model
from pytensor.compile.mode import Mode
from pytensor.graph.basic import Apply, equal_computations
from pytensor.graph.traversal import ancestors
from pytensor.tensor import TensorVariable
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.math import Dot

from pymc_geodesic.potential.coordinates import MatrixCoordinate
from pymc_geodesic.potential.linear_uses import INDEXING, Clients, clients_of, random_ancestors
from pymc_geodesic.potential.scaled_products import has_known_parameters, known_parameters
from pymc_geodesic.potential.variables import manifold_in

__all__ = ["MatrixProduct", "matrix_products"]

# Points at which a matrix must be triangular, and how far they are from the start.
N_POINTS, JITTER = 3, 1.0
# Longest vectors: the change of coordinates takes half the square of the length in operations.
LONGEST = 10


class MatrixProduct(NamedTuple):
    """A normal matrix whose vectors are used only as products with a matrix.

    Attributes
    ----------
    matrix : TensorVariable, shape (d, d)
        The matrix that the vectors are multiplied by from the left, lower triangular with a
        positive diagonal, as a function of PyMC's values of other variables.
    axis : int
        The vectors' axis.
    deviation : ndarray
        Prior standard deviation of the variable, which broadcasts to it.
    """

    matrix: TensorVariable
    axis: int
    deviation: np.ndarray

    @property
    def shares_scales(self) -> bool:
        """Whether its entries share scales: all vectors have the same."""
        return True

    @property
    def log_scale(self) -> TensorVariable:
        """Logarithm of what each entry itself is multiplied by, which broadcasts to it."""
        diagonal = pt.log(pt.diagonal(self.matrix))
        return diagonal if self.axis == 1 else diagonal[:, None]

    def coordinate(self, share: TensorVariable) -> MatrixCoordinate:
        """Return the coordinate with given shares of the product in each entry."""
        return MatrixCoordinate(share, self.matrix, self.axis)


def matrix_products(model: Model, values: Sequence[TensorVariable]) -> dict[str, MatrixProduct]:
    """Find variables that enter the model only through their product with a triangular matrix.

    Parameters
    ----------
    model : pymc.Model
        The model.
    values : sequence of TensorVariable
        Value variables that are sampled; the matrix may depend on the flat ones of these alone.

    Returns
    -------
    dict of str to MatrixProduct
        By the name of the variable. Empty for most models.
    """
    sampled = [model.values_to_rvs[value] for value in values]
    flat = {rv for rv in sampled if manifold_in(model, rv).is_flat}
    normal = [rv for rv in flat if rv.ndim == 2 and has_known_parameters(model, rv)]
    if not normal:
        return {}
    clients = clients_of([*model.basic_RVs, *model.potentials])
    found = {}
    for rv in normal:
        product = _product_of(rv, clients)
        others = set() if product is None else random_ancestors([product.matrix], model)
        if product is None or not others or not others <= flat - set(normal):
            continue
        [graph] = model.replace_rvs_by_values([product.matrix])
        length = _length(graph, model)
        if 1 < length <= LONGEST:
            deviation = np.asarray(known_parameters(rv)[1], float)
            found[rv.name] = MatrixProduct(graph, product.axis, deviation)
    return found


class _Product(NamedTuple):
    """The factor of a dot, the side on which it stands, and the vectors' axis of the variable."""

    factor: TensorVariable
    is_right: bool
    axis: int

    @property
    def matrix(self) -> TensorVariable:
        """The matrix that stands to the left of the vectors."""
        # Rows times a matrix are columns of its transpose times them.
        return self.factor.T if self.is_right else self.factor


def _product_of(rv: TensorVariable, clients: Clients) -> _Product | None:
    """Return the product of the variable's vectors with a matrix, if it is their only use."""
    found = list(_products_of(rv, clients, axes=(0, 1), chosen=frozenset()))
    products = [x for x in found if x is not None]
    # Rows of a batch may be chosen in several places, each of which has a product of its own.
    is_only_use = len(products) == len(found) and all(_are_equal(products[0], x) for x in products)
    return products[0] if products and is_only_use else None


def _are_equal(first: _Product, second: _Product) -> bool:
    return first[1:] == second[1:] and equal_computations([first.factor], [second.factor])


def _products_of(
    current: TensorVariable, clients: Clients, *, axes: tuple[int, int], chosen: frozenset[int]
) -> Iterator[_Product | None]:
    """Find products, through transposes and indices that choose vectors; None for other uses."""
    for node in clients.get(current, []):
        place = _indexed_axis(node, current)
        output = node.outputs[0]
        if _is_dot(node.op):
            yield _of_dot(node, current, axes, chosen)
        elif place is not None:
            yield from _products_of(output, clients, axes=axes, chosen=chosen | {axes[place]})
        elif isinstance(node.op, DimShuffle) and tuple(node.op.new_order) == (1, 0):
            yield from _products_of(output, clients, axes=axes[::-1], chosen=chosen)
        else:
            yield None


def _of_dot(
    node: Apply, current: TensorVariable, axes: tuple[int, int], chosen: frozenset[int]
) -> _Product | None:
    left, right = node.inputs
    is_left = left is current
    axis = axes[1] if is_left else axes[0]
    if left.ndim != 2 or right.ndim != 2 or left is right or axis in chosen:
        return None
    return _Product(right if is_left else left, is_left, axis)


def _indexed_axis(node: Apply, of: TensorVariable) -> int | None:
    """Return the axis of a matrix along which a vector of numbers chooses, if nothing else does."""
    if not isinstance(node.op, INDEXING) or node.inputs[0] is not of:
        return None
    places = [i for i, entry in enumerate(node.op.idx_list) if entry != slice(None)]
    if len(places) != 1 or not isinstance(entry := node.op.idx_list[places[0]], int):
        return None
    index = node.inputs[1 + entry]
    is_vector = index.type.ndim == 1 and np.dtype(index.type.dtype).kind in "iu"
    return places[0] if is_vector else None


def _is_dot(op: object) -> bool:
    return isinstance(op, Dot) or (isinstance(op, Blockwise) and isinstance(op.core_op, Dot))


def _length(matrix: TensorVariable, model: Model) -> int:
    """Return the order of a matrix if it is lower triangular with a positive diagonal, else 0."""
    behind = set(ancestors([matrix]))
    inputs = [x for x in model.value_vars if x in behind]
    mode = Mode(linker="py", optimizer="fast_compile")
    evaluate = pytensor.function(inputs, matrix, mode=mode)
    point, rng = model.initial_point(), np.random.default_rng(1)
    for _ in range(N_POINTS):
        values = [point[x.name] for x in inputs]
        a = evaluate(*(x + rng.uniform(-JITTER, JITTER, x.shape).astype(x.dtype) for x in values))
        is_square = a.shape[0] == a.shape[1]
        if not is_square or np.any(np.triu(a, 1)) or not np.all(np.diagonal(a) > 0):
            return 0
    return len(a)
