#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Stochastic gradient Riemannian Langevin dynamics on the probability simplex."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal, Unpack, get_args

from pymc_geodesic.algorithms.algorithm import Algorithm
from pymc_geodesic.algorithms.default_schedules import has_default_schedule
from pymc_geodesic.algorithms.poisson_gamma import EXACT_SGRLD
from pymc_geodesic.algorithms.sgrhmc import sgrhmc
from pymc_geodesic.algorithms.sgrld import Parameterization, sgrld
from pymc_geodesic.algorithms.simplex_chart import Metric
from pymc_geodesic.sampling.variables import Variables
from pymc_geodesic.schedules import Schedule
from pymc_geodesic.step_methods.checks import GradientOptions
from pymc_geodesic.step_methods.stochastic import StochasticStep
from pymc_geodesic.validation import one_of, pymc_model

__all__ = ["SGRLD"]

# Coordinates, metric and whether there is a Metropolis test: those of exact and of Hamiltonian
# transitions, and of the rule for topics.
EXPANDED_MEAN = ("expanded_mean", "fisher", False)


class SGRLD(StochasticStep):
    r"""Stochastic gradient Riemannian Langevin dynamics for probability vectors.

    For a posterior Dirichlet(a), such as that of multinomial counts, each transition is

    .. math::

        N_k \sim \operatorname{Poisson}(2 \pi_k / \epsilon), \qquad
        G_k \sim \operatorname{Gamma}(a_k + N_k), \qquad
        \pi_k \leftarrow G_k / \textstyle\sum_j G_j ,

    which leaves the posterior invariant at any step size. Any differentiable likelihood works,
    through :math:`a_k = 1 + \pi_k \partial_k \ell` at the present point; then the bias is of first
    order. There is no friction and no acceleration, and probabilities stay right near the corners,
    where geodesic samplers meet poles of the density.

    Parameters
    ----------
    vars : variable, name or sequence of these, optional
        Simplex variables of any batch shape; all continuous variables by default.
    step_size : float or Schedule, optional
        Step size :math:`\epsilon`. By default the tuning phase finds it for exact transitions, see
        :ref:`self-tuning`, and control variates and ``n_steps`` beside it, unless you give them:
        pass ``variance_reduction=None`` and ``n_steps`` for the paper's algorithm. For the topics
        of :class:`LatentDirichletAllocation` the default is the schedule of
        :func:`pymc_geodesic.topic_models.sgrld_schedule`, if the other choices are the defaults.
        Otherwise, and with ``tune=0``, it is ``0.01 / N`` with N from ``total_size``: the drift of
        the whole data is then about a hundredth of the counts.
    parameterization : {"expanded_mean", "expanded_natural", "reduced_mean", "reduced_natural"}
        Coordinates of the simplex, as in the paper's Table 1. In the reduced coordinates, steps
        that leave the simplex are reflected and normalised.
    metric : {"fisher", "identity"}
        Whether the step is preconditioned by the inverse Fisher metric. The constant ``1 / n`` of
        the reduced coordinates' inverse metric is left to the step size. Combinations that divide
        by small entries ("expanded_natural" and "reduced_natural" with "fisher", the mean
        coordinates with "identity") are useful only away from the corners.
    dynamics : {"exact", "euler", "hamiltonian"}, optional
        ``"exact"``, the default, makes the transitions above. The Poisson and Gamma variables are
        functions of standard normals; in a million draws of each, shapes from .01 to 10,000, their
        sums differed from exact ones by no more than chance: .002 standard deviations in means,
        .0013 in any probability. Counts are those of a batch, or of all rows with control variates;
        noise of the counts stays in the draws, so that the step must be small or the batch large.

        ``"euler"`` is the paper's step, the default for topics, for other coordinates and with
        ``metropolis``:

        .. math::

            \theta_k \leftarrow \left| \theta_k + \tfrac{\epsilon}{2} \left(\alpha_k - \theta_k
                + \tfrac{N}{n} \sum_{d \in S} (n_{dk} - \pi_k n_{d \cdot})\right)
                + \sqrt{\epsilon \theta_k}\, z_k \right|, \qquad
            \pi_k = \theta_k / \textstyle\sum_j \theta_j .

        Its bias is proportional to the step size, and large if :math:`\alpha_k` is far below one:
        with 0.1 an empty entry gets 2 to 30 times its mass.

        ``"hamiltonian"`` gives the Gamma coordinates momenta: SGRHMC of Ma et al. (2015), here to
        second order. The friction is :math:`\theta_k`, and the noise of the gradient heats the
        draws, which ``configurational_temperature`` shows. It needs expanded-mean coordinates.
    metropolis : bool
        Correct each step by a Metropolis-Hastings test on the full data, which is exact but slow.
    steps_per_batch : int, default 1
        Transitions that share one minibatch.
    n_steps, variance_reduction, center, accuracy, data, local, replacement
        See :class:`SGGMC`.
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
    ``metropolis=True`` (else 1 with ``"euler"``). With a decreasing schedule weight the
    draws by ``step_size``, see :func:`pymc_geodesic.weighted`.

    The public code by the paper's authors calls :math:`\epsilon / 2` the step size.

    References
    ----------
    Patterson, S. and Teh, Y. W. (2013). Stochastic gradient Riemannian Langevin dynamics on the
    probability simplex. NIPS. Equation 7 and Table 1.

    Ma, Y.-A., Chen, T. and Fox, E. (2015). A complete recipe for stochastic gradient MCMC. NIPS.
    Section 4.1 and its supplement: SGRHMC.

    Baker, J., Fearnhead, P., Fox, E. and Nemeth, C. (2018). Large-scale stochastic sampling from
    the probability simplex. NeurIPS. Exact transitions of Gamma variables, with a random total.

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
        dynamics: Literal["exact", "euler", "hamiltonian"] | None = None,
        metropolis: bool = False,
        **options: Unpack[GradientOptions],
    ) -> None:
        one_of("parameterization", parameterization, get_args(Parameterization))
        one_of("metric", metric, get_args(Metric))
        choices = (parameterization, metric, metropolis)
        is_of_topics = has_default_schedule(pymc_model(options.get("model")))
        if dynamics is None:
            dynamics = "euler" if is_of_topics or choices != EXPANDED_MEAN else "exact"
        one_of("dynamics", dynamics, ("exact", "euler", "hamiltonian"))
        if dynamics != "euler" and choices != EXPANDED_MEAN:
            raise ValueError(
                f"`dynamics={dynamics!r}` expected the expanded-mean coordinates with the Fisher "
                f"metric and no Metropolis test; got {parameterization!r}, {metric!r} and "
                f"metropolis={metropolis}. Leave these out."
            )
        euler = partial(
            sgrld, parameterization=parameterization, metric=metric, metropolis=metropolis
        )
        algorithms: dict[str, Callable[[], Algorithm]] = {
            "exact": lambda: EXACT_SGRLD,
            "euler": euler,
            "hamiltonian": sgrhmc,
        }
        super().__init__(
            vars,
            algorithms[dynamics](),
            step_size=step_size,
            parameters={},
            keywords=options,
            uses_topic_rule=dynamics == "euler" and choices == EXPANDED_MEAN,
        )
