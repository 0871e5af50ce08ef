#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Normal variables that a model uses only as a product with an unknown, positive scale.

Effects that are not centred are written so, ``tau * z`` with ``z ~ N(0, 1)``, and so are the
weights of features of a Gaussian process. Where data determine the product, ``z`` and the scale
form a curved ridge. Groups within groups add means of their own, which form another. Random walks
are written as cumulative sums of such products, of which data determine the sums.

Effects of groups that are written centred are normal variables whose deviation is unknown.
Where data say little of such effects, their widths change with the deviation, which is a funnel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pytensor.scalar as ps
import pytensor.tensor as pt

from pymc.logprob.transforms import IntervalTransform, LogOddsTransform, LogTransform
from pymc.model import Model
from pymc.pytensorf import constant_fold
from pytensor.graph.basic import Apply, Variable
from pytensor.tensor import TensorVariable
from pytensor.tensor.basic import Alloc
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.math import Dot, Prod, Sum
from pytensor.tensor.random.basic import NormalRV

from pymc_geodesic.potential.coordinates import ScaledCoordinate, SummedCoordinate
from pymc_geodesic.potential.linear_uses import (
    COPIES,
    INDEXING,
    Use,
    clients_of,
    is_elemwise,
    is_random,
    means_of,
    random_ancestors,
    use_of,
)
from pymc_geodesic.potential.variables import manifold_in

__all__ = [
    "ScaledProduct",
    "has_known_parameters",
    "known_parameters",
    "log_of",
    "scaled_products",
]

SUMS = Dot, Sum
# Operations that put entries in other places.
MOVES = DimShuffle, Alloc, *INDEXING
# Functions whose values are positive for all arguments, or for positive ones.
POSITIVE = ps.Exp, ps.Softplus, ps.Sigmoid
KEEP_POSITIVE = ps.Add, ps.Sqrt, ps.Sqr, ps.Reciprocal


class ScaledProduct(NamedTuple):
    """A normal variable that is used only as a product with a scale.

    Attributes
    ----------
    log_scale : TensorVariable
        Logarithm of the scale, as a function of PyMC's values of other variables.
    deviation : ndarray
        Prior standard deviation of the variable, which broadcasts to it.
    n_axes : int
        Axes of the variable that are longer than one.
    mean : TensorVariable or None
        What the product, or the sum, is added to, if it differs from entry to entry.
    axis : int or None
        The axis along which the products are summed cumulatively before they are used, if they are.
    """

    log_scale: TensorVariable
    deviation: np.ndarray
    n_axes: int
    mean: TensorVariable | None = None
    axis: int | None = None

    @property
    def shares_scales(self) -> bool:
        """Whether entries share scales, of fewer axes, or sums determine those that are small."""
        return self.axis is not None or _n_axes(self.log_scale) < max(1, self.n_axes)

    def coordinate(self, exponent: TensorVariable) -> ScaledCoordinate | SummedCoordinate:
        """Return the coordinate with given exponents of the scale, or shares of the sum."""
        if self.axis is not None:
            mean = pt.zeros_like(exponent) if self.mean is None else self.mean
            return SummedCoordinate(exponent, mean, self.log_scale, self.axis)
        shift = pt.zeros_like(exponent)
        if self.mean is not None:
            shift = -exponent * self.mean * pt.exp(-self.log_scale)
        return ScaledCoordinate(shift, exponent * self.log_scale, is_natural=True)


def scaled_products(model: Model, values: Sequence[TensorVariable]) -> dict[str, ScaledProduct]:
    """Find variables that enter the model only through their product with a positive scale.

    Parameters
    ----------
    model : pymc.Model
        The model.
    values : sequence of TensorVariable
        Value variables that are sampled; the scale may depend on the flat ones of these alone.

    Returns
    -------
    dict of str to ScaledProduct
        By the name of the variable. Empty for most models.

    Notes
    -----
    Names of deterministics, and indices where all entries have one scale, are looked through. A
    scale is known to be positive by its transform, or as a function of what is. In a model of
    batches, whether a mean belongs to the entries is read from the columns of all rows.
    """
    rvs = [model.values_to_rvs[value] for value in values]
    # The values of others are not their positions.
    sampled = [rv for rv in rvs if manifold_in(model, rv).is_flat]
    normal = [rv for rv in sampled if has_known_parameters(model, rv)]
    if not normal:
        return {}
    clients = clients_of([*model.basic_RVs, *model.potentials])
    uses = {rv: use_of(rv, clients) for rv in normal}
    scales = {rv: _log_scale(use, model) for rv, use in uses.items()}
    products = {rv: log_scale for rv, log_scale in scales.items() if log_scale is not None}
    # Scales that depend on other products would have to be computed in the right order.
    known = set(sampled) - set(products)
    found = {}
    for rv, log_scale in products.items():
        others = random_ancestors([log_scale], model)
        if others and others <= known:
            [graph] = model.replace_rvs_by_values([log_scale])
            deviation = np.asarray(known_parameters(rv)[1], float)
            found[rv] = ScaledProduct(graph, deviation, _n_axes(rv), axis=uses[rv].axis)
    means = _means({rv: uses[rv] for rv in found}, set(sampled), model)
    return {rv.name: x._replace(mean=means.get(rv)) for rv, x in found.items()}


def _n_axes(x: TensorVariable) -> int:
    return x.type.broadcastable.count(False)


def _means(
    uses: Mapping[TensorVariable, Use], sampled: set[TensorVariable], model: Model
) -> dict[TensorVariable, TensorVariable]:
    """Return what products are added to, in coordinates that do not depend on each other."""
    found: dict[TensorVariable, TensorVariable] = {}
    behind: dict[TensorVariable, set[Variable]] = {}
    for rv, use in uses.items():
        if any(log_of(x, model) is None for x in use.factors):
            continue
        means = means_of(rv, use, model)
        others = random_ancestors(means, model)
        reached = others.union(*(behind[x] for x in others if x in behind))
        if others and others <= sampled and rv not in reached:
            behind[rv] = reached
            [found[rv]] = model.replace_rvs_by_values([pt.add(*means, 0.0)])
    return found


def has_known_parameters(model: Model, rv: TensorVariable) -> bool:
    """Whether a variable is normal with known mean and deviation."""
    if model.rvs_to_transforms[rv] is not None or not isinstance(rv.owner.op, NormalRV):
        return False
    return all(isinstance(x, np.ndarray) for x in known_parameters(rv))


def known_parameters(rv: TensorVariable) -> Sequence[np.ndarray | TensorVariable]:
    """Return mean and deviation of a normal variable, as arrays if they are constants."""
    return constant_fold(rv.owner.op.dist_params(rv.owner), raise_not_constant=False)


def _log_scale(use: Use, model: Model) -> TensorVariable | None:
    """Return the logarithm of what a variable is multiplied by, as far as it is positive."""
    # The change of coordinates is exact with some of the factors, too.
    of_factors = (log_of(factor, model) for factor in use.factors)
    logs = [log for log in of_factors if log is not None]
    return pt.add(*logs) if len(logs) > 1 else next(iter(logs), None)


def log_of(graph: TensorVariable, model: Model) -> TensorVariable | None:
    """Return the logarithm of what is known to be positive, else None.

    That of a product is a sum, so that it is finite where the product is too small for a number.
    """
    node = graph.owner
    if not random_ancestors([graph], model):
        [value] = constant_fold([graph], raise_not_constant=False)
        return pt.log(graph) if isinstance(value, np.ndarray) and np.all(value > 0) else None
    if is_random(graph, model):
        return pt.log(graph) if _is_positive(graph, model) else None
    if is_elemwise(node, ps.Exp):
        return node.inputs[0]
    if is_elemwise(node, *POSITIVE):
        return pt.log(graph)
    if isinstance(node.op, (Prod, *MOVES)):
        log = log_of(node.inputs[0], model)
        if log is None:
            return None
        is_product = isinstance(node.op, Prod)
        return log.sum(axis=node.op.axis) if is_product else node.op(log, *node.inputs[1:])
    if not isinstance(node.op, (Elemwise, *SUMS)):
        return None
    return _log_of_function(node, [log_of(x, model) for x in node.inputs])


def _is_positive(rv: TensorVariable, model: Model) -> bool:
    """Whether the transform of a random variable leaves it positive values only."""
    transform = model.rvs_to_transforms.get(rv)
    if isinstance(transform, IntervalTransform):
        lower, _ = transform.args_fn(*rv.owner.inputs)
        [least] = [None] if lower is None else constant_fold([lower], raise_not_constant=False)
        return isinstance(least, np.ndarray) and bool(np.all(least >= 0))
    return isinstance(transform, LogTransform | LogOddsTransform)


def _log_of_function(
    node: Apply, logs_or_none: Sequence[TensorVariable | None]
) -> TensorVariable | None:
    """Return the logarithm of an operation on numbers from those of its inputs."""
    [graph] = node.outputs
    if is_elemwise(node, ps.Pow) and logs_or_none[0] is not None:
        return node.inputs[1] * logs_or_none[0]
    logs = [log for log in logs_or_none if log is not None]
    if len(logs) < len(logs_or_none):
        return None
    if is_elemwise(node, *COPIES):
        return logs[0]
    if is_elemwise(node, ps.Mul):
        return pt.add(*logs)
    if is_elemwise(node, ps.TrueDiv):
        return logs[0] - logs[1]
    if is_elemwise(node, ps.Sqrt):
        return 0.5 * logs[0]
    is_positive = isinstance(node.op, SUMS) or is_elemwise(node, *KEEP_POSITIVE)
    return pt.log(graph) if is_positive else None
