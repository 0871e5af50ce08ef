#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Stochastic gradient Hamiltonian Monte Carlo on flat space."""

from __future__ import annotations

from pymc_geodesic.algorithms import sggmc
from pymc_geodesic.step_methods.sggmc import SGGMC

__all__ = ["SGHMC"]


class SGHMC(SGGMC):
    r"""Stochastic gradient Hamiltonian Monte Carlo for variables of Euclidean space.

    The symmetric splitting of :class:`SGGMC` on flat space, second order:

    .. math::

        \theta &\leftarrow \theta + \tfrac{\epsilon}{2} v, \quad
        v \leftarrow e^{-C \epsilon / 2} v \\
        v &\leftarrow v - f \epsilon \nabla \tilde U(\theta)
            + \sqrt{2 \sinh(C \epsilon) - f^2 \epsilon^2 V}\; z \\
        v &\leftarrow e^{-C \epsilon / 2} v, \quad
        \theta \leftarrow \theta + \tfrac{\epsilon}{2} v

    with :math:`f = \cosh(C \epsilon / 2)`. It serves as a baseline: without the gradient noise V it
    is too hot.

    Parameters
    ----------
    vars, step_size, friction, steps_per_batch, gradient_noise
        See :class:`SGGMC`.
    mass, n_steps, variance_reduction, center, accuracy, data, local, replacement
        As for :class:`SGGMC`.
    manifolds, backend, compile_kwargs, model, rng, initial_point, blocked, trust_total_size
        As for :class:`SGGMC`.

    Raises
    ------
    ValueError
        See :class:`SGGMC`; also for a variable on a sphere or simplex.

    Notes
    -----
    Statistics: those of :class:`SGGMC`.

    References
    ----------
    Chen, T., Fox, E. and Guestrin, C. (2014). Stochastic gradient Hamiltonian Monte Carlo. ICML.
    Equation 13, discretised here to second order.

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> data = np.random.default_rng(1).normal(2.0, 1.0, 1000)
    >>> with pm.Model():
    ...     theta = pm.Normal("theta", 0.0, 10.0)
    ...     batch = pm.Minibatch(data, batch_size=50)
    ...     _ = pm.Normal("x", theta, observed=batch, total_size=1000)
    ...     step = pmg.SGHMC(gradient_noise="fisher", backend="jax")
    ...     idata = pmg.sample(500, step=step, random_seed=1, progressbar=False)
    >>> bool(abs(idata.posterior["theta"].mean().item() - data.mean()) < 0.02)
    True
    """

    name = "sghmc"
    algorithm = sggmc.SGHMC
