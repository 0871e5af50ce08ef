#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Stochastic gradient Nose-Hoover thermostats, on flat space and geodesic ones."""

from __future__ import annotations

from typing import Any, Literal, Self, Unpack, get_args

import numpy as np

from pymc_geodesic.algorithms.algorithm import Algorithm, Integrator
from pymc_geodesic.algorithms.gsgnht import gsgnht, sgnht
from pymc_geodesic.algorithms.matrix_thermostat import MATRIX_SGNHT
from pymc_geodesic.algorithms.thermostat import Grouping
from pymc_geodesic.sampling.variables import Variables
from pymc_geodesic.schedules import Schedule
from pymc_geodesic.step_methods.checks import GradientOptions
from pymc_geodesic.step_methods.given import FromLearningRate
from pymc_geodesic.step_methods.stochastic import StochasticStep
from pymc_geodesic.validation import one_of, positive

__all__ = ["SGNHT", "gSGNHT"]


class SGNHT(StochasticStep):
    r"""Stochastic gradient Nose-Hoover thermostats for variables of Euclidean space.

    With ``integrator="splitting"``, second order, each transition is that of :class:`gSGNHT`. With
    ``"euler"``, of first order, it is the algorithm as first published:

    .. math::

        p &\leftarrow p - \xi p h - \nabla \tilde U(\theta) h + \sqrt{2 A h}\, z \\
        \theta &\leftarrow \theta + p h \\
        \xi &\leftarrow \xi + (p^\top p / n - 1) h

    Parameters
    ----------
    vars : variable, name or sequence of these, optional
        Variables to sample; all continuous variables by default.
    step_size : float or Schedule, optional
        Step size h. By default the tuning phase finds it. Alone it is in posterior scales, together
        with ``diffusion`` in the units of the model; see :ref:`given-steps`.
    diffusion : float, optional
        Injected noise A. By default the tuning phase finds it; it is ``0.01 / step_size`` in models
        that cannot be tuned, and with a matrix.
    integrator : {"splitting", "euler"}
        Discretisation of the dynamics. Euler's method needs much smaller steps.
    thermostat : {"shared", "per_variable", "per_point", "matrix"}
        See :class:`gSGNHT`. A ``"matrix"`` :math:`\Xi` over the entries of all variables also
        balances noise that entries share:

        .. math::

            p \leftarrow e^{-\Xi h / 2} p, \qquad
            \Xi \leftarrow \Xi + \tfrac{h}{2} (p p^\top - I)

        It settles around :math:`A + h V / 2`, where V is the covariance of the gradient. It needs a
        ``step_size`` and many transitions, each of which computes a matrix exponential.
    steps_per_batch, gradient_noise
        See :class:`gSGNHT`.
    mass, n_steps, variance_reduction, center, accuracy, data, local, replacement
        As for :class:`SGGMC`.
    manifolds, backend, model, rng, initial_point, blocked, trust_total_size
        As for :class:`SGGMC`.

    Raises
    ------
    ValueError
        See :class:`gSGNHT`; also for a variable on a sphere or simplex; for an unknown integrator.

    Notes
    -----
    Statistics: those of :class:`gSGNHT`. For a ``"matrix"``, ``thermostat`` is the mean of its
    diagonal, ``thermostat_largest`` its largest eigenvalue, and ``thermostat_off_diagonal`` the
    largest absolute value off the diagonal. The matrix itself is
    ``step.chain.state.thermostat[0]``.

    A step that tunes itself measures how much the noise of up to 100 entries changes from place to
    place. If it does much, and a friction for each entry would leave more than a quarter of the
    heat unbalanced, the velocity is damped before and after each kick along the difference d
    between the gradients of the two halves of the batch, whose covariance is that of the noise:

    .. math::

        p \leftarrow p - f(h^2 |d|^2) \frac{d\, d^\top}{|d|^2} p, \qquad
        f(u) = \min\Bigl(\frac u4 + \frac{5 u^2}{96}, 1\Bigr) .

    If noise would move a scale that thousands of entries share, and a row concerns few of them,
    such a step draws batches of 2, 4, 8, ... times as many rows as the model's. Either remedy is
    reported when the tuning phase ends.

    References
    ----------
    Ding, N., Fang, Y., Babbush, R., Chen, C., Skeel, R. and Neven, H. (2014). Bayesian sampling
    using stochastic gradient thermostats. NIPS. Algorithms 1 and 2, and equation 11.

    Chen, C., Ding, N. and Carin, L. (2015). On the convergence of stochastic gradient MCMC
    algorithms with high-order integrators. NIPS. The splitting.

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> data = np.random.default_rng(1).normal(2.0, 1.0, 1000)
    >>> with pm.Model():
    ...     theta = pm.Normal("theta", 0.0, 10.0)
    ...     batch = pm.Minibatch(data, batch_size=50)
    ...     _ = pm.Normal("x", theta, observed=batch, total_size=1000)
    ...     idata = pmg.sample(500, step=pmg.SGNHT, random_seed=1, progressbar=False)
    >>> bool(abs(idata.posterior["theta"].mean().item() - data.mean()) < 0.02)
    True
    """

    name = "sgnht"

    def __init__(
        self,
        vars: Variables | None = None,
        *,
        step_size: float | Schedule | None = None,
        diffusion: float | None = None,
        integrator: Integrator = "splitting",
        thermostat: Grouping | Literal["matrix"] = "shared",
        **options: Unpack[GradientOptions],
    ) -> None:
        one_of("integrator", integrator, get_args(Integrator))
        one_of("thermostat", thermostat, (*get_args(Grouping), "matrix"))
        super().__init__(
            vars,
            _algorithm(thermostat, integrator),
            step_size=step_size,
            parameters={"diffusion": diffusion},
            keywords=options,
        )

    @classmethod
    def from_learning_rate(
        cls, eta: float, a: float, vars: Variables | None = None, **keywords: Any
    ) -> Self:
        r"""Set the parameters in the form of Algorithm 2 of Ding et al. (2014).

        .. math::

            u = p h, \quad \eta = h^2, \quad \alpha = \xi h, \quad a = A h

        so that ``step_size = sqrt(eta)`` and ``diffusion = a / sqrt(eta)``. With
        ``integrator="euler"`` the draws are those of the printed algorithm.

        Parameters
        ----------
        eta : float
            Learning rate; the paper uses 2e-7 to 8e-7 for images, 2e-5 to 8e-5 for topics.
        a : float
            Injected noise per transition; the paper uses 0.001 to 0.1.
        vars, **keywords
            See the class.
        """
        step_size = float(np.sqrt(positive("eta", eta)))
        return cls(vars, step_size=step_size, diffusion=positive("a", a) / step_size, **keywords)


def _algorithm(thermostat: Grouping | Literal["matrix"], integrator: Integrator) -> Algorithm:
    if thermostat != "matrix":
        return sgnht(thermostat, integrator=integrator)
    if integrator == "euler":
        raise ValueError(
            "`integrator` expected 'splitting' with `thermostat='matrix'`, got 'euler'. Leave it "
            "out."
        )
    return MATRIX_SGNHT


class gSGNHT(StochasticStep, FromLearningRate):
    r"""Geodesic stochastic gradient Nose-Hoover thermostats on any product of manifolds.

    Like :class:`SGGMC`, but the friction :math:`\xi` adapts so that the kinetic temperature is
    one, whatever the noise of the minibatch gradients:

    .. math::

        \text{A:}\;& (x, v) \leftarrow \text{geodesic}(x, v, \epsilon / 2), \quad
            \xi \leftarrow \xi + \tfrac{\epsilon}{2} (v^\top v / m - 1) \\
        \text{B:}\;& v \leftarrow e^{-\xi \epsilon / 2} v \\
        \text{O:}\;& v \leftarrow \Lambda(x) \left[v - \epsilon \nabla \tilde U(x)
            + \sqrt{2 A \epsilon}\; z\right]

    in the order A, B, O, B, A, with m the *intrinsic* dimension. It targets the posterior with a
    bias of order :math:`\epsilon^2` if the gradient noise is the same in all directions that share
    a thermostat; then :math:`\xi` is normal with mean :math:`A + \epsilon V / 2` and variance 1 /
    m.

    On curved manifolds noise prefers directions, which no thermostat of a point can balance. So the
    velocity of such points is also damped before and after O along the difference d between the
    gradients of two halves of the batch, whose covariance is that of the noise:

    .. math::

        v \leftarrow v - \min\Bigl(\frac u4 + \frac{5 u^2}{96}, 1\Bigr) \frac{d\, d^\top}{|d|^2} v,
        \qquad u = \epsilon^2 |d|^2

    It is not from the papers, and is left out for rows without replacement, of streams or of local
    variables, with ``steps_per_batch`` above one or a ``gradient_noise``, and, if the step tunes
    itself, where a direction's noise would widen it by less than a hundredth.

    Parameters
    ----------
    vars : variable, name or sequence of these, optional
        Variables to sample; all continuous variables by default.
    step_size : float or Schedule, optional
        Step size :math:`\epsilon`. By default the tuning phase finds it. Alone it is in posterior
        scales, together with ``diffusion`` in the units of the model; see :ref:`given-steps`.
    diffusion : float, optional
        Injected noise A, and the friction that balances it when gradients are exact; in units of
        one over time. By default the tuning phase finds it; it is ``0.01 / step_size`` in models
        that cannot be tuned.
    steps_per_batch : int, default 1
        Transitions that share one minibatch; see :class:`SGGMC`.
    gradient_noise : float, array, mapping of name to either, "fisher" or None
        Part of the injected noise to leave out because the gradient already has it. With the
        default, None, the thermostat balances all noise, as in the paper.
    thermostat : {"shared", "per_variable", "per_point"}
        One friction for everything, one for each random variable, or one for each point: each unit
        or probability vector, each entry of a Euclidean variable. Use separate frictions if the
        gradient noise of variables differs: a shared one would make some too hot and others too
        cold.
    mass, n_steps, variance_reduction, center, accuracy, data, local, replacement
        As for :class:`SGGMC`.
    manifolds, backend, model, rng, initial_point, blocked, trust_total_size
        As for :class:`SGGMC`.

    Raises
    ------
    ValueError
        See :class:`SGGMC`; also for an unknown ``thermostat``.

    Notes
    -----
    Statistics: those of :class:`SGGMC` except ``friction``, and ``thermostat``, the mean friction
    weighted by dimension (with ``thermostat_NAME`` for each variable if they have their own).

    The thermostat is slow: of the order of ``1 / step_size**2`` transitions may pass before it
    finds the noise of a minibatch. In the first half of the tuning phase, and only there, it moves
    faster. The draws that are kept start from the friction that balances the noise measured in the
    second half. With ``tune=0`` the published dynamics apply from the first transition.

    A step that tunes itself may draw more rows than the model's batches have; see :class:`SGNHT`.

    References
    ----------
    Liu, C., Zhu, J. and Song, Y. (2016). Stochastic gradient geodesic MCMC methods. NIPS.
    Algorithm 2. Both public programs divide by the number of coordinates instead of m.

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> data = np.random.default_rng(1).normal([2.0, 0.0, 0.0], 1.0, (1000, 3))
    >>> data /= np.linalg.norm(data, axis=1, keepdims=True)
    >>> with pm.Model():
    ...     mu = pmg.VonMisesFisher("mu", mu=[1, 0, 0], kappa=0.0)
    ...     kappa = pm.HalfNormal("kappa", 10.0)
    ...     batch = pm.Minibatch(data, batch_size=50)
    ...     _ = pmg.VonMisesFisher("x", mu=mu, kappa=kappa, observed=batch, total_size=1000)
    ...     idata = pmg.sample(500, step=pmg.gSGNHT, random_seed=1, progressbar=False)
    >>> bool(idata.posterior["mu"].mean(("chain", "draw")).values @ [1, 0, 0] > 0.99)
    True
    """

    name = "gsgnht"
    friction_keyword = "diffusion"

    def __init__(
        self,
        vars: Variables | None = None,
        *,
        step_size: float | Schedule | None = None,
        diffusion: float | None = None,
        thermostat: Grouping = "shared",
        **options: Unpack[GradientOptions],
    ) -> None:
        super().__init__(
            vars,
            gsgnht(one_of("thermostat", thermostat, get_args(Grouping))),
            step_size=step_size,
            parameters={"diffusion": diffusion},
            keywords=options,
        )
