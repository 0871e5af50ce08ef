#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Stochastic gradient Riemannian Langevin dynamics on the probability simplex."""

from __future__ import annotations

from typing import Any, Literal, Unpack, get_args

import numpy as np

from pymc.exceptions import SamplingError

from pymc_geodesic.algorithms import State
from pymc_geodesic.algorithms.default_schedules import default_schedule
from pymc_geodesic.algorithms.sgrld import enter, leave, metropolis_sgrld, sgrld
from pymc_geodesic.algorithms.simplex_coordinates import COORDINATES, Metric, SimplexCoordinates
from pymc_geodesic.distributions.concentration import known_concentration
from pymc_geodesic.kernel.cir import CoxIngersollRoss
from pymc_geodesic.manifolds import LogSimplex, Simplex
from pymc_geodesic.potential.variables import SampledVariable
from pymc_geodesic.schedules import Schedule
from pymc_geodesic.step_methods.arguments import StepOptions, Variables
from pymc_geodesic.step_methods.stochastic import StochasticGradientStep

__all__ = ["SGRLD"]

Parameterization = Literal["expanded_mean", "expanded_natural", "reduced_mean", "reduced_natural"]

# The rule for topics is that of these coordinates and this step.
PAPER_CHOICES = ("expanded_mean", "fisher", "euler")


class SGRLD(StochasticGradientStep):
    r"""Stochastic gradient Riemannian Langevin dynamics for probability vectors.

    For :math:`\pi_k = \theta_k / \sum_j \theta_j` in the expanded-mean coordinates with the Fisher
    metric, and a prior Dirichlet(:math:`\alpha`), each transition is

    .. math::

        \theta_k \leftarrow \left| \theta_k + \tfrac{\epsilon}{2} \left(\alpha_k - \theta_k
            + \tfrac{N}{n} \sum_{d \in S} (n_{dk} - \pi_k n_{d \cdot})\right)
            + \sqrt{\epsilon \theta_k}\, z_k \right|,

    written here for multinomial counts; any differentiable likelihood works, through its gradient
    in :math:`\log \pi`. It has no friction and no acceleration, and stays finite where most of the
    mass sits at the corners, where geodesic samplers meet poles of the density.

    Parameters
    ----------
    vars : variable, name or sequence of these, optional
        Simplex variables of any batch shape; all continuous variables by default.
    step_size : float or Schedule, optional
        Step size :math:`\epsilon`, per unit of :math:`\theta`. By default ``0.01 / N`` with N from
        ``total_size``, at which the drift of the whole data is a hundredth of the counts; for the
        topics of :class:`LatentDirichletAllocation` the schedule of
        :func:`pymc_geodesic.topic_models.sgrld_schedule`, if the other choices are the defaults.
    parameterization : {"expanded_mean", "expanded_natural", "reduced_mean", "reduced_natural"}
        Coordinates of the simplex, those of the paper's Table 1. The reduced ones reflect steps
        that leave the simplex and normalise.
    metric : {"fisher", "identity"}
        Whether the step is preconditioned by the inverse Fisher metric. The constant ``1 / n`` of
        the reduced coordinates' inverse metric is left to the step size. Combinations that divide
        by small entries ("expanded_natural" and "reduced_natural" with "fisher", the mean
        coordinates with "identity") are of use only away from the corners.
    dynamics : {"euler", "cir"}
        ``"euler"`` is the paper's step, biased in proportion to the step size, by much where
        :math:`\alpha_k` is far below one: with 0.1 an empty entry gets 2 to 30 times its mass.
        ``"cir"`` makes exact transitions of the Cox-Ingersoll-Ross process of the Gamma
        coordinates, without that bias: use it for sparse Dirichlet priors and for counts. With
        minibatches the noise of the counts a stays in the draws, as
        ``E a + Var(a) tanh(h / 2)`` for the variance of a Gamma coordinate at step size h, so the
        step must still be small or the batch large. In a mixture with sparse components begin
        with ``"euler"`` and go on from its last draw: from a poor start ``"cir"`` may lose
        components. It needs expanded-mean coordinates and a log density that is linear in
        :math:`\log \pi` with weights above -1, such as Dirichlet, multinomial and mixture models.
    metropolis : bool
        Correct each step by a Metropolis-Hastings test on the full data; exact, and slow.
    steps_per_batch : int, default 1
        Transitions that share one minibatch.
    n_steps, variance_reduction, center, data, local, replacement
        As for :class:`SGGMC`.
    backend, compile_kwargs, model, rng, initial_point, blocked, trust_total_size
        As for :class:`SGGMC`.

    Raises
    ------
    ValueError
        For a variable that is not on a simplex; for unknown or incompatible choices; and as for
        :class:`SGGMC`.

    Notes
    -----
    Statistics: ``step_size``, ``configurational_temperature`` (not with ``metropolis=True``),
    ``potential_estimate``, ``n_steps``, ``diverging``, and ``acceptance_rate`` with
    ``metropolis=True`` (else 1). With a decreasing schedule weight the
    draws by ``step_size``, see :func:`pymc_geodesic.weighted`.

    The public code by the paper's authors calls :math:`\epsilon / 2` the step size.

    References
    ----------
    Patterson, S. and Teh, Y. W. (2013). Stochastic gradient Riemannian Langevin dynamics on the
    probability simplex. NIPS. Equation 7 and Table 1.

    Baker, J., Fearnhead, P., Fox, E. and Nemeth, C. (2018). Large-scale stochastic sampling from
    the probability simplex. NeurIPS. The exact transitions.

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> counts = np.random.default_rng(1).multinomial(20, [0.7, 0.3, 0.0], size=500)
    >>> with pm.Model():
    ...     p = pm.Dirichlet("p", [0.1, 0.1, 0.1])
    ...     batch = pm.Minibatch(counts.astype("int32"), batch_size=50)
    ...     _ = pm.Multinomial("x", 20, p, observed=batch, total_size=500)
    ...     idata = pm.sample(step=pmg.SGRLD(step_size=0.01))  # doctest: +SKIP
    """

    name = "sgrld"
    has_velocity = False
    withheld = frozenset({"parameters", "mass", "gradient_noise", "accuracy"})
    order = 1
    coordinates = {Simplex: LogSimplex()}
    stats_dtypes_shapes = {
        name: stat
        for name, stat in StochasticGradientStep.stats_dtypes_shapes.items()
        if name != "kinetic_temperature"
    } | {"acceptance_rate": (np.float64, [])}

    def __init__(
        self,
        vars: Variables | None = None,
        *,
        step_size: float | Schedule | None = None,
        parameterization: Parameterization = "expanded_mean",
        metric: Metric = "fisher",
        dynamics: Literal["euler", "cir"] = "euler",
        metropolis: bool = False,
        steps_per_batch: int = 1,
        **options: Unpack[StepOptions],
    ) -> None:
        _require_choice("parameterization", parameterization, get_args(Parameterization))
        _require_choice("metric", metric, get_args(Metric))
        _require_choice("dynamics", dynamics, ("euler", "cir"))
        if dynamics == "cir" and (
            (parameterization, metric, metropolis) != ("expanded_mean", "fisher", False)
        ):
            raise ValueError(
                "`dynamics='cir'` expected the expanded-mean coordinates with the Fisher metric "
                "and no Metropolis test, which its exact transitions do not need; got "
                f"{parameterization!r}, {metric!r} and metropolis={metropolis}."
            )
        if dynamics == "cir" and options.get("variance_reduction") == "control_variates":
            raise ValueError(
                "`dynamics='cir'` expected plain minibatch gradients, whose counts keep the shapes "
                "of its Gamma laws positive, got `variance_reduction='control_variates'`. Use "
                "`dynamics='euler'`."
            )
        self.parameterization, self.metric = parameterization, metric
        self.exact, self.full_data = dynamics == "cir", metropolis
        # The exact potential of the test is evaluated past the estimator.
        self.has_virial = not metropolis
        if self.exact:
            self.mishap = (
                "skipped a transition whose Gamma shapes 1 + dl/dlog(p), l the log density, were "
                "not all positive and finite"
            )
            self.advice = (
                "Exact transitions need a log density that is linear in the log probabilities with "
                "weights above -1; use `dynamics='euler'` for this model."
            )
        super().__init__(
            vars,
            step_size=step_size,
            parameters={},
            steps_per_batch=steps_per_batch,
            **options,
        )
        if step_size is None and (parameterization, metric, dynamics) == PAPER_CHOICES:
            self.schedule = default_schedule(self.model, self.variables) or self.schedule

    def _default_step_size(self) -> float:
        return super()._default_step_size() ** 2

    def _require_supported(self, variables) -> None:
        for variable in variables:
            if not isinstance(variable.manifold, LogSimplex):
                better = "SGNHT" if variable.is_flat else "gSGNHT"
                raise ValueError(
                    "`SGRLD` expected variables on a simplex, such as `pm.Dirichlet`, got "
                    f"`{variable.name}` on a {variable.manifold.name.lower()} manifold. Name the "
                    f"simplex variables as `vars` and sample this one with `pmg.{better}`."
                )

    def _prepare(self) -> None:
        super()._prepare()
        shapes = [_gamma_shape(variable) for variable in self.variables]
        self._gamma_shapes = [np.asarray(shape, self._dtype) for shape in shapes]
        if self.full_data:
            self._noise_shapes = [*self._noise_shapes, ()]

    def _make_kernel(self):
        if self.exact:
            return CoxIngersollRoss(self.potential, backend=self.backend)
        return super()._make_kernel()

    def _check_start(self, point) -> None:
        if self.exact:
            self._require_positive_shapes(point)
        super()._check_start(point)

    def _require_positive_shapes(self, point) -> None:
        shapes = self._kernel.shapes(
            self._state(point),
            conditioned=self._conditions(point),
            batch=[batch[0] for batch in self.batches.trial(1)],
        )
        for variable, shape in zip(self.variables, shapes, strict=True):
            # What is not finite is for the check of the log density.
            if np.all(np.isfinite(shape)) and np.any(shape <= 0):
                raise SamplingError(
                    f"`dynamics='cir'` expected weights dl/dlog(p) of `{variable.name}` above -1, "
                    "where l is the log density, because one plus the weight is the shape of a "
                    f"Gamma law; got {np.min(shape) - 1:.4g} at the start. Use "
                    "`dynamics='euler'` for this model, or take the term with a negative weight "
                    "out of it."
                )

    def _reset(self) -> None:
        super()._reset()
        totals = []
        for shape, gamma_shape in zip(self._shapes, self._gamma_shapes, strict=True):
            gammas = self.rng.gamma(gamma_shape, size=(*shape[:-1], 1))
            totals.append(np.log(gammas).astype(self._dtype))
        self.auxiliary = [*totals, np.zeros((), self._dtype)] if self.full_data else totals

    @property
    def _charts(self) -> list[SimplexCoordinates]:
        chart = COORDINATES[self.parameterization]
        return [chart(shape=shape, metric=self.metric) for shape in self._gamma_shapes]

    def enter(self, state: State) -> State:  # noqa: D102
        return enter(state, coordinates=self._charts)

    def leave(self, state: State) -> State:  # noqa: D102
        return leave(state, coordinates=self._charts)

    def transition(self, state, manifold, estimator, noise, step_size, parameters) -> State:  # noqa: D102
        if not self.full_data:
            return sgrld(
                state,
                coordinates=self._charts,
                estimator=estimator,
                noise=noise,
                step_size=step_size,
            )
        return metropolis_sgrld(
            state,
            coordinates=self._charts,
            energy_and_gradient=lambda x: self.potential.energy_and_gradient(x, []),
            noise=noise,
            step_size=step_size,
        )

    def _call(self, point, step_sizes, noise, rows, fresh=None):
        if self.exact:
            return self._kernel(
                self._state(point),
                conditioned=self._conditions(point),
                step_sizes=step_sizes,
                rows=rows,
                rng=self.rng,
                fresh=np.zeros(len(step_sizes), dtype=bool) if fresh is None else fresh,
                reference=self.monitors.reference.arrays,
            )
        return super()._call(point, step_sizes, noise, rows, fresh)

    def _statistics(self, output, step_sizes) -> dict[str, Any]:
        rate = 1.0
        if self.full_data:
            rate = float(self.auxiliary[-1]) / self.n_steps
            self.auxiliary[-1] = np.zeros((), self._dtype)
        return super()._statistics(output, step_sizes) | {"acceptance_rate": rate}


def _require_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"`{name}` expected one of {', '.join(choices)}, got {value!r}.")


def _gamma_shape(variable: SampledVariable) -> float | np.ndarray:
    """Shape of the Gamma law of the total: the concentration of a Dirichlet prior, else K.

    Any value leaves the law of the probabilities as it is; the prior's gives the paper's algorithm.
    """
    size = variable.shape[-1]
    alpha = known_concentration(variable.rv)
    if alpha is None:
        return float(size)
    # One concentration for all entries counts for each of them.
    return alpha.sum(axis=-1, keepdims=True) * (size / alpha.shape[-1])
