#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Reasons why a chain cannot start or go on: the variable, the parameter, the largest column."""

from __future__ import annotations

import warnings

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from pymc.exceptions import SamplingError
from pymc.logprob.utils import ParameterValueError
from pymc.model import Model
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.traversal import ancestors
from pytensor.tensor import TensorVariable

from pymc_geodesic.distributions import VonMisesFisher
from pymc_geodesic.kernel.interpreted import Interpreted
from pymc_geodesic.potential.batch_structure import observed_rv
from pymc_geodesic.potential.minibatch import BatchSource, described
from pymc_geodesic.potential.stream import Source

__all__ = ["advice_on_columns", "explain_start", "impossible_start"]


def impossible_start(
    model: Model, point: Mapping[str, np.ndarray], *, energy: float, names: Sequence[str]
) -> SamplingError:
    """Create the error for a start with infinite energy or without a gradient."""
    with np.printoptions(threshold=10, precision=4):
        values = ", ".join(f"{name} = {point[name]}" for name in names)
    return SamplingError(
        "The start has an infinite log density or a gradient that is not finite, got a potential "
        f"energy of {energy}. Start values: {values}.{explain_start(model, point)} Call "
        "`model.debug()` to find the variable, or pass other `initvals`."
    )


def explain_start(model: Model, point: Mapping[str, np.ndarray]) -> str:
    """Name the variables without a finite log density at a point, and impossible parameters.

    Parameters
    ----------
    model : pymc.Model
        The model.
    point : mapping of str to ndarray
        PyMC's value of every free variable.

    Returns
    -------
    str
        Sentences, each with a leading space.
    """
    found = _parameters(model, point) or _densities(model, point)
    if not found:
        found = ["The log densities are finite there, so a gradient is not finite."]
    return "".join(f" {text}" for text in found)


def _densities(model: Model, point: Mapping[str, np.ndarray]) -> list[str]:
    variables = model.basic_RVs
    try:
        found = _evaluate(model, model.logp(vars=variables, sum=False), point)
    except NotImplementedError:
        # That of what is observed has no closed form.
        variables = model.free_RVs
        found = _evaluate(model, model.logp(vars=variables, sum=False), point)
    except ParameterValueError as error:
        return [f"A distribution has a parameter that is not allowed there: {error}."]
    bad = {rv.name: x[~np.isfinite(x)] for rv, x in zip(variables, found, strict=True)}
    return [
        f"The log density of `{name}` is {x.flat[0]} there." for name, x in bad.items() if x.size
    ]


def _parameters(model: Model, point: Mapping[str, np.ndarray]) -> list[str]:
    found = []
    for rv in model.basic_RVs:
        node = observed_rv(rv).owner
        if not isinstance(node.op, VonMisesFisher):
            continue
        mu, kappa = model.replace_rvs_by_values(list(node.op.dist_params(node)))
        mu, kappa = _evaluate(model, [mu, kappa], point)
        found += _of_von_mises_fisher(rv.name, mu, kappa)
    return found


def _of_von_mises_fisher(name: str, mu: np.ndarray, kappa: np.ndarray) -> list[str]:
    norms = np.linalg.norm(mu, axis=-1)
    found = []
    if np.isnan(norms).any():
        found.append(
            f"`mu` of `{name}` is not a number: a vector of length zero has no direction. Pass an "
            "`initval` or `initvals` for which it is not zero."
        )
    elif np.any(np.abs(norms - 1) > 1e-6):
        found.append(
            f"`mu` of `{name}` expected unit vectors, got norms in [{norms.min():.4g}, "
            f"{norms.max():.4g}]. Divide it by its norm."
        )
    if np.any(kappa < 0):
        found.append(
            f"`kappa` of `{name}` expected 0 or more, got {kappa.min():.4g}. Take the exponential "
            "of a symbolic concentration, or give it a positive prior."
        )
    return found


def _evaluate(
    model: Model, graphs: list[TensorVariable], point: Mapping[str, np.ndarray]
) -> list[np.ndarray]:
    values = model.value_vars
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        function = Interpreted(values, graphs)
        return [np.asarray(x) for x in function(*(np.asarray(point[v.name]) for v in values))]


# Exponentials of a coefficient times a column overflow far from the posterior, if the column is
# larger.
LARGE = 100.0


def advice_on_columns(model: Model, sources: Sequence[Source]) -> str:
    """Name the largest column of predictors in memory, and say what to do."""
    advice = "Standardise the columns of the data, or pass `initvals` nearer to the posterior."
    observed = set(ancestors([model.rvs_to_values[rv] for rv in model.observed_RVs]))
    largest, name = max(_columns(sources, observed), default=(0.0, ""))
    if largest < LARGE:
        return advice
    return f"The data have numbers as large as {largest:.3g}, in {name}. {advice}"


def _columns(
    sources: Sequence[Source], observed: Collection[Variable]
) -> Iterator[tuple[float, str]]:
    for source in sources:
        if not isinstance(source, BatchSource):
            continue
        for i, (array, batch) in enumerate(zip(source.tensors, source.batches, strict=True)):
            is_held = isinstance(array, Constant | SharedVariable)
            if batch in observed or not is_held or array.type.ndim not in (1, 2):
                continue
            data = array.data if isinstance(array, Constant) else array.get_value(borrow=True)
            if data.dtype.kind != "f":
                continue
            sizes = np.atleast_1d(np.maximum(data.max(axis=0), -data.min(axis=0)))
            column = int(np.argmax(sizes))
            place = "" if array.name else " of `pm.Minibatch`"
            which = f"column {column} of " if data.ndim == 2 else ""
            yield float(sizes[column]), f"{which}{described(array, i)}{place}"
