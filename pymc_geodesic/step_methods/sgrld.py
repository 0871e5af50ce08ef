#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Stochastic gradient Riemannian Langevin dynamics on the probability simplex."""

from __future__ import annotations

from functools import partial
from typing import Literal, Unpack, get_args

from pymc_geodesic.algorithms.sgrhmc import sgrhmc
from pymc_geodesic.algorithms.sgrld import Parameterization, sgrld
from pymc_geodesic.algorithms.simplex_chart import Metric
from pymc_geodesic.sampling.variables import Variables
from pymc_geodesic.schedules import Schedule
from pymc_geodesic.step_methods.checks import GradientOptions
from pymc_geodesic.step_methods.stochastic import StochasticStep
from pymc_geodesic.validation import one_of

__all__ = ["SGRLD"]

# The rule for topics applies to these coordinates and this step.
PAPER_CHOICES = ("expanded_mean", "fisher", "euler")


class SGRLD(StochasticStep):
    r"""Stochastic gradient Riemannian Langevin dynamics for probability vectors.

    For :math:`\pi_k = \theta_k / \sum_j \theta_j` in the expanded-mean coordinates with the Fisher
    metric, and a prior Dirichlet(:math:`\alpha`), each transition is

    .. math::

        \theta_k \leftarrow \left| \theta_k + \tfrac{\epsilon}{2} \left(\alpha_k - \theta_k
            + \tfrac{N}{n} \sum_{d \in S} (n_{dk} - \pi_k n_{d \cdot})\right)
            + \sqrt{\epsilon \theta_k}\, z_k \right|,

    written here for multinomial counts. Any differentiable likelihood works, through its gradient
    in :math:`\log \pi`. It has no friction and no acceleration, and stays finite if most of the
    mass is at the corners, where geodesic samplers meet poles of the density.

    Parameters
    ----------
    vars : variable, name or sequence of these, optional
        Simplex variables of any batch shape; all continuous variables by default.
    step_size : float or Schedule, optional
        Step size :math:`\epsilon`, per unit of :math:`\theta`. By default the tuning phase finds it
        in the expanded-mean coordinates with the Fisher metric and no ``metropolis``; see
        :ref:`self-tuning`. Control variates and ``n_steps`` are tuned beside it, unless you give
        them: pass ``variance_reduction=None`` and ``n_steps`` for the paper's algorithm. Without
        them it is for the coordinates of a step that tunes itself, whose totals do not come near
        zero. For the topics of :class:`LatentDirichletAllocation` the default is the schedule of
        :func:`pymc_geodesic.topic_models.sgrld_schedule`, if the other choices are the defaults.
        Otherwise, and with ``tune=0``, it is ``0.01 / N`` with N from ``total_size``: the drift of
        the whole data is then a hundredth of the counts.
    parameterization : {"expanded_mean", "expanded_natural", "reduced_mean", "reduced_natural"}
        Coordinates of the simplex, as in the paper's Table 1. In the reduced coordinates, steps
        that leave the simplex are reflected and normalised.
    metric : {"fisher", "identity"}
        Whether the step is preconditioned by the inverse Fisher metric. The constant ``1 / n`` of
        the reduced coordinates' inverse metric is left to the step size. Combinations that divide
        by small entries ("expanded_natural" and "reduced_natural" with "fisher", the mean
        coordinates with "identity") are useful only away from the corners.
    dynamics : {"euler", "cir", "hamiltonian"}
        ``"euler"`` is the paper's step. Its bias is proportional to the step size, and large if
        :math:`\alpha_k` is far below one: with 0.1 an empty entry gets 2 to 30 times its mass.
        ``"cir"`` makes exact transitions of the Cox-Ingersoll-Ross process of the Gamma
        coordinates, without that bias: use it for sparse Dirichlet priors and for counts. With
        minibatches the noise of the counts a stays in the draws: the variance of a Gamma
        coordinate at step size h is ``E a + Var(a) tanh(h / 2)``. So the step must still be small
        or the batch large. In a mixture with sparse components, begin
        with ``"euler"`` and continue from its last draw: from a poor start ``"cir"`` may lose
        components. It needs expanded-mean coordinates and a log density that is linear in
        :math:`\log \pi` with weights above -1, such as Dirichlet, multinomial and mixture models.
        ``"hamiltonian"`` gives the Gamma coordinates momenta: SGRHMC of Ma et al. (2015), here to
        second order. The friction is :math:`\theta_k`, and the noise of the gradient heats the
        draws, which ``configurational_temperature`` shows. It needs the same coordinates.
    metropolis : bool
        Correct each step by a Metropolis-Hastings test on the full data, which is exact but slow.
    steps_per_batch : int, default 1
        Transitions that share one minibatch.
    n_steps, variance_reduction, center, accuracy, data, local, replacement
        See :class:`SGGMC`. With ``"cir"`` there are no control variates.
    backend, model, rng, initial_point, blocked, trust_total_size
        See :class:`SGGMC`.

    Raises
    ------
    ValueError
        For a variable that is not on a simplex; for unknown or incompatible choices; see also
        :class:`SGGMC`.

    Notes
    -----
    Statistics: ``step_size``, ``configurational_temperature`` (not with ``metropolis=True``, and
    not for the topics of :class:`LatentDirichletAllocation`, most of whose probabilities are next
    to zero), ``potential_estimate``, ``n_steps``, ``diverging``, and ``acceptance_rate`` with
    ``metropolis=True`` (else 1). With a decreasing schedule weight the
    draws by ``step_size``, see :func:`pymc_geodesic.weighted`.

    The public code by the paper's authors calls :math:`\epsilon / 2` the step size.

    References
    ----------
    Patterson, S. and Teh, Y. W. (2013). Stochastic gradient Riemannian Langevin dynamics on the
    probability simplex. NIPS. Equation 7 and Table 1.

    Ma, Y.-A., Chen, T. and Fox, E. (2015). A complete recipe for stochastic gradient MCMC. NIPS.
    Section 4.1 and its supplement: SGRHMC.

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
    ...     options = {"variance_reduction": None, "n_steps": 50}
    ...     step = pmg.SGRLD(step_size=1e-4, **options)
    ...     idata = pmg.sample(500, step=step, random_seed=1, progressbar=False)
    >>> idata.posterior["p"].mean(("chain", "draw")).values.round(1)
    array([0.7, 0.3, 0. ])
    """

    name = "sgrld"
    withheld = frozenset({"mass", "manifolds", "gradient_noise"})

    def __init__(
        self,
        vars: Variables | None = None,
        *,
        step_size: float | Schedule | None = None,
        parameterization: Parameterization = "expanded_mean",
        metric: Metric = "fisher",
        dynamics: Literal["euler", "cir", "hamiltonian"] = "euler",
        metropolis: bool = False,
        **options: Unpack[GradientOptions],
    ) -> None:
        one_of("parameterization", parameterization, get_args(Parameterization))
        one_of("metric", metric, get_args(Metric))
        one_of("dynamics", dynamics, ("euler", "cir", "hamiltonian"))
        if dynamics != "euler":
            _require_expanded_mean(dynamics, parameterization, metric, metropolis)
        if dynamics == "cir":
            _require_plain_gradients(options.get("variance_reduction"))
            options["variance_reduction"] = None
        euler_or_exact = partial(
            sgrld,
            parameterization=parameterization,
            metric=metric,
            exact=dynamics == "cir",
            metropolis=metropolis,
        )
        super().__init__(
            vars,
            sgrhmc() if dynamics == "hamiltonian" else euler_or_exact(),
            step_size=step_size,
            parameters={},
            keywords=options,
            uses_topic_rule=(parameterization, metric, dynamics) == PAPER_CHOICES,
        )


def _require_expanded_mean(
    dynamics: str, parameterization: str, metric: str, metropolis: bool
) -> None:
    if (parameterization, metric, metropolis) != ("expanded_mean", "fisher", False):
        raise ValueError(
            f"`dynamics={dynamics!r}` expected the expanded-mean coordinates with the Fisher "
            "metric and no Metropolis test; got "
            f"{parameterization!r}, {metric!r} and metropolis={metropolis}. Leave these out."
        )


def _require_plain_gradients(variance_reduction: str | None) -> None:
    if variance_reduction == "control_variates":
        raise ValueError(
            "`dynamics='cir'` expected plain minibatch gradients, whose counts keep the shapes of "
            "its Gamma distributions positive, got `variance_reduction='control_variates'`. Use "
            "`dynamics='euler'`."
        )
