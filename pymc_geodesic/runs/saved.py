#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Results on disk: save them, read them or those of an unfinished run, which is continued."""

from __future__ import annotations

import os
import pickle
import shutil
import warnings

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pandas as pd
import xarray as xr

from pymc.model import Model

from pymc_geodesic.rows.builders import given_model
from pymc_geodesic.runs.checkpoints.folder import folder_of, in_order, names_of
from pymc_geodesic.runs.checkpoints.remake import remake
from pymc_geodesic.runs.checkpoints.store import RunStore, has_states, read_draws, zarr_package
from pymc_geodesic.runs.choose_step import StepArgument
from pymc_geodesic.runs.sample import sample
from pymc_geodesic.runs.until import UntilArgument
from pymc_geodesic.validation import data_tree

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["read", "resume", "save"]

SUFFIX = ".nc"


def save(idata: xr.DataTree, path: str | os.PathLike[str]) -> None:
    """Save a result as it is: draws, statistics, data, coordinates and attributes.

    Xarray and ArviZ read it too. Saved is all or nothing.

    Parameters
    ----------
    idata : DataTree
        Result of ``pm.sample`` or ``pmg.sample``.
    path : path
        Where there is nothing yet. A name that ends in ``.nc`` is that of a file in the format
        netCDF 4, which needs ``pip install "pymc_geodesic[netcdf]"``; any other that of a folder in
        the format Zarr 3, which needs ``pip install "pymc_geodesic[checkpoint]"``.

    Raises
    ------
    FileExistsError
        If something is there.
    ImportError
        If the package for the format is not installed.
    ValueError
        If a coordinate or a variable cannot be written, with its name.

    See Also
    --------
    read : Reads it.

    Examples
    --------
    >>> import tempfile, arviz as az, numpy as np, pymc_geodesic as pmg
    >>> idata = az.from_dict({"posterior": {"x": np.zeros((4, 10))}})
    >>> path = tempfile.mkdtemp() + "/result.zarr"
    >>> pmg.save(idata, path)
    >>> pmg.read(path).identical(idata)
    True
    """
    data_tree(idata)
    to = folder_of(path, argument="path")
    if to.exists():
        raise FileExistsError(f"`path` expected a new place, got {str(to)!r}, which exists.")
    _require_storable(idata)
    with _made_beside(to) as made, warnings.catch_warnings():
        # Readers without consolidated metadata read each array separately.
        warnings.filterwarnings("ignore", message="Consolidated metadata is currently not part")
        if to.suffix == SUFFIX:
            _require_netcdf()
            idata.to_netcdf(made)
        else:
            zarr_package("save")
            idata.to_zarr(made, mode="w-", zarr_format=3)
            in_order(made, names_of(idata))


def read(path: str | os.PathLike[str]) -> xr.DataTree:
    """Read a result that :func:`save` has saved, or the draws of a run with checkpoints.

    A run may be read even while another process continues it. Nothing is unpickled. Values in a
    folder are loaded when they are used.

    Parameters
    ----------
    path : path
        The ``path`` of :func:`save` or the ``checkpoint`` of :func:`sample`.

    Returns
    -------
    DataTree
        Like the result of :func:`sample`. Of a run it has the draws up to the last checkpoint as
        they were made, which :func:`refine` corrects, and is empty before the first kept draw.

    Raises
    ------
    FileNotFoundError, ValueError
        If no result is there.

    Examples
    --------
    >>> import tempfile, pymc as pm, pymc_geodesic as pmg
    >>> path = tempfile.mkdtemp() + "/run.zarr"
    >>> with pm.Model():
    ...     x = pm.Normal("x")
    ...     step = pmg.SGHMC(step_size=0.1, friction=1.0)
    ...     _ = pmg.sample(step=step, checkpoint=path, draws=20, tune=0, progressbar=False)
    >>> pmg.read(path).posterior["x"].shape
    (4, 20)
    """
    found = folder_of(path, argument="path")
    if found.is_file():
        _require_netcdf()
        with xr.open_datatree(found) as tree:
            return tree.load()
    if (found / "zarr.json").is_file() and not has_states(found):
        tree = xr.open_datatree(found, engine="zarr")
        if "posterior" in tree.children:
            return tree
    tree, _ = read_draws(found)
    return tree


@contextmanager
def _made_beside(path: Path) -> Iterator[Path]:
    """Return a temporary place, which becomes the path if nothing fails."""
    path.parent.mkdir(parents=True, exist_ok=True)
    made = path.with_name(f".{path.name}.{uuid4().hex}{path.suffix}")
    try:
        yield made
        made.rename(path)
    finally:
        if made.is_dir():
            shutil.rmtree(made)
        made.unlink(missing_ok=True)


def _require_netcdf() -> None:
    if find_spec("netCDF4") is None and find_spec("h5netcdf") is None:
        raise ImportError(
            "`path` expected a package for the format netCDF 4, of which none is installed. "
            'Install one with `pip install "pymc_geodesic[netcdf]"`, or use a name that does not '
            "end in `.nc`."
        )


def _require_storable(idata: xr.DataTree) -> None:
    """Raise an error for what no format has."""
    for name, node in idata.children.items():
        for dim, index in node.to_dataset().xindexes.items():
            labels = index.to_pandas_index()
            is_of_tuples = labels.dtype == object and isinstance(next(iter(labels), ""), tuple)
            if isinstance(labels, pd.MultiIndex) or is_of_tuples:
                raise ValueError(
                    f"`idata` expected coordinates that are numbers, texts or dates, got tuples in "
                    f"{str(dim)!r} of the group {name!r}. Make texts of them: "
                    f'`idata = idata.assign_coords({dim}=["a, b", ...])`.'
                )


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
