#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A corpus as rows of a minibatch: the numbers of its documents, with their words behind them."""

from __future__ import annotations

import pytensor
import pytensor.tensor as pt

from pytensor.tensor import TensorVariable
from scipy import sparse

from pymc_geodesic.potential.packed import pack

__all__ = ["as_rows"]

# Larger numbers of documents are not whole numbers of single precision.
MOST_IN_SINGLE_PRECISION = 2**24


def as_rows(matrix: sparse.csr_array) -> TensorVariable:
    """Return the numbers of all documents as a symbolic matrix, with the corpus behind them.

    Raises
    ------
    ValueError
        If single precision cannot tell the numbers apart.
    """
    n_documents = matrix.shape[0]
    if pytensor.config.floatX == "float32" and n_documents > MOST_IN_SINGLE_PRECISION:
        raise ValueError(
            f"`BagOfWords` expected at most {MOST_IN_SINGLE_PRECISION:,} documents in single "
            f"precision, got {n_documents:,}. Sample in double precision."
        )
    arrays = {
        "document_starts": matrix.indptr.astype("int64"),
        "words": matrix.indices.astype("int32"),
        "weights": matrix.data.astype(pytensor.config.floatX),
    }
    return pack(*(pytensor.shared(x, name=name, shape=x.shape) for name, x in arrays.items()))


@pt.basic._as_tensor_variable.register(sparse.sparray)
@pt.basic._as_tensor_variable.register(sparse.spmatrix)
def _sparse_matrix_as_tensor(matrix, name=None, ndim=None, **kwargs) -> TensorVariable:
    raise NotImplementedError(
        f"A tensor expected a dense array, got a sparse matrix of shape {matrix.shape}. Wrap "
        "counts of words for `pm.Minibatch` in `pmg.BagOfWords(matrix)`; for other data pass "
        "`matrix.toarray()`."
    )
