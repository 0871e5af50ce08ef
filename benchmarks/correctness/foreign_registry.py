#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Models that others have published: where each is found, and what is expected of it.

A model has the priors, the likelihood and the notation of its source (``dims``, ``pm.Data``,
indices); data are simulated, so that there are as many rows as one likes. The sources have the
licences MIT (PyMC's examples, Bambi), Apache-2.0 (PyMC-Marketing) and BSD-3 (posteriordb).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

__all__ = ["MODELS", "Foreign", "foreign", "frame"]


class Foreign(NamedTuple):
    """A published model.

    ``make`` takes the number of rows and returns what its author would sample. ``refused`` is a
    pattern of the sentence that is expected; empty if the model runs.
    """

    make: Callable[[int], Any]
    source: str
    refused: str


MODELS: dict[str, Foreign] = {}


def foreign(source: str, *, refused: str = "") -> Callable:
    """Register a model of a source."""

    def register(make: Callable[[int], Any]) -> Callable[[int], Any]:
        if make.__name__ in MODELS:
            raise ValueError(f"`{make.__name__}` expected a new name.")
        MODELS[make.__name__] = Foreign(make, source, refused)
        return make

    return register


def frame(n: int, *, seed: int = 1) -> pd.DataFrame:
    """Simulate columns of all the kinds that the models need; ``y`` depends on ``x`` and ``g``."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({name: rng.standard_normal(n) for name in ("x", "z", "w", "y2")})
    data["g"], data["h"] = rng.integers(0, 12, n), rng.integers(0, 5, n)
    eta = 0.3 + 0.5 * data["x"] - 0.3 * data["z"] + rng.normal(0, 0.3, 12)[data["g"]]
    data["eta"], data["y"] = eta, eta + rng.normal(0, 0.8, n)
    p = 1 / (1 + np.exp(-eta))
    data["bin"], data["tries"] = (rng.random(n) < p).astype(int), rng.integers(5, 40, n)
    data["wins"], data["count"] = rng.binomial(data["tries"], p), rng.poisson(np.exp(0.5 * eta))
    data["time"], data["event"] = rng.weibull(1.5, n) * np.exp(0.3 * eta), rng.random(n) < 0.8
    data["prop"], data["angle"] = rng.beta(2 + p, 3), rng.vonmises(0.3, 2, n)
    data["level"] = np.digitize(data["y"], [-0.8, 0.0, 0.8, 1.6])
    data["rank"] = np.arange(n) / n
    return data
