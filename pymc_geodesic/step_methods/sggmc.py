#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Stochastic gradient geodesic Monte Carlo."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack, cast

from numpy.typing import ArrayLike

from pymc_geodesic.algorithms import sggmc
from pymc_geodesic.algorithms.algorithm import Algorithm
from pymc_geodesic.algorithms.matrix_friction import with_friction
from pymc_geodesic.algorithms.sggmc import is_number
from pymc_geodesic.sampling.variables import Variables
from pymc_geodesic.schedules import Schedule
from pymc_geodesic.step_methods.checks import GradientOptions
from pymc_geodesic.step_methods.given import FromLearningRate
from pymc_geodesic.step_methods.stochastic import StochasticStep

__all__ = ["SGGMC", "Friction"]

Friction = ArrayLike | Mapping[str, ArrayLike]
"""A number, frictions of the entries of all variables, or those of each variable by name."""


class SGGMC(StochasticStep, FromLearningRate):
    r"""Stochastic gradient geodesic Monte Carlo on any product of manifolds.

    Each transition is the symmetric splitting A, B, O, B, A of second-order Langevin dynamics with
    step size :math:`\epsilon` and friction C, on the embedding of every variable's manifold:

    .. math::

        \text{A:}\;& (x, v) \leftarrow \text{geodesic}(x, v, \epsilon / 2) \\
        \text{B:}\;& v \leftarrow e^{-C \epsilon / 2} v \\
        \text{O:}\;& v \leftarrow \Lambda(x) \left[v - f \epsilon \nabla \tilde U(x)
            + \sqrt{2 \sinh(C \epsilon) - f^2 \epsilon^2 V}\; z\right], \quad
            f = \cosh(C \epsilon / 2)

    where :math:`\Lambda` projects onto the tangent space, :math:`\tilde U` is estimated from a
    minibatch, V is the variance of that gradient and z is standard normal. It targets the posterior
    at temperature one with a bias of order :math:`\epsilon^2`, provided that V is known. With an
    unknown V the chain is too hot, and :class:`gSGNHT` is the better choice. The paper uses the
    limits of f and of the noise for small :math:`C \epsilon`, with which the chain is too cold and
    too wide at large friction.

    Parameters
    ----------
    vars : variable, name or sequence of these, optional
        Variables to sample; all continuous variables by default.
    step_size : float or Schedule, optional
        Step size :math:`\epsilon`. By default the tuning phase finds it, together with the friction
        and a mass, as :ref:`self-tuning` describes. A step size alone is in the posterior scales in
        which it is reported, and the rest is still tuned. Together with ``friction`` it is in the
        units of the model, and nothing is tuned; see :ref:`given-steps`. With ``tune=0`` the
        default is ``sqrt(0.01 / N)`` with N from ``total_size``.
    friction : float, array or mapping of name to either, optional
        Friction C, in units of one over time. By default the tuning phase finds it; it is
        ``0.01 / step_size`` in models and steps that cannot be tuned. On Euclidean space it may be
        any symmetric positive definite matrix: over the entries of all variables in order, or of
        one variable by name; or an array with a number for each entry. A variable on another
        manifold takes a number for each point: a matrix would have to be projected onto the tangent
        space anew at each position. Frictions that differ need a ``step_size``, and act on
        velocities, that is in the frame of a ``mass``.
    steps_per_batch : int, default 1
        Transitions that share one minibatch. The papers use more than one, which makes the
        gradient noise correlated and heats the chain: to about twice the temperature with 10.
    gradient_noise : float, array, mapping of name to either, "fisher", "fisher_matrix" or None
        V. A known diagonal covariance, in units of the gradient squared and in the embedding;
        ``"fisher"`` estimates it from the spread of the batch's scores; None takes it as zero. For
        a point of a curved manifold of up to 32 entries it estimates a matrix in the tangent space
        at each position, and f is a matrix too. If :math:`\epsilon^2 V` exceeds
        :math:`2 \sinh(C \epsilon)`, the friction is raised until both are equal. On Euclidean
        space V may be a matrix, in the same forms as ``friction``, and ``"fisher_matrix"``
        estimates all of it. It needs a ``step_size``, takes no ``mass``, and decomposes a matrix
        three times per transition.
    mass : float, array, mapping of name to either, or MonteCarloEM, optional
        Mass M of the variables. An array is the diagonal, or the matrix, over the entries of all
        variables in order. A mapping gives variables their own masses, and the others mass one.
        A variable's mass is a number, an array that broadcasts to the variable, or a matrix along
        its last axis.
        With :math:`M = L L^\top` the velocity is :math:`v = L^{-1} p`, the position moves by
        :math:`L^{-\top} v` and the gradient enters as :math:`L^{-1} \nabla \tilde U`. A variable
        on a sphere or simplex takes a number only.
    manifolds : mapping of str to Manifold, optional
        Where to move variables, by name, if not where :func:`manifold_of` says: numbers between
        walls on a :class:`Box` with the bounds of their distribution, other variables on a manifold
        that is registered for their distribution on request, any variable in PyMC's unconstrained
        coordinates by :class:`Euclidean`. The posterior is the same.
    n_steps : int or "auto", optional
        Transitions per draw. By default it is tuned to about the number of transitions in which
        the slowest entry decorrelates; it is one if nothing is tuned. ``"auto"`` tunes it there
        too, by the draws of the tuning phase, and nothing else.
    variance_reduction : {"auto", "control_variates"} or None
        Whether to use minibatch gradients relative to those at a center, whose gradient for the
        whole data is known: always (``"control_variates"``), never (None), or, unless nothing is
        tuned, when their noise is below half of the plain gradient's (``"auto"``). The step must
        sample all variables of the model. See :ref:`self-tuning`.
    center : mapping, optional
        Values for the center of control variates, as ``pm.find_MAP()`` returns them. By default
        each chain searches a mode from its start.
    accuracy : float, default 0.05
        Tolerated bias, in posterior standard deviations, for which the tuning phase chooses the
        step size and the friction.
    data : mapping of str to iterable, optional
        A ``pm.Data`` of the model, by name, whose batches are read from a loader while sampling:
        :class:`ParquetRows`, or anything that gives blocks of rows each time it is iterated over.
        See :ref:`streams`.
    local : LocalGMC, optional
        Variables that belong to the rows of a minibatch, sampled anew with each minibatch. The
        gradient is averaged over their draws. They require a ``step_size``.
    replacement : bool, default True
        Draw the rows of each batch independently, as ``pm.Minibatch`` does. With False all rows
        are used once, in a random order, before any is used again.
    backend : str, optional
        Deprecated. JAX compiles every model.
    model, rng, initial_point, blocked
        See PyMC's step methods.
    trust_total_size : bool, default False
        Accept a ``total_size`` that is not the number of rows of the data, which makes the
        likelihood count more or less than once. By default this raises an error.

    Raises
    ------
    ValueError
        For a keyword that has no effect beside the others; if a parameter is not positive, or a
        variable is unknown or discrete; if the model's minibatches have no ``total_size`` or one
        that is not the number of rows, a potential depends on them, rows depend on each other, or
        the distribution of the observed variable forbids some of them; for a mass that is not
        positive definite, has a wrong shape, or is more than a number on a curved manifold; for
        ``manifolds`` that are not the support of their variable; for ``accuracy`` outside (0, 1),
        and for a ``center``, ``data`` or ``local`` that does not fit the model.
    pymc.exceptions.SamplingError
        While sampling: for a start or a center without a finite gradient, a start with an infinite
        log density of some row, and data that was changed after the step was created; for a loader
        whose batches change shape, hold NaN or rows that the model forbids, or disagree with
        ``total_size``.

    Notes
    -----
    Statistics: ``step_size``; ``kinetic_temperature``, the mean of ``v.v / m`` over
    the transitions of a draw with m the intrinsic dimension, expected to be 1, for all variables
    together and, as ``kinetic_temperature_NAME``, for each; ``degrees_of_freedom``, m, in the same
    forms; ``configurational_temperature``, in the same forms, the temperature of the positions,
    from the gradients of transitions with a fresh batch, NaN for draws without such a transition;
    ``friction``, the largest in use at the end of the draw; ``potential_estimate``; ``n_steps``;
    ``diverging``, a transition that was not finite and was undone, or a chain that has diverged:
    a coordinate beyond 5.6e102, or an energy 300 standard deviations above the energies of the
    tuning phase. With local variables ``local_acceptance``, averaged over rows and
    trajectories; ``local_spread``, the standard deviation of a row's draws in the embedding;
    ``local_step_size``, the geometric mean of the rows' step sizes; ``local_unmoved``, the share of
    rows that accepted no trajectory. All are averaged over the batches of a draw.

    The friction per transition is called momentum decay,
    ``momentum_decay = friction * step_size``; see :meth:`from_learning_rate`.

    The name is also used for an unrelated method, stochastic gradient *guided* Monte Carlo.

    References
    ----------
    Liu, C., Zhu, J. and Song, Y. (2016). Stochastic gradient geodesic MCMC methods. NIPS.
    Algorithm 1.

    Baker, J., Fearnhead, P., Fox, E. B. and Nemeth, C. (2019). Control variates for stochastic
    gradient MCMC. Statistics and Computing 29.

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> data = np.random.default_rng(1).normal([2.0, 0.0, 0.0], 1.0, (1000, 3))
    >>> data /= np.linalg.norm(data, axis=1, keepdims=True)
    >>> with pm.Model():
    ...     mu = pmg.VonMisesFisher("mu", mu=[1, 0, 0], kappa=0.0)
    ...     batch = pm.Minibatch(data, batch_size=50)
    ...     _ = pmg.VonMisesFisher("x", mu=mu, kappa=4.0, observed=batch, total_size=1000)
    ...     step = pmg.SGGMC(gradient_noise="fisher")
    ...     idata = pmg.sample(500, step=step, random_seed=1, progressbar=False)
    >>> bool(idata.posterior["mu"].mean(("chain", "draw")).values @ [1, 0, 0] > 0.99)
    True
    """

    name = "sggmc"
    friction_keyword = "friction"
    algorithm: Algorithm = sggmc.SGGMC

    def __init__(
        self,
        vars: Variables | None = None,
        *,
        step_size: float | Schedule | None = None,
        friction: Friction | None = None,
        **options: Unpack[GradientOptions],
    ) -> None:
        super().__init__(
            vars,
            with_friction(self.algorithm, friction, options.get("gradient_noise")),
            step_size=step_size,
            parameters={
                "friction": cast("float | None", friction) if is_number(friction) else None
            },
            keywords=options,
        )
