#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Proportions of topics in documents, given topics."""

from __future__ import annotations

import numpy as np
import pymc as pm
import pytensor
import scipy.sparse as sp
import xarray as xr

from numpy.typing import ArrayLike

from pymc_geodesic.distributions import SphericalUniform
from pymc_geodesic.latents.gmc import LocalGMC, LocalSampler
from pymc_geodesic.potential import Potential
from pymc_geodesic.topic_models.alignment import aligned_draws
from pymc_geodesic.topic_models.bag_of_words import BagOfWords
from pymc_geodesic.topic_models.read import Documents, Draws, dataset_in, read_documents, tracked
from pymc_geodesic.topic_models.spherical_admixture import SphericalAdmixture
from pymc_geodesic.topic_models.topic_counts import counts_of_rows, read_alpha
from pymc_geodesic.validation import whole

__all__ = [
    "alpha_of",
    "drawn_shares",
    "fold_in",
    "proportions",
    "some_draws",
    "spherical_proportions",
    "sweeps_for",
]


# Number of calls of the sampler, each with some dozens of trajectories per document, to find
# initial step sizes of the documents.
N_ADAPTATIONS = 5


def spherical_proportions(
    topics: np.ndarray,
    documents: sp.csr_array,
    *,
    alpha: ArrayLike,
    kappa: float,
    draws: int,
    tune: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Average the proportions of documents over their draws for every draw of the topics.

    Parameters
    ----------
    topics : ndarray, shape (M, K, V)
        Draws of the topics, unit vectors.
    documents : csr_array, shape (D, V)
        Unit vectors.
    alpha, kappa
        Dirichlet parameters of the proportions and concentration of the documents.
    draws, tune : int
        Number of geodesic Monte Carlo trajectories to average, and number of those before.
    rng : numpy.random.Generator
        Source of the draws.
    """
    shape = (documents.shape[0], topics.shape[1])
    with pm.Model() as model:
        beta = SphericalUniform("topics", shape=topics.shape[1:])
        theta = pm.Dirichlet("theta", np.broadcast_to(alpha, shape[1:]), shape=shape)
        SphericalAdmixture("v", theta, beta, kappa, observed=BagOfWords(documents))
    values = [model.rvs_to_values[rv] for rv in (beta, theta)]
    point = model.initial_point()
    start, local_start = (np.asarray(point[value.name]) for value in values)
    potential = Potential(
        model,
        values[:1],
        initial_point=point,
        local=values[1:],
    )
    sampler = LocalSampler(
        LocalGMC(theta, draws=draws, tune=tune),
        potential,
        position=[start],
        local_values=[local_start],
        restart=True,
    )

    state = sampler.begin()
    given: dict[str, list] = {"conditioned": [], "local_values": [local_start], "rows": []}

    def draw(beta: np.ndarray, *, tune: bool) -> np.ndarray:
        found = sampler.draw(state, rng, tune=tune, position=[beta], **given)
        sampler.learn(state, found, tune=tune)
        return (found.draws[0] ** 2).mean(axis=0)

    topics = np.ascontiguousarray(topics, dtype=pytensor.config.floatX)
    for _ in range(N_ADAPTATIONS):
        draw(topics[0], tune=True)
    return np.mean([draw(beta, tune=False) for beta in topics], axis=0)


# Sweeps for a single draw of the topics, and for one of many, whose average has less error.
SWEEPS, FEWEST_SWEEPS = 100, 20


def proportions(
    topics: Draws,
    *,
    documents: Documents,
    alpha: ArrayLike | None = None,
    kappa: float | None = None,
    sweeps: int | None = None,
    discard: int | None = None,
    rng: np.random.Generator | int | None = None,
    progressbar: bool = True,
    var_name: str = "topics",
) -> np.ndarray:
    r"""Posterior mean proportions of topics in documents.

    With ``kappa`` documents are unit vectors from a spherical admixture, and their proportions
    are drawn by geodesic Monte Carlo, as :class:`LocalGMC` does.

    Without ``kappa`` they are counts of words from latent Dirichlet allocation. The topics of a
    document's tokens are drawn by Gibbs sampling, as in
    :func:`pymc_geodesic.topic_models.expected_counts`, and

    .. math::

        E[\eta_{dk} \mid w_d] = \frac{\alpha_k + E[n_{dk}]}{\sum_j \alpha_j + n_d},

    averaged over the draws of the topics. The average is only meaningful if topics keep their
    order. Chains with different orders raise an error; :func:`align` reorders them.

    Parameters
    ----------
    topics : DataTree or array_like of float
        Draws of the topics, unit vectors or word probabilities: the result of ``pm.sample``, or an
        array of shape (..., K, V) whose leading axes are draws. Every draw costs a run over all
        documents, so thin the draws.
    documents : BagOfWords, sparse matrix or array_like
        Unit vectors or counts of words, of shape (D, V).
    alpha : array_like of float, optional
        Dirichlet parameters of the proportions, positive, one or K of them; by default those of
        :func:`sample`.
    kappa : float, optional
        Concentration of documents on the sphere, positive.
    sweeps : int, optional
        Number of times that the proportions, or the topics of all tokens, are drawn for each draw
        of the topics; by default 100, or fewer for several draws, but at least 20.
    discard : int, optional
        Number of these sweeps to discard; half of them by default.
    rng : numpy.random.Generator or int, optional
        Source of the draws, or its seed.
    progressbar : bool
        Whether to show the progress, in a terminal or a notebook.
    var_name : str
        Name of the topics in the posterior.

    Returns
    -------
    ndarray
        Of shape (D, K); rows sum to 1. A document without words has the mean of the prior.

    Raises
    ------
    ValueError
        If shapes do not fit, documents are not counts or not unit vectors, ``alpha`` is not
        positive, all sweeps are discarded, or the order of topics differs between chains.

    References
    ----------
    Griffiths, T. L. and Steyvers, M. (2004). Finding scientific topics. PNAS 101, 5228-5235.

    Examples
    --------
    >>> topics = [[[0.98, 0.01, 0.01], [0.01, 0.01, 0.98]]]
    >>> proportions(topics, documents=[[50, 0, 0], [0, 0, 0]], alpha=0.5, rng=1).round(1)
    array([[1. , 0. ],
           [0.5, 0.5]])
    """
    draws = aligned_draws(topics, var_name, what="proportions")
    documents = read_documents(documents, draws.shape[-1])
    alpha, rng = alpha_of(topics, alpha), np.random.default_rng(rng)
    sweeps = sweeps_for(len(draws)) if sweeps is None else sweeps
    if kappa is not None:
        n_discarded = sweeps // 2 if discard is None else discard
        return spherical_proportions(
            draws,
            documents,
            alpha=read_alpha(alpha, draws.shape[1]),
            kappa=kappa,
            draws=sweeps - n_discarded,
            tune=n_discarded,
            rng=rng,
        )
    total = np.zeros((documents.shape[0], draws.shape[1]))
    for draw in tracked(draws, "Sorting documents", visible=progressbar):
        total += fold_in(draw, documents, alpha=alpha, sweeps=sweeps, discard=discard, rng=rng)
    return total / len(draws)


def fold_in(
    topics: np.ndarray,
    documents: sp.csr_array,
    *,
    alpha: ArrayLike,
    sweeps: int,
    discard: int | None,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return the posterior mean proportions of documents given one draw of the topics."""
    csr = (documents.indptr, documents.indices, documents.data)
    counts = counts_of_rows(*csr, topics, alpha=alpha, rng=rng, sweeps=sweeps, discard=discard)
    found = counts.by_document + read_alpha(alpha, len(topics))
    return found / found.sum(axis=1, keepdims=True)


def drawn_shares(
    topics: np.ndarray, documents: sp.csr_array, *, alpha: ArrayLike, rng: np.random.Generator
) -> np.ndarray:
    """Draw the proportions of documents ``(D, K)`` from their posterior, given topics."""
    csr = (documents.indptr, documents.indices, documents.data)
    sweeps = FEWEST_SWEEPS
    counts = counts_of_rows(*csr, topics, alpha=alpha, rng=rng, sweeps=sweeps, discard=sweeps - 1)
    gammas = rng.gamma(counts.by_document + read_alpha(alpha, len(topics)))
    # All of a document without words may underflow.
    gammas = np.maximum(gammas, np.finfo(float).tiny)
    return gammas / gammas.sum(axis=1, keepdims=True)


def sweeps_for(n_draws: int) -> int:
    """Return how often to draw the proportions for each of several draws of the topics."""
    return max(FEWEST_SWEEPS, SWEEPS // n_draws)


def some_draws(topics: Draws, var_name: str, *, n_draws: int, what: str) -> np.ndarray:
    """Return at most so many of the draws of :func:`aligned_draws`, spread over all chains."""
    draws = aligned_draws(topics, var_name, what=what)
    n_draws = min(whole("n_draws", n_draws), len(draws))
    return draws[np.linspace(0, len(draws) - 1, n_draws).round().astype(int)]


def alpha_of(topics: Draws, alpha: ArrayLike | None) -> ArrayLike:
    """Return the given concentration of the proportions, or that of the run.

    Raises
    ------
    ValueError
        If neither is known.
    """
    if alpha is None and isinstance(topics, xr.DataTree):
        alpha = dataset_in(topics, "posterior").attrs.get("alpha")
    if alpha is None:
        raise ValueError(
            "`alpha` expected the Dirichlet parameters of the proportions in the model, got None. "
            "Only results of `pmg.topics.sample` know theirs: pass `alpha`."
        )
    return alpha
