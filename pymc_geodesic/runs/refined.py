#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A run corrected by gradients of all rows, and the errors of one that ends now and is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xarray as xr

from pymc.model import Model
from pymc.stats.convergence import SamplerWarning

from pymc_geodesic.refinement.control_variates import corrected_moments
from pymc_geodesic.refinement.coordinates import Coordinates
from pymc_geodesic.refinement.moments import Correction, Figures, correction_of, largest_changes
from pymc_geodesic.runs.deterministics import Traced
from pymc_geodesic.runs.gradients_at_draws import (
    ENOUGH,
    DrawGradients,
    batches_of_run,
    gradients_of_run,
)
from pymc_geodesic.runs.traces import labels_of
from pymc_geodesic.sampling.advance import Sampler
from pymc_geodesic.sampling.stochastic import StochasticSampler
from pymc_geodesic.stages import stage

if TYPE_CHECKING:
    from pymc_geodesic.runs.run_loop import Stored

__all__ = [
    "RAW",
    "REFINEMENT",
    "CorrectedError",
    "Refined",
    "as_drawn",
    "corrected_error",
    "errors_of",
    "has_constant_step",
    "of_raw_draws",
    "refined",
    "unclear",
]

# Groups of the draws as they were made, and of the figures of their correction.
RAW, REFINEMENT = "raw_posterior", "refinement"
UNKNOWN = "Whether they do now is not certain."
NOT_NEARER = "Nothing was corrected: corrections do not come nearer to the posterior."
# Rounds of correction, and what a last one may change of means, in standard deviations, and of
# standard deviations: what one round leaves of a Gaussian posterior is nothing.
MOST_ROUNDS, ACCEPTED = 4, 0.15


class Refined(NamedTuple):
    """A run with corrected draws.

    Attributes
    ----------
    idata : DataTree
        The run; as drawn if corrections do not end.
    text : str
        What was corrected, and by how much at most.
    shift, change : float
        The last correction of a mean, in standard deviations, and of a standard deviation.
    """

    idata: xr.DataTree
    text: str
    shift: float
    change: float

    @property
    def is_unclear(self) -> bool:
        """Whether gradients at the corrected draws correct these again."""
        return self.shift > ACCEPTED or self.change > ACCEPTED


@stage("Correcting the draws")
def refined(idata: xr.DataTree, found: DrawGradients, traced: Traced) -> Refined | None:
    """Return a run with corrected draws; None if nothing can be corrected.

    Draws that are far off are corrected again, with gradients at the corrected draws.

    Parameters
    ----------
    idata : DataTree
        The run as drawn.
    found : DrawGradients
        All its draws as points, and gradients of all rows at some of them.
    traced : Traced
        The variables that the run returns.
    """
    raw = idata["posterior"].to_dataset()
    if found.everywhere[0].shape[:2] != (raw.sizes["chain"], raw.sizes["draw"]):
        return None
    result: Refined | None = None
    for _ in range(MOST_ROUNDS):
        step = _step(found)
        if step is None:
            # Gradients at corrected draws know nothing better.
            return result and result._replace(shift=0.0, change=0.0)
        moved = step.coordinates.moved(step.y, step.correction)
        shift, change = step.correction.largest
        if result is not None and max(shift, change) > max(result.shift, result.change):
            # The draws are too far off for corrections to come nearer.
            return Refined(idata, NOT_NEARER, shift, change)
        corrected = _with_values(raw, found, moved, traced)
        figures = Figures(step.correction, step.y).of(raw, corrected)
        figures.attrs |= {"n_draws": found.n_draws, "rows": found.evaluate.rows}
        figures.attrs["not_corrected"] = ", ".join(step.coordinates.left_out)
        tree = idata.copy(deep=False)
        for name, group in (("posterior", corrected), (RAW, raw), (REFINEMENT, figures)):
            tree[name] = xr.DataTree(group)
        names = [v.name for v in found.variables if v.name in figures]
        result = Refined(tree, _sentence(figures, names), shift, change)
        if not result.is_unclear:
            return result
        found = found.evaluate(moved)
    return result and Refined(idata, NOT_NEARER, result.shift, result.change)


class _Step(NamedTuple):
    """One correction: all draws in its coordinates, and the map of them."""

    coordinates: Coordinates
    y: np.ndarray
    correction: Correction


def _step(found: DrawGradients) -> _Step | None:
    """Return the correction that gradients give; None if all draws stay where they are."""
    coordinates = Coordinates(found.variables, found.everywhere)
    if not len(coordinates):
        return None
    draws = coordinates.with_forces(found.points, found.gradients)
    if not np.isfinite(draws.force).all():
        return None
    y = coordinates.of_all()
    correction = correction_of(y, corrected_moments(draws))
    return _Step(coordinates, y, correction) if correction.is_any else None


def _with_values(
    raw: xr.Dataset, found: DrawGradients, moved: list[np.ndarray], traced: Traced
) -> xr.Dataset:
    """Return the variables of a result at other points, Deterministics included."""
    values = traced.kept(found.maps.values(moved), moved[0].shape[:2])
    corrected = raw.copy()
    for name in [name for name in raw.data_vars if name in values]:
        array = raw[name].transpose("chain", "draw", ...)
        corrected[name] = array.copy(data=values[str(name)].astype(array.dtype))
    return corrected


def unclear(found: Refined) -> str:
    """Say that draws are too far off to be corrected."""
    return (
        "These draws do not follow the posterior: gradients at the corrected draws correct means "
        f"again by up to {found.shift:.2g} sd and standard deviations by up to "
        f"{100 * found.change:.0f} per cent. Take shorter steps or larger batches, or write the "
        "model with other parameters."
    )


def of_raw_draws(warnings: Sequence[SamplerWarning], *, is_certified: bool) -> list[SamplerWarning]:
    """Return what is said of draws that are corrected.

    What was wrong with them is a warning, and no more than news if those returned are certified.
    """
    if is_certified:
        needed = "The correction was needed: before it, {}."
        said = [needed.format(x.extra) if x.extra else x.message for x in warnings]
        return [
            replace(x, message=text, level="info") for x, text in zip(warnings, said, strict=True)
        ]
    before = "These draws do not follow", "Before they were corrected, these draws did not follow"
    return [
        replace(x, message=f"{x.message.replace(*before)} {UNKNOWN}", level="warn")
        if x.message.startswith(before[0])
        else x
        for x in warnings
    ]


def _sentence(figures: xr.Dataset, names: list[str]) -> str:
    """Say by how much free variables were corrected at most: others may have no deviation."""
    (shift, mean_of), (change, sd_of) = largest_changes(figures[names])
    means = f"means by at most {shift:.2g} sd (`{mean_of}`)"
    deviations = f"standard deviations by at most {100 * change:.0f} per cent (`{sd_of}`)"
    said = [text for text, is_any in ((means, shift > 0), (deviations, change > 0)) if is_any]
    return (
        f"Corrected with the gradients of {figures.attrs['rows']} at {figures.attrs['n_draws']} "
        f"draws: {', '.join(said)}."
    )


def as_drawn(idata: xr.DataTree) -> xr.DataTree:
    """Return a run with the draws as they were made, for what judges the sampler."""
    if RAW not in idata.children:
        return idata
    tree = idata.copy(deep=False)
    tree["posterior"] = xr.DataTree(tree[RAW].to_dataset())
    for name in (RAW, REFINEMENT):
        del tree[name]
    return tree


def errors_of(idata: xr.DataTree, name: str, coords: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return the standard errors of the corrected mean and deviation of a variable, if it has."""
    if REFINEMENT not in idata.children or name not in idata[REFINEMENT].data_vars:
        return {}
    found = idata[REFINEMENT].to_dataset()[name]
    found = found.sel({dim: x for dim, x in coords.items() if dim in found.dims})
    return {figure: found.sel(figure=figure).to_numpy() for figure in ("mcse_mean", "mcse_sd")}


def has_constant_step(idata: xr.DataTree) -> bool:
    """Return whether draws have equal weights, as those of a decreasing step size have not."""
    stats = idata["sample_stats"]
    return "step_size" not in stats or not np.ptp(stats["step_size"].to_numpy(), axis=1).any()


# Of the duration of a run so far, what gradients at its draws may take, and how many.
SHARE, MOST = 0.15, 400


class CorrectedError(NamedTuple):
    """The largest standard error of a mean, in standard deviations.

    Attributes
    ----------
    error : float
        The error.
    name, number : str and int
        The variable of the model, and the entry among all of it.
    gradients : DrawGradients
        From which it is known.
    """

    error: float
    name: str
    number: int
    gradients: DrawGradients


def corrected_error(
    kept: Stored, sampler: Sampler, traced: Traced, *, model: Model, spent: Callable[[], float]
) -> CorrectedError | None:
    """Return the error of a run so far, None if it cannot be corrected in time.

    Parameters
    ----------
    kept : InMemory or Checkpoint
        The draws.
    sampler : Sampler
        It has made them.
    traced : Traced
        The free variables whose means matter.
    model : Model
        The model.
    spent : callable
        Returns the seconds that the run has taken so far.
    """
    idata = kept.datatree(plain=True)
    if not isinstance(sampler, StochasticSampler) or sampler.tuning is None or idata is None:
        return None
    if not has_constant_step(idata):
        return None
    seconds = SHARE * spent()
    found, _ = gradients_of_run(
        idata, sampler, model, seconds=seconds, most=MOST, is_worth_it=True, fewest=ENOUGH
    )
    if found is None:
        found = batches_of_run(idata, sampler, model, seconds=seconds)
    better = None if found is None else refined(idata, found, traced)
    if found is None or better is None or better.is_unclear:
        return None
    figures, labels = better.idata[REFINEMENT].to_dataset(), labels_of(model)
    errors = []
    for x in traced.variables:
        figure = figures[labels.name(x.name)]
        error, sd = (figure.sel(figure=key).to_numpy().ravel() for key in ("mcse_mean", "sd"))
        relative = error / np.maximum(sd, np.finfo(float).tiny)
        number = int(relative.argmax())
        errors.append(CorrectedError(float(relative[number]), x.name, number, found))
    return max(errors, key=lambda x: x.error)
