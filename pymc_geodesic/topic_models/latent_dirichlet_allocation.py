#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Latent Dirichlet allocation with proportions and assignments summed out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import scipy.sparse as sp

from pymc.distributions.distribution import Discrete, SymbolicRandomVariable
from pymc.distributions.shape_utils import rv_size_is_none
from pymc.logprob.abstract import _logprob
from pymc.pytensorf import normalize_rng_param, rvs_in_graph
from pytensor.gradient import disconnected_grad
from pytensor.graph.basic import Apply
from pytensor.tensor import TensorVariable
from pytensor.tensor.random.utils import normalize_size_param
from scipy import sparse

from pymc_geodesic.distributions.base import with_signature
from pymc_geodesic.distributions.validation import as_float_tensor
from pymc_geodesic.graph_inputs import evaluated
from pymc_geodesic.potential.components import Prediction, register_components
from pymc_geodesic.potential.local import LocalExpectation
from pymc_geodesic.potential.packed import (
    corpus_of,
    is_packed,
    require_counts,
    rows_of_corpus,
    tokens_of,
)
from pymc_geodesic.topic_models.bag_of_words import BagOfWords
from pymc_geodesic.topic_models.completion import document_completion_perplexity, split_tokens
from pymc_geodesic.topic_models.topic_counts import counts_of_rows
from pymc_geodesic.validation import whole

__all__ = [
    "ExpectedTopicCounts",
    "LatentDirichletAllocation",
    "LatentDirichletAllocationRV",
    "some_documents",
]


# Tokens of random documents, half of which are predicted: the perplexities of two sets of topics,
# which predict the same tokens, then differ by chance by about three thousandths.
N_TOKENS = 20_000
SWEEPS = 50


def _predicted_corpus(node: Apply, observed: TensorVariable, topics: np.ndarray) -> Prediction:
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
    alpha = evaluated(node.op.dist_params(node)[1])
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


class ExpectedTopicCounts(LocalExpectation):
    """Expected number of tokens of each word in each topic, ``(K, V)``, summed over a batch.

    Parameters
    ----------
    sweeps : int
        Gibbs sweeps over a batch, the first half of which is discarded.
    """

    __props__ = ("sweeps",)

    def __init__(self, sweeps: int) -> None:
        self.sweeps = sweeps

    def make_node(self, documents, starts, words, weights, topics, alpha) -> Apply:
        """Apply to numbers of documents, their corpus, topics and Dirichlet parameters."""
        return Apply(self, [documents, starts, words, weights, topics, alpha], [topics.type()])

    def estimate(self, rng: np.random.Generator, *inputs: np.ndarray) -> np.ndarray:  # noqa: D102
        *documents, topics, alpha = inputs
        counts = counts_of_rows(
            *rows_of_corpus(*documents),
            topics,
            alpha=alpha,
            rng=rng,
            sweeps=self.sweeps,
        )
        return counts.by_word.astype(topics.dtype, copy=False)


class LatentDirichletAllocationRV(SymbolicRandomVariable):
    """Random graph of :class:`LatentDirichletAllocation`."""

    name = "LatentDirichletAllocation"
    extended_signature = "[rng],[size],(k,v),(k),()->[rng],(v)"
    _print_name = ("LatentDirichletAllocation", "\\operatorname{LatentDirichletAllocation}")

    def __init__(self, *args, sweeps: int, **kwargs) -> None:
        self.sweeps = sweeps
        super().__init__(*args, **kwargs)

    @classmethod
    def rv_op(cls, topics, alpha, n, *, sweeps, size=None, rng=None):
        """Build the random variable."""
        topics, alpha, n = map(pt.as_tensor, (topics, alpha, n))
        rng, size = normalize_rng_param(rng), normalize_size_param(size)
        batch = tuple(n.shape) if rv_size_is_none(size) else tuple(size)
        next_rng, theta = pm.Dirichlet.dist(alpha, size=batch, rng=rng, return_next_rng=True)
        next_rng, draws = pm.Multinomial.dist(n, theta @ topics, rng=next_rng, return_next_rng=True)
        inputs = [rng, size, topics, alpha, n]
        return cls(inputs=inputs, outputs=[next_rng, draws.astype("int64")], sweeps=sweeps)(*inputs)


@with_signature(withheld={"n", "shape", "dims", "initval", "transform", "default_transform"})
class LatentDirichletAllocation(Discrete):
    r"""
    Latent Dirichlet allocation: word counts of documents, each from its own mixture of topics.

    .. math::

        \theta_d \sim \operatorname{Dirichlet}(\alpha), \qquad
        z_{di} \sim \theta_d, \qquad w_{di} \sim \pi_{z_{di}}

    The proportions :math:`\theta_d` are integrated out. The topics z of the words are summed out
    by Gibbs sampling within each minibatch. By Fisher's identity the gradient of the log
    probability of the words is

    .. math::

        \nabla \log p(w \mid \pi) = \nabla \sum_{kw} E[n_{kw}] \log \pi_{kw},

    where :math:`n_{kw}` counts the words w of topic k and the expectation is held fixed. The log
    probability itself has no closed form, so that only the stochastic-gradient steps can sample
    the topics.

    Parameters
    ----------
    topics : tensor_like of float, shape (K, V)
        Probabilities of the words in each topic: a ``pm.Dirichlet`` or
        :class:`SymmetricDirichlet` for :class:`SGRLD`, ``pm.math.softmax`` of normal variables for
        :class:`SGNHT`.
    alpha : array_like of float
        Dirichlet parameters of the proportions, positive, one or K of them; no random variable.
    observed : BagOfWords, ``pm.Minibatch`` of one, or sparse or dense counts of shape (D, V)
        The documents.
    total_size : int, optional
        Number of all documents if ``observed`` is a minibatch.
    sweeps : int, default 10
        Gibbs sweeps over each batch, the first half of which is discarded.

    Raises
    ------
    ValueError
        If the documents are not counts, or a minibatch of another type than :class:`BagOfWords`; if
        ``alpha`` is random or not positive.

    Notes
    -----
    The statistic ``potential_estimate`` of the steps refers to words and their topics together.
    Most of its changes are those of words that a topic does not have. Whether a run has ended is
    read from the perplexity of words instead.
    Draws from the distribution are dense counts, ``(D, V)``, with the lengths of the
    observed documents. The group ``observed_data`` of a run has the numbers of the documents in
    their corpus, not their words.

    References
    ----------
    .. [1] Blei, D. M., Ng, A. Y. and Jordan, M. I. (2003). Latent Dirichlet allocation. Journal of
           Machine Learning Research 3.
    .. [2] Patterson, S. and Teh, Y. W. (2013). Stochastic gradient Riemannian Langevin dynamics on
           the probability simplex. NIPS. Section 4.

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> counts = np.random.default_rng(1).poisson(1.0, (200, 30))
    >>> corpus = pmg.BagOfWords(counts)
    >>> with pm.Model():
    ...     batch = pm.Minibatch(corpus, batch_size=50)
    ...     pi = pmg.SymmetricDirichlet("pi", 0.01, shape=(5, corpus.n_words))
    ...     _ = pmg.LatentDirichletAllocation(
    ...         "w", pi, alpha=0.1, observed=batch, total_size=len(corpus)
    ...     )
    ...     idata = pmg.sample(20, tune=20, chains=2, random_seed=1, progressbar=False)
    >>> idata.posterior["pi"].shape
    (2, 20, 5, 30)
    """

    rv_type = LatentDirichletAllocationRV

    def __new__(cls, name: str, topics, alpha, *, observed: Any, **kwargs) -> TensorVariable:
        """Add the variable to the model on the context stack."""
        if sparse.issparse(observed) or isinstance(observed, np.ndarray | list):
            observed = BagOfWords(observed)
        observed = pt.as_tensor(observed)
        if not is_packed(observed):
            raise ValueError(
                "`LatentDirichletAllocation` expected counts, a `pmg.BagOfWords` or a "
                f"`pm.Minibatch` of one as `observed`, got {observed.type}. Write "
                "`pm.Minibatch(pmg.BagOfWords(counts), batch_size=...)`."
            )
        require_counts(observed)
        n = tokens_of(observed)
        # PyMC casts the numbers of documents to integers, the type of the variable.
        return super().__new__(cls, name, topics, alpha, n, observed=observed, **kwargs)

    @classmethod
    def dist(cls, topics: Any, alpha: Any, n: Any, *, sweeps: int = 10, **kwargs) -> TensorVariable:
        """Return a variable that is not registered in a model."""
        topics, alpha = as_float_tensor(topics), as_float_tensor(alpha)
        if rvs_in_graph([alpha]):
            raise ValueError(
                "`LatentDirichletAllocation` expected a fixed `alpha`, got a random variable. The "
                "gradient of `alpha` would need more than the counts. Pass numbers."
            )
        n_topics = topics.type.shape[0] or topics.shape[0]
        alpha = pt.broadcast_to(alpha, (n_topics,))
        sweeps = whole("sweeps", sweeps)
        return super().dist([topics, alpha, pt.as_tensor(n)], sweeps=sweeps, **kwargs)

    def support_point(rv, size, topics, alpha, n) -> TensorVariable:
        """Return counts in proportion to the average topic."""
        return pt.floor(n[..., None] * topics.mean(axis=0)).astype(rv.dtype)


@_logprob.register(LatentDirichletAllocationRV)
def _latent_dirichlet_allocation_logp(op, values, rng, size, topics, alpha, n, **kwargs):
    counts = ExpectedTopicCounts(op.sweeps)(values[0], *corpus_of(values[0]), topics, alpha)
    return (disconnected_grad(counts) * pt.log(topics)).sum()


register_components(LatentDirichletAllocationRV, parameter=0, predict=_predicted_corpus)
