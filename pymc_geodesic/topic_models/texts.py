#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Counts of words in texts, by the vectorizers of scikit-learn, and the weights of words."""

from __future__ import annotations

import warnings

from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytensor
import pytensor.tensor as pt

from numpy.typing import ArrayLike
from pytensor.tensor import TensorVariable
from scipy import sparse

from pymc_geodesic.potential.packed import pack

__all__ = [
    "as_rows",
    "checked_weights",
    "counts_of_words",
    "fitted_vectorizer",
    "rarities",
    "read_texts",
    "rows_with_words",
    "unit_rows",
    "warn_of_unknown",
    "weighted_by",
]

# Words of three letters or more, in any alphabet, without digits.
_WORDS = r"(?u)\b[^\W\d_]{3,}\b"
# Topics consist of words that several documents share, and rarely of words in most documents.
_LEAST_DOCUMENTS, _LARGEST_SHARE, _MOST_WORDS = 2, 0.5, 10_000


def fitted_vectorizer(texts: list[str], vectorizer: Any) -> tuple[Any, sparse.csr_array]:
    """Fit a copy of a vectorizer to texts; return it with the counts of the words in the texts.

    Raises
    ------
    ImportError
        If scikit-learn is not installed.
    TypeError
        If the vectorizer cannot name its words.
    ValueError
        If it keeps none.
    """
    make = _count_vectorizer()
    from sklearn.base import clone

    if vectorizer is None:
        vectorizer = make(
            stop_words="english",
            token_pattern=_WORDS,
            min_df=_LEAST_DOCUMENTS,
            max_df=_LARGEST_SHARE,
            max_features=_MOST_WORDS,
        )
    needed = ("fit_transform", "transform", "get_feature_names_out")
    if not all(hasattr(vectorizer, name) for name in needed):
        raise TypeError(
            "`vectorizer` expected an object with the methods `fit_transform`, `transform` and "
            f"`get_feature_names_out`, got {vectorizer!r}. Pass a `CountVectorizer` or a "
            "`TfidfVectorizer` of scikit-learn."
        )
    fitted = clone(vectorizer)
    try:
        return fitted, sparse.csr_array(fitted.fit_transform(texts))
    except ValueError as error:
        raise ValueError(
            "`texts` expected texts with words that the `vectorizer` keeps, by default those in at "
            f"least {_LEAST_DOCUMENTS} and at most half of the texts; got {len(texts)} texts: "
            f"{error} Pass another `vectorizer`, such as a `CountVectorizer()` of scikit-learn."
        ) from error


def counts_of_words(texts: list[str], vocabulary: np.ndarray) -> sparse.csr_array:
    """Count the words of a vocabulary in texts.

    Raises
    ------
    ImportError
        If scikit-learn is not installed.
    ValueError
        If a word of the vocabulary would not be found in a text that has it.
    """
    words = vocabulary.tolist()
    vectorizer = _count_vectorizer()(
        vocabulary=words,
        token_pattern=r"(?u)\b\w+\b",
        lowercase=all(word == word.lower() for word in words),
        ngram_range=(1, max(len(word.split()) for word in words)),
    )
    split = vectorizer.build_analyzer()
    if lost := [word for word in words if word not in split(word)]:
        raise ValueError(
            f"`like` expected a vocabulary of words that can be found in texts, got {len(lost)} "
            f"others, such as {lost[0]!r}. Count the words as you counted them for these "
            "documents, and pass the counts."
        )
    return sparse.csr_array(vectorizer.transform(texts))


def _count_vectorizer() -> Any:
    if find_spec("sklearn") is None:
        raise ImportError(
            "Texts expected the package scikit-learn, which is not installed. "
            'Install it with `pip install "pymc_geodesic[text]"`.'
        )
    from sklearn.feature_extraction.text import CountVectorizer

    return CountVectorizer


def read_texts(texts: Iterable[str]) -> list[str]:
    """Return texts as a list.

    Raises
    ------
    TypeError
        If they are a single string, or not strings.
    """
    found = [texts] if isinstance(texts, str) else list(texts)
    if isinstance(texts, str) or not all(isinstance(text, str) for text in found):
        wrong = next((type(text).__name__ for text in found if not isinstance(text, str)), "one")
        raise TypeError(
            f"`texts` expected a sequence of strings, one for each document, got {wrong}. Write "
            "missing texts as `''`, for a column by `column.fillna('')`."
        )
    return found


def rows_with_words(weights: sparse.csr_array, what: str) -> np.ndarray:
    """Return the numbers of the rows that are not empty; warn if there are others.

    Raises
    ------
    ValueError
        If all are empty.
    """
    weights.eliminate_zeros()
    filled = np.diff(weights.indptr) > 0
    n_empty = int(np.sum(~filled))
    if not filled.any():
        raise ValueError(
            f"`{what}` expected at least one with a word that has a weight, got {n_empty:,} "
            f"without. The vocabulary has {weights.shape[1]:,} words; compare it with their words."
        )
    if n_empty:
        warnings.warn(
            f"{n_empty:,} of {len(filled):,} {what} have no word with a weight and were left out; "
            f"the first is number {np.argmin(filled)}. `rows` has the numbers of the others.",
            stacklevel=3,
        )
    return np.flatnonzero(filled)


def warn_of_unknown(counts: sparse.csr_array) -> None:
    """Warn of documents without a word of the vocabulary."""
    n_words = np.asarray(counts.sum(axis=1)).ravel()
    if n_empty := int(np.sum(n_words == 0)):
        warnings.warn(
            f"{n_empty:,} of {len(n_words):,} documents have no word of the vocabulary, the first "
            f"is number {np.argmin(n_words)}. Their proportions of topics will be those of the "
            "prior.",
            stacklevel=3,
        )


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
    """Divide each row by its Euclidean norm; raise a ValueError if a row is empty."""
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
