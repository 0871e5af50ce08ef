#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Inner products of packed documents with topics."""

from __future__ import annotations

import numpy as np

from pytensor.compile.builders import OpFromGraph
from pytensor.gradient import disconnected_type
from pytensor.link.numba.dispatch.basic import numba_njit, register_funcify_and_cache_key
from pytensor.tensor import TensorVariable
from scipy import sparse

from pymc_geodesic.potential.packed import unpack

__all__ = ["projections"]


def projections(documents: TensorVariable, topics: TensorVariable) -> TensorVariable:
    r"""Return the inner product of each document with each topic.

    Parameters
    ----------
    documents : TensorVariable, shape (D, 2 L)
        Packed documents; there is no gradient with respect to them.
    topics : TensorVariable, shape (K, V)
        Weights of the words in the topics.

    Returns
    -------
    TensorVariable, shape (D, K)
        :math:`\sum_w v_{dw} \beta_{kw}`.

    Notes
    -----
    Numba runs a loop over the words of each document. The equivalent graph, which JAX runs, treats
    every document as if it were as long as the longest.

    Examples
    --------
    >>> import pytensor.tensor as pt, pymc_geodesic as pmg
    >>> corpus = pmg.BagOfWords([[2, 0, 1], [0, 3, 0]])
    >>> topics = pt.constant([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    >>> projections(pt.as_tensor(corpus), topics).eval()
    array([[3., 0.],
           [0., 3.]])
    """
    inputs = [documents.type(), topics.type()]
    words, weights = unpack(inputs[0])
    # Without `reshape`, for which JAX needs static shapes.
    output = (inputs[1].T[words] * weights[:, :, None]).sum(axis=1)
    return Projections(inputs, [output])(documents, topics)


def _word_sums(documents, coefficients, topics) -> TensorVariable:
    """Return the gradient of projections: sums of the documents, ``(K, V)``."""
    inputs = [documents.type(), coefficients.type(), topics.type()]
    words, weights = unpack(inputs[0])
    terms = weights[:, :, None] * inputs[1][:, None, :]
    output = inputs[2].T.zeros_like()[words].inc(terms).T
    return WordSums(inputs, [output])(documents, coefficients, topics)


class Projections(OpFromGraph):
    """Inner products of packed documents with topics."""

    gufunc_signature = "(d,l),(k,v)->(d,k)"

    def pullback(self, inputs, outputs, cotangents):
        """Pull back to the topics."""
        documents, topics = inputs
        return [disconnected_type(), _word_sums(documents, cotangents[0], topics)]

    def connection_pattern(self, node):
        """Mark documents as data, without a gradient."""
        return [[False], [True]]

    def perform(self, node, inputs, outputs):
        """Compute by SciPy if the graph is interpreted."""
        documents, topics = inputs
        outputs[0][0] = _matrix(documents, topics.shape[1]) @ topics.T


class WordSums(OpFromGraph):
    """Sums of packed documents with coefficients for each topic, in the shape of the topics."""

    gufunc_signature = "(d,l),(d,k),(k,v)->(k,v)"

    def pullback(self, inputs, outputs, cotangents):
        """Pull back to the coefficients."""
        documents = inputs[0]
        return [disconnected_type(), projections(documents, cotangents[0]), disconnected_type()]

    def connection_pattern(self, node):
        """Mark the topics as unconnected: only their shape matters."""
        return [[False], [True], [False]]

    def perform(self, node, inputs, outputs):
        """Compute by SciPy if the graph is interpreted."""
        documents, coefficients, topics = inputs
        sums = _matrix(documents, topics.shape[1]).T @ coefficients
        outputs[0][0] = np.ascontiguousarray(sums.T)


def _matrix(documents: np.ndarray, n_words: int) -> sparse.csr_array:
    words, weights = np.split(documents, 2, axis=1)
    starts = np.arange(0, words.size + 1, words.shape[1])
    arrays = weights.ravel(), words.ravel().astype("int32"), starts
    return sparse.csr_array(arrays, shape=(len(documents), n_words))


@register_funcify_and_cache_key(Projections)
def _projections_numba(op, node=None, **kwargs):
    @numba_njit
    def inner_products(documents, topics):
        n_documents, n_columns = documents.shape
        n_topics = topics.shape[0]
        result = np.zeros((n_documents, n_topics), dtype=topics.dtype)
        words = np.empty(n_columns // 2, dtype=np.int64)
        for d in range(n_documents):
            n = _read_words(documents[d], words)
            for k in range(n_topics):
                total = result[d, k]
                for i in range(n):
                    total += documents[d, n_columns // 2 + i] * topics[k, words[i]]
                result[d, k] = total
        return result

    return inner_products, "pymc_geodesic.Projections.2"


@register_funcify_and_cache_key(WordSums)
def _word_sums_numba(op, node=None, **kwargs):
    @numba_njit
    def sums(documents, coefficients, topics):
        n_documents, n_columns = documents.shape
        n_topics = topics.shape[0]
        result = np.zeros(topics.shape, dtype=topics.dtype)
        words = np.empty(n_columns // 2, dtype=np.int64)
        for d in range(n_documents):
            n = _read_words(documents[d], words)
            for k in range(n_topics):
                coefficient = coefficients[d, k]
                for i in range(n):
                    result[k, words[i]] += coefficient * documents[d, n_columns // 2 + i]
        return result

    return sums, "pymc_geodesic.WordSums.2"


@numba_njit
def _read_words(document, words):
    """Write the word numbers of a packed document to ``words``; return their number."""
    half = len(words)
    for i in range(half):
        if document[half + i] == 0:
            return i
        words[i] = int(document[i])
    return half
