#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Models as users write them are estimated from rows without bias, or refused with a reason."""

import itertools
import re
import warnings

import numpy as np
import pytensor
import pytest
import written_gallery_1
import written_gallery_2
import written_gallery_3
import written_groups_and_missing
import written_kinds_of_data
import written_latent_variables
import written_likelihoods
import written_loops
import written_more_likelihoods
import written_regressions
import written_unusual

from pytensor.compile.mode import Mode
from written_models import MODELS

import pymc_geodesic as pmg

from pymc_geodesic.data_checks import DataChecks
from pymc_geodesic.potential.log_density import LogDensity, without_checks
from pymc_geodesic.potential.minibatch import find_batch_sources
from pymc_geodesic.potential.terms import total

# Imported for the models that they register.
WRITTEN = (
    *(written_regressions, written_groups_and_missing, written_latent_variables),
    *(written_likelihoods, written_more_likelihoods, written_loops, written_unusual),
    *(written_gallery_1, written_gallery_2, written_gallery_3, written_kinds_of_data),
)
MODE = Mode(linker="py", optimizer="fast_compile")
BATCH_SIZE = 10


def function(terms, values, inputs):
    """Log density and gradients; where it is impossible it is not differentiated."""
    density = total(without_checks(terms, impossible=True))
    smooth = total(without_checks(terms, impossible=False))
    gradients = pytensor.grad(smooth, values, disconnected_inputs="ignore")
    with pytensor.config.change_flags(cxx=""):
        return pytensor.function(
            [*values, *inputs], [density, *gradients], mode=MODE, on_unused_input="ignore"
        )


def parts_of(n, rng):
    """Divide rows into batches of different lengths."""
    cuts = [0, 1, 2, 4, *range(4 + BATCH_SIZE, n, BATCH_SIZE), n]
    order = rng.permutation(n)
    return [order[a:b] for a, b in itertools.pairwise(cuts) if b > a]


def expectation(estimate, point, sizes, rng):
    """Average an estimate over all batches: its sums over each set of rows are independent."""
    fixed = [np.arange(min(3, n)) for n in sizes]
    mean = None
    for i, n in enumerate(sizes):
        for rows in parts_of(n, rng):
            batches = [*fixed[:i], rows, *fixed[i + 1 :]]
            found = [np.asarray(x) * len(rows) / n for x in estimate(*point, *batches)]
            mean = found if mean is None else [a + b for a, b in zip(mean, found, strict=True)]
    others = estimate(*point, *fixed)
    return [a - (len(sizes) - 1) * np.asarray(b) for a, b in zip(mean, others, strict=True)]


def moved(value, spread, rng):
    value = np.asarray(value)
    if value.dtype.kind != "f":
        return value
    return (value + spread * rng.standard_normal(value.shape)).astype(value.dtype)


def require_unbiased(model, batches, *, tolerance=1e-8):
    """Compare log density and gradients of all rows with their expectation over batches."""
    values = {x.name: x for x in batches.value_vars}
    assert sorted(values) == sorted(x.name for x in model.value_vars)
    values = [values[x.name] for x in model.value_vars]
    sources = find_batch_sources(batches)
    rows = {source: source.placeholder(f"rows {i}", None) for i, source in enumerate(sources)}
    terms = LogDensity(batches, (), rows=rows).terms()
    estimate = function(terms, values, list(rows.values()))
    exact = function(model.logp(sum=False), model.value_vars, [])
    rng, first = np.random.default_rng(1), model.initial_point()
    for spread in (0.1, 0.5):
        point = [moved(first[x.name], spread, rng) for x in model.value_vars]
        mean = expectation(estimate, point, [source.n_rows for source in sources], rng)
        for found, expected in zip(mean, exact(*point), strict=True):
            scale = max(1.0, np.abs(expected).max(initial=0.0))
            np.testing.assert_allclose(found / scale, expected / scale, rtol=0, atol=tolerance)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore")
def test_the_expectation_over_batches_is_the_whole(name):
    make, refused, options = MODELS[name]
    model = make()
    if refused:
        with pytest.raises(Exception, match=re.compile(refused, re.IGNORECASE)):
            pmg.minibatch(model, batch_size=BATCH_SIZE)
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # Variables that would be integrated out are kept: their terms are compared, too.
        every = [rv.name for rv in model.free_RVs]
        batches = pmg.minibatch(model, batch_size=BATCH_SIZE, var_names=every)
    assert any(options.get("warns", "") in str(w.message) for w in caught) or "warns" not in options
    # What a step looks at before it samples.
    DataChecks(batches, find_batch_sources(batches), point=batches.initial_point(), batches=True)
    require_unbiased(model, batches, tolerance=1e-6 if "float32" in name else 1e-8)
