#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Directions around a common mean, which is integrated out."""

from typing import Any

import numpy as np
import pytensor.tensor as pt

from pymc.distributions.dist_math import check_parameters
from pymc.distributions.distribution import Continuous
from pytensor.tensor.variable import TensorVariable

from pymc_geodesic.distributions.base import RandomGraph, on_manifold, on_support, with_signature
from pymc_geodesic.distributions.bessel import vmf_log_normalizer
from pymc_geodesic.distributions.transforms import unit_vectors
from pymc_geodesic.distributions.validation import (
    as_float_tensor,
    check_unit_vectors,
    has_unit_norm,
)
from pymc_geodesic.distributions.von_mises_fisher import VonMisesFisher
from pymc_geodesic.manifolds import Sphere

__all__ = ["CollapsedMeanTopics", "CollapsedMeanTopicsRV"]


class CollapsedMeanTopicsRV(RandomGraph):
    """Random graph of :class:`CollapsedMeanTopics`."""

    extended_signature = "[rng],[size],(v),(),(),(s)->[rng],(k,v)"

    @classmethod
    def draw(cls, mu, kappa, mean_concentration, n_topics, *, size, rng):
        """Return the generator's next state and draws."""
        next_rng, mean = VonMisesFisher.dist(mu, mean_concentration, rng=rng, return_next_rng=True)
        next_rng, draws = VonMisesFisher.dist(
            mean, kappa, size=tuple(n_topics), rng=next_rng, return_next_rng=True
        )
        return next_rng, draws


@with_signature()
class CollapsedMeanTopics(Continuous):
    r"""
    Topics of a spherical admixture with their common mean direction integrated out.

    .. math::

        \mu \sim \operatorname{vMF}(m, \kappa_0), \qquad
        \beta_k \mid \mu \sim \operatorname{vMF}(\mu, \kappa), \quad k = 1 \dots K

    has the marginal density, with respect to the product of the surface measures,

    .. math::

        f(\beta) = \frac{c_V(\kappa_0) \, c_V(\kappa)^K}
            {c_V\left(|\kappa_0 m + \kappa \sum_k \beta_k|\right)}

    with :math:`c_V` the normaliser of the von Mises-Fisher distribution.

    Parameters
    ----------
    mu : tensor_like of float, shape (V,)
        Prior direction m of the mean, a unit vector, such as that of the whole corpus.
    kappa : tensor_like of float
        Concentration of the topics around their mean, above 0.
    n_topics : int
        Number of topics K.
    mean_concentration : tensor_like of float
        Concentration :math:`\kappa_0` of the mean around m, above 0.

    Raises
    ------
    ValueError
        If a known ``mu`` is not a unit vector, or ``n_topics`` is not positive.

    References
    ----------
    .. [1] Liu, C., Zhu, J. and Song, Y. (2016). Stochastic gradient geodesic MCMC methods. NIPS.
           Section 5.3.

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> counts = np.random.default_rng(1).poisson(1.0, (200, 30))
    >>> corpus = pmg.BagOfWords(counts).tf_idf()
    >>> with pm.Model():
    ...     beta = pmg.CollapsedMeanTopics(
    ...         "beta", corpus.mean_direction(), 1e4, n_topics=20, mean_concentration=1e4
    ...     )
    >>> beta.type.shape
    (20, 30)
    """

    rv_type = CollapsedMeanTopicsRV

    @classmethod
    def dist(
        cls, mu: Any, kappa: Any, *, n_topics: int, mean_concentration: Any, **kwargs
    ) -> TensorVariable:
        """Return a variable that is not registered in a model."""
        if int(n_topics) != n_topics or n_topics < 1:
            raise ValueError(
                "`CollapsedMeanTopics` expected a positive whole number in `n_topics`, got "
                f"{n_topics!r}."
            )
        mu, kappa, mean_concentration = map(as_float_tensor, (mu, kappa, mean_concentration))
        check_unit_vectors(mu, "mu", "CollapsedMeanTopics")
        n = np.array([n_topics], dtype="int64")
        return super().dist([mu, kappa, mean_concentration, n], **kwargs)

    def support_point(rv, size, mu, kappa, mean_concentration, n_topics) -> TensorVariable:
        """Return the prior direction for every topic."""
        return pt.broadcast_to(mu, rv.shape)

    def logp(value, mu, kappa, mean_concentration, n_topics) -> TensorVariable:
        """Return the log density with respect to the product of the surface measures."""
        n = mu.type.shape[-1] or mu.shape[-1]
        total = mean_concentration * mu + kappa * value.sum(axis=-2)
        length = pt.sqrt((total * total).sum(axis=-1))
        log_density = vmf_log_normalizer(n, mean_concentration) - vmf_log_normalizer(n, length)
        log_density += n_topics[0] * vmf_log_normalizer(n, kappa)
        return check_parameters(
            on_support(log_density, value, lambda x: has_unit_norm(x).all(axis=-1)),
            kappa > 0,
            mean_concentration > 0,
            msg="kappa > 0, mean_concentration > 0",
        )


on_manifold(CollapsedMeanTopics, Sphere(), unit_vectors)
