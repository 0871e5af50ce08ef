#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Whether the draws of a run fit into memory or on the disk, before anything is sampled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pymc_geodesic.runs.deterministics import Traced, how_to_compute
from pymc_geodesic.runs.memory import available_bytes, free_disk, in_units
from pymc_geodesic.stages import log

if TYPE_CHECKING:
    from pymc_geodesic.runs.plan import Plan

__all__ = ["fit_in_memory"]


def fit_in_memory(plan: Plan) -> None:
    """Leave out Deterministics of which not all draws fit, and refuse free variables that do not.

    Parameters
    ----------
    plan : Plan
        The arguments of a run.

    Raises
    ------
    MemoryError
        If the free variables, or the Deterministics that were asked for, do not fit.
    """
    is_on_disk = plan.checkpoint is not None
    if plan.checkpoint is not None and plan.checkpoint.exists():
        # What it holds was decided when it was begun.
        return
    there = free_disk(plan.checkpoint) if plan.checkpoint is not None else available_bytes()
    if there is None:
        return
    n_draws = plan.n_chains * (plan.tuning.most + plan.sampling.most)
    each = _of_draw(plan.traced, is_on_disk=is_on_disk)
    needed = {name: n_draws * n for name, n in each.items()}
    other = 0 if plan.running is None else plan.running.n_bytes(plan.n_chains, plan.sampling.most)
    asked = set(plan.var_names or ())
    extra = [name for name in needed if not plan.traced.is_free(name) and name not in asked]
    for name in sorted(extra, key=needed.__getitem__, reverse=True):
        if sum(needed.values()) + other <= there:
            return
        plan.traced.leave_out(name)
        log.warning(
            f"`{name}` is left out of the result: its draws would take {in_units(needed.pop(name))}"
            f", and {in_units(there)} are free. {how_to_compute(name)}"
        )
    total = sum(needed.values()) + other
    if total > there:
        raise MemoryError(_refusal(plan, needed, total, there))


def _of_draw(traced: Traced, *, is_on_disk: bool) -> dict[str, int]:
    """Return the bytes of a draw of each variable, with PyMC's value beside it in memory."""
    found = dict(traced.n_bytes)
    if not is_on_disk:
        for name, n in traced.bytes_of_values.items():
            found[name] = found.get(name, 0) + n
    return found


def _refusal(plan: Plan, needed: dict[str, int], total: int, there: int) -> str:
    n_chains, n_draws = plan.n_chains, plan.sampling.most + plan.tuning.most
    what = f"{n_chains} chains of {n_draws:,} draws, which take {in_units(total)}"
    thin = plan.sampling.thin * -(-total // there)
    if needed:
        name = max(needed, key=needed.__getitem__)
        what += f", {in_units(needed[name])} of them for `{name}`"
    if plan.exact is not None:
        cure = "Draw less, or leave out variables by `var_names`."
    elif plan.checkpoint is not None:
        cure = f"Keep fewer draws by `thin={thin}`, or take a larger disk."
    else:
        cure = f"Keep fewer draws by `thin={thin}`, or all draws on disk by `checkpoint=...`."
        if needed:
            cure = f'Keep means and standard deviations by `keep={{"{name}": "mean"}}`. {cure}'
    room = f"draws that fit into the {in_units(there)} that are free"
    return f"`draws` expected {room}, got {what}. {cure}"
