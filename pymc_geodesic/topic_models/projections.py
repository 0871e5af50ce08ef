#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Inner products of packed documents with topics."""

from __future__ import annotations

import numpy as np

from pytensor.compile.builders import OpFromGraph
from pytensor.gradient import disconnected_type
from pytensor.tensor import TensorVariable
from scipy import sparse

from pymc_geodesic.potential.packed import Corpus, corpus_of, rows_of_corpus, unpack

__all__ = ["projections"]


def projections(documents: TensorVariable, topics: TensorVariable) -> TensorVariable:
    r"""Return the inner product of each document with each topic.

    Parameters
    ----------
    documents : TensorVariable, shape (D, 1)
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
    corpus = corpus_of(documents)
    return _inner_products(documents, corpus, topics, width=corpus.width)


def _inner_products(
    documents: TensorVariable, corpus: Corpus, topics: TensorVariable, *, width: int
) -> TensorVariable:
    inputs = [x.type() for x in (documents, *corpus, topics)]
    words, weights = unpack(inputs[0], Corpus(*inputs[1:4]), width=width)
    # Without `reshape`, for which JAX needs static shapes.
    output = (inputs[-1].T[words] * weights[:, :, None]).sum(axis=1)
    return Projections(inputs, [output], width=width)(documents, *corpus, topics)


def _word_sums(
    documents: TensorVariable,
    corpus: Corpus,
    coefficients: TensorVariable,
    topics: TensorVariable,
    *,
    width: int,
) -> TensorVariable:
    """Return the gradient of projections: sums of the documents, ``(K, V)``."""
    inputs = [x.type() for x in (documents, *corpus, coefficients, topics)]
    words, weights = unpack(inputs[0], Corpus(*inputs[1:4]), width=width)
    terms = weights[:, :, None] * inputs[-2][:, None, :]
    output = inputs[-1].T.zeros_like()[words].inc(terms).T
    return WordSums(inputs, [output], width=width)(documents, *corpus, coefficients, topics)


class OfDocuments(OpFromGraph):
    """A function of packed documents, which are data without a gradient.

    Parameters
    ----------
    width : int
        Number of distinct words of the longest document.
    """

    def __init__(self, *args, width: int, **kwargs) -> None:
        self.width = width
        super().__init__(*args, **kwargs)


class Projections(OfDocuments):
    """Inner products of packed documents with topics."""

    gufunc_signature = "(d,u),(s),(n),(n),(k,v)->(d,k)"

    def pullback(self, inputs, outputs, cotangents):
        """Pull back to the topics."""
        documents, *corpus, topics = inputs
        sums = _word_sums(documents, Corpus(*corpus), cotangents[0], topics, width=self.width)
        return [*(disconnected_type() for _ in inputs[:-1]), sums]

    def connection_pattern(self, node):
        """Mark documents as data, without a gradient."""
        return [*([False] for _ in node.inputs[:-1]), [True]]

    def perform(self, node, inputs, outputs):
        """Compute by SciPy if the graph is interpreted."""
        outputs[0][0] = _matrix(*inputs) @ inputs[-1].T


class WordSums(OfDocuments):
    """Sums of packed documents with coefficients for each topic, in the shape of the topics."""

    gufunc_signature = "(d,u),(s),(n),(n),(d,k),(k,v)->(k,v)"

    def pullback(self, inputs, outputs, cotangents):
        """Pull back to the coefficients."""
        documents, *corpus, _, _ = inputs
        back = _inner_products(documents, Corpus(*corpus), cotangents[0], width=self.width)
        return [*(disconnected_type() for _ in inputs[:4]), back, disconnected_type()]

    def connection_pattern(self, node):
        """Mark the topics as unconnected: only their shape matters."""
        return [*([False] for _ in node.inputs[:4]), [True], [False]]

    def perform(self, node, inputs, outputs):
        """Compute by SciPy if the graph is interpreted."""
        *documents, coefficients, topics = inputs
        sums = _matrix(*documents, topics).T @ coefficients
        outputs[0][0] = np.ascontiguousarray(sums.T)


def _matrix(*arrays: np.ndarray) -> sparse.csr_array:
    *documents, topics = arrays
    starts, words, weights = rows_of_corpus(*documents)
    return sparse.csr_array((weights, words, starts), shape=(len(starts) - 1, topics.shape[1]))
