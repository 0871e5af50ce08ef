#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Simulations, here or in other processes: parameters and data, and ranks of the parameters."""

from __future__ import annotations

import logging
import os
import time
import warnings

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from threading import local
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

import numpy as np
import pytensor.tensor as pt

from pymc.exceptions import SamplingError
from pymc.model import Model
from pymc.model.fgraph import ModelObservedRV
from pymc.pytensorf import find_rng_nodes, reseed_rngs
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph

from pymc_geodesic.kernel.interpreted import Interpreted
from pymc_geodesic.kernel.jax.processes import FreshProcess
from pymc_geodesic.potential.model_graphs import graph_of_model, model_of_graph, renew
from pymc_geodesic.runs.cluster.on_workers import required_processes
from pymc_geodesic.runs.cluster.worker import RETRIES, held, plugin_of
from pymc_geodesic.runs.sample import sample
from pymc_geodesic.stages import log

if TYPE_CHECKING:
    from distributed import Client


__all__ = ["N_RANKED", "Simulated", "Simulations", "on_workers", "ranks_among", "simulated"]

# Ranks are 0 to 99. A run is seldom worth less than a few hundred independent draws.
N_RANKED = 99


class Simulated(NamedTuple):
    """What a simulation has found.

    Attributes
    ----------
    shares : dict of str to list
        Of draws below the true value, for each entry of each variable of which there are draws.
    seconds : float
        Processor seconds.
    error : str
        Why the run has failed; empty if it has not.
    """

    shares: dict[str, Any]
    seconds: float
    error: str = ""


def ranks_among(draws: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Rank true values among 99 draws that are as far apart as possible.

    Parameters
    ----------
    draws : ndarray, shape (chains, draws, ...)
        At least 99 of all chains together.
    truth : ndarray
        The values, of the shape of one draw.
    """
    pooled = draws.reshape(-1, *draws.shape[2:])
    chosen = np.linspace(0, len(pooled) - 1, N_RANKED).round().astype(int)
    return np.sum(pooled[chosen] < truth, axis=0)


class Simulations:
    """Draw parameters and data from a model, and sample the posterior of these data.

    Parameters
    ----------
    model : Model
        With all of its data, which are replaced.
    arguments : mapping
        Further arguments of :func:`sample`.
    seed : int
        Source of all simulations: each depends on the seed and its number only.
    """

    def __init__(self, model: Model, arguments: Mapping[str, Any], seed: int) -> None:
        self._model, self._arguments, self._seed = model, dict(arguments), seed
        variables = [*model.free_RVs, *model.observed_RVs]
        transforms = {rv: model.rvs_to_transforms.get(rv) for rv in model.free_RVs}
        self._names = [x.name for x in variables]
        self._moved = [rv.name for rv, transform in transforms.items() if transform is not None]
        moved = [
            transform.forward(rv, *rv.owner.inputs)
            for rv, transform in transforms.items()
            if transform is not None
        ]
        self._generators = find_rng_nodes(variables)
        self._drawn = Interpreted([], [*variables, *moved])

    def values(self, number: int) -> dict[str, np.ndarray]:
        """Draw parameters and data.

        Raises
        ------
        ValueError
            If a variable cannot be drawn, or has values that are not sampled.
        """
        reseed_rngs(self._generators, [self._seed, number, 0])
        try:
            found = self._drawn()
        except NotImplementedError as error:
            raise ValueError(
                "`model` expected variables that can be drawn, got one that cannot: "
                f"{error or 'its distribution has no `random`'}. Give it a proper prior, or a "
                "`random` function."
            ) from error
        n = len(self._names)
        for name, moved in zip(self._moved, found[n:], strict=True):
            if not np.isfinite(moved).all():
                raise ValueError(
                    f"`{name}` expected a prior whose draws its transform accepts, got draws that "
                    "it does not. Write the restriction, such as an order, as part of the prior."
                )
        return dict(zip(self._names, map(np.asarray, found[:n]), strict=True))

    def simulated(self, number: int) -> Simulated:
        """Make the simulation of a number."""
        began, values = time.process_time(), self.values(number)
        seed = [self._seed, number, 1]
        found, error = None, ""
        with _quiet():
            try:
                found = sample(
                    model=self._with_data(values),
                    random_seed=seed,
                    progressbar=False,
                    **{"compute_convergence_checks": False} | self._arguments,
                )
            except SamplingError as reason:
                error = str(reason)
        seconds = time.process_time() - began
        if found is None:
            return Simulated({}, seconds, error)
        posterior = found["posterior"].to_dataset()
        free = [x.name for x in self._model.free_RVs if x.name in posterior]
        draws = {x: posterior[x].transpose("chain", "draw", ...).to_numpy() for x in free}
        # Any share within a rank is as likely as another.
        rng = np.random.default_rng([self._seed, number, 2])
        ranks = {x: ranks_among(draws[x], values[x]) for x in free}
        within = {x: (rank + rng.random(rank.shape)) / (N_RANKED + 1) for x, rank in ranks.items()}
        return Simulated({x: share.tolist() for x, share in within.items()}, seconds)

    def _with_data(self, values: Mapping[str, np.ndarray]) -> Model:
        """Return the model that has observed these values."""
        graph, _ = graph_of_model(self._model)

        def observed(node: Apply, inputs: Sequence[Variable]) -> Sequence[Variable] | None:
            if not isinstance(node.op, ModelObservedRV):
                return None
            drawn, old, *dims = inputs
            new = np.asarray(values[node.op.name], old.type.dtype)
            return node.op.make_node(drawn, pt.constant(new), *dims).outputs

        new: dict[Variable, Variable] = {}
        renew(graph.toposort(), new, observed)
        outputs = [new.get(out, out) for out in graph.outputs]
        renewed = FunctionGraph(outputs=outputs, clone=False)
        return model_of_graph(renewed, like=graph, source=self._model)


@contextmanager
def _quiet() -> Iterator[None]:
    """Say nothing of single runs."""
    level = log.level
    log.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.setLevel(level)


Found = Iterator[tuple[int, Simulated]]


def simulated(simulations: Simulations, numbers: Sequence[int], *, cores: int | None) -> Found:
    """Make simulations on this machine, and yield each with its number when it is done.

    Parameters
    ----------
    simulations : Simulations
        How they are made.
    numbers : sequence of int
        Which of them are.
    cores : int, optional
        Number of processes; by default one for each processor.
    """
    # Windows passes no pipes to new processes.
    n = min(cores or (1 if os.name == "nt" else os.cpu_count() or 1), len(numbers))
    if n < 2:
        yield from ((number, simulations.simulated(number)) for number in numbers)
        return
    mine, processes = local(), []

    def begin() -> None:
        mine.process = FreshProcess(simulations)
        processes.append(mine.process)

    def one(number: int) -> tuple[int, Simulated]:
        return number, mine.process.call("simulated", number)

    with ThreadPoolExecutor(n, initializer=begin) as threads:
        futures = [threads.submit(one, number) for number in numbers]
        try:
            yield from (future.result() for future in as_completed(futures))
        finally:
            threads.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.close()


def on_workers(simulations: Simulations, numbers: Sequence[int], client: Client) -> Found:
    """Make simulations on a Dask cluster, and yield each with its number when it is done."""
    from distributed import as_completed as completed

    required_processes(client)
    run = f"pymc_geodesic-{uuid4().hex}"
    client.register_plugin(plugin_of(simulations), name=run)
    futures = [client.submit(_one, run, i, pure=False, retries=RETRIES) for i in numbers]
    try:
        yield from (future.result() for future in completed(futures))
    finally:
        client.cancel(futures, force=True)
        client.unregister_worker_plugin(run)


def _one(run: str, number: int) -> tuple[int, Simulated]:
    """Make a simulation in a worker."""
    return number, held(run).simulated(number)
