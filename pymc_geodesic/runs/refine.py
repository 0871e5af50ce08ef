#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Correct the draws of a run with gradients of all rows."""

from __future__ import annotations

import time

from typing import Any

import xarray as xr

from pymc.model import Model

from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.potential import Potential
from pymc_geodesic.potential.total_size import missing_rows
from pymc_geodesic.rows.builders import given_model
from pymc_geodesic.runs.at_draws import PointMaps
from pymc_geodesic.runs.certificate import NEVER_TOO_MUCH, VERDICT, certified
from pymc_geodesic.runs.deterministics import Traced
from pymc_geodesic.runs.gradients_at_draws import BATCHES, GradientsAt
from pymc_geodesic.runs.refined import as_drawn, refined, unclear
from pymc_geodesic.runs.traces import sampled_model
from pymc_geodesic.stages import log
from pymc_geodesic.validation import data_tree, whole

__all__ = ["refine"]

# Rows, over all draws, whose gradients take some seconds.
MOST_ROWS = 10**8


def refine(
    idata: xr.DataTree,
    model: Model | Any | None = None,
    *,
    max_draws: int = 1000,
) -> xr.DataTree:
    r"""Correct means and covariances of draws with gradients of all rows at some of them.

    Batches, and steps of finite size, leave draws with small errors, which more draws do not
    remove. Averages of the gradient of the log density, and of its products with the draws, are
    known exactly for the posterior. Regressing the draws on them leaves means and covariances that
    have hardly anything of the sampler's error, and a Monte Carlo error that is smaller by orders
    of magnitude where the posterior is nearly Gaussian. An affine map in the unconstrained
    coordinates gives them to the draws. :func:`sample` does this at its end.

    Parameters
    ----------
    idata : DataTree
        Result of :func:`sample` or ``pm.sample``, with any step. Draws that are already corrected
        are corrected anew from the draws before.
    model : pymc.Model, optional
        The model that was sampled; by default that of the context.
    max_draws : int
        Draws of all chains at which gradients are evaluated: of all rows, or, if these are more
        than 100,000, of batches of 3,000 rows about the mean, which are right on average.

    Returns
    -------
    DataTree
        ``posterior`` has the corrected draws, with Deterministics computed from them;
        ``raw_posterior`` the draws as they were made; ``refinement`` along the dimension ``figure``
        means and standard deviations before and after, with the standard errors of the corrected
        ones. Moments for which the draws are more precise are left as they are; without any others,
        all draws are. Attributes ``verdict`` and ``verdict_reason`` of ``posterior`` say whether
        the draws are certified. A verdict "do not use" remains unless they are.

    Raises
    ------
    ValueError
        If the model has discrete variables, latent variables of the rows of a batch, or lacks rows,
        which came from a loader, or if the posterior lacks a variable.

    References
    ----------
    Mira, A., Solgi, R. and Imparato, D. (2013). Zero variance Markov chain Monte Carlo for Bayesian
    estimators. Statistics and Computing 23.

    Baker, J., Fearnhead, P., Fox, E. B. and Nemeth, C. (2019). Control variates for stochastic
    gradient MCMC. Statistics and Computing 29.

    Examples
    --------
    >>> import numpy as np, arviz as az, pymc as pm, pymc_geodesic as pmg
    >>> with pm.Model() as model:
    ...     x = pm.Normal("x", 1.0, 2.0)
    >>> draws = np.random.default_rng(1).normal(1.5, 2.5, (4, 200))
    >>> found = pmg.refine(az.from_dict({"posterior": {"x": draws}}), model)
    >>> found.posterior["x"].mean().round(3).item(), found.posterior["x"].std().round(3).item()
    (1.0, 2.0)
    """
    was_wrong = data_tree(idata)["posterior"].attrs.get(VERDICT) == "do not use"
    idata = as_drawn(idata)
    model = sampled_model(given_model(model), idata)
    if model.discrete_value_vars:
        names = ", ".join(f"`{x.name}`" for x in model.discrete_value_vars)
        raise ValueError(
            f"`model` expected continuous variables, got discrete ones ({names}). Sum them out of "
            "the model."
        )
    if missing := missing_rows(model):
        raise ValueError(
            f"`model` expected all rows, at which gradients are evaluated, got {missing}. Pass a "
            "model that holds all rows, with the same variables."
        )
    potential = Potential(
        model, model.continuous_value_vars, initial_point=model.initial_point(random_seed=0)
    )
    maps = PointMaps(model, potential)
    everywhere = maps.points(idata, max_draws=10**9)
    each = max(1, whole("max_draws", max_draws) // len(everywhere[0]))
    gradient = HostGradient(potential)
    n_rows = sum(gradient.n_rows)
    has_all = n_rows * max_draws <= MOST_ROWS or gradient.is_stream or len(gradient.n_rows) > 1
    at = GradientsAt(maps, gradient, max_draws=each, n_rows=None if has_all else BATCHES[0])
    kept = [str(name) for name in idata["posterior"].data_vars]
    known = {x.name for x in model.unobserved_RVs}
    traced = Traced(model, [name for name in kept if name in known])
    began = time.process_time()
    result = refined(idata, at(everywhere), traced)
    if result is None:
        log.info("Nothing was corrected: the draws are more precise than what gradients tell.")
    else:
        if result.is_unclear:
            log.warning(unclear(result))
        log.info(result.text)
        idata = result.idata
    certificate = certified(
        idata,
        at,
        seconds=max(time.process_time() - began, NEVER_TOO_MUCH),
        is_wrong=was_wrong or (result is not None and result.is_unclear),
    )
    log.log(certificate.level, certificate.sentence)
    return certificate.on(idata)
