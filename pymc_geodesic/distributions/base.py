#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What all distributions share: random graphs, checks of data, support, manifold, signature."""

from __future__ import annotations

from collections.abc import Callable, Collection
from inspect import Parameter, Signature, signature
from typing import Any, ClassVar

import numpy as np
import pytensor.tensor as pt

from pymc.distributions.distribution import Distribution, SymbolicRandomVariable
from pymc.distributions.shape_utils import (
    get_support_shape,
    implicit_size_from_params,
    rv_size_is_none,
)
from pymc.distributions.transforms import _default_transform
from pymc.logprob.transforms import Transform
from pymc.pytensorf import constant_fold, normalize_rng_param
from pytensor.graph.basic import Constant
from pytensor.graph.rewriting.basic import node_rewriter
from pytensor.scalar.basic import Switch
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.random.utils import normalize_size_param
from pytensor.tensor.variable import TensorVariable

from pymc_geodesic.manifolds import Manifold, register_manifold

__all__ = [
    "ChecksObserved",
    "RandomGraph",
    "WithLength",
    "length_of",
    "local_remove_support_test",
    "on_manifold",
    "on_support",
    "with_signature",
]


class RandomGraph(SymbolicRandomVariable):
    """The random graph of a distribution with one generator; a subclass says how it is drawn.

    A subclass is named after its distribution with ``RV`` behind it, and has the signature of the
    distribution, ``extended_signature``, and a class method ``draw(*parameters, size, rng)``. That
    takes tensors and returns the generator's next state and draws of ``size``, a tensor.
    """

    draw: ClassVar[Callable[..., tuple[Any, TensorVariable]]]

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        cls.name = cls.__name__.removesuffix("RV")
        cls._print_name = (cls.name, f"\\operatorname{{{cls.name}}}")

    @classmethod
    def rv_op(cls, *parameters: Any, size: Any = None, rng: Any = None) -> TensorVariable:
        """Build the random variable."""
        tensors = [pt.as_tensor(parameter) for parameter in parameters]
        rng, size = normalize_rng_param(rng), normalize_size_param(size)
        if rv_size_is_none(full := size):
            full = implicit_size_from_params(*tensors, ndims_params=cls.ndims_params)
        inputs = [rng, size, *tensors]
        return cls(inputs=inputs, outputs=list(cls.draw(*tensors, size=full, rng=rng)))(*inputs)


class ChecksObserved(Distribution):
    """A distribution that looks at observed data: a mixin, which stands before PyMC's class.

    Its subclasses say what is wrong with data.
    """

    @staticmethod
    def check_observed(x: Any, argument: str, owner: str) -> None:
        """Raise a ValueError if ``x`` is known and not on the support."""
        raise NotImplementedError

    def __new__(cls, name: str, *args, observed: Any = None, **kwargs) -> TensorVariable:
        """Add the variable to the model on the context stack."""
        if observed is not None:
            cls.check_observed(observed, "observed", cls.__name__)
        return super().__new__(cls, name, *args, observed=observed, **kwargs)


class WithLength(Distribution):
    """A distribution of vectors whose length is in none of its parameters, but in its shape.

    A mixin, which stands between :class:`ChecksObserved` and PyMC's class.
    """

    def __new__(
        cls, name: str, *args, support_shape=None, dims=None, observed: Any = None, **kwargs
    ) -> TensorVariable:
        """Add the variable to the model on the context stack."""
        if dims is not None or observed is not None:
            support_shape = get_support_shape(
                support_shape=support_shape,
                shape=None,  # checked by `dist`
                dims=dims,
                observed=observed,
            )
        return super().__new__(
            cls, name, *args, support_shape=support_shape, dims=dims, observed=observed, **kwargs
        )


def length_of(support_shape: Any, shape: Any, *, unknown: str) -> tuple[TensorVariable, int | None]:
    """Return the shape of one vector as a tensor, and its length if that is known.

    Parameters
    ----------
    support_shape, shape
        The keywords of a distribution.
    unknown : str
        The message if there is neither.

    Raises
    ------
    ValueError
        If there is neither.
    """
    support_shape = get_support_shape(support_shape=support_shape, shape=shape, ndim_supp=1)
    if support_shape is None:
        raise ValueError(unknown)
    support_shape = pt.as_tensor(support_shape, dtype="int64", ndim=1)
    [known] = constant_fold([support_shape], raise_not_constant=False)
    return support_shape, int(known[-1]) if isinstance(known, np.ndarray) else None


def on_manifold(
    distribution: type[Distribution],
    manifold: Manifold,
    transform: Transform | None,
    *,
    on_request: bool = False,
) -> None:
    """Register the manifold of a distribution, and its transform for NUTS.

    Parameters
    ----------
    distribution : type
        With its ``rv_type``.
    manifold : Manifold
        Of its values.
    transform : Transform, optional
        By which NUTS samples them; None if it cannot.
    on_request : bool
        See :func:`~pymc_geodesic.register_manifold`.
    """
    _default_transform.register(distribution.rv_type)(lambda op, rv: transform)
    register_manifold(distribution, manifold, on_request=on_request)


def with_signature[D: type[Distribution]](*, withheld: Collection[str] = ()) -> Callable[[D], D]:
    """Return a decorator that writes out what a distribution takes: its parameters, and PyMC's.

    Parameters
    ----------
    withheld : collection of str
        Names for which the distribution has no use.

    Returns
    -------
    callable
        A decorator of a class.
    """

    def decorate(cls: D) -> D:
        named = [Parameter("name", Parameter.POSITIONAL_OR_KEYWORD, annotation=str)]
        named += [p for p in _parameters(cls.dist) if p.kind is not Parameter.VAR_KEYWORD]
        named += [Parameter("shape", Parameter.KEYWORD_ONLY, default=None)]
        named += [p for p in _parameters(Distribution.__new__) if p.kind is Parameter.KEYWORD_ONLY]
        shown = [p for p in named if p.name not in withheld]
        cls.rv_op = cls.rv_type.rv_op
        cls.__signature__ = Signature(shown, return_annotation=TensorVariable)
        return cls

    return decorate


def _parameters(function: Callable) -> list[Parameter]:
    return list(signature(function).parameters.values())


class SupportTest(Switch):
    """A switch to minus infinity for values outside the support."""


_support_test = Elemwise(SupportTest(name="support_test"))


def on_support(
    log_density: TensorVariable, value: TensorVariable, contains: Callable
) -> TensorVariable:
    """Return the log density on the support and -inf elsewhere.

    Constants are tested immediately. Other values are tested whenever the log density is evaluated,
    except by the samplers of this package, which stay on the support and test data when they read
    it.

    Parameters
    ----------
    log_density : TensorVariable
        Log density of each value, if it is in the support.
    value : TensorVariable
        The values.
    contains : callable
        Maps an array or a tensor to whether each value is in the support.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> x = pt.as_tensor([-1.0, 2.0])
    >>> on_support(-x, x, lambda x: x >= 0).eval()
    array([-inf,  -2.])
    """
    if not isinstance(value, Constant):
        return _support_test(contains(value), log_density, -np.inf)
    inside = contains(value.data)
    if np.all(inside):
        return log_density
    return pt.switch(inside, log_density, -np.inf)


@node_rewriter([_support_test])
def local_remove_support_test(fgraph, node):
    """Remove the test and keep the log density."""
    inside, log_density, _ = node.inputs
    if log_density.type.broadcastable == node.outputs[0].type.broadcastable:
        return [log_density]
    return [pt.broadcast_arrays(inside, log_density)[1]]
