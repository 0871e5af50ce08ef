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

__all__ = ["fitted_vectorizer", "read_texts", "rows_with_words"]

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
    """
    if find_spec("sklearn") is None:
        raise ImportError(
            "`BagOfWords.from_texts` expected the package scikit-learn, which is not installed. "
            'Install it with `pip install "pymc_geodesic[text]"`.'
        )
    from sklearn.base import clone
    from sklearn.feature_extraction.text import CountVectorizer

    if vectorizer is None:
        vectorizer = CountVectorizer(
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
    return fitted, sparse.csr_array(fitted.fit_transform(texts))


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
            f"`texts` expected a sequence of strings, one for each document, got {wrong}."
        )
    return found


def rows_with_words(weights: sparse.csr_array, what: str) -> np.ndarray:
    """Return the numbers of the rows that are not empty; warn if there are others."""
    weights.eliminate_zeros()
    filled = np.diff(weights.indptr) > 0
    n_empty = int(np.sum(~filled))
    if n_empty:
        warnings.warn(
            f"{n_empty:,} of {len(filled):,} {what} have no word with a weight and were left out; "
            f"the first is number {np.argmin(filled)}. `rows` has the numbers of the others.",
            stacklevel=3,
        )
    return np.flatnonzero(filled)
