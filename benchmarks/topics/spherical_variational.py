#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Mean-field variational inference for the spherical admixture model, a baseline and a start.

The proportions of a document are Dirichlet with parameters a, a topic is von Mises-Fisher with
mean direction b and mean length A(c) of concentration c. As in Reisinger et al. (2010), the
expected cosine of a document with its mixture of topics is taken to be the expected inner product
over the root of the mixture's expected squared length, both of which are known, and the expected
logarithm of the topics' prior to be that at their means.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse as sp

from jax.scipy.special import digamma, gammaln
from scipy.optimize import minimize

from benchmarks.topics.spherical_admixture import ALPHA

__all__ = ["Variational", "fit"]

jax.config.update("jax_enable_x64", True)


class Variational(NamedTuple):
    """Directions of the topics, their concentrations, and the Dirichlet parameters."""

    topics: np.ndarray
    concentration: np.ndarray
    proportions: np.ndarray
    bound: list[float]


def mean_length(concentration, n: int):
    """Approximate the ratio of Bessel functions, as Reisinger et al. do."""
    ratio = n / concentration
    return (jnp.sqrt(ratio**2 + 4) - ratio) / 2


def log_normalizer(concentration, n: int):
    """Return minus the integral of the approximate mean length, up to a constant."""
    root = jnp.sqrt(n**2 + 4 * concentration**2)
    return -0.5 * (root - n - n * jnp.log((root + n) / (2 * n)))


def _of_documents(log_a, products, gram, lengths, kappa):
    """Expected log density of the documents, and minus the divergence of their proportions."""
    a = jnp.exp(log_a)
    a0 = a.sum(axis=1)
    squares = ((a @ (gram * jnp.outer(lengths, lengths))) * a).sum(axis=1)
    squares += (a**2 * (1 - lengths**2)).sum(axis=1) + a0
    cosines = (a * lengths * products).sum(axis=1) / a0 / jnp.sqrt(squares / (a0 * (a0 + 1)))
    expected = digamma(a) - digamma(a0)[:, None]
    entropy = gammaln(a).sum(axis=1) - gammaln(a0) - ((a - ALPHA) * expected).sum(axis=1)
    return (kappa * cosines + entropy).sum()


def _of_prior(products, gram, lengths, sigma, n):
    """Expected log prior of the topics: ``products`` are those with the prior direction."""
    squared = 1 + gram @ lengths @ lengths + 2 * products @ lengths
    return -log_normalizer(sigma * jnp.sqrt(squared), n)


def _bound(log_a, products, gram, with_mean, lengths, kappa, sigma, n):
    documents = _of_documents(log_a, products, gram, lengths, kappa)
    return documents + _of_prior(with_mean, gram, lengths, sigma, n)


_evaluate = jax.jit(
    jax.value_and_grad(_bound, argnums=(0, 1, 2, 3, 4)), static_argnames=("kappa", "sigma", "n")
)


def fit(
    documents: sp.csr_array,
    mean: np.ndarray,
    start: np.ndarray,
    *,
    kappa: float,
    sigma: float,
    rounds: int = 6,
    iterations: int = 60,
) -> Variational:
    """Maximise the bound by L-BFGS, and set the concentrations between rounds of it."""
    (k, n), n_documents = start.shape, documents.shape[0]
    concentration = np.full(k, kappa)
    x = np.concatenate([np.full(n_documents * k, np.log(ALPHA)), start.ravel() * np.sqrt(n)])
    bound: list[float] = []

    def parts(x):
        log_a = x[: n_documents * k].reshape(n_documents, k)
        raw = x[n_documents * k :].reshape(k, n)
        norms = np.linalg.norm(raw, axis=1, keepdims=True)
        return log_a, raw / norms, norms

    def evaluate(x):
        log_a, topics, norms = parts(x)
        value, gradients = _evaluate(
            log_a,
            documents @ np.ascontiguousarray(topics.T),
            topics @ topics.T,
            topics @ mean,
            np.asarray(mean_length(concentration, n)),
            kappa=kappa,
            sigma=sigma,
            n=n,
        )
        of_a, of_products, of_gram, of_mean, of_lengths = map(np.asarray, gradients)
        of_topics = (documents.T @ of_products).T + (of_gram + of_gram.T) @ topics
        of_topics += np.outer(of_mean, mean)
        of_topics -= topics * (topics * of_topics).sum(axis=1, keepdims=True)
        gradient = np.concatenate([of_a.ravel(), (of_topics / norms).ravel()])
        return float(value), gradient, of_lengths

    for _ in range(rounds):
        found = minimize(
            lambda x: [-part for part in evaluate(x)[:2]],
            x,
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": iterations, "maxcor": 20},
        )
        x = found.x
        bound.append(-float(found.fun))
        # At the maximum the concentration is the derivative of the rest by the mean length.
        concentration = np.maximum(evaluate(x)[2], 1.0)
    log_a, topics, _ = parts(x)
    return Variational(topics, concentration, np.exp(log_a), bound)
