#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Chains moved by the workers of a Dask cluster."""

from __future__ import annotations

import math

from collections.abc import Callable, Collection, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np

from pymc_geodesic.runs.cluster.worker import Segment, advance_segment, sampler_plugin
from pymc_geodesic.sampling import Chain, ChainFailure, ChainMethod
from pymc_geodesic.sampling.advance import Sampler
from pymc_geodesic.sampling.run import Arrays

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["OnWorkers", "Watch", "require_client"]

type Watch = Callable[[range, int, Arrays], None]
"""Receives the chains that have made draws, the number of draws, and their statistics."""

# Sending chains there and back takes hundredths of a second, and the draws of a segment are lost
# with its worker.
SEGMENT_SECONDS = 2.0
# Segments are repeated after external errors, such as a file that is temporarily unreadable.
RETRIES = 2


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
        self._tunes_in_common = sampler.tunes_in_common
        self._n_blocks = _required_workers(client)
        self._run = f"pymc_geodesic-{uuid4().hex}"
        client.register_plugin(sampler_plugin(sampler), name=self._run)
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
        """Remove the sampler from the workers."""
        self._client.unforward_logging("pymc")
        self._client.unregister_worker_plugin(self._run)

    def _blocks(self, chains: Sequence[Chain]) -> list[range]:
        """Divide chains into as many blocks as there were workers at the beginning."""
        n, first = len(chains), chains[0]
        if self._tunes_in_common and first.n_drawn < max(first.tuning_draws, 1):
            return [range(n)]
        size = math.ceil(n / self._n_blocks)
        return [range(i, min(i + size, n)) for i in range(0, n, size)]

    def _gathered(self, segments: Sequence[Segment], blocks: Sequence[range]) -> list[Any]:
        from distributed import as_completed

        # A chain that returns to its worker finds its place in a stream.
        places = sorted(self._client.nthreads())
        futures = [
            self._client.submit(
                advance_segment,
                segment,
                pure=False,
                retries=RETRIES,
                workers=places[i % len(places)] if places else None,
                allow_other_workers=bool(places),
            )
            for i, segment in enumerate(segments)
        ]
        found: dict[Any, Any] = {}
        try:
            for future in as_completed(futures):
                block = blocks[futures.index(future)]
                found[future] = result = _result(future, block)
                self._watch(block, segments[0].n_draws, result[2])
        except BaseException:
            self._client.cancel(futures, force=True)
            raise
        return [found[future] for future in futures]


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


def _required_workers(client: Client) -> int:
    """Return the number of workers, each of which is a process with one thread."""
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
    processes = client.run(_process)
    if len(set(processes.values())) < len(processes):
        raise ValueError(
            f"`client` expected each worker in its own process, got {len(processes)} workers in "
            f"{len(set(processes.values()))} processes. Start one worker, or pass `processes=True`."
        )
    return len(threads)


def _process() -> tuple[str, int]:
    import os
    import socket

    return socket.gethostname(), os.getpid()


def _result(future: Any, block: range) -> Any:
    try:
        return future.result()
    except ChainFailure as failure:
        raise ChainFailure(block[failure.chain]) from failure.__cause__


def _joined(parts: Sequence[Arrays]) -> Arrays:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
