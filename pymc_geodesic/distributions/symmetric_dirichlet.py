#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The Dirichlet distribution with one concentration for all entries."""

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from pymc.distributions.dist_math import check_parameters
from pymc.distributions.multivariate import SimplexContinuous
from pymc.distributions.shape_utils import convert_dims
from pymc.model import modelcontext
from pymc.variational.minibatch_rv import MinibatchRandomVariable
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.tensor import TensorConstant, TensorVariable

from pymc_geodesic.distributions.base import (
    ChecksObserved,
    RandomGraph,
    WithLength,
    length_of,
    on_support,
    with_signature,
)
from pymc_geodesic.distributions.probability_vectors import (
    check_probability_vectors,
    from_logs,
    log_entries,
    sums_to_one,
)
from pymc_geodesic.distributions.validation import as_float_tensor, constant_value

__all__ = ["SymmetricDirichlet", "SymmetricDirichletRV", "known_concentration"]


class SymmetricDirichletRV(RandomGraph):
    """Random graph of :class:`SymmetricDirichlet`."""

    extended_signature = "[rng],[size],(),(s)->[rng],(n)"

    @classmethod
    def draw(cls, alpha, support_shape, *, size, rng):
        """Return the generator's next state and draws."""
        # G U^(1/alpha) is Gamma(alpha) if G is Gamma(alpha + 1) and U uniform; -log U is
        # exponential. A draw of Gamma(0.001) itself is 0 in floating point half of the time.
        concentration = alpha[..., None]
        shape = (*tuple(size), support_shape[0])
        next_rng, gamma = pm.Gamma.dist(
            concentration + 1.0, 1.0, size=shape, rng=rng, return_next_rng=True
        )
        next_rng, waiting = pm.Exponential.dist(1.0, size=shape, rng=next_rng, return_next_rng=True)
        draws = from_logs(pt.log(gamma) - waiting / concentration)
        return next_rng, draws


def _check_length(length: Any) -> None:
    """Raise an error when there are fewer than two probabilities."""
    if length < 2:
        raise ValueError(
            "`SymmetricDirichlet` expected probability vectors of two or more elements in the "
            f"last axis, got length {length}. A single probability is always 1: leave the variable "
            "out, or end `shape` or `dims` with the number of probabilities."
        )


@with_signature()
class SymmetricDirichlet(ChecksObserved, WithLength, SimplexContinuous):
    r"""
    Dirichlet distribution with the same concentration for all K entries.

    The last axis is a probability vector. The density is with respect to Lebesgue measure on its
    first K - 1 entries, as that of :class:`pymc.Dirichlet`:

    .. math::

        f(p \mid \alpha) = \frac{\Gamma(K \alpha)}{\Gamma(\alpha)^K} \prod_{i=1}^K p_i^{\alpha - 1}

    ========  ==========================================
    Support   :math:`p \in \mathbb{R}^K, p_i > 0, \sum_i p_i = 1`
    Mean      :math:`1 / K`
    Variance  :math:`(K - 1) / (K^2 (K \alpha + 1))`
    ========  ==========================================

    Parameters
    ----------
    alpha : tensor_like of float, shape (...)
        Concentration, above 0. It may be a random variable. Below 1 the mass sits at the corners
        of the simplex, at 1 the distribution is uniform.
    shape : tuple of int
        Shape of the variable; the last element is K, at least 2. Alternatively pass ``dims`` or
        ``observed``.
    support_shape : tuple of int, optional
        ``(K,)``, for use with ``size`` or to take the other axes from ``alpha``.

    Raises
    ------
    ValueError
        If K is unknown or below 2, if ``alpha`` is known and not positive and finite,
        or if ``observed`` does not hold probability vectors with positive entries that sum
        to 1 (within 1e-6; 1e-4 in single precision). A symbolic ``alpha`` is checked when the log
        density is evaluated.

    Notes
    -----
    The log density is evaluated as

    .. math::

        \log \Gamma(1 + K \alpha) - K \log \Gamma(1 + \alpha) + (K - 1) \log \alpha - \log K
        + (\alpha - 1) \textstyle\sum_i \log p_i,

    which does not need the gamma function near its pole at 0. Its relative error, with respect to
    ``max(1, abs(result))``, is below 1e-11 for alpha from 0.001 to 1,000 and K from 2 to 50,000,
    in double precision; that of the derivative in alpha is below 1e-8, and below 1e-10 for alpha
    up to 1. The log density is -inf off the simplex and,
    as in :class:`pymc.Dirichlet`, where an entry is exactly 0, unless :math:`\alpha = 1`.
    The default transform is PyMC's ``simplex``; in its coordinates the log density stays finite
    where entries underflow. The support point is :math:`(1, \dots, 1) / K`.

    Draws are made in log space. Where an entry is too small for a normal floating point
    number, the draw is the smallest one (2.2e-308, or 1.2e-38 in single precision) instead of 0:
    its log is then finite, but only a bound. At K = 10 this concerns one entry in 1,300 at
    :math:`\alpha = 0.01` and 44 % of the entries at 0.001. A fit of ``alpha`` to such draws is
    therefore biased upwards.

    References
    ----------
    .. [1] Marsaglia, G. and Tsang, W. W. (2000). A simple method for generating gamma variables.
           ACM Transactions on Mathematical Software 26, section 6. DOI 10.1145/358407.358414

    Examples
    --------
    >>> import pymc as pm, pymc_geodesic as pmg
    >>> with pm.Model():
    ...     alpha = pm.LogNormal("alpha", -2.0, 1.0)
    ...     topics = pmg.SymmetricDirichlet("topics", alpha, shape=(20, 5000))
    >>> topics.type.shape
    (20, 5000)
    """

    rv_type = SymmetricDirichletRV
    check_observed = staticmethod(check_probability_vectors)

    def __new__(cls, name: str, *args, dims=None, **kwargs) -> TensorVariable:
        """Add the variable to the model on the context stack."""
        if dims is not None:
            length = modelcontext(None).dim_lengths[convert_dims(dims)[-1]]
            if isinstance(length, SharedVariable):  # otherwise `dist` reads it, or it is unknown
                _check_length(length.get_value())
        return super().__new__(cls, name, *args, dims=dims, **kwargs)

    @classmethod
    def dist(cls, alpha: Any, *, support_shape: Any = None, **kwargs) -> TensorVariable:
        """Return a variable that is not registered in a model."""
        alpha = as_float_tensor(alpha)
        known = constant_value(alpha)
        if known is not None and not np.all((known > 0) & (known < np.inf)):
            raise ValueError(
                "`SymmetricDirichlet` expected positive and finite concentrations in `alpha`, got "
                f"values in [{np.min(known):.6g}, {np.max(known):.6g}]. For almost empty entries "
                "use a small positive number such as 0.001."
            )
        support_shape, length = length_of(
            support_shape,
            kwargs.get("shape"),
            unknown="`SymmetricDirichlet` expected the number K of probabilities, got none. Pass "
            "`shape`, `dims`, `observed` or `support_shape`; the last element is K.",
        )
        if length is not None:
            _check_length(length)
        return super().dist([alpha, support_shape], **kwargs)

    def support_point(rv, size, alpha, support_shape) -> TensorVariable:
        """Return the mean."""
        return pt.full(rv.shape, 1.0 / support_shape[0].astype(rv.dtype))

    def logp(value, alpha, support_shape) -> TensorVariable:
        """Return the log density with respect to Lebesgue measure on the first K - 1 entries."""
        static = value.type.shape[-1]
        n = (support_shape[0] if static is None else np.asarray(static)).astype(value.dtype)
        log_normalizer = (
            pt.gammaln(1.0 + n * alpha)
            - n * pt.gammaln(1.0 + alpha)
            + (n - 1.0) * pt.log(alpha)
            - pt.log(n)
        )
        log_value, positive = log_entries(value)
        res = log_normalizer + (alpha - 1.0) * log_value.sum(axis=-1)
        uniform = pt.eq(alpha, 1.0) & pt.all(value >= 0, axis=-1)
        res = pt.switch(positive, res, pt.switch(uniform, log_normalizer, -np.inf))
        res = on_support(res, value, sums_to_one)
        return check_parameters(res, alpha > 0, msg="alpha > 0")


def known_concentration(rv: TensorVariable) -> np.ndarray | None:
    """Concentrations of a Dirichlet variable, with an axis for its entries; None if not constant.

    The last axis has length K, or 1 if all entries share one concentration.
    """
    node = rv.owner
    if isinstance(node.op, MinibatchRandomVariable):
        return known_concentration(node.inputs[0])
    if not isinstance(node.op, pm.Dirichlet | SymmetricDirichlet):
        return None
    alpha = node.op.dist_params(node)[0]
    if not isinstance(alpha, TensorConstant):
        return None
    is_symmetric = isinstance(node.op, SymmetricDirichlet)
    return np.asarray(alpha.data)[..., None] if is_symmetric else np.asarray(alpha.data)
