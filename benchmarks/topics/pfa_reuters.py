#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Poisson factor analysis of Reuters-21578 with equal tuning: the second corpus of ``pfa_tuned``.

The poster's second corpus has 804,414 articles of Reuters, which cannot be had; these are 9,603 to
fit and 3,299 to test, by the division of Lewis that is named after Apté, with 2,000 words. All else
is that of ``pfa_tuned``.

    python -m benchmarks.topics.pfa_reuters [--quick] [--resume] [--seeds SEED ...]

A run takes five minutes, and there are 15: ``--seeds`` takes some of them, and ``--resume`` keeps
what earlier runs of the same code have found.

The counts are read from ``reuters/reuters21578.npz`` in the folder that the environment variable
PYMC_GEODESIC_DATA names.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from benchmarks.harness.data import data_file
from benchmarks.harness.declared import Benchmark
from benchmarks.harness.records import report
from benchmarks.topics.pfa import VOCABULARY, divided
from benchmarks.topics.pfa_tuned import study
from benchmarks.topics.poisson_factors import Completion, of_frequent_words

BENCHMARK = Benchmark(
    question="Poisson factor analysis of Reuters-21578, every method tuned alike: is EM a gain?",
    asked=(
        "In every seed, after 300 s: each method with EM below itself without; curves are flat: "
        "single draws of the last quarter of the time are less than one per cent below those of "
        "the quarter before."
    ),
    fixed="2026-11-27",
    seeds=(1, 2, 3),
    changed=(
        "2026-11-27: flatness is asked of single draws, because an average over ever more draws "
        "is never flat; the record is of the question before, of averages."
    ),
)

# Of the division: documents to fit and to test; the rest is not used.
TRAIN, TEST = 0, 1


def corpus(*, validate: bool) -> tuple[sp.csr_matrix, Completion]:
    """Read documents to fit and documents to complete."""
    with np.load(data_file("reuters", "reuters21578.npz")) as z:
        data, indices, indptr = (z[name] for name in ("data", "indices", "indptr"))
        counts = sp.csr_matrix((data.astype("int32"), indices, indptr), shape=tuple(z["shape"]))
        division, known = z["modapte_split"], z["vocab"]
    parts = (counts[division == part] for part in (TRAIN, TEST))
    return divided(
        *of_frequent_words(*parts, known=known, vocabulary=VOCABULARY), validate=validate
    )


if __name__ == "__main__":
    found = study("pfa_reuters", BENCHMARK, description=__doc__.splitlines()[0], read=corpus)
    if found is not None:
        report("pfa_reuters", found[0], **found[1])
