#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A corpus of documents as bags of words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from typing import Any, cast

import numpy as np
import pytensor.tensor as pt

from numpy.typing import ArrayLike
from pytensor.tensor import TensorVariable
from scipy import sparse

from pymc_geodesic.topic_models.texts import (
    as_rows,
    checked_weights,
    counts_of_words,
    fitted_vectorizer,
    rarities,
    read_texts,
    rows_with_words,
    unit_rows,
    warn_of_unknown,
    weighted_by,
)

__all__ = ["BagOfWords"]


class BagOfWords:
    r"""Documents as word numbers and weights, for ``pm.Minibatch`` and topic models.

    Each distinct word of a document takes twelve bytes, whatever the size of the vocabulary and the
    length of other documents. :meth:`from_texts` counts the words of texts, and
    :meth:`like` reads new documents in the same way.

    Parameters
    ----------
    documents : scipy sparse array or matrix, or array_like, shape (D, V)
        Weight of each word in each document: counts, or entries of unit vectors such as
        normalised tf-idf. No document may be empty.
    vocabulary : sequence of str, optional
        The V words, for the names of columns.

    Attributes
    ----------
    n_documents, n_words : int
        D and V.
    vocabulary : ndarray of str or None
        The V words.
    idf : ndarray or None
        The weights of the words, if :meth:`tf_idf` made these documents.
    rows : ndarray of int
        The number of each document among those that were given: all of them, unless
        :meth:`from_texts`, or :meth:`like` for unit vectors, left out documents without words.

    Raises
    ------
    ValueError
        If there is a document without words, a weight that is not finite, no document at all, or if
        the vocabulary has another number of words.

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> counts = np.array([[2, 0, 1], [0, 3, 0], [1, 1, 1]])
    >>> corpus = pmg.BagOfWords(counts)
    >>> corpus.n_documents, corpus.n_words
    (3, 3)
    >>> batch = pm.Minibatch(corpus.unit_vectors(), batch_size=2)
    """

    def __init__(
        self,
        documents: sparse.sparray | sparse.spmatrix | ArrayLike,
        *,
        vocabulary: Sequence[str] | np.ndarray | None = None,
    ) -> None:
        matrix = checked_weights(documents)
        if vocabulary is not None and len(vocabulary) != matrix.shape[1]:
            raise ValueError(
                f"`vocabulary` expected {matrix.shape[1]} words, one per column, got "
                f"{len(vocabulary)}."
            )
        self.matrix = matrix
        self.vocabulary = None if vocabulary is None else np.asarray(vocabulary, dtype=str)
        self.idf: np.ndarray | None = None
        self.rows = np.arange(matrix.shape[0])
        self._vectorizer: Any = None
        self._is_normalised = False

    @classmethod
    def from_texts(cls, texts: Iterable[str], *, vectorizer: Any = None) -> BagOfWords:
        """Count the words of texts by a vectorizer of scikit-learn.

        Parameters
        ----------
        texts : iterable of str
            The documents.
        vectorizer : CountVectorizer or TfidfVectorizer, optional
            How to split and count; a copy of it is fitted. By default a ``CountVectorizer`` takes
            the 10,000 most frequent words of three letters or more that are in at least two and at
            most half of the documents, without English stop words.

        Returns
        -------
        BagOfWords
            With the ``vocabulary``. Texts without a word of it are left out with a warning.

        Raises
        ------
        ImportError
            If scikit-learn is not installed.
        TypeError
            If the texts are not strings, or the vectorizer cannot name its words.

        Examples
        --------
        >>> import pymc_geodesic as pmg
        >>> texts = ["a goal in the last game", "the game has a goal", "parties vote", "a vote"]
        >>> corpus = pmg.BagOfWords.from_texts(texts)
        >>> corpus.vocabulary.tolist()
        ['game', 'goal', 'vote']
        >>> corpus.like(["vote after vote", "one more game"]).matrix.toarray()
        array([[0, 0, 2],
               [1, 0, 0]])
        """
        vectorizer, counts = fitted_vectorizer(read_texts(texts), vectorizer)
        rows = rows_with_words(counts, "texts")
        corpus = cls(counts[rows], vocabulary=vectorizer.get_feature_names_out())
        corpus.rows, corpus._vectorizer = rows, vectorizer
        return corpus

    def like(self, documents: Iterable[str] | sparse.sparray | ArrayLike) -> BagOfWords:
        """Read new documents as these were read: with the same words and the same weights.

        Parameters
        ----------
        documents : iterable of str, sparse matrix or array_like
            Counts of words, of shape (D, V), or texts. Texts are read by the vectorizer of
            :meth:`from_texts`; words of a given vocabulary are counted as they stand in it, or in
            small letters if it has no others.

        Returns
        -------
        BagOfWords
            Counts, or the unit vectors that :meth:`unit_vectors` or :meth:`tf_idf` makes of them
            with the weights of these documents. Counts have a row for each document; a warning
            names those without a word, whose topics are the prior's. Unit vectors leave them out,
            and ``rows`` of the result has the numbers of the others.

        Raises
        ------
        ValueError
            If no document has a word of positive weight and the result are unit vectors, or texts
            are given and the words are unknown.

        Examples
        --------
        >>> import numpy as np, pymc_geodesic as pmg
        >>> counts = [[2, 0, 1], [0, 3, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]]
        >>> pmg.BagOfWords(counts).tf_idf().like([[1, 0, 2]]).matrix.toarray().round(2)
        array([[0.9 , 0.  , 0.44]])
        """
        counts = self._counts_of(documents)
        if counts.shape[1] != self.n_words:
            raise ValueError(
                f"`documents` expected {self.n_words} columns, one per word, got {counts.shape[1]}."
            )
        if not self._is_normalised:
            warn_of_unknown(counts)
            found = copy(self)
            found.matrix = checked_weights(counts, may_be_empty=True)
            found.rows = np.arange(counts.shape[0])
            return found
        weights = counts if self.idf is None else counts @ sparse.diags_array(self.idf)
        rows = rows_with_words(sparse.csr_array(weights), "documents")
        found = BagOfWords(counts[rows], vocabulary=self.vocabulary)
        found.rows, found._vectorizer = rows, self._vectorizer
        if self.idf is not None:
            return found.tf_idf(idf=self.idf)
        return found.unit_vectors()

    def _counts_of(self, documents: Iterable[str] | sparse.sparray | ArrayLike) -> sparse.csr_array:
        if sparse.issparse(documents):
            return sparse.csr_array(documents)
        given: Any = documents if isinstance(documents, str) else list(cast("Iterable", documents))
        if not any(isinstance(document, str) for document in given):
            return sparse.csr_array(np.asarray(given))
        texts = read_texts(given)
        if self._vectorizer is not None:
            return sparse.csr_array(self._vectorizer.transform(texts))
        if self.vocabulary is None:
            raise ValueError(
                "`like` expected counts of words, because these documents have no vocabulary, got "
                "texts. Make the first documents with `BagOfWords.from_texts`, or pass their "
                "`vocabulary`."
            )
        return counts_of_words(texts, self.vocabulary)

    @property
    def n_documents(self) -> int:
        """Number of documents D."""
        return self.matrix.shape[0]

    @property
    def n_words(self) -> int:
        """Number of words V of the vocabulary."""
        return self.matrix.shape[1]

    def __len__(self) -> int:
        """Return the number of documents."""
        return self.n_documents

    def unit_vectors(self) -> BagOfWords:
        """Divide each document by its Euclidean norm."""
        return self._weighted(self.matrix, idf=self.idf)

    def _weighted(self, matrix: sparse.csr_array, *, idf: np.ndarray | None) -> BagOfWords:
        """Return unit vectors with the vocabulary and the vectorizer of these documents."""
        found = BagOfWords(unit_rows(matrix), vocabulary=self.vocabulary)
        found.idf, found.rows, found._vectorizer = idf, self.rows, self._vectorizer
        found._is_normalised = True
        return found

    def inverse_document_frequencies(self) -> np.ndarray:
        r"""Rarity of each word, :math:`\max(0, \log [D / (1 + D_w)])`, of shape (V,).

        :math:`D_w` is the number of documents that hold word w. Words in all documents
        or in all but one have rarity zero.
        """
        return rarities(self.matrix)

    def tf_idf(self, *, idf: ArrayLike | None = None) -> BagOfWords:
        r"""Weight counts by rarity and normalise, which gives unit vectors for spherical models.

        .. math::

            v_{dw} \propto n_{dw} \, r_w

        with :math:`r_w` the inverse document frequencies. Words without weight are left out.

        Parameters
        ----------
        idf : array_like of float, shape (V,), optional
            Weights :math:`r_w`, 0 or more; by default the :meth:`inverse_document_frequencies` of
            these documents. For new documents, :meth:`like` takes those of the training documents.

        Returns
        -------
        BagOfWords
            Documents of length one, with the weights as ``idf``.

        Raises
        ------
        ValueError
            If ``idf`` does not fit, or a document has no word with a weight.

        Examples
        --------
        >>> import numpy as np, pymc_geodesic as pmg
        >>> learned = pmg.BagOfWords(np.array([[2, 0, 1], [0, 3, 0], [0, 1, 0], [0, 1, 1]]))
        >>> new = pmg.BagOfWords(np.array([[1, 0, 2]]))
        >>> new.tf_idf(idf=learned.inverse_document_frequencies()).matrix.toarray().round(2)
        array([[0.77, 0.  , 0.64]])
        """
        idf = self.inverse_document_frequencies() if idf is None else np.asarray(idf, dtype=float)
        return self._weighted(weighted_by(self.matrix, idf), idf=idf)

    def mean_direction(self) -> np.ndarray:
        """Return the direction of the sum of all documents, a unit vector of length V."""
        total = np.asarray(self.matrix.sum(axis=0), dtype="float64").ravel()
        return total / np.linalg.norm(total)

    def as_tensor(self) -> TensorVariable:
        """Return the numbers of all documents as a symbolic matrix, with the corpus behind them."""
        return as_rows(self.matrix)

    def __repr__(self) -> str:
        """Show the size of the corpus."""
        return (
            f"BagOfWords({self.n_documents:,} documents, {self.n_words:,} words, "
            f"{self.matrix.nnz:,} entries)"
        )


@pt.basic._as_tensor_variable.register(BagOfWords)
def _bag_of_words_as_tensor(corpus: BagOfWords, name=None, ndim=None, **kwargs) -> TensorVariable:
    rows = corpus.as_tensor()
    rows.name = name
    return rows
