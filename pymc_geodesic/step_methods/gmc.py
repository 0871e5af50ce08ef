#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Geodesic Monte Carlo with a Metropolis test: exact gradients, of all or of local variables."""

from __future__ import annotations

import warnings

from functools import partial
from typing import Any, Unpack

import numpy as np

from pymc_geodesic.latents.gmc import LocalGMC
from pymc_geodesic.sampling.exact import ExactOptions, ExactSampler
from pymc_geodesic.sampling.problem import Options, Problem
from pymc_geodesic.sampling.variables import Variables
from pymc_geodesic.step_methods.checks import ModelOptions, StepOptions
from pymc_geodesic.step_methods.progress import Shown
from pymc_geodesic.step_methods.step import Step
from pymc_geodesic.validation import positive, whole

__all__ = ["GMC", "GMCWithinGibbs"]


class GMC(Step):
    r"""Geodesic Monte Carlo: exact Hamiltonian Monte Carlo on any product of manifolds.

    A draw makes ``n_steps`` trajectories. Each draws a velocity from the standard normal on the
    tangent space, makes ``n_leapfrog`` steps

    .. math::

        v &\leftarrow \Lambda(x) [v - \tfrac{\epsilon}{2} \nabla U(x)] \\
        (x, v) &\leftarrow \text{geodesic}(x, v, \epsilon) \\
        v &\leftarrow \Lambda(x) [v - \tfrac{\epsilon}{2} \nabla U(x)]

    and accepts the end with probability :math:`\min(1, e^{H_0 - H_1})`,
    :math:`H = U + v^\top v / 2`. It targets the posterior without bias. A model with
    ``pm.Minibatch`` is sampled on its full data.

    Parameters
    ----------
    vars : variable, name or sequence of these, optional
        Variables to sample; all continuous variables by default.
    step_size : float, optional
        Step size :math:`\epsilon` of the leapfrog. By default it is tuned to an acceptance rate of
        0.8 by dual averaging in the tuning phase, then kept. It is in the units of the model, or in
        the frame of ``mass``, whether given or tuned. On compact manifolds a step is at most
        half a turn long.
    n_leapfrog : int, default 10
        Leapfrog steps per trajectory.
    jitter : float, default 0.1
        Each trajectory's step size is drawn uniformly within this share around ``step_size``,
        because trajectories of one length can be periodic on a compact manifold. Zero for no
        jitter.
    n_steps : int, default 1
        Trajectories per draw.
    mass, manifolds, backend, model, rng, initial_point, blocked, trust_total_size
        As for :class:`SGGMC`.

    Raises
    ------
    ValueError
        See :class:`SGGMC`; also for ``jitter`` outside [0, 1), and for a potential that depends on
        a minibatch, whose value on the full data is unknown.

    Notes
    -----
    Statistics: ``acceptance_rate`` and ``accepted``, both averaged over the draw's trajectories;
    ``energy``, the Hamiltonian after the test; ``potential_estimate``, here the exact potential
    energy; ``kinetic_temperature``, ``v.v / m`` after the test with m the intrinsic dimension,
    expected to be 1; ``degrees_of_freedom``, m; ``step_size``, without jitter; ``diverging``, an
    energy that is not finite. A large but finite energy error, as near the poles of a Dirichlet
    density at the facets of the simplex, is an ordinary rejection.

    References
    ----------
    Byrne, S. and Girolami, M. (2013). Geodesic Monte Carlo on embedded manifolds. Scandinavian
    Journal of Statistics 40. Algorithm 1.

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> with pm.Model():
    ...     x = pmg.VonMisesFisher("x", mu=[1, 0, 0], kappa=5.0)
    ...     idata = pmg.sample(1000, step=pmg.GMC, random_seed=1, progressbar=False)
    >>> expected = 1 / np.tanh(5.0) - 1 / 5.0
    >>> bool(abs(idata.posterior["x"].mean(("chain", "draw")).values[0] - expected) < 0.02)
    True
    """

    name = "gmc"
    withheld = frozenset({"data", "local"})
    shown = (
        Shown("step_size", "Step", "gmc_step_size", "0.2g"),
        Shown("acceptance_rate", "Accept", "acceptance", "0.2f"),
    )

    def __init__(
        self,
        vars: Variables | None = None,
        *,
        step_size: float | None = None,
        n_leapfrog: int = 10,
        jitter: float = 0.1,
        n_steps: int = 1,
        **options: Unpack[StepOptions],
    ) -> None:
        if not isinstance(jitter, int | float | np.number) or not 0 <= jitter < 1:
            raise ValueError(f"`jitter` expected a share from 0 to below 1, got {jitter!r}.")
        exact = ExactOptions(
            None if step_size is None else positive("step_size", step_size),
            whole("n_leapfrog", n_leapfrog),
            float(jitter),
            whole("n_steps", n_steps),
        )
        super().__init__(vars, partial(self._make, exact), options)

    def _make(self, exact: ExactOptions, shared: Options, options: dict[str, Any]) -> ExactSampler:
        problem = Problem(type(self).__name__, shared, full_data=True)
        if shared.local is not None or problem.potential.expectations:
            what = (
                "variables local to the rows"
                if shared.local
                else ("a likelihood with latent variables")
            )
            raise ValueError(
                f"`{type(self).__name__}` cannot sample a model with {what}. Use `pmg.gSGNHT`, "
                "`pmg.SGGMC`, `pmg.SGNHT`, `pmg.SGHMC`, `pmg.SGLD` or `pmg.SGRLD`; or "
                "`pmg.GMCWithinGibbs` for local variables of the whole data."
            )
        return ExactSampler(problem, options=exact)


class GMCWithinGibbs(GMC):
    r"""Geodesic Monte Carlo on local and global variables in turn, with all of the data.

    A draw first samples the local variables of every row given the global ones, starting from their
    last values, with a separate Metropolis test for each row. Then :class:`GMC` moves the global
    variables given the local ones. With one draw of the local variables this is exact blockwise
    Gibbs sampling. With several, the potential energy of the global variables is averaged,

    .. math::

        U(\beta) \approx -\frac{1}{n} \sum_{i=1}^n \log \pi(x, \theta^{(i)}, \beta),

    This is the approximate Metropolis test with which Liu, Zhu and Song compare, and it warns.
    Where the posterior is normal and the local variables hide the share r of the information about
    the global ones, many draws give :math:`1 / \sqrt{1 + r}` of the standard deviations.

    Parameters
    ----------
    vars : variable, name or sequence of these, optional
        Global variables to sample; all continuous variables that are not local by default.
    local : LocalGMC
        The local variables, one row for each row of the data.
    step_size, n_leapfrog, jitter, n_steps
        Of the global variables, as for :class:`GMC`.
    mass, manifolds, backend, model, rng, initial_point, blocked, trust_total_size
        As for :class:`SGGMC`.

    Raises
    ------
    ValueError
        See :class:`GMC`; also for a model with ``pm.Minibatch``, whose local variables have rows
        only for a batch.

    Notes
    -----
    Statistics: those of :class:`GMC`, and ``local_acceptance``, ``local_spread``,
    ``local_step_size`` and ``local_unmoved`` of the local variables; see :class:`LocalGMC`. Here
    ``local_unmoved`` is the share of rows that have rejected their last twenty trajectories, or all
    trajectories of the draw.

    References
    ----------
    Liu, C., Zhu, J. and Song, Y. (2016). Stochastic gradient geodesic MCMC methods. NIPS.
    Section 5.3.

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> y = np.random.default_rng(1).normal([[-1.0], [0.0], [1.0]], 0.5, (3, 8))
    >>> with pm.Model():
    ...     tau = pm.HalfNormal("tau", 1.0)
    ...     row = pm.Normal("row", 0.0, tau, shape=3)
    ...     _ = pm.Normal("y", row[:, None], 0.5, observed=y)
    ...     local = pmg.LocalGMC([row], draws=1, tune=0, step_size=0.1)
    ...     step = pmg.GMCWithinGibbs([tau], local=local)
    >>> sorted(v.name for v in step.vars)
    ['row', 'tau_log__']
    """

    name = "gmc_within_gibbs"
    withheld = frozenset({"data"})

    def __init__(
        self,
        vars: Variables | None = None,
        *,
        local: LocalGMC,
        step_size: float | None = None,
        n_leapfrog: int = 10,
        jitter: float = 0.1,
        n_steps: int = 1,
        **options: Unpack[ModelOptions],
    ) -> None:
        super().__init__(
            vars,
            local=local,
            step_size=step_size,
            n_leapfrog=n_leapfrog,
            jitter=jitter,
            n_steps=n_steps,
            **options,
        )

    def _make(self, exact: ExactOptions, shared: Options, options: dict[str, Any]) -> ExactSampler:
        name = type(self).__name__
        assert shared.local is not None, "`local` is a required argument"
        draws = shared.local.draws
        if draws is not None and draws > 1:
            warnings.warn(
                f"The energy of `{name}` is an average over {draws} draws of the local variables: "
                "its standard deviations may be up to 29 per cent too small. "
                "`pmg.LocalGMC(draws=1)` is exact.",
                UserWarning,
                stacklevel=5,
            )
        problem = Problem(name, shared, full_data=True, restarts_local=False)
        if problem.potential.expectations:
            raise ValueError(
                f"`{name}` expected a likelihood with a closed form given the local variables. Use "
                "a stochastic-gradient step such as `pmg.SGRLD`."
            )
        return ExactSampler(problem, options=exact)
