#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The choice between a friction for every entry and one by the halves of each batch."""

from __future__ import annotations

from pymc_geodesic.algorithms.halved_rule import unbalanced_share
from pymc_geodesic.algorithms.tuning_rules import Rule
from pymc_geodesic.tuning.findings import Findings

__all__ = ["judged"]

# Share of the heat from which on halves are used, and unevenness of plain gradients' noise. Where
# posteriors are right the second was at most .4 with a hundred rows or more, outliers or not, and
# up to 1.3 with fewer; it was .7 to 1.6 where group effects that are multiples of their scale came
# out too narrow.
LARGEST_UNBALANCED, LARGEST_UNEVEN = 0.25, 0.5


def judged(
    found: Findings, rule: Rule, *, accuracy: float, can_halve: bool, is_abrupt: bool = False
) -> Findings:
    """Decide whether the halves of batches must balance the noise.

    If they do, control variates are used wherever they lower the noise: halves damp one direction
    at a time, so that they balance little noise better than much.

    Parameters
    ----------
    found : Findings
        The last measurement.
    rule : callable
        Rule of the step size with a friction for every entry.
    accuracy : float
        Tolerated error, in posterior standard deviations.
    can_halve : bool
        Whether batches can be divided into halves.
    is_abrupt : bool
        Whether the noise changes so much within the posterior that no measurement at a few points
        tells by how much: it then counts as uneven.

    Returns
    -------
    Findings
        The same, with the choice, or with the share of the heat that stays unbalanced because
        batches cannot be divided.
    """
    # Uneven noise has no effect on the variances of a Gaussian posterior to first order.
    if found.is_gaussian and not is_abrupt:
        return found
    share = unbalanced_share(rule(found.demands(accuracy)), found.noise)
    is_even = not (share > LARGEST_UNBALANCED and found.noise.uneven > LARGEST_UNEVEN)
    if is_even and not is_abrupt:
        return found
    if not can_halve:
        return found._replace(unbalanced=share)
    return found.with_control_variates()._replace(halved=True)
