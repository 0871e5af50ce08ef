#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Documents as rows: weights of their words, as sparse matrices and in minibatches."""

from __future__ import annotations

import numpy as np
import pytensor
import pytensor.tensor as pt

from numpy.typing import ArrayLike
from pytensor.tensor import TensorVariable
from scipy import sparse

from pymc_geodesic.potential.packed import pack

__all__ = ["as_rows", "checked_weights", "rarities", "unit_rows", "weighted_by"]


def checked_weights(
    documents: sparse.sparray | sparse.spmatrix | ArrayLike, *, may_be_empty: bool = False
) -> sparse.csr_array:
    """Return documents as a CSR array without stored zeros.

    Raises
    ------
    ValueError
        If they are not a matrix, or a weight is negative or not finite, or a document is empty
        unless it may be.
    """
    if not sparse.issparse(documents) and np.asarray(documents).dtype.kind in "OSU":
        raise ValueError(
            "`BagOfWords` expected counts, a matrix with a column for each word, got texts or "
            "objects. Use `pmg.BagOfWords.from_texts(texts)`."
        )
    matrix = sparse.csr_array(documents)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(
            "`BagOfWords` expected a matrix with a row for each document and a column for each "
            f"word, got shape {matrix.shape}."
        )
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    if not np.all(np.isfinite(matrix.data)):
        raise ValueError(
            "`BagOfWords` expected finite weights, got NaN or infinite ones. Correct them."
        )
    if matrix.nnz and matrix.data.min() < 0:
        raise ValueError(
            "`BagOfWords` expected counts or weights of 0 or more, got values from "
            f"{matrix.data.min():.4g}."
        )
    lengths = np.diff(matrix.indptr)
    if np.any(lengths == 0) and not may_be_empty:
        empty = np.flatnonzero(lengths == 0)
        raise ValueError(
            f"`BagOfWords` expected documents with words, got {len(empty)} without words, the "
            f"first at row {empty[0]}. Drop these rows."
        )
    return matrix


def unit_rows(matrix: sparse.csr_array) -> sparse.csr_array:
    """Divide each row by its Euclidean norm.

    Raises
    ------
    ValueError
        If a row is empty.
    """
    if n_empty := int(np.sum(np.diff(matrix.indptr) == 0)):
        raise ValueError(
            f"`unit_vectors` expected documents with words, got {n_empty} without. Drop these rows."
        )
    norms = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    return sparse.csr_array(sparse.diags_array(1 / norms) @ matrix)


def rarities(matrix: sparse.csr_array) -> np.ndarray:
    """Return the inverse document frequency of each word, of shape (V,)."""
    n_documents, n_words = matrix.shape
    containing = np.bincount(matrix.indices, minlength=n_words)
    return np.maximum(np.log(n_documents / (1 + containing)), 0)


def weighted_by(matrix: sparse.csr_array, idf: np.ndarray) -> sparse.csr_array:
    """Multiply columns by weights.

    Raises
    ------
    ValueError
        If the weights do not fit, or a document has no word with a weight.
    """
    n_words = matrix.shape[1]
    if idf.shape != (n_words,) or not np.all((idf >= 0) & np.isfinite(idf)):
        raise ValueError(
            f"`idf` expected {n_words} weights of 0 or more, one per word, got shape "
            f"{idf.shape} with values from {np.min(idf, initial=np.inf):.4g}. Pass "
            "`learned.inverse_document_frequencies()` of documents with the same words."
        )
    weighted = sparse.csr_array(matrix @ sparse.diags_array(idf))
    weighted.eliminate_zeros()
    empty = np.flatnonzero(np.diff(weighted.indptr) == 0)
    if len(empty):
        raise ValueError(
            "`tf_idf` expected a word with a positive weight in every document, got "
            f"{len(empty)} documents without, the first at row {empty[0]}. Drop these rows."
        )
    return weighted


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
