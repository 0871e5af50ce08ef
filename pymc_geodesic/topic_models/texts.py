#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Counts of words in texts, by the vectorizers of scikit-learn."""

from __future__ import annotations

import warnings

from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any

import numpy as np

from scipy import sparse

__all__ = [
    "counts_of_words",
    "fitted_vectorizer",
    "read_texts",
    "rows_with_words",
    "warn_of_unknown",
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
