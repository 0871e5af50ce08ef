#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""How well topics predict documents of the corpus that they were learned from."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from pytensor.graph.basic import Apply
from pytensor.tensor import TensorVariable

from pymc_geodesic.potential.components import Prediction
from pymc_geodesic.potential.packed import corpus_of, rows_of_corpus
from pymc_geodesic.topic_models.completion import document_completion_perplexity, split_tokens

__all__ = ["predicted_corpus", "some_documents"]

# Tokens of random documents, half of which are predicted: the perplexities of two sets of topics,
# which predict the same tokens, then differ by chance by about three thousandths.
N_TOKENS = 20_000
SWEEPS = 50


def predicted_corpus(node: Apply, observed: TensorVariable, topics: np.ndarray) -> Prediction:
    """Predict one half of the tokens of some documents from the other half.

    The topics were learned from both halves, so that only differences mean something.

    Parameters
    ----------
    node : Apply
        Latent Dirichlet allocation.
    observed : TensorVariable
        Its documents, of which there may be more than the batch.
    topics : ndarray, shape (n, K, V)
        Sets of topics.
    """
    alpha = np.asarray(node.op.dist_params(node)[1].eval())
    corpus = [array.get_value(borrow=True) for array in corpus_of(observed)]
    n_words = topics.shape[-1]
    counts = np.bincount(corpus[1], weights=corpus[2], minlength=n_words) + 1.0
    parts = split_tokens(
        some_documents(corpus, n_words=n_words, n_tokens=N_TOKENS), fraction=0.5, rng=0
    )

    def perplexity(one: np.ndarray, alpha: np.ndarray) -> float:
        return document_completion_perplexity(
            one[None] / one.sum(axis=-1, keepdims=True),
            observed=parts[0],
            held_out=parts[1],
            alpha=alpha,
            sweeps=SWEEPS,
            rng=0,
        ).value

    found = [perplexity(one.astype(float), alpha) for one in topics]
    return Prediction(np.array(found), perplexity(counts[None], np.ones(1)))


def some_documents(corpus: list[np.ndarray], *, n_words: int, n_tokens: int) -> sp.csr_array:
    """Return random documents with as many tokens as are needed, or all documents.

    Parameters
    ----------
    corpus : list of ndarray
        Starts of the documents, words and weights.
    n_words, n_tokens : int
        Size of the vocabulary, and the tokens that are needed.
    """
    first, _, weights = corpus
    so_far = np.concatenate([[0.0], np.cumsum(weights)])
    order = np.random.default_rng(0).permutation(len(first) - 1)
    tokens = np.cumsum(np.diff(so_far[first])[order])
    chosen = order[: 1 + int(np.searchsorted(tokens, n_tokens))]
    indptr, words, weights = rows_of_corpus(chosen[:, None], *corpus)
    return sp.csr_array((weights, words, indptr), shape=(len(chosen), n_words))
