#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Simulation-based calibration of a model and of the arguments with which it is sampled."""

from __future__ import annotations

import json
import os

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from pymc.model import Model
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from pymc_geodesic.calibration.result import result_of
from pymc_geodesic.calibration.simulations import (
    N_RANKED,
    Simulated,
    Simulations,
    on_workers,
    simulated,
)
from pymc_geodesic.potential.full_data import full_data
from pymc_geodesic.potential.minibatch import find_batch_sources, has_minibatch
from pymc_geodesic.rows.builders import given_model
from pymc_geodesic.runs.checkpoints.folder import folder_of
from pymc_geodesic.runs.checkpoints.identity import digest, identity_of_model, require_same
from pymc_geodesic.runs.cluster.on_workers import require_client
from pymc_geodesic.runs.sample import sample
from pymc_geodesic.step_methods.step import Step
from pymc_geodesic.validation import flag, mapping, whole

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["Kept", "calibrate"]


# Arguments of `pmg.sample` that differ between simulations, or are those of all of them.
OURS = "model", "random_seed", "initvals", "progressbar", "checkpoint", "client", "keep"


def calibrate(
    model: Model | Any | None = None,
    *,
    simulations: int = 200,
    sample_kwargs: Mapping[str, Any] | None = None,
    cores: int | None = None,
    client: Client | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    random_seed: int | None = None,
    progressbar: bool = True,
) -> xr.DataTree:
    """Check by simulation that a model is sampled right.

    Each simulation draws parameters from the prior and data from the model, samples the posterior
    of these data with :func:`sample`, and ranks the parameters among 99 of its draws. If the draws
    are those of the posterior, all ranks are equally likely (simulation-based calibration).

    Parameters
    ----------
    model : pymc.Model, bambi.Model or object, optional
        The model, with ``pm.Minibatch`` or of all rows; by default that of the context. Its
        predictors stay, its observed values are replaced.
    simulations : int
        Number of simulations. 200 of them find means that are .4 standard deviations off, and draws
        that are a quarter too narrow.
    sample_kwargs : mapping of str to object, optional
        Arguments of :func:`sample`, such as ``{"draws": 250, "tune": 500}``. A ``step`` is a class
        or a function that returns a step.
    cores : int, optional
        Number of processes; by default one for each processor.
    client : distributed.Client, optional
        A Dask cluster, whose workers have one thread each, in place of ``cores``.
    checkpoint : path, optional
        A folder to which each simulation is written. If it exists, the same call continues where it
        stopped, and makes more of them if ``simulations`` is larger.
    random_seed : int, optional
        Source of all simulations, whatever ``cores``.
    progressbar : bool
        Whether to show progress.

    Returns
    -------
    DataTree
        ``prior_sbc`` has for each free variable, along ``draw``, the share of posterior draws below
        the true value: a rank, and a random number within it, so that all values from 0 to 1 are
        equally likely. ``arviz.plot_ecdf_pit`` shows it. Its attributes ``verdict``,
        ``verdict_reason`` and ``p_value`` say what follows. ``simulations`` has the processor
        seconds and the error of each.

    Raises
    ------
    ValueError, TypeError
        If a variable cannot be drawn from its prior, or the model has a Potential, which no prior
        draws know; for a ``checkpoint`` of another calibration; as of :func:`sample`.

    Notes
    -----
    Ranks of parameters cannot see a sampler that ignores the data: draws of the prior are
    calibrated. Chains that are worth fewer than 99 independent draws are not, because ranks at the
    ends are too likely.

    References
    ----------
    Talts, S., Betancourt, M., Simpson, D., Vehtari, A. and Gelman, A. (2018). Validating Bayesian
    inference algorithms with simulation-based calibration. arXiv:1804.06788.

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> with pm.Model() as model:
    ...     mean = pm.Normal("mean")
    ...     _ = pm.Normal("y", mean, 1.0, observed=np.zeros(1_000))
    >>> lengths = {"draws": 100, "tune": 200}
    >>> found = pmg.calibrate(
    ...     model, simulations=3, sample_kwargs=lengths, cores=1, random_seed=1, progressbar=False
    ... )
    >>> found["prior_sbc"]["mean"].shape
    (1, 3)
    """
    whole("simulations", simulations)
    given, settings = given_model(model), _settings(sample_kwargs or {})
    if cores is not None:
        whole("cores", cores)
    if client is not None:
        require_client(client)
    _require_generative(given)
    if has_minibatch(given):
        sizes = [source.batch_size for source in find_batch_sources(given)]
        # NUTS takes all rows.
        settings = settings if settings.get("exact") else {"batch_size": max(sizes)} | settings
        given = full_data(given)
    kept = Kept(checkpoint, given, settings, random_seed)
    found = {i: one for i, one in kept.read().items() if i < simulations}
    missing = [i for i in range(simulations) if i not in found]
    made = Simulations(given, settings, kept.seed)
    if client is None:
        new = simulated(made, missing, cores=cores)
    else:
        new = on_workers(made, missing, client)
    with _progress(simulations, len(found), visible=flag("progressbar", progressbar)) as advance:
        for number, one in new if missing else ():
            kept.write(number, one)
            found[number] = one
            advance()
    return result_of([found[i] for i in range(simulations)], given)


def _settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments of :func:`sample`, which may be those of any simulation."""
    found = dict(mapping("sample_kwargs", given, what="a mapping of arguments of `pmg.sample`"))
    if taken := [name for name in OURS if name in found]:
        raise ValueError(
            f"`sample_kwargs` expected arguments that are the same in all simulations, got "
            f"{taken[0]!r}. Leave it out."
        )
    if isinstance(found.get("step"), Step):
        raise ValueError(
            f"`sample_kwargs` expected a class or a function as `step`, because each simulation "
            f"has its own model, got {found['step']!r}. Pass `functools.partial(pmg.SGHMC, "
            "step_size=..., friction=...)`."
        )
    every = {name: x.default for name, x in signature(sample).parameters.items()} | found
    draws = every["draws"] // every["thin"] * every["chains"]
    if draws < N_RANKED:
        raise ValueError(
            f"`sample_kwargs` expected at least {N_RANKED} draws of all chains together, among "
            f"which true values are ranked, got {draws}. Increase `draws`."
        )
    return found


def _require_generative(model: Model) -> None:
    if not model.observed_RVs:
        raise ValueError(
            "`model` expected an observed variable, whose data are simulated, got none. Pass "
            "`observed=` to the likelihood."
        )
    if model.potentials:
        names = ", ".join(f"`{x.name}`" for x in model.potentials)
        raise ValueError(
            f"`model` expected no `pm.Potential`, which draws of the prior do not know, got "
            f"{names}. Write it as a distribution."
        )


@contextmanager
def _progress(n: int, n_done: int, *, visible: bool) -> Iterator[Callable[[], None]]:
    """Show a bar; what is returned advances it by a simulation."""
    columns = TextColumn("Simulations"), BarColumn(bar_width=10), MofNCompleteColumn()
    with Progress(*columns, TimeRemainingColumn(compact=True), disable=not visible) as bar:
        task = bar.add_task("", total=n, completed=n_done)
        yield lambda: bar.advance(task)


IDENTITY = "calibration.json"


class Kept:
    """A folder of simulations, which are those of one model, its arguments and a seed.

    Parameters
    ----------
    path : path, optional
        The folder; by default nothing is kept.
    model : Model
        The model.
    settings : mapping
        Arguments of :func:`sample`.
    random_seed : int, optional
        The seed; by default that of the folder, or a new one.

    Attributes
    ----------
    seed : int
        The seed.

    Raises
    ------
    ValueError
        If the folder holds other simulations, or something else.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        model: Model,
        settings: Mapping[str, Any],
        random_seed: int | None,
    ) -> None:
        self._folder = None if path is None else folder_of(path)
        self.seed = _seed(random_seed)
        if self._folder is None:
            return
        expected = identity_of_model(model) | {
            "`sample_kwargs`": digest(settings),
            "`random_seed`": self.seed,
        }
        there = self._folder / IDENTITY
        if there.is_file():
            found = json.loads(there.read_text())
            if random_seed is None:
                self.seed = expected["`random_seed`"] = found["`random_seed`"]
            require_same(expected, found, path=str(self._folder))
            return
        if self._folder.exists() and any(self._folder.iterdir()):
            raise ValueError(
                f"`checkpoint` expected a new folder, or one of a calibration, got "
                f"{str(self._folder)!r}, which holds something else. Pass another path."
            )
        self._folder.mkdir(parents=True, exist_ok=True)
        _write(there, expected)

    def read(self) -> dict[int, Simulated]:
        """Return the simulations that are there."""
        files = [] if self._folder is None else self._folder.glob("[0-9]*.json")
        return {int(file.stem): Simulated(**json.loads(file.read_text())) for file in files}

    def write(self, number: int, found: Simulated) -> None:
        """Keep a simulation."""
        if self._folder is not None:
            _write(self._folder / f"{number}.json", found._asdict())


def _seed(random_seed: int | None) -> int:
    if random_seed is None:
        # As many digits as other programs read from JSON.
        return int(np.random.SeedSequence().generate_state(1)[0])
    return whole("random_seed", random_seed, least=0)


def _write(file: Path, content: Mapping[str, Any]) -> None:
    """Write a file as a whole or not at all."""
    new = file.with_suffix(".new")
    new.write_text(json.dumps(content))
    new.replace(file)
