#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Documents as unit vectors around mixtures of topics."""

from typing import Any

import pytensor.tensor as pt

from pymc.distributions.dist_math import check_parameters
from pymc.distributions.distribution import Continuous, SymbolicRandomVariable
from pymc.distributions.shape_utils import rv_size_is_none
from pymc.logprob.abstract import _logprob
from pymc.pytensorf import normalize_rng_param
from pytensor.tensor.random.utils import normalize_size_param
from pytensor.tensor.variable import TensorVariable

from pymc_geodesic.distributions.base import on_support, with_signature
from pymc_geodesic.distributions.bessel import vmf_log_normalizer
from pymc_geodesic.distributions.validation import (
    as_float_tensor,
    check_unit_vectors,
    has_unit_norm,
)
from pymc_geodesic.distributions.von_mises_fisher import VonMisesFisher
from pymc_geodesic.potential.packed import is_packed, require_unit_vectors
from pymc_geodesic.potential.row_starts import register_local_start
from pymc_geodesic.topic_models.bag_of_words import BagOfWords
from pymc_geodesic.topic_models.projections import projections

__all__ = ["SphericalAdmixture", "SphericalAdmixtureRV", "least_squares_proportions"]


class SphericalAdmixtureRV(SymbolicRandomVariable):
    """Random graph of :class:`SphericalAdmixture`."""

    name = "SphericalAdmixture"
    extended_signature = "[rng],[size],(k),(k,v),()->[rng],(v)"
    _print_name = ("SphericalAdmixture", "\\operatorname{SphericalAdmixture}")

    def __init__(self, *args, packed: bool, **kwargs) -> None:
        self.packed = packed
        super().__init__(*args, **kwargs)

    @classmethod
    def rv_op(cls, theta, topics, kappa, *, packed=False, size=None, rng=None):
        """Build the random variable."""
        theta, topics, kappa = map(pt.as_tensor, (theta, topics, kappa))
        rng, size = normalize_rng_param(rng), normalize_size_param(size)
        mean = theta @ topics
        mean = mean / pt.sqrt((mean * mean).sum(axis=-1, keepdims=True))
        next_rng, draws = VonMisesFisher.dist(
            mean,
            kappa,
            size=None if rv_size_is_none(size) else size,
            rng=rng,
            return_next_rng=True,
        )
        return cls(
            inputs=[rng, size, theta, topics, kappa], outputs=[next_rng, draws], packed=packed
        )(rng, size, theta, topics, kappa)


@with_signature()
class SphericalAdmixture(Continuous):
    r"""
    Spherical admixture model: each document is a unit vector around its mixture of topics.

    .. math::

        v_d \sim \operatorname{vMF}(\bar v_d, \kappa), \qquad
        \bar v_d = \frac{\sum_k \theta_{dk} \beta_k}{|\sum_k \theta_{dk} \beta_k|}

    The density is with respect to the surface measure of the sphere.

    Parameters
    ----------
    theta : tensor_like of float, shape (D, K)
        Proportions of the topics in each document.
    topics : tensor_like of float, shape (K, V)
        Topics :math:`\beta_k`, unit vectors.
    kappa : tensor_like of float
        Concentration of the documents, above 0.
    observed : BagOfWords, ``pm.Minibatch`` of one, or tensor_like of shape (D, V)
        The documents, unit vectors.
    total_size : int, optional
        Number of all documents if ``observed`` is a minibatch.

    Raises
    ------
    ValueError
        If known documents are not unit vectors.

    Notes
    -----
    The log density is written through :math:`v_d^\top \beta_k` and :math:`\beta_j^\top \beta_k`.
    Given the topics, a sampler of the proportions only needs these K numbers per document and
    one K x K matrix, not the vocabulary. The gradient in the topics costs as much for many draws of
    the proportions as for one. Draws from the distribution are dense, ``(D, V)``.

    References
    ----------
    .. [1] Reisinger, J., Waters, A., Silverthorn, B. and Mooney, R. J. (2010). Spherical topic
           models. ICML.
    .. [2] Liu, C., Zhu, J. and Song, Y. (2016). Stochastic gradient geodesic MCMC methods. NIPS.
           Section 5.3.

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> counts = np.random.default_rng(1).poisson(1.0, (200, 30))
    >>> corpus = pmg.BagOfWords(counts).tf_idf()
    >>> with pm.Model():
    ...     v = pm.Minibatch(corpus, batch_size=50)
    ...     theta = pm.Dirichlet("theta", np.full(5, 10.0), shape=(50, 5))
    ...     beta = pmg.CollapsedMeanTopics(
    ...         "beta", corpus.mean_direction(), 1e4, n_topics=5, mean_concentration=1e4
    ...     )
    ...     _ = pmg.SphericalAdmixture("v", theta, beta, 3e4, observed=v, total_size=len(corpus))
    ...     local = pmg.LocalGMC([theta])
    ...     step = pmg.gSGNHT([beta], local=local, step_size=1e-5)
    >>> beta.type.shape
    (5, 30)
    """

    rv_type = SphericalAdmixtureRV

    def __new__(cls, name: str, *args, observed: Any = None, **kwargs) -> TensorVariable:
        """Add the variable to the model on the context stack."""
        packed = False
        if observed is not None:
            observed = pt.as_tensor(observed) if isinstance(observed, BagOfWords) else observed
            packed = is_packed(pt.as_tensor(observed))
            if packed:
                require_unit_vectors(observed)
            else:
                check_unit_vectors(observed, "observed", "SphericalAdmixture")
        return super().__new__(cls, name, *args, observed=observed, packed=packed, **kwargs)

    @classmethod
    def dist(cls, theta: Any, topics: Any, kappa: Any, **kwargs) -> TensorVariable:
        """Return a variable that is not registered in a model."""
        return super().dist([as_float_tensor(x) for x in (theta, topics, kappa)], **kwargs)

    def support_point(rv, size, theta, topics, kappa) -> TensorVariable:
        """Return the mean directions."""
        mean = theta @ topics
        return mean / pt.sqrt((mean * mean).sum(axis=-1, keepdims=True))


def _projections(value: TensorVariable, topics: TensorVariable, packed: bool) -> TensorVariable:
    """Inner product of each document with each topic, shape ``(D, K)``."""
    return projections(value, topics) if packed else value @ topics.T


@_logprob.register(SphericalAdmixtureRV)
def _spherical_admixture_logp(op, values, rng, size, theta, topics, kappa, **kwargs):
    [value] = values
    projections, gram = _projections(value, topics, op.packed), topics @ topics.T
    norm = pt.sqrt(((theta @ gram) * theta).sum(axis=-1))
    n = topics.shape[-1] if topics.type.shape[-1] is None else topics.type.shape[-1]
    log_density = kappa * (theta * projections).sum(axis=-1) / norm + vmf_log_normalizer(n, kappa)
    if not op.packed:
        log_density = on_support(log_density, value, has_unit_norm)
    return check_parameters(log_density, kappa > 0, msg="kappa > 0")


def least_squares_proportions(op, value, theta, topics, kappa) -> TensorVariable:
    r"""Proportions near the mode: :math:`(\beta \beta^\top)^{-1} \beta v_d`, made positive.

    For a uniform prior the direction of the least-squares solution is the mode if it lies inside
    the simplex. Entries are at least a fiftieth of an equal share.
    """
    gram = topics @ topics.T
    # Equal topics, such as those of a common start, need a ridge to have an inverse.
    ridge = 1e-6 * pt.eye(gram.shape[0], dtype=gram.dtype)
    solution = pt.linalg.solve(gram + ridge, _projections(value, topics, op.packed).T).T
    share = 1.0 / topics.shape[0]
    kept = pt.maximum(solution / pt.maximum(solution.sum(axis=-1, keepdims=True), share), 0)
    kept = pt.maximum(kept, 0.02 * share)
    return kept / kept.sum(axis=-1, keepdims=True)


register_local_start(SphericalAdmixtureRV, least_squares_proportions)
