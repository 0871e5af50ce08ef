#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The continuation of a run on disk."""

from __future__ import annotations

import os
import pickle

from functools import partial
from typing import TYPE_CHECKING

import xarray as xr

from pymc.model import Model

from pymc_geodesic.rows.builders import given_model
from pymc_geodesic.runs.checkpoints.folder import folder_of
from pymc_geodesic.runs.checkpoints.remake import remake
from pymc_geodesic.runs.checkpoints.store import RunStore
from pymc_geodesic.runs.choose_step import StepArgument
from pymc_geodesic.runs.sample import sample
from pymc_geodesic.runs.until import UntilArgument

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["resume"]


def resume(
    path: str | os.PathLike[str],
    *,
    model: Model | None = None,
    step: StepArgument = None,
    draws: int | None = None,
    until: UntilArgument = None,
    checkpoint_every: float = 60.0,
    client: Client | None = None,
    progressbar: bool = True,
    compute_convergence_checks: bool = True,
    refine: bool = True,
) -> xr.DataTree:
    """Continue a run from its last checkpoint, without repeating its arguments.

    The file is unpickled: use only files that you trust.

    Parameters
    ----------
    path : path
        The ``checkpoint`` of :func:`sample`.
    model : pymc.Model, optional
        The same model, with the same data; by default that of the context.
    step : Step, type of Step or callable, optional
        The same step; needed only if it reads a stream of data, or cannot be pickled.
    draws : int, optional
        Total number of draws of each chain; by default as in the original call.
    until : mapping of str to float, optional
        See :func:`sample`; by default as in the original call, but none if ``draws`` are given.
    checkpoint_every : float
        Seconds from one checkpoint to the next.
    client : distributed.Client, optional
        A Dask cluster on which to continue, whatever the run was begun on.
    progressbar, compute_convergence_checks, refine : bool
        See :func:`sample`.

    Returns
    -------
    DataTree
        See :func:`sample`.

    Raises
    ------
    FileNotFoundError, ValueError
        If no run is there, or one of another model, data, step or version; the difference is named.

    Examples
    --------
    >>> import tempfile, pymc as pm, pymc_geodesic as pmg
    >>> path = tempfile.mkdtemp() + "/run.zarr"
    >>> with pm.Model() as model:
    ...     x = pm.Normal("x")
    ...     step = pmg.SGHMC(step_size=0.1, friction=1.0)
    ...     _ = pmg.sample(step=step, checkpoint=path, draws=20, tune=0, progressbar=False)
    >>> pmg.resume(path, model=model, draws=50, progressbar=False).posterior["x"].shape
    (4, 50)
    """
    given_model(model)
    store = RunStore(folder_of(path))
    state, arguments = store.state(), dict(store.attributes["arguments"])
    store.close()
    if step is None:
        # With the model of this run, which may be one with minibatches of the given one.
        step = partial(remake, pickle.loads(state)["step"])
    if draws is not None:
        arguments["draws"] = draws
    if until is not None or draws is not None:
        arguments["until"] = until
    return sample(
        **arguments,
        model=model,
        step=step,
        checkpoint=path,
        checkpoint_every=checkpoint_every,
        client=client,
        progressbar=progressbar,
        compute_convergence_checks=compute_convergence_checks,
        refine=refine,
    )
