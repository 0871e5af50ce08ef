#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The concentration of Dirichlet-like priors, if it is known."""

from __future__ import annotations

import numpy as np
import pymc as pm

from pymc.variational.minibatch_rv import MinibatchRandomVariable
from pytensor.tensor import TensorConstant, TensorVariable

from pymc_geodesic.distributions.symmetric_dirichlet import SymmetricDirichlet

__all__ = ["known_concentration"]


def known_concentration(rv: TensorVariable) -> np.ndarray | None:
    """Concentrations of a Dirichlet variable, with an axis for its entries; None if not constant.

    The last axis has length K, or 1 if all entries share one concentration.
    """
    node = rv.owner
    if isinstance(node.op, MinibatchRandomVariable):
        return known_concentration(node.inputs[0])
    if not isinstance(node.op, pm.Dirichlet | SymmetricDirichlet):
        return None
    alpha = node.op.dist_params(node)[0]
    if not isinstance(alpha, TensorConstant):
        return None
    is_symmetric = isinstance(node.op, SymmetricDirichlet)
    return np.asarray(alpha.data)[..., None] if is_symmetric else np.asarray(alpha.data)
