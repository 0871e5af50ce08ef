#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Stochastic gradient samplers on flat space: Langevin, Hamiltonian, Nose-Poincare."""

from __future__ import annotations

from typing import Literal, Unpack, get_args

from pymc_geodesic.algorithms import sgld
from pymc_geodesic.algorithms.algorithm import Integrator
from pymc_geodesic.algorithms.sggmc import is_number, sghmc
from pymc_geodesic.algorithms.sgnphmc import sgnphmc
from pymc_geodesic.sampling.variables import Variables
from pymc_geodesic.schedules import Schedule
from pymc_geodesic.step_methods.checks import GradientOptions, TrajectoryOptions
from pymc_geodesic.step_methods.sggmc import SGGMC, Friction
from pymc_geodesic.step_methods.stochastic import StochasticStep
from pymc_geodesic.tuning.monte_carlo_em import MonteCarloEM
from pymc_geodesic.validation import one_of, whole

__all__ = ["SGHMC", "SGLD", "SGNPHMC"]


class SGLD(StochasticStep):
    r"""Stochastic gradient Langevin dynamics for variables of Euclidean space.

    .. math::

        \theta \leftarrow \theta - \tfrac{\epsilon}{2} \nabla \tilde U(\theta)
            + \sqrt{\epsilon}\, z

    It serves as a baseline of first order. With a fixed step size its bias is proportional to the
    step size, and the gradient noise makes it too hot. With a decreasing step size it converges
    slowly.

    Parameters
    ----------
    vars : variable, name or sequence of these, optional
        Variables to sample; all continuous variables by default.
    step_size : float or Schedule, optional
        Step size :math:`\epsilon`, a variance in the units of the model. By default the tuning
        phase finds it; with ``tune=0`` it is ``0.01 / N`` with N from ``total_size``. Control
        variates and ``n_steps`` are tuned beside it, unless you give them; with
        ``variance_reduction=None`` and ``n_steps`` it is the algorithm as published.
    steps_per_batch, n_steps, variance_reduction, center, accuracy, data, local, replacement
        As for :class:`SGGMC`.
    manifolds, backend, model, rng, initial_point, blocked, trust_total_size
        As for :class:`SGGMC`.

    Raises
    ------
    ValueError
        See :class:`SGGMC`; also for a variable on a sphere or simplex.

    Notes
    -----
    Statistics: ``step_size``, ``potential_estimate``, ``n_steps``, ``diverging``. With a decreasing
    schedule weight the draws by ``step_size``.

    References
    ----------
    Welling, M. and Teh, Y. W. (2011). Bayesian learning via stochastic gradient Langevin dynamics.
    ICML.

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> data = np.random.default_rng(1).normal(2.0, 1.0, 1000)
    >>> with pm.Model():
    ...     theta = pm.Normal("theta", 0.0, 10.0)
    ...     batch = pm.Minibatch(data, batch_size=50)
    ...     _ = pm.Normal("x", theta, observed=batch, total_size=1000)
    ...     schedule = pmg.PolynomialSchedule(1e-4, 1000, 0.6)
    ...     step = pmg.SGLD(step_size=schedule, n_steps=50)
    ...     idata = pmg.sample(1000, step=step, random_seed=1, progressbar=False)
    >>> theta = pmg.weighted(idata)["theta"].sel(statistic="mean").item()
    >>> bool(abs(theta - data.mean()) < 0.02)
    True
    """

    name = "sgld"
    withheld = frozenset({"mass", "gradient_noise"})

    def __init__(
        self,
        vars: Variables | None = None,
        *,
        step_size: float | Schedule | None = None,
        **options: Unpack[GradientOptions],
    ) -> None:
        super().__init__(vars, sgld.SGLD, step_size=step_size, parameters={}, keywords=options)


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
    is too hot. With ``integrator="euler"``, of first order, it is the algorithm as first published:

    .. math::

        \theta &\leftarrow \theta + \epsilon r \\
        r &\leftarrow r - \epsilon \nabla \tilde U(\theta) - \epsilon C r
            + \sqrt{2 (C - \epsilon V / 2) \epsilon}\; z

    Parameters
    ----------
    vars, step_size, friction, steps_per_batch, gradient_noise
        See :class:`SGGMC`.
    integrator : {"splitting", "euler"}
        Discretisation of the dynamics. Euler's method needs much smaller steps, and one friction
        and independent noise for all entries.
    mass, n_steps, variance_reduction, center, accuracy, data, local, replacement
        As for :class:`SGGMC`.
    manifolds, backend, model, rng, initial_point, blocked, trust_total_size
        As for :class:`SGGMC`.

    Raises
    ------
    ValueError
        See :class:`SGGMC`; also for a variable on a sphere or simplex; for an unknown integrator.

    Notes
    -----
    Statistics: those of :class:`SGGMC`.

    References
    ----------
    Chen, T., Fox, E. and Guestrin, C. (2014). Stochastic gradient Hamiltonian Monte Carlo. ICML.
    Equation 13, discretised here to second order; Algorithm 2 is Euler's method.

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> data = np.random.default_rng(1).normal(2.0, 1.0, 1000)
    >>> with pm.Model():
    ...     theta = pm.Normal("theta", 0.0, 10.0)
    ...     batch = pm.Minibatch(data, batch_size=50)
    ...     _ = pm.Normal("x", theta, observed=batch, total_size=1000)
    ...     step = pmg.SGHMC(gradient_noise="fisher")
    ...     idata = pmg.sample(500, step=step, random_seed=1, progressbar=False)
    >>> bool(abs(idata.posterior["theta"].mean().item() - data.mean()) < 0.02)
    True
    """

    name = "sghmc"

    def __init__(
        self,
        vars: Variables | None = None,
        *,
        step_size: float | Schedule | None = None,
        friction: Friction | None = None,
        integrator: Integrator = "splitting",
        **options: Unpack[GradientOptions],
    ) -> None:
        one_of("integrator", integrator, get_args(Integrator))
        if integrator == "euler" and not is_number(friction):
            raise ValueError(
                "`friction` expected a number with `integrator='euler'`, got several. Use "
                "`integrator='splitting'`."
            )
        self.algorithm = sghmc(integrator)
        super().__init__(vars, step_size=step_size, friction=friction, **options)


class SGNPHMC(StochasticStep):
    r"""Stochastic gradient Nose-Poincare Hamiltonian Monte Carlo, for flat space. Experimental.

    A draw makes ``n_steps`` trajectories. Each draws the momentum p and the momentum q of the time
    scaling s anew, sets s to one, and makes ``n_leapfrog`` explicit symmetric steps of the dynamics
    with the Hamiltonian

    .. math::

        H = s \left[U(\theta) + \frac{p^\top M^{-1} p}{2 s^2} + \frac{q^2}{2 Q} + D \log s - H_0
            \right],

    a thermostat in real time; see :func:`pymc_geodesic.algorithms.sgnphmc.sgnphmc` for the update.
    Gradient noise of variance V is balanced by a friction C on the momentum,
    :math:`\sinh(C \epsilon) = \epsilon^2 V / 2`, and no noise is injected.

    Parameters
    ----------
    vars : variable, name or sequence of these, optional
        Variables to sample; all continuous variables by default.
    step_size : float or Schedule, optional
        Step size :math:`\epsilon`. By default the tuning phase finds it. Alone it is in posterior
        scales, together with ``thermal_mass`` in the units of the model; see :ref:`given-steps`.
    thermal_mass : float, optional
        Q, the inertia of the time scaling, in units of energy times time squared. By default the
        number of sampled entries. With it s follows the energy about as fast as a position of
        unit variance moves.
    n_leapfrog : int, default 10
        Steps per trajectory.
    gradient_noise : float, array, mapping of name to either, "fisher" or None
        V, see :class:`SGGMC`. Without it noisy gradients heat the chain: give it with a
        ``step_size``. Steps that are tuned without it are so short that ``accuracy`` is kept.
    mass : float, array, mapping of name to either, or MonteCarloEM, optional
        See :class:`SGHMC`.
    n_steps : int or "auto", optional
        Trajectories per draw. By default the tuning phase finds how many of their steps make a
        draw, which need not be whole trajectories; it is one if nothing is tuned, unless
        ``"auto"`` is asked for.
    steps_per_batch, variance_reduction, center, data, replacement, accuracy
        As for :class:`SGGMC`.
    manifolds, backend, model, rng, initial_point, blocked, trust_total_size
        As for :class:`SGGMC`.

    Raises
    ------
    ValueError
        See :class:`SGGMC`; also for a variable on a sphere or simplex.

    Notes
    -----
    Statistics: those of :class:`SGGMC` except ``friction``; ``time_scaling``, s at the end of the
    draw, near one; ``energy_error``, the bracket of H at the last step, noisy and near zero.

    The published dynamics, with friction and noise inside, do not have the target as the marginal
    of their positions: the target belongs to the surface H = 0, which noise leaves. Short
    trajectories that begin anew on this surface, with momentum noise and friction in balance,
    keep the target's moments. Over long trajectories the noise of the energies accumulates in q.
    With noisy gradients do not learn the mass from momenta with :class:`MonteCarloEM`: it moves in
    the wrong direction. ``kind="position"`` avoids this. Each step needs one gradient and two
    energies, all from one minibatch.

    References
    ----------
    Roychowdhury, A., Kulis, B. and Parthasarathy, S. (2016). Robust Monte Carlo sampling using
    Riemannian Nose-Poincare Hamiltonian dynamics. ICML.
    Nose, S. (2001). An improved symplectic integrator for Nose-Poincare thermostat. Journal of the
    Physical Society of Japan 70.

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> data = np.random.default_rng(1).normal(2.0, 1.0, 1000)
    >>> with pm.Model():
    ...     theta = pm.Normal("theta", 0.0, 10.0)
    ...     batch = pm.Minibatch(data, batch_size=50)
    ...     _ = pm.Normal("x", theta, observed=batch, total_size=1000)
    ...     step = pmg.SGNPHMC(gradient_noise="fisher", n_steps=20)
    ...     idata = pmg.sample(500, step=step, random_seed=1, progressbar=False)
    >>> bool(abs(idata.posterior["theta"].mean().item() - data.mean()) < 0.02)
    True
    """

    name = "sgnphmc"
    withheld = frozenset({"local"})

    def __init__(
        self,
        vars: Variables | None = None,
        *,
        step_size: float | Schedule | None = None,
        thermal_mass: float | None = None,
        n_leapfrog: int = 10,
        n_steps: int | Literal["auto"] | None = None,
        **options: Unpack[TrajectoryOptions],
    ) -> None:
        n_leapfrog = whole("n_leapfrog", n_leapfrog)
        learns_mass = isinstance(options.get("mass"), MonteCarloEM)
        if n_steps is None and step_size is not None and (thermal_mass is not None or learns_mass):
            n_steps = 1
        n_transitions = n_steps
        if n_steps is not None and n_steps != "auto":
            n_transitions = whole("n_steps", n_steps) * n_leapfrog
        super().__init__(
            vars,
            sgnphmc(n_leapfrog, noise_is_known=options.get("gradient_noise") is not None),
            step_size=step_size,
            parameters={"thermal_mass": thermal_mass},
            keywords={**options, "n_steps": n_transitions},
            takes_local=False,
        )
