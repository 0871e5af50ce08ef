#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Chains moved by the workers of a Dask cluster."""

from __future__ import annotations

import math

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np

from pymc_geodesic.runs.cluster.worker import (
    RETRIES,
    Segment,
    advance_segment,
    home,
    must_be_together,
    plugin_of,
)
from pymc_geodesic.sampling import Chain, ChainFailure, ChainMethod
from pymc_geodesic.sampling.advance import Sampler
from pymc_geodesic.sampling.run import Arrays
from pymc_geodesic.stages import log

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["OnWorkers", "Watch", "require_client", "required_processes"]

type Watch = Callable[[range, int, Arrays], None]
"""Receives the chains that have made draws, the number of draws, and their statistics."""

# Seconds between checks that there are workers.
PATIENCE = 20.0
# Sending chains to a worker and back takes hundredths of a second, and the draws of a segment are
# lost with its worker.
SEGMENT_SECONDS = 2.0


class OnWorkers:
    """Move chains in blocks, one per worker; one worker moves all chains that are tuned together.

    This process keeps the chains after the last segment. If a worker is lost, Dask repeats its
    segment from them.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    sampler : Sampler
        Sampler of the step.
    chain_method : {"vectorized", "sequential"}
        How to move the chains of a block.
    names : collection of str
        Value variables to keep.
    watch : callable
        Receives the progress of workers.
    """

    seconds = SEGMENT_SECONDS

    def __init__(
        self,
        client: Client,
        sampler: Sampler,
        *,
        chain_method: ChainMethod,
        names: Collection[str],
        watch: Watch,
    ) -> None:
        self._client, self._chain_method, self._names = client, chain_method, names
        self._watch = watch
        self.reads_stream = sampler.reads_stream
        self._sampler, self._has_warned = sampler, False
        processes = required_processes(client)
        self._n_blocks = len(processes)
        # A worker in this process logs here already.
        self._forwards = _process_function()() not in processes
        self._run = f"pymc_geodesic-{uuid4().hex}"
        client.register_plugin(_plugin(sampler), name=self._run)
        # Chains that are tuned together stay with the worker that holds this result: another one
        # would compile and read everything again. The plugin comes first, because a worker imports
        # the package for this task.
        self._home = client.submit(home, pure=False)
        if self._forwards:
            client.forward_logging("pymc")

    def __call__(
        self, chains: Sequence[Chain], n_draws: int, *, thin: int
    ) -> tuple[list[Chain], Arrays, Arrays]:
        """Return the chains some draws later, the draws and their statistics."""
        blocks = self._blocks(chains)
        found = self._gathered(
            [
                Segment(
                    self._run,
                    chains[block.start : block.stop],
                    n_draws,
                    thin,
                    self._chain_method,
                    self._names,
                )
                for block in blocks
            ],
            blocks,
        )
        moved, values, statistics = zip(*found, strict=True)
        return [chain for part in moved for chain in part], _joined(values), _joined(statistics)

    def close(self) -> None:
        """Let the workers forget the sampler."""
        if self._forwards:
            self._client.unforward_logging("pymc")
        self._client.unregister_worker_plugin(self._run)

    def _blocks(self, chains: Sequence[Chain]) -> list[range]:
        """Cut chains into as many blocks as there were workers at the beginning."""
        n = len(chains)
        if must_be_together(self._sampler, chains[0]):
            return [range(n)]
        size = math.ceil(n / self._n_blocks)
        return [range(i, min(i + size, n)) for i in range(0, n, size)]

    def _gathered(self, segments: Sequence[Segment], blocks: Sequence[range]) -> list[Any]:
        # Not for given workers, even with `allow_other_workers`: Dask 2026.8 never begins a task
        # again whose worker has died when there was no other one.
        at_home = [self._home] if len(blocks) == 1 else []
        futures = [
            self._client.submit(advance_segment, segment, *at_home, pure=False, retries=RETRIES)
            for segment in segments
        ]
        found: dict[Any, Any] = {}
        try:
            for future in self._finished(futures):
                block = blocks[futures.index(future)]
                found[future] = result = _result(future, block)
                self._watch(block, segments[0].n_draws, result[2])
        except BaseException:
            # A scheduler that is gone cancels nothing, and is not what ended the run.
            with suppress(Exception):
                self._client.cancel(futures, force=True)
            raise
        return [found[future] for future in futures]

    def _finished(self, futures: Sequence[Any]) -> Iterator[Any]:
        """Yield futures when they are done; warn if there are no workers."""
        from distributed import wait

        waiting = set(futures)
        while waiting:
            try:
                done = wait(waiting, timeout=PATIENCE, return_when="FIRST_COMPLETED").done
            except TimeoutError:
                if not (self._has_warned or self._client.nthreads()):
                    self._has_warned = True
                    log.warning(
                        "The cluster has no workers left; the run waits for new ones. Ctrl-C "
                        "returns the draws so far."
                    )
                continue
            waiting -= done
            yield from done


def require_client(client: Any) -> None:
    """Raise an error if the argument is not a Dask client.

    Raises
    ------
    ImportError
        If Dask is not installed.
    TypeError
        If the argument is something else.
    """
    if find_spec("distributed") is None:
        raise ImportError(
            "`client` expected the package distributed, which is not installed. Install it with "
            '`pip install "pymc_geodesic[cluster]"`.'
        )
    from distributed import Client

    if not isinstance(client, Client) or client.asynchronous:
        raise TypeError(
            f"`client` expected a `distributed.Client` that is not asynchronous, got {client!r}."
        )


def required_processes(client: Client) -> list[tuple[str, int]]:
    """Return the processes of the workers, each with one thread."""
    threads = client.nthreads()
    if not threads:
        client.wait_for_workers(1)
        threads = client.nthreads()
    if several := {address: n for address, n in threads.items() if n > 1}:
        address, n = next(iter(several.items()))
        raise ValueError(
            f"`client` expected workers with one thread, because models cannot be compiled in two "
            f"threads at once, got {address} with {n}. Start them with `threads_per_worker=1`, or "
            "`dask worker --nthreads 1`."
        )
    processes = list(client.run(_process_function()).values())
    if (n_processes := len(set(processes))) < len(processes):
        raise ValueError(
            f"`client` expected workers in processes of their own, got {len(processes)} in "
            f"{n_processes}. Start one worker, or pass `processes=True`."
        )
    return processes


def _plugin(sampler: Sampler) -> Any:
    try:
        return plugin_of(sampler)
    except Exception as error:
        raise ValueError(
            "`step` expected a step that can be pickled and sent to workers, got one that cannot: "
            f"{error}. Replace parts that hold open files, locks or threads."
        ) from error


def _process_function() -> Callable[[], tuple[str, int]]:
    """Make a function that is pickled by value, for workers that have not imported this package.

    They import it only when the plugin has told PyTensor where to compile.
    """

    def this_process() -> tuple[str, int]:
        import os
        import socket

        return socket.gethostname(), os.getpid()

    return this_process


def _result(future: Any, block: range) -> Any:
    try:
        return future.result()
    except ChainFailure as failure:
        raise ChainFailure(block[failure.chain]) from failure.__cause__


def _joined(parts: Sequence[Arrays]) -> Arrays:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
