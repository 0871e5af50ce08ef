#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The model that a run samples: the given one, or one with minibatches of its rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from pymc.model import Model

from pymc_geodesic.potential.minibatch import has_minibatch
from pymc_geodesic.rows.convert import BATCH_SIZE, converted
from pymc_geodesic.runs.choose_step import StepArgument
from pymc_geodesic.runs.deterministics import how_to_compute
from pymc_geodesic.sampling.log import log
from pymc_geodesic.step_methods.step import Step

__all__ = ["Sampled", "sampled_model"]


@dataclass(frozen=True)
class Sampled:
    """The model that a run samples.

    Attributes
    ----------
    model : Model
        The given model, or one with minibatches.
    batch_size : int, optional
        Rows of a batch of a model that was converted.
    from_rows : list of str
        Deterministics of the given model for which all rows are needed at every draw.
    """

    model: Model
    batch_size: int | None = None
    from_rows: list[str] = field(default_factory=list)

    def log(self, *, var_names: Sequence[str] | None, unsaid: Collection[str] = ()) -> None:
        """Say what is sampled, and what the result lacks but for some names."""
        if self.batch_size is None:
            return
        log.info(
            "A transition reads a batch of rows: the run samples "
            f"`pmg.minibatch(model, batch_size={self.batch_size})`."
        )
        lacking = [name for name in self.from_rows if name not in unsaid]
        if var_names is None and lacking:
            listed = ", ".join(f"`{name}`" for name in lacking)
            log.info(
                f"{listed} would be computed from all rows at every draw, and so the result is "
                f"without. {how_to_compute(*lacking)}"
            )


def sampled_model(model: Model, step: StepArgument, batch_size: int | None) -> Sampled:
    """Return the model that a run samples.

    A model without minibatches is converted if a step is chosen here, or for a ``batch_size``.

    Raises
    ------
    DependentRowsError
        If its rows depend on each other.
    ValueError
        If it has no more rows than a batch; for a ``batch_size`` of a model or a step that has its
        own.
    """
    if has_minibatch(model) or isinstance(step, Step):
        if batch_size is not None:
            own = "step already exists" if isinstance(step, Step) else "model has `pm.Minibatch`"
            raise ValueError(
                f"`batch_size` expected None because the {own}, got {batch_size!r}. Leave it out."
            )
        return Sampled(model)
    if step is not None and batch_size is None:
        return Sampled(model)
    batch_size = BATCH_SIZE if batch_size is None else batch_size
    found = converted(model, batch_size=batch_size)
    return Sampled(found.model, batch_size, found.from_rows)
