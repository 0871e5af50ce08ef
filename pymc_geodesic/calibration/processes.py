#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Simulations made here, in other processes of this machine, or by the workers of a cluster."""

from __future__ import annotations

import os

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import local
from typing import TYPE_CHECKING
from uuid import uuid4

from pymc_geodesic.calibration.simulations import Simulated, Simulations
from pymc_geodesic.kernel.jax.fresh_process import FreshProcess
from pymc_geodesic.runs.cluster.on_workers import required_processes
from pymc_geodesic.runs.cluster.worker import RETRIES, held, plugin_of

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["on_workers", "simulated"]

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
    n = min(cores or _all_cores(), len(numbers))
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


def _all_cores() -> int:
    # Windows passes no pipes to new processes.
    return 1 if os.name == "nt" else os.cpu_count() or 1


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
