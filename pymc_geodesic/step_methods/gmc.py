#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Geodesic Monte Carlo with the exact gradient and a Metropolis test."""

from __future__ import annotations

from typing import Any, ClassVar, Unpack

import numpy as np

from pymc.stats.convergence import SamplerWarning
from pymc.step_methods.compound import StepMethodState
from pymc.step_methods.state import dataclass_state
from pymc.step_methods.step_sizes import DualAverageAdaptation, StepSizeState

from pymc_geodesic.kernel import draw_noise
from pymc_geodesic.kernel.metropolis import MetropolisKernel
from pymc_geodesic.latents.latents import LatentsState
from pymc_geodesic.step_methods.arguments import StepOptions
from pymc_geodesic.step_methods.base import GeodesicStep, Variables
from pymc_geodesic.step_methods.progress import Shown
from pymc_geodesic.tuning.mass_adaptation import MassAdaptationState
from pymc_geodesic.validation import positive, whole

__all__ = ["GMC"]


@dataclass_state
class GMCState(StepMethodState):
    """Everything that the next draw depends on, besides the point."""

    adaptation: StepSizeState
    latents: LatentsState
    mass_adaptation: MassAdaptationState | None
    tune: bool


class GMC(GeodesicStep):
    r"""Geodesic Monte Carlo: Hamiltonian Monte Carlo on any product of manifolds, exact.

    A draw makes ``n_steps`` trajectories. Each draws a velocity from the standard normal on the
    tangent space, makes ``n_leapfrog`` steps

    .. math::

        v &\leftarrow \Lambda(x) [v - \tfrac{\epsilon}{2} \nabla U(x)] \\
        (x, v) &\leftarrow \text{geodesic}(x, v, \epsilon) \\
        v &\leftarrow \Lambda(x) [v - \tfrac{\epsilon}{2} \nabla U(x)]

    and accepts the end with probability :math:`\min(1, e^{H_0 - H_1})`,
    :math:`H = U + v^\top v / 2`. It targets the posterior without bias. A model with
    ``pm.Minibatch`` is sampled through its full data.

    Parameters
    ----------
    vars : variable, name or sequence of these, optional
        Variables to sample; all continuous variables by default.
    step_size : float, optional
        Step size :math:`\epsilon` of the leapfrog. By default it is tuned to an acceptance rate of
        0.8 by dual averaging in the tuning phase, then kept.
    n_leapfrog : int, default 10
        Leapfrog steps a trajectory.
    jitter : float, default 0.1
        Each trajectory's step size is drawn uniformly within this share around ``step_size``:
        trajectories of one length can be periodic on a compact manifold. Zero for none.
    n_steps : int, default 1
        Trajectories a draw.
    mass, backend, compile_kwargs, model, rng, initial_point, blocked, trust_total_size
        As for :class:`SGGMC`.

    Raises
    ------
    ValueError
        As for :class:`SGGMC`; for ``jitter`` outside [0, 1); for a potential that depends on a
        minibatch, whose value on the full data is not known.

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
    >>> import pymc as pm, pymc_geodesic as pmg
    >>> with pm.Model():
    ...     x = pmg.VonMisesFisher("x", mu=[1, 0, 0], kappa=5.0)
    ...     idata = pm.sample(step=pmg.GMC())  # doctest: +SKIP
    """

    name = "gmc"
    full_data = True
    takes_local = False
    withheld = frozenset({"data", "local"})
    advice = "Decrease `step_size`, or leave it out to have it tuned."
    _state_class = GMCState
    shown = (
        Shown("step_size", "Step", "gmc_step_size", "0.2g"),
        Shown("acceptance_rate", "Accept", "acceptance", "0.2f"),
    )
    stats_dtypes_shapes: ClassVar[dict] = {
        "step_size": (np.float64, []),
        "acceptance_rate": (np.float64, []),
        "accepted": (np.float64, []),
        "energy": (np.float64, []),
        "kinetic_temperature": (np.float64, []),
        "degrees_of_freedom": (np.int64, []),
        "potential_estimate": (np.float64, []),
        "diverging": (bool, []),
        "warning": (SamplerWarning, None),
    }

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
        self.step_size = None if step_size is None else positive("step_size", step_size)
        self.n_leapfrog = whole("n_leapfrog", n_leapfrog)
        self.n_steps = whole("n_steps", n_steps)
        if not isinstance(jitter, int | float | np.number) or not 0 <= jitter < 1:
            raise ValueError(f"`jitter` expected a share from 0 to below 1, got {jitter!r}.")
        self.jitter = float(jitter)
        super().__init__(vars, **options)
        self._shapes = self.potential.manifold.shapes
        self._dim = self.potential.manifold.dim
        self._dtype = self.variables[0].position.dtype
        # The constants are those of NUTS in PyMC; so is the start, a quarter of d^(-1/4).
        start = self.step_size or 0.25 / self._dim**0.25
        self.adaptation = DualAverageAdaptation(start, target=0.8, gamma=0.05, k=0.75, t0=10)
        point = self.model.initial_point()
        self._kernel = MetropolisKernel(
            self.potential,
            values=self._values(point),
            n_steps=self.n_steps,
            n_leapfrog=self.n_leapfrog,
            mass=self._mass,
            backend=self.backend,
        )
        self._declare({name: (np.float64, []) for name in self._mass_statistics})
        # JAX compiles in the process of each chain, see `StochasticGradientStep`.
        if not self.backend.is_jax:
            self._dry_run(point)

    def _reset(self) -> None:
        self.adaptation.reset()

    def _values(self, point) -> list[np.ndarray]:
        return [np.asarray(point[name]) for name in self._names]

    def _run(self, point) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        if self.latents:
            point = self._draw_latents(point, [])
        step_size = self.step_size or float(self.adaptation.current(self.tune))
        spread = self.jitter * self.rng.uniform(-1, 1, self.n_steps)
        output = self._kernel(
            self._values(point),
            conditioned=self._conditions(point),
            step_sizes=(step_size * (1 + spread)).astype(self._dtype),
            log_uniforms=np.log(self.rng.uniform(size=self.n_steps)).astype(self._dtype),
            noise=draw_noise(self.rng, self.n_steps, self._shapes, self._dtype),
            mass=self._mass_arrays,
        )
        self._observe(output.values, output.velocity)
        if self.step_size is None and self.tune:
            self.adaptation.update(output.acceptance_rate, self.tune)
        return self._moved(point, output.values), {
            "step_size": step_size,
            "acceptance_rate": output.acceptance_rate,
            "accepted": output.accepted,
            "energy": output.energy,
            "kinetic_temperature": 2 * (output.energy - output.potential) / self._dim,
            "degrees_of_freedom": self._dim,
            "potential_estimate": output.potential,
            "diverging": output.diverging,
            "warning": self._warning(output.diverging),
        } | self._mass_statistics | self.latents.take_statistics()

    def _dry_run(self, point) -> float:
        """Make trajectories too short to move."""
        if self.latents:
            self.latents.trial(point, [])
        n_steps = self.n_steps if self.backend.is_jax else 1
        output = self._kernel(
            self._values(point),
            conditioned=self._conditions(point),
            step_sizes=self._trial_step(n_steps),
            log_uniforms=np.full(n_steps, -1.0, self._dtype),
            noise=[np.zeros((n_steps, *shape), self._dtype) for shape in self._shapes],
            mass=self._mass_arrays,
        )
        return np.nan if output.diverging or not self.latents.finite else output.potential
