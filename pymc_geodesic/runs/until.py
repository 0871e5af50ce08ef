#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""When a run has drawn enough: by the errors of its means, effective draws, or seconds.

A rule that looks again and again, and stops at the first success, stops where errors happen to look
small. So it looks seldom, and counts the error of what it sees. With :math:`n` effective draws, of
which about :math:`\sqrt{n}` are uncertain, it takes the Monte Carlo standard error of a mean as

.. math:: \frac{1}{\sqrt{n}} \left(1 + \frac{2}{\sqrt{n}}\right)

standard deviations. In 1,000 simulated runs each of one autoregressive variable, with
autocorrelations from 0 to .97, means were then wrong by more than this in 26 to 31 per cent, and by
more than 1.96 times this in 3 to 5 per cent; without the second factor up to 37 and 8 per cent.
"""

from __future__ import annotations

import math
import time

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr

from pymc.model import Model

from pymc_geodesic.entry_names import entry_name
from pymc_geodesic.kernel.representatives import without_seam
from pymc_geodesic.monte_carlo import effective_sizes, rank_statistics
from pymc_geodesic.runs.deterministics import Traced
from pymc_geodesic.runs.gradients_at_draws import DrawGradients
from pymc_geodesic.runs.refined import CorrectedError
from pymc_geodesic.runs.running_moments import manifolds_of
from pymc_geodesic.runs.traces import labels_of
from pymc_geodesic.sampling.run import Arrays
from pymc_geodesic.stages import log
from pymc_geodesic.validation import mapping, one_of, positive

__all__ = ["Until", "UntilArgument", "until_of"]

UntilArgument = Mapping[str, float] | None
"""What ends a run, by name: the first that is met."""

GOALS = ("mcse", "ess", "seconds")
# Draws of each chain at the first look, before which a run is never ended, and those at a look per
# draw at the one before.
FIRST, GROWTH = 50, 1.5
# Entries that are looked at: a look at 1,000 draws of four chains then takes a fifth of a second.
MOST_ENTRIES = 500
# Standard errors by which the uncertainty of effective draws lowers them.
MARGIN = 2.0


class _Worst(NamedTuple):
    """The entry with the fewest effective draws; NaN if draws are too few, or not numbers."""

    effective: float
    entry: str

    @property
    def error(self) -> float:
        """Monte Carlo standard error of its mean, in standard deviations."""
        return 1 / math.sqrt(self.effective)


class Until:
    """Decide when a run has drawn enough.

    Parameters
    ----------
    goals : mapping of str to float
        What ends the run; see :func:`until_of`.
    model : Model
        The model.
    names : sequence of str
        Free variables whose draws are kept.
    began : float
        When the run began, by ``time.perf_counter``.

    Attributes
    ----------
    goals : dict of str to float
        What ends the run.
    met : str
        The goal that is met; empty before.
    traced : Traced
        The variables.
    correct : callable or None
        Returns the largest error of a mean after a correction of the draws so far.
    """

    def __init__(
        self, goals: Mapping[str, float], *, model: Model, names: Sequence[str], began: float
    ) -> None:
        self.goals, self.met = dict(goals), ""
        self.traced, self._labels = Traced(model, names), labels_of(model)
        self.correct: Callable[[], CorrectedError | None] | None = None
        self._corrected: CorrectedError | None = None
        self._manifolds = manifolds_of(model, names)
        self._parts: dict[str, list[np.ndarray]] = {name: [] for name in names}
        self._chosen: dict[str, np.ndarray] = {}
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._deadline = began + self.goals.get("seconds", math.inf)
        self._n_draws = 0

    def recall(self, idata: xr.DataTree) -> None:
        """Add the draws of an earlier process, and decide."""
        posterior = idata["posterior"].to_dataset()
        named = {name: posterior[self._labels.name(name)] for name in self._parts}
        self._add({k: x.transpose("chain", "draw", ...).to_numpy() for k, x in named.items()})

    def put(self, values: Arrays, shape: tuple[int, int]) -> None:
        """Add draws, given PyMC's values of shape ``(chain, draw, ...)``, and decide."""
        self._add(self.traced(values, shape))

    def n_draws(self, rate: float) -> int:
        """Return how many draws can be made until the next decision, at so many per second."""
        most = _next_look(self._n_draws) - self._n_draws
        if "seconds" not in self.goals or self._n_draws < FIRST:
            return most
        seconds = self._deadline - time.perf_counter()
        return max(1, int(min(most, rate * seconds))) if seconds > 0 else 1

    @property
    def gradients(self) -> DrawGradients | None:
        """Gradients at some of the draws of the last look, if it has asked for any."""
        return None if self._corrected is None else self._corrected.gradients

    def log(self) -> None:
        """Say what was met, or that the draws were used up before."""
        made, what = f"{self._n_draws:,} draws of each chain", self._described()
        if self.met == "seconds":
            seconds = f"{self.goals['seconds']:g} seconds after the run began"
            log.info(f"Stopped after {made}, {seconds}: {what}.")
        elif self.met:
            log.info(f"Stopped after {made}, which meet `until`: {what}.")
        elif self.goals.keys() - {"seconds"}:
            log.warning(
                f"All {made} do not meet `until`: {what}. Increase `draws`, or `n_steps`, the "
                "transitions per draw."
            )

    def _add(self, draws: Mapping[str, np.ndarray]) -> None:
        if not self._chosen:
            self._shapes = {name: x.shape[2:] for name, x in draws.items()}
            self._chosen = _chosen({name: math.prod(x) for name, x in self._shapes.items()})
        for name, entries in self._chosen.items():
            x = draws[name]
            self._parts[name].append(x.reshape(*x.shape[:2], -1)[:, :, entries])
        self._n_draws += next(iter(draws.values())).shape[1]
        if _next_look(self._n_draws - 1) == self._n_draws:
            self.met = next((goal for goal in ("mcse", "ess") if self._is_reached(goal)), "")
        if not self.met and self._n_draws >= FIRST and time.perf_counter() >= self._deadline:
            self.met = "seconds"

    def _is_reached(self, goal: str) -> bool:
        if goal not in self.goals:
            return False
        worst, asked = self._worst(goal), self.goals[goal]
        if goal == "ess":
            return worst.effective >= asked
        return worst.error <= asked or self._is_reached_by_correction(asked)

    def _is_reached_by_correction(self, asked: float) -> bool:
        if self.correct is None:
            return False
        self._corrected = found = self.correct()
        return found is not None and _surely_less(found) <= asked

    def _described(self) -> str:
        """Describe the entry that is furthest from a goal."""
        if self.met == "ess" or (not self.met and "mcse" not in self.goals):
            worst = self._worst("ess")
            return f"the smallest effective sample size is {worst.effective:,.0f}, of {worst.entry}"
        worst, after = self._worst("mcse"), ""
        error, entry = worst.error, worst.entry
        if self._corrected is not None and not error <= _surely_less(self._corrected):
            error, after = _surely_less(self._corrected), ", after the correction of the draws"
            entry = self._entry(self._corrected.name, self._corrected.number)
        return (
            f"the largest Monte Carlo standard error of a mean is {error:.2g} standard deviations, "
            f"of {entry}{after}"
        )

    def _worst(self, goal: str) -> _Worst:
        """Return the worst entry: by draws for errors of means, by ranks as in ArviZ otherwise."""
        found = []
        for name, parts in self._parts.items():
            # Angles and axes are compared where they do not jump.
            x = without_seam(self._manifolds.get(name), np.concatenate(parts, axis=1))
            n = effective_sizes(x) if goal == "mcse" else rank_statistics(x).effective_size
            i = int(np.where(np.isnan(n), -np.inf, n).argmin())
            found.append(_Worst(_surely(float(n[i])), self._entry(name, self._chosen[name][i])))
        unknown = [worst for worst in found if math.isnan(worst.effective)]
        return unknown[0] if unknown else min(found)

    def _entry(self, name: str, number: int) -> str:
        """Name an entry by its coordinates."""
        new, index = self._labels.name(name), np.unravel_index(number, self._shapes[name])
        dims = self._labels.dims.get(new, [""] * len(index))
        labels = [self._labels.coords.get(dim) for dim in dims]
        place = (i if x is None else x[i] for i, x in zip(index, labels, strict=True))
        return f"`{entry_name(new, place)}`"


def until_of(until: UntilArgument, *, model: Model, traced: Traced, began: float) -> Until | None:
    """Read ``until``.

    Raises
    ------
    ValueError
        If it is not a mapping of some of ``"mcse"``, ``"ess"`` and ``"seconds"`` to positive
        numbers, or if no draws of a free variable are kept.
    """
    if until is None:
        return None
    what = 'numbers by name, such as {"mcse": 0.05}'
    if not mapping("until", until, what=what):
        raise ValueError(f"`until` expected {what}, got none. Leave it out to make all draws.")
    goals = {one_of("until", name, GOALS): positive("until", x) for name, x in until.items()}
    names = [x.name for x in traced.variables if traced.is_free(x.name)]
    if not names:
        raise ValueError(
            "`until` expected a free variable whose draws are kept, got none. Name one in "
            "`var_names`."
        )
    return Until(goals, model=model, names=names, began=began)


def _surely_less(found: CorrectedError) -> float:
    return found.error * (1 + MARGIN / math.sqrt(found.gradients.n_draws))


def _surely(effective: float) -> float:
    return effective / (1 + MARGIN / math.sqrt(effective)) ** 2


def _next_look(n_draws: int) -> int:
    """Return after how many draws the next look is. It depends on nothing else, for restarts."""
    look = FIRST
    while look <= n_draws:
        look = math.ceil(GROWTH * look)
    return look


def _chosen(sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
    """Choose entries to look at: all of small variables, and evenly spaced ones of large ones."""
    found, left = {}, MOST_ENTRIES
    for i, name in enumerate(sorted(sizes, key=lambda name: sizes[name])):
        n = min(sizes[name], max(1, left // (len(sizes) - i)))
        if n:
            found[name] = np.linspace(0, sizes[name] - 1, n).round().astype(int)
            left -= n
    return found
