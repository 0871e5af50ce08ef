#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Starts around the posterior, for samplers that read all rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pymc.model import Model

from pymc_geodesic.algorithms.default_schedules import has_default_schedule
from pymc_geodesic.potential.variables import manifold_in
from pymc_geodesic.rows.builders import given_model
from pymc_geodesic.runs.choose_step import require_continuous
from pymc_geodesic.runs.deterministics import Traced
from pymc_geodesic.runs.starts import InitialValues, RandomSeed, begin_chains, seeds
from pymc_geodesic.runs.whole_models import in_batches
from pymc_geodesic.sampling.advance import Sampler, prepare
from pymc_geodesic.step_methods import SGNHT, gSGNHT
from pymc_geodesic.validation import whole

__all__ = ["find_starts", "free_values"]


def find_starts(
    model: Model | None = None,
    *,
    chains: int = 4,
    random_seed: RandomSeed = None,
    initvals: InitialValues = None,
) -> list[dict[str, np.ndarray]]:
    r"""Find the posterior, and draw a start for each chain of another sampler.

    This is what a step that tunes itself does before its first draw. A Gaussian distribution
    :math:`N(c, M^{-1})` describes the posterior around its mode or, where a mode is of no use, as
    in hierarchies, on average. Each start is a draw from it.

    Parameters
    ----------
    model : Model, optional
        Model whose variables are all continuous; with :class:`pymc.Minibatch`, or with all rows,
        which are read in batches if they are many and independent. By default that of the context.
    chains : int, default 4
        How many starts.
    random_seed : int, sequence of int, SeedSequence or Generator, optional
        Seed.
    initvals : dict or list of dict, optional
        Where the search begins, as in :func:`sample`; by default it tries several starts.

    Returns
    -------
    list of dict of str to ndarray
        Values of the free variables, in their own shapes, one mapping per chain: the ``initvals``
        of :func:`pymc.sample`. Variables that :func:`sample` would integrate out have none.

    Raises
    ------
    ValueError
        If the model has no variables or discrete ones, its minibatches cannot be sampled
        correctly, or it has topics of :class:`LatentDirichletAllocation`.
    pymc.exceptions.SamplingError
        If no start with a finite density is found.

    References
    ----------
    R. Giordano, M. Ingram and T. Broderick, Black Box Variational Inference with a Deterministic
    Objective, Journal of Machine Learning Research 25 (2024): the Gaussian distribution on average.

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> data = np.random.default_rng(1).normal(2.0, 1.0, 10_000)
    >>> with pm.Model() as model:
    ...     mean, sd = pm.Normal("mean", 0.0, 10.0), pm.HalfNormal("sd", 10.0)
    ...     batch = pm.Minibatch(data, batch_size=100)
    ...     _ = pm.Normal("x", mean, sd, observed=batch, total_size=10_000)
    >>> starts = pmg.find_starts(model, chains=2, random_seed=1)
    >>> sorted(starts[0]), bool(abs(starts[0]["mean"] - 2.0) < 0.1)
    (['mean', 'sd'], True)
    >>> options = {"cores": 1, "progressbar": False, "compute_convergence_checks": False}
    >>> with pmg.full_data(model):
    ...     idata = pm.sample(20, tune=20, chains=2, initvals=starts, init="adapt_diag", **options)
    >>> idata.posterior["mean"].shape
    (2, 20)
    """
    model = given_model(model)
    n_chains = whole("chains", chains)
    require_continuous(model)
    if has_default_schedule(model):
        raise ValueError(
            "`find_starts` expected a likelihood in closed form, got that of words whose topics "
            "are summed out by sampling. Leave it out: `pmg.sample` finds a start of topics."
        )
    is_flat = all(manifold_in(model, rv).is_flat for rv in model.free_RVs)
    make = SGNHT if is_flat else gSGNHT
    searched = in_batches(model)
    with searched:
        # The search compiles nothing, and JAX compiles a step only when it moves.
        sampler: Sampler = make().sampler
    begun = begin_chains(
        sampler,
        searched,
        chain_seeds=seeds(random_seed, n_chains),
        initvals=initvals,
        tune=1,
        draws=1,
    )
    prepare(sampler, begun)
    return free_values(searched, [chain.values for chain in begun])


def free_values(
    model: Model, points: Sequence[Mapping[str, np.ndarray]]
) -> list[dict[str, np.ndarray]]:
    """Return the free variables of a model at PyMC's values, in their own shapes."""
    traced = Traced(model, [rv.name for rv in model.free_RVs])
    values = {name: np.array([[point[name]] for point in points]) for name in traced.value_names}
    found = traced(values, (len(points), 1))
    return [{name: x[i, 0] for name, x in found.items()} for i in range(len(points))]
