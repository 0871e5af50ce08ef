#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Log densities that are -inf off the support, by a test that samplers remove."""

from collections.abc import Callable

import numpy as np
import pytensor.tensor as pt

from pytensor.graph.basic import Constant
from pytensor.graph.rewriting.basic import node_rewriter
from pytensor.scalar.basic import Switch
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.variable import TensorVariable

__all__ = ["local_remove_support_test", "on_support"]


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
