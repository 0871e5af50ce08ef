#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A check of Langevin steps on probabilities near zero, where Euler's method is biased."""

from __future__ import annotations

import math

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.algorithms.simplex_chart import REFLECTED, SLOWEST_RATE, TOLD_ABOVE
from pymc_geodesic.diagnostics.findings import Finding
from pymc_geodesic.diagnostics.gradients import GradientDraws
from pymc_geodesic.entry_names import entry_name
from pymc_geodesic.manifolds import Simplex
from pymc_geodesic.run_record import RunRecord

__all__ = ["check_near_zero", "chose_euler_steps"]

# The shape is read off the draws that are nearest to zero, where it is all that matters: then they
# agree, and are far below other probabilities.
LOWEST, AGREE, NEAR = 0.05, 0.1, 1e-3
# Settings with which the step size is not that of the rule, or the bias another one.
OTHER = {"step_size", "parameterization", "metric"}


def chose_euler_steps(records: Sequence[RunRecord]) -> bool:
    """Whether ``SGRLD`` chose the step size of Euler's method in expanded-mean coordinates."""
    return any(
        record.step == "SGRLD"
        and record.settings.get("dynamics", "euler") == "euler"
        and not OTHER & record.settings.keys()
        for record in records
    )


def check_near_zero(draws: GradientDraws) -> list[Finding]:
    r"""Look for probabilities near zero whose means Euler's method moves at any useful step size.

    Near :math:`p = 0` the density is that of a Gamma distribution, proportional to
    :math:`p^{a - 1}`. In the coordinate :math:`x = \sqrt p`, with the potential U relative to the
    surface of the sphere, its shape is

    .. math::

        a = \tfrac12 \Bigl(1 - x \, \frac{\partial U}{\partial x}\Bigr)

    and reflection at zero moves the mean by :math:`0.7 \rho^a` deviations, where the rate
    :math:`\rho` is at least .001: see :mod:`pymc_geodesic.algorithms.simplex_chart`. The fit is
    ours and from none of the papers.

    Parameters
    ----------
    draws : GradientDraws
        Draws ``(chain, draw, *shape)`` with gradients of all rows.

    Returns
    -------
    list of Finding
        One, of the probability with the smallest shape, or none.
    """
    shapes: dict[str, float] = {}
    triples = zip(draws.variables, draws.points, draws.gradients, strict=True)
    for variable, x, gradient in triples:
        if not isinstance(variable.manifold, Simplex):
            continue
        shape, n = 0.5 * (1 - x * gradient), math.ceil(LOWEST * x.shape[0] * x.shape[1])
        for entry in np.ndindex(x.shape[2:]):
            at = (..., *entry)
            lowest = np.argsort(x[at], axis=None)[:n]
            found = shape[at].ravel()[lowest]
            if np.ptp(found) < AGREE and np.all(x[at].ravel()[lowest] ** 2 < NEAR):
                shapes[entry_name(variable.name, entry)] = float(found.mean())
    if not shapes:
        return []
    name, smallest = min(shapes.items(), key=lambda pair: pair[1])
    error = REFLECTED * SLOWEST_RATE ** max(smallest, 0.0)
    if error <= TOLD_ABOVE:
        return []
    sentence = (
        "`SGRLD` with `dynamics='euler'` moves the means of probabilities near zero by about "
        f"{error:.1g} of their standard deviations at any useful step size: {name} has a "
        f"concentration of {smallest:.2g}."
    )
    evidence = {"error": error, "concentration": smallest, "variable": name}
    advice = "Use `dynamics='cir'`."
    return [Finding("biased_near_zero", "warning", sentence, advice, evidence)]
