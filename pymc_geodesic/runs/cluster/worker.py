#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The state and the tasks of a worker of the cluster."""

from __future__ import annotations

import pickle

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from pymc_geodesic.sampling import Chain, ChainMethod, run
from pymc_geodesic.sampling.advance import Sampler
from pymc_geodesic.sampling.run import Arrays

__all__ = ["Segment", "advance_segment", "sampler_plugin"]


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


def advance_segment(segment: Segment) -> tuple[list[Chain], Arrays, Arrays]:
    """Move chains by a segment, in a worker; see :func:`pymc_geodesic.sampling.run`."""
    return run(
        _sampler(segment.run),
        segment.chains,
        segment.n_draws,
        chain_method=segment.chain_method,
        thin=segment.thin,
        names=segment.names,
    )


def _sampler(name: str) -> Sampler:
    """Return the sampler of a run, with the functions compiled for it in this worker."""
    from distributed import get_worker

    plugin: Any = get_worker().plugins[name]
    if plugin.sampler is None:
        # By the first task, not in `setup`, during which a worker must answer its scheduler.
        plugin.sampler = pickle.loads(plugin.pickled)
    return plugin.sampler


def sampler_plugin(sampler: Sampler) -> Any:
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
