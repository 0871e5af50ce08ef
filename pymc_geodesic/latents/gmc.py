#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""How the local variables of a batch are sampled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pytensor.tensor import TensorVariable

from pymc_geodesic.kernel.streams import draw_noise
from pymc_geodesic.latents.kernel import LocalInputs, LocalKernel, LocalOutputs, spread_of
from pymc_geodesic.latents.step_sizes import RowStepSizes
from pymc_geodesic.potential import Potential
from pymc_geodesic.validation import positive, share, whole

__all__ = ["LocalGMC", "LocalSampler", "LocalState"]

# Rows that stay from batch to batch may have only one or two trajectories per draw. At the usual
# acceptance rate, this many trajectories are never all rejected.
PATIENCE = 20
# Draws of a batch that begins anew: they cost less than the trajectories before them.
DRAWS = 20


class LocalGMC:
    r"""Variables that belong to the rows of a minibatch, sampled by geodesic Monte Carlo.

    For every minibatch they are sampled anew from their conditional distribution given the global
    variables and the rows of the batch. Each row has its own step size and Metropolis test. The
    gradient of the global variables is averaged over the draws. By Fisher's identity

    .. math::

        \nabla \log \pi(\beta \mid x) = E_{\theta \mid \beta, x} \nabla \log \pi(x, \theta, \beta)

    the average is a stochastic gradient of the marginal posterior.

    Parameters
    ----------
    vars : variable, name or sequence of these
        Free variables whose first axis is the row of the minibatch, such as
        ``pm.Dirichlet("theta", alpha, shape=(batch_size, K))``. They take no ``total_size``, but
        use that of the observed variables that depend on them.
    draws : int, optional
        Draws over which the gradient is averaged: by default 20, and one for
        :class:`GMCWithinGibbs`, which is exact with one.
    tune : int, default 40
        Trajectories before the first draw. In the first half of them each row adapts its step
        size; all of them move the chain away from its start.
    n_leapfrog : int, default 10
        Leapfrog steps per trajectory.
    step_size : float, optional
        Step size of the leapfrog, the same for all rows and trajectories. By default each row has
        its own, and each trajectory a random share of it.
    target_accept : float, default 0.8
        Mean acceptance probability of a row's trajectories, to which its step size adapts.

    Raises
    ------
    ValueError
        For counts that are not positive, or a rate that is not between 0 and 1.

    Notes
    -----
    The largest step size :math:`\epsilon_i` of row i adapts to its own acceptance probabilities,
    from one trajectory to the next, in the first ``tune // 2`` trajectories of each batch. It is
    then fixed; if it is near the step size of most rows, it is set to that. A trajectory has the
    step size :math:`\epsilon_i u` with u log-uniform on [0.1, 1].

    Rows with outlying data or much data need shorter steps than the others, by orders of magnitude.
    With one step size for all rows, they would reject every trajectory and keep their start, which
    would bias the gradient of the global variables. The statistic ``local_unmoved`` is the share
    of rows that accepted no trajectory; it must be zero.

    With :class:`GMCWithinGibbs` the rows are the same in all draws. They keep their step sizes,
    which adapt only in the tuning phase of ``pm.sample``.

    For each draw of the step, the trace holds the last local draw for its last minibatch; pass
    ``var_names`` to ``pm.sample`` to leave it out. A variable of the rows that is not listed in
    ``vars`` is sampled as a global variable, with a warning.

    References
    ----------
    Liu, C., Zhu, J. and Song, Y. (2016). Stochastic gradient geodesic MCMC methods. NIPS.
    Section 5.3.

    Byrne, S. and Girolami, M. (2013). Geodesic Monte Carlo on embedded manifolds. Scandinavian
    Journal of Statistics 40. Algorithm 1.

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> y = np.random.default_rng(1).standard_t(4, 1000)
    >>> with pm.Model():
    ...     batch = pm.Minibatch(y, batch_size=50)
    ...     sigma = pm.HalfNormal("sigma", 2.0)
    ...     w = pm.Gamma("w", 2.0, 2.0, shape=50)
    ...     _ = pm.Normal("y", 0.0, sigma / w**0.5, observed=batch, total_size=1000)
    ...     local = pmg.LocalGMC([w], draws=10)
    ...     step = pmg.SGNHT([sigma], local=local, step_size=1e-3)
    >>> [v.name for v in step.vars]
    ['sigma_log__', 'w_log__']
    """

    def __init__(
        self,
        vars: TensorVariable | str | Sequence[TensorVariable | str],
        *,
        draws: int | None = None,
        tune: int = 40,
        n_leapfrog: int = 10,
        step_size: float | None = None,
        target_accept: float = 0.8,
    ) -> None:
        self.vars = vars
        self.draws = None if draws is None else whole("draws", draws)
        self.tune = whole("tune", tune) if tune else 0
        self.n_leapfrog = whole("n_leapfrog", n_leapfrog)
        self.step_size = None if step_size is None else positive("step_size", step_size)
        self.target_accept = share("target_accept", target_accept)


@dataclass
class LocalState:
    """Everything that the next batch of a chain depends on.

    Attributes
    ----------
    step_sizes : RowStepSizes
        The rows' step sizes.
    still : ndarray of int, shape (n_rows,)
        Trajectories of each row since its last accepted one.
    """

    step_sizes: RowStepSizes
    still: np.ndarray


class LocalSampler:
    """Draw the local variables of one batch after the other.

    Parameters
    ----------
    options : LocalGMC
        The user's choices.
    potential : Potential
        The potential of the global variables, which contains the local ones.
    position, local_values : sequence of ndarray
        A point of the global variables, and PyMC's values of the local ones, for their shapes.
    restart : bool
        Whether each batch starts anew instead of at the last draw.
    """

    def __init__(
        self,
        options: LocalGMC,
        potential: Potential,
        *,
        position: Sequence[np.ndarray],
        local_values: Sequence[np.ndarray],
        restart: bool,
    ) -> None:
        local = potential.local
        assert local is not None, "the potential was made with local variables"
        self._options, self._restart = options, restart
        self._n_draws = options.draws or (DRAWS if restart else 1)
        self._n = self._n_draws + options.tune
        self._shapes, self._n_rows = local.manifold.shapes, local.n_rows
        self._dtype = local.variables[0].position.dtype
        # Rows are independent, so the step size is that of one row's variables, as in `GMC`.
        dim = max(1, local.manifold.dim // self._n_rows)
        self._first_step = options.step_size or 0.25 / dim**0.25
        example = self._inputs(
            self.begin(),
            np.random.default_rng(0),
            tune=False,
            conditioned=[],
            position=position,
            local_values=local_values,
            rows=[],
        )
        self._kernel = LocalKernel(
            potential,
            local,
            example=example,
            tune=options.tune,
            n_leapfrog=options.n_leapfrog,
            target_accept=options.target_accept,
            restart=restart,
        )

    def begin(self) -> LocalState:
        """Return the state of a new chain."""
        step_sizes = RowStepSizes(
            self._first_step,
            adapts=self._options.step_size is None,
            n_rows=self._n_rows,
            tune=self._options.tune,
            draws=self._n_draws,
            fresh=self._restart,
        )
        return LocalState(step_sizes, np.zeros(self._n_rows, dtype=np.int64))

    def draw(
        self, state: LocalState, rng: np.random.Generator, *, tune: bool, **given: Sequence
    ) -> LocalOutputs:
        """Sample the local variables of a batch; the state does not change.

        ``given`` are the conditioned values, the position, the local values and the rows of
        :class:`~pymc_geodesic.latents.kernel.LocalInputs`.
        """
        return self._kernel(self._inputs(state, rng, tune=tune, **given))

    def _inputs(
        self, state: LocalState, rng: np.random.Generator, *, tune: bool, **given: Sequence
    ) -> LocalInputs:
        dtype, step_sizes = self._dtype, state.step_sizes
        uniforms = rng.uniform(size=(self._n, self._n_rows))
        return LocalInputs(
            **given,
            log_step_sizes=step_sizes.log_start.astype(dtype),
            gains=step_sizes.gains(tune).astype(dtype),
            factors=step_sizes.factors(rng).astype(dtype),
            log_uniforms=np.log(uniforms).astype(dtype),
            noise=draw_noise(rng, self._n, self._shapes, dtype),
        )

    def learn(self, state: LocalState, outputs: LocalOutputs, *, tune: bool) -> dict[str, float]:
        """Move the state past a batch; return statistics of its draws."""
        state.step_sizes.learn(outputs.log_step_sizes, tune)
        before = 0 if self._restart else state.still
        state.still = np.where(outputs.moved > 0, 0, before + self._n)
        patience = self._n if self._restart else max(self._n, PATIENCE)
        return {
            "local_acceptance": float(outputs.acceptance.mean()),
            "local_spread": spread_of(outputs.draws),
            "local_step_size": float(np.exp(outputs.log_step_sizes.mean())),
            "local_unmoved": float(np.mean(state.still >= patience)),
        }
