#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A warning for minibatch models that does not load the steps of this package.

Steps are loaded on first use. A user who never uses one, and lets NUTS sample a model with
``pm.Minibatch``, is still warned.
"""

from __future__ import annotations

import sys

from pymc.model import Model
from pymc.step_methods import STEP_METHODS
from pymc.step_methods.compound import BlockedStep, Competence
from pymc.variational.minibatch_rv import MinibatchRandomVariable

__all__ = ["MinibatchGuard", "install"]


class MinibatchGuard(BlockedStep):
    """A step that PyMC queries for its competence, and that never samples a variable.

    Once the steps of this package are loaded, they issue the warning themselves.
    """

    @staticmethod
    def competence(var, has_grad) -> Competence:
        """Claim no variable; load the steps if the model has minibatches."""
        model = Model.get_context(error_if_none=False)
        if "pymc_geodesic.step_methods" in sys.modules or model is None:
            return Competence.INCOMPATIBLE
        if any(isinstance(rv.owner.op, MinibatchRandomVariable) for rv in model.observed_RVs):
            from pymc_geodesic.step_methods.guard import guarded_competence

            guarded_competence(var)
        return Competence.INCOMPATIBLE


def install() -> None:
    """Register the guard with PyMC, when the package is first imported."""
    if MinibatchGuard not in STEP_METHODS:
        STEP_METHODS.append(MinibatchGuard)
