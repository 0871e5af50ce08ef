#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The choice between a friction for every entry and one by the halves of each batch."""

from __future__ import annotations

from pymc_geodesic.algorithms.halved_rule import unbalanced_share
from pymc_geodesic.algorithms.tuning_rules import Rule
from pymc_geodesic.tuning.findings import Findings

__all__ = ["calmed", "judged"]

# Share of the heat from which on halves are used, and unevenness of plain gradients' noise. Where
# posteriors are right the second was at most .4 with a hundred rows or more, outliers or not, and
# up to 1.3 with fewer; it was .7 to 1.6 where group effects that are multiples of their scale came
# out too narrow.
LARGEST_UNBALANCED, LARGEST_UNEVEN = 0.25, 0.5
# Share of the heat by which the noisiest direction may exceed the mean before the directions of
# curved points are balanced. Halves cost no rows, but a kernel with two gradients to compile.
LEAST_DIRECTED = 0.01


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


def calmed(found: Findings, rule: Rule, *, accuracy: float) -> Findings:
    r"""Decide whether halves of batches balance the noise of the points of curved manifolds.

    They do if the noise of a direction exceeds the mean by so much that one thermostat would leave
    positions along it too wide by more than a hundredth, :math:`\epsilon (V_{max} - \bar V) /
    2 \xi`.

    Parameters
    ----------
    found : Findings
        The last measurement.
    rule : callable
        Rule of the step size and the diffusion.
    accuracy : float
        Tolerated error, in posterior standard deviations.

    Returns
    -------
    Findings
        The same, with the choice.
    """
    noise = found.noise
    excess = noise._replace(unbalanced=max(noise.largest - noise.mean, 0.0))
    share = unbalanced_share(rule(found.demands(accuracy)), excess)
    return found._replace(calms=not found.halved and share > LEAST_DIRECTED)
