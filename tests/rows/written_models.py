#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Models as users write them: all data at once, no thought of minibatches."""

import numpy as np

MODELS = {}


def model(refused="", **options):
    """Register a model, and the pattern of the sentence that refuses it."""

    def register(make):
        assert make.__name__ not in MODELS
        MODELS[make.__name__] = make, refused, options
        return make

    return register


def base(n, seed=0, k=3, groups=7):
    """Return a generator, covariates and groups."""
    rng = np.random.default_rng(seed)
    return rng, rng.standard_normal((n, k)), rng.integers(0, groups, n)
