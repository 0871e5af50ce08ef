#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Rows of packed documents, built by Numba no wider than the longest of them."""

from __future__ import annotations

import numpy as np

from pytensor.link.numba.dispatch.basic import numba_njit, register_funcify_and_cache_key

from pymc_geodesic.potential.packed import RowsOfDocuments

__all__: list[str] = []


@register_funcify_and_cache_key(RowsOfDocuments)
def _rows_of_documents_numba(op, node=None, **kwargs):
    @numba_njit
    def rows_of_documents(starts, words, weights, rows):
        width = 0
        for row in rows:
            width = max(width, starts[row + 1] - starts[row])
        result = np.zeros((len(rows), 2 * width), dtype=weights.dtype)
        for i in range(len(rows)):
            first = starts[rows[i]]
            for j in range(starts[rows[i] + 1] - first):
                result[i, j] = words[first + j]
                result[i, width + j] = weights[first + j]
        return result

    return rows_of_documents, "pymc_geodesic.RowsOfDocuments.2"
