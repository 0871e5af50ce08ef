#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Weights of a truncated Dirichlet process."""

from __future__ import annotations

import pytensor.tensor as pt

from numpy.typing import ArrayLike
from pytensor.tensor import TensorVariable

__all__ = ["stick_breaking"]


def stick_breaking(shares: ArrayLike | TensorVariable) -> TensorVariable:
    r"""Break a stick of length one: each component takes a share of what is left.

    .. math::

        w_k = v_k \prod_{j < k} (1 - v_j), \qquad w_K = \prod_{j < K} (1 - v_j) .

    With :math:`v_k \sim \mathrm{Beta}(1, \alpha)` these are the weights of a Dirichlet process of
    concentration :math:`\alpha`, truncated at K components. A mixture with such weights uses as
    many of its components as the data need.

    PyMC's ``StickBreakingWeights`` has the same distribution, as a point of the simplex. Its
    density is infinite at corners for small :math:`\alpha`. Free shares have smooth densities on
    the log-odds scale, on which PyMC's and this package's steps move them.

    Parameters
    ----------
    shares : array_like
        Shares v in (0, 1), along the last axis: one less than there are components.

    Returns
    -------
    TensorVariable
        Weights w, along the last axis.

    Notes
    -----
    For shares that are Beta(1, :math:`\alpha`), the mean of :math:`w_k` is
    :math:`\alpha^{k-1} / (1 + \alpha)^k`, and that of its square is :math:`2 \alpha^{k-1} /
    [(1 + \alpha) (2 + \alpha)^k]`, for k < K. All beyond the first K - 1 components have the
    weight :math:`(\alpha / (1 + \alpha))^{K-1}` on average: choose K such that it is small.

    References
    ----------
    Sethuraman, J. (1994). A constructive definition of Dirichlet priors. Statistica Sinica 4.

    Ishwaran, H. and James, L. F. (2001). Gibbs sampling methods for stick-breaking priors. Journal
    of the American Statistical Association 96.

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> pmg.stick_breaking(np.array([0.5, 0.5, 0.2])).eval()
    array([0.5 , 0.25, 0.05, 0.2 ])
    >>> with pm.Model() as model:
    ...     alpha = pm.Gamma("alpha", 2.0, 2.0)
    ...     v = pm.Beta("v", 1.0, alpha, shape=9)
    ...     mu = pmg.SphericalUniform("mu", shape=(10, 3))
    ...     kappa = pm.Gamma("kappa", 2.0, 0.05, shape=10)
    ...     component = pmg.VonMisesFisher.dist(mu, kappa)
    ...     x = pm.Mixture("x", pmg.stick_breaking(v), component, shape=(100, 3))
    >>> pm.draw(x, random_seed=1).shape
    (100, 3)
    """
    v = pt.as_tensor(shares)
    one = pt.ones_like(v[..., :1])
    left = pt.concatenate([one, pt.cumprod(1 - v, axis=-1)], axis=-1)
    return left * pt.concatenate([v, one], axis=-1)
