#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Normal variables whose deviation is unknown, as effects of groups are written centred.

Where data say little of such effects, their widths change with the deviation, which is a funnel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pymc.model import Model
from pytensor.tensor import TensorVariable
from pytensor.tensor.random.basic import NormalRV

from pymc_geodesic.potential.linear_uses import random_ancestors
from pymc_geodesic.potential.scaled_products import log_of
from pymc_geodesic.potential.variables import manifold_in

__all__ = ["CenteredEffect", "centered_effects"]


class CenteredEffect(NamedTuple):
    """A normal variable with an unknown deviation.

    Attributes
    ----------
    mean, log_scale : TensorVariable
        Its mean and the logarithm of its deviation, as functions of PyMC's values of others.
    """

    mean: TensorVariable
    log_scale: TensorVariable


def centered_effects(model: Model, values: Sequence[TensorVariable]) -> dict[str, CenteredEffect]:
    """Find normal variables whose deviation depends on other variables.

    Parameters
    ----------
    model : pymc.Model
        The model.
    values : sequence of TensorVariable
        Value variables that are sampled; mean and deviation may depend on the flat ones of these
        alone.

    Returns
    -------
    dict of str to CenteredEffect
        By the name of the variable.
    """
    sampled = [model.values_to_rvs[value] for value in values]
    flat = {rv for rv in sampled if manifold_in(model, rv).is_flat}
    found = {}
    for rv in sampled:
        is_normal = isinstance(rv.owner.op, NormalRV) and model.rvs_to_transforms[rv] is None
        if rv not in flat or not is_normal:
            continue
        mean, deviation = rv.owner.op.dist_params(rv.owner)
        if not random_ancestors([deviation], model):
            continue
        log_scale = log_of(deviation, model)
        others = random_ancestors([mean, deviation], model)
        if log_scale is not None and others <= flat:
            found[rv.name] = CenteredEffect(*model.replace_rvs_by_values([mean, log_scale]))
    return found
