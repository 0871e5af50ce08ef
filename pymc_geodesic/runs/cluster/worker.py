#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A worker of a cluster, and its memory allocator."""

from __future__ import annotations

import ctypes
import os
import pickle

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from pymc_geodesic.sampling import Chain, ChainMethod, run
from pymc_geodesic.sampling.advance import Sampler
from pymc_geodesic.sampling.run import Arrays

__all__ = [
    "RETRIES",
    "Segment",
    "advance_segment",
    "held",
    "home",
    "keep_freed_memory",
    "must_be_together",
    "plugin_of",
]

# What Dask sets for its workers, unless their owner has chosen something else.
DASK_TRIM_THRESHOLD = "65536"
# Names of the options in glibc's malloc.h.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3


MEGABYTE = 2**20


def keep_freed_memory() -> bool:
    """Let a worker reuse the buffers of its last transition; return whether that was needed.

    Dask makes glibc give freed memory back to the system at once. XLA allocates buffers of some
    hundred kilobytes in every gradient, so that a worker would spend a sixth of its time on the
    pages of new ones. The limits here keep at most some 16 MB.
    """
    if os.environ.get("MALLOC_TRIM_THRESHOLD_") != DASK_TRIM_THRESHOLD:
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, TypeError, AttributeError):
        # Another C library, which does not read Dask's setting either.
        return False
    mallopt(M_MMAP_THRESHOLD, 4 * MEGABYTE)
    mallopt(M_TRIM_THRESHOLD, 16 * MEGABYTE)
    return True


# Tasks are repeated after temporary errors, such as a file that cannot be read for a moment.
RETRIES = 2


class Segment(NamedTuple):
    """A request to a worker.

    Attributes
    ----------
    run : str
        Name of the run, under which the worker stores its sampler.
    chains : sequence of Chain
        Chains to move, of equal length.
    n_draws, thin : int
        Number of draws, and the interval of those to keep.
    chain_method : {"vectorized", "sequential"}
        How to move the chains.
    names : collection of str
        Value variables to keep.
    """

    run: str
    chains: Sequence[Chain]
    n_draws: int
    thin: int
    chain_method: ChainMethod
    names: Collection[str]


def home() -> None:
    """Return nothing. Dask gives tasks that depend on this result to the worker that holds it."""


def advance_segment(segment: Segment, at_home: None = None) -> tuple[list[Chain], Arrays, Arrays]:
    """Move chains by a segment, in a worker; see :func:`pymc_geodesic.sampling.run`."""
    sampler = held(segment.run)
    with _passes_divided(segment, sampler):
        return run(
            sampler,
            segment.chains,
            segment.n_draws,
            chain_method=segment.chain_method,
            thin=segment.thin,
            names=segment.names,
        )


@contextmanager
def _passes_divided(segment: Segment, sampler: Sampler) -> Iterator[None]:
    """Share sums over all rows of partitioned data among all workers."""
    divisible = sampler.divisible
    if divisible is None or not must_be_together(sampler, segment.chains[0]):
        yield
        return
    from distributed import worker_client

    def elsewhere(task: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        # The client gives this worker's thread back, so that it takes its share.
        with worker_client() as client:
            # Pickled, because the arrays of Dask may be unaligned, which PyTensor refuses.
            calls = [(segment.run, task, pickle.dumps(given)) for given in arguments]
            return client.gather(client.map(_call_divisible, calls, pure=False, retries=RETRIES))

    divisible.elsewhere = elsewhere
    try:
        yield
    finally:
        divisible.elsewhere = None


def _call_divisible(call: tuple[str, str, bytes]) -> Any:
    """Call a method of the divisible part of the sampler of a run."""
    run, task, arguments = call
    return getattr(held(run).divisible, task)(*pickle.loads(arguments))


def must_be_together(sampler: Sampler, chain: Chain) -> bool:
    """Whether the next draw may tune a chain together with the others."""
    return sampler.tunes_in_common and chain.n_drawn < max(chain.tuning_draws, 1)


def held(name: str) -> Any:
    """Return the sampler of a run, with the functions compiled for it in this worker."""
    from distributed import get_worker

    plugin: Any = get_worker().plugins[name]
    if plugin.sampler is None:
        # By the first task, not in `setup`, during which a worker must answer its scheduler.
        keep_freed_memory()
        plugin.sampler = pickle.loads(plugin.pickled)
    return plugin.sampler


def plugin_of(sampler: Any) -> Any:
    """Create a ``WorkerPlugin`` that sends a sampler to every present and future worker.

    Its class is pickled by value, so that a worker unpickles it without importing this package: the
    folder of the compilation caches must be set before PyTensor is imported.
    """
    import cloudpickle

    from distributed import WorkerPlugin

    class SamplerPlugin(WorkerPlugin):
        def __init__(self, pickled: bytes) -> None:
            self.pickled, self.sampler = pickled, None

        def setup(self, worker: Any) -> None:
            import os
            import sys

            flags = os.environ.get("PYTENSOR_FLAGS", "")
            if "pytensor" in sys.modules or "base_compiledir" in flags:
                return
            # A worker that is killed while writing leaves an incomplete file in its own folder.
            own = f"base_compiledir={worker.local_directory}/pytensor"
            os.environ["PYTENSOR_FLAGS"] = f"{flags},{own}" if flags else own

    return SamplerPlugin(cloudpickle.dumps(sampler))
