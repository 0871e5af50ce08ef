#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""How the local variables of a batch are sampled."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc.step_methods.state import DataClassState, WithSamplingState, dataclass_state
from pymc.step_methods.step_sizes import DualAverageAdaptation, StepSizeState
from pytensor.tensor import TensorVariable

from pymc_geodesic.engine.backend import Backend
from pymc_geodesic.engine.local import LocalKernel, LocalOutput
from pymc_geodesic.engine.streams import draw_noise
from pymc_geodesic.potential import Potential
from pymc_geodesic.schedules import positive, whole

__all__ = ["LocalGMC", "LocalSampler"]


class LocalGMC:
    r"""Variables that belong to the rows of a minibatch, sampled by geodesic Monte Carlo.

    For every minibatch they are sampled afresh from their exact conditional law given the global
    variables and the rows at hand, each row with a Metropolis test of its own. The gradient of the
    global variables is averaged over the draws, which by Fisher's identity

    .. math::

        \nabla \log \pi(\beta \mid x) = E_{\theta \mid \beta, x} \nabla \log \pi(x, \theta, \beta)

    makes it a stochastic gradient of the marginal posterior.

    Parameters
    ----------
    vars : variable, name or sequence of these
        Free variables whose first axis is the row of the minibatch, such as
        ``pm.Dirichlet("theta", alpha, shape=(batch_size, K))``. They take no ``total_size``: that
        of the observed variables that depend on them counts for them too.
    draws : int, default 20
        Draws over which the gradient is averaged.
    tune : int, default 40
        Trajectories before the first of them.
    n_leapfrog : int, default 10
        Leapfrog steps a trajectory.
    step_size : float, optional
        Step size of the leapfrog, the same for all rows. By default it is tuned to
        ``target_accept`` by dual averaging in the tuning phase, then kept.
    target_accept : float, default 0.8
        Acceptance rate to tune for.

    Raises
    ------
    ValueError
        For counts that are not positive, or a rate that is not between 0 and 1.

    Notes
    -----
    The trace holds the last draw for the last minibatch of each draw; pass ``var_names`` to
    ``pm.sample`` to leave it out. A variable of a row that is not named here is taken for a global
    one, with a warning.

    References
    ----------
    Liu, C., Zhu, J. and Song, Y. (2016). Stochastic gradient geodesic MCMC methods. NIPS.
    Section 5.3.

    Byrne, S. and Girolami, M. (2013). Geodesic Monte Carlo on embedded manifolds. Scandinavian
    Journal of Statistics 40. Algorithm 1.

    Examples
    --------
    .. code-block:: python

        step = pmg.SGNHT([beta], local=pmg.LocalGMC([theta], draws=10), step_size=1e-3)
    """

    def __init__(
        self,
        vars: TensorVariable | str | Sequence[TensorVariable | str],
        *,
        draws: int = 20,
        tune: int = 40,
        n_leapfrog: int = 10,
        step_size: float | None = None,
        target_accept: float = 0.8,
    ) -> None:
        self.vars = vars
        self.draws = whole("draws", draws)
        self.tune = whole("tune", tune) if tune else 0
        self.n_leapfrog = whole("n_leapfrog", n_leapfrog)
        self.step_size = None if step_size is None else positive("step_size", step_size)
        if not 0 < target_accept < 1:
            raise ValueError(
                f"`target_accept` expected a rate between 0 and 1, got {target_accept!r}."
            )
        self.target_accept = float(target_accept)


@dataclass_state
class LocalSamplerState(DataClassState):
    """Resumable state of a :class:`LocalSampler`."""

    adaptation: StepSizeState


class LocalSampler(WithSamplingState):
    """Draw the local variables of one batch after the other.

    Parameters
    ----------
    options : LocalGMC
        The user's choices.
    potential : Potential
        The potential of the global variables, which knows the local ones.
    values, local_values : sequence of ndarray
        PyMC's values, for their shapes.
    restart : bool
        Whether each batch starts anew, and not at the last draw.
    backend : Backend
        How to compile.
    """

    _state_class = LocalSamplerState

    def __init__(
        self,
        options: LocalGMC,
        potential: Potential,
        *,
        values: Sequence[np.ndarray],
        local_values: Sequence[np.ndarray],
        restart: bool,
        backend: Backend,
    ) -> None:
        self.options = options
        local = potential.local
        self._shapes, self._n_rows = local.manifold.shapes, local.n_rows
        self._dtype = local.variables[0].position.dtype
        # Rows are independent: the step is that of one row's variables, as in `GMC`.
        dim = max(1, local.manifold.dim // self._n_rows)
        start = options.step_size or 0.25 / dim**0.25
        self.adaptation = DualAverageAdaptation(
            start, target=options.target_accept, gamma=0.05, k=0.75, t0=10
        )
        self._kernel = LocalKernel(
            potential,
            values=values,
            local_values=local_values,
            draws=options.draws,
            tune=options.tune,
            n_leapfrog=options.n_leapfrog,
            restart=restart,
            backend=backend,
        )

    def reset(self) -> None:
        """Forget what another chain has adapted."""
        self.adaptation.reset()

    def step_size(self, tune: bool) -> float:
        """Return the step size of the next batch."""
        return self.options.step_size or float(self.adaptation.current(tune))

    def draw(
        self,
        rng: np.random.Generator,
        values: Sequence[np.ndarray],
        local_values: Sequence[np.ndarray],
        *,
        conditioned: Sequence[np.ndarray],
        rows: Sequence[np.ndarray],
        tune: bool,
    ) -> LocalOutput:
        """Sample the local variables of a batch; while tuning, adapt the step size."""
        n = self.options.draws + self.options.tune
        uniforms = rng.uniform(size=(n, self._n_rows))
        output = self._kernel(
            values,
            local_values,
            conditioned=conditioned,
            rows=rows,
            step_size=np.asarray(self.step_size(tune), self._dtype),
            log_uniforms=np.log(uniforms).astype(self._dtype),
            noise=draw_noise(rng, n, self._shapes, self._dtype),
        )
        if tune and self.options.step_size is None:
            self.adaptation.update(output.acceptance_rate, tune)
        return output
