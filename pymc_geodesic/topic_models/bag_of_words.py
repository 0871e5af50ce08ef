#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A corpus of documents as bags of words."""

from __future__ import annotations

import numpy as np
import pytensor
import pytensor.tensor as pt

from numpy.typing import ArrayLike
from pytensor.tensor import TensorVariable
from scipy import sparse

from pymc_geodesic.potential.packed import pack

__all__ = ["BagOfWords"]


class BagOfWords:
    r"""Documents as word numbers and weights, for ``pm.Minibatch`` and topic models.

    Each distinct word of a document takes twelve bytes, whatever the size of the vocabulary. A
    minibatch is as wide as its longest document.

    Parameters
    ----------
    documents : scipy sparse array or matrix, or array_like, shape (D, V)
        Weight of each word in each document: counts, or entries of unit vectors such as
        normalised tf-idf. No document may be empty.

    Attributes
    ----------
    n_documents, n_words : int
        D and V.

    Raises
    ------
    ValueError
        If there is a document without words, a weight that is not finite, or no document at all.

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> counts = np.array([[2, 0, 1], [0, 3, 0], [1, 1, 1]])
    >>> corpus = pmg.BagOfWords(counts)
    >>> corpus.n_documents, corpus.n_words
    (3, 3)
    >>> batch = pm.Minibatch(corpus.unit_vectors(), batch_size=2)
    """

    def __init__(self, documents: sparse.sparray | sparse.spmatrix | ArrayLike) -> None:
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
        if np.any(lengths == 0):
            empty = np.flatnonzero(lengths == 0)
            raise ValueError(
                f"`BagOfWords` expected documents with words, got {len(empty)} without words, the "
                f"first at row {empty[0]}. Drop these rows."
            )
        self.matrix = matrix

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
        norms = np.sqrt(np.asarray(self.matrix.multiply(self.matrix).sum(axis=1)).ravel())
        return BagOfWords(sparse.diags_array(1 / norms) @ self.matrix)

    def inverse_document_frequencies(self) -> np.ndarray:
        r"""Rarity of each word, :math:`\max(0, \log [D / (1 + D_w)])`, of shape (V,).

        :math:`D_w` is the number of documents that hold word w. Words in all documents
        or in all but one have rarity zero.
        """
        containing = np.bincount(self.matrix.indices, minlength=self.n_words)
        return np.maximum(np.log(self.n_documents / (1 + containing)), 0)

    def tf_idf(self, *, idf: ArrayLike | None = None) -> BagOfWords:
        r"""Weight counts by rarity and normalise, which gives unit vectors for spherical models.

        .. math::

            v_{dw} \propto n_{dw} \, r_w

        with :math:`r_w` the inverse document frequencies. Words without weight are left out.

        Parameters
        ----------
        idf : array_like of float, shape (V,), optional
            Weights :math:`r_w`, 0 or more; by default the :meth:`inverse_document_frequencies` of
            these documents. For new documents pass those of the training documents.

        Returns
        -------
        BagOfWords
            Documents of length one.

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
        if idf.shape != (self.n_words,) or not np.all((idf >= 0) & np.isfinite(idf)):
            raise ValueError(
                f"`idf` expected {self.n_words} weights of 0 or more, one per word, got shape "
                f"{idf.shape} with values from {np.min(idf, initial=np.inf):.4g}. Pass "
                "`learned.inverse_document_frequencies()` of documents with the same words."
            )
        weighted = self.matrix @ sparse.diags_array(idf)
        weighted.eliminate_zeros()
        empty = np.flatnonzero(np.diff(weighted.indptr) == 0)
        if len(empty):
            raise ValueError(
                "`tf_idf` expected a word with a positive weight in every document, got "
                f"{len(empty)} documents without, the first at row {empty[0]}. Drop these rows."
            )
        return BagOfWords(weighted).unit_vectors()

    def mean_direction(self) -> np.ndarray:
        """Return the direction of the sum of all documents, a unit vector of length V."""
        total = np.asarray(self.matrix.sum(axis=0), dtype="float64").ravel()
        return total / np.linalg.norm(total)

    def as_tensor(self) -> TensorVariable:
        """Return the packed rows of all documents as a symbolic matrix."""
        arrays = {
            "document_starts": self.matrix.indptr.astype("int64"),
            "words": self.matrix.indices.astype("int32"),
            "weights": self.matrix.data.astype(pytensor.config.floatX),
        }
        data = [
            pytensor.shared(array, name=name, shape=array.shape) for name, array in arrays.items()
        ]
        return pack(*data, width=int(np.diff(self.matrix.indptr).max()))

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


@pt.basic._as_tensor_variable.register(sparse.sparray)
@pt.basic._as_tensor_variable.register(sparse.spmatrix)
def _sparse_matrix_as_tensor(matrix, name=None, ndim=None, **kwargs) -> TensorVariable:
    raise NotImplementedError(
        f"A tensor expected a dense array, got a sparse matrix of shape {matrix.shape}. Wrap "
        "counts of words for `pm.Minibatch` in `pmg.BagOfWords(matrix)`; for other data pass "
        "`matrix.toarray()`."
    )
