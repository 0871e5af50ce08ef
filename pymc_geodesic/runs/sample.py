#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""``pmg.sample``: all chains of a run in one process."""

from __future__ import annotations

import os
import time

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, get_args

import xarray as xr

from pymc.model import Model
from threadpoolctl import threadpool_limits

from pymc_geodesic.kernel.jax.resident import on_processor
from pymc_geodesic.rows.builders import computed_by, given_model
from pymc_geodesic.runs.checkpoints.folder import folder_of
from pymc_geodesic.runs.choose_step import StepArgument, step_for
from pymc_geodesic.runs.cluster.on_workers import require_client
from pymc_geodesic.runs.deterministics import Traced
from pymc_geodesic.runs.few_rows import ExactArgument, chosen, sample_with_nuts
from pymc_geodesic.runs.in_memory import KeepArgument, running_of
from pymc_geodesic.runs.memory_limits import fit_in_memory
from pymc_geodesic.runs.plan import Plan, begin_run, with_hints
from pymc_geodesic.runs.results import (
    ChainError,
    Drawn,
    closed,
    concluded,
    finished,
    returned,
)
from pymc_geodesic.runs.run_loop import Phase, RunLoop, Stored, phase_length
from pymc_geodesic.runs.starts import InitialValues, RandomSeed, require_starts
from pymc_geodesic.runs.traces import labels_of
from pymc_geodesic.runs.until import UntilArgument, until_of
from pymc_geodesic.sampling import ChainMethod
from pymc_geodesic.sampling.advance import Sampler
from pymc_geodesic.step_methods.progress import Progress
from pymc_geodesic.validation import flag, no_backend, one_of, positive, whole

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["ChainError", "sample"]


@with_hints
def sample(
    draws: int = 1000,
    *,
    tune: int = 1000,
    until: UntilArgument = None,
    chains: int = 4,
    step: StepArgument = None,
    model: Model | Any | None = None,
    random_seed: RandomSeed = None,
    initvals: InitialValues = None,
    batch_size: int | None = None,
    exact: ExactArgument = None,
    chain_method: ChainMethod = "vectorized",
    backend: str | None = None,
    progressbar: bool = True,
    var_names: Sequence[str] | None = None,
    keep: KeepArgument = None,
    thin: int = 1,
    discard_tuned_samples: bool = True,
    compute_convergence_checks: bool = True,
    refine: bool = True,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: float = 60.0,
    client: Client | None = None,
) -> xr.DataTree:
    """Sample a model with all chains at once, in this process or on a cluster.

    The model is one with :class:`pymc.Minibatch`, or any model of all rows, from which
    :func:`minibatch` makes one.

    Parameters
    ----------
    draws, tune, chains : int
        Draws of each chain, draws of its tuning phase, and the number of chains. Of more than 16
        chains 16 make the tuning phase, and the others continue from them, where nothing but
        random numbers leads from one draw to the next. Nested R-hat compares them then.
    until : mapping of str to float, optional
        What ends the run before all ``draws`` are made, whichever is met first:
        ``{"mcse": 0.05}``, the largest Monte Carlo standard error of the mean of an entry of a
        free variable, in posterior standard deviations; ``{"ess": 400}``, the smallest effective
        sample size; ``{"seconds": 60}``, the time since the beginning. At least 50 draws are made.
        The free variables count whose draws are kept, with 500 entries at most. The error of these
        errors is counted in, and the correction by ``refine``.
    step : Step, type of Step or callable, optional
        A step, its class, or a function that returns a step. By default :class:`SGRLD` if all
        variables are probability vectors, and one has a prior concentration below one half or they
        are topics of :class:`LatentDirichletAllocation`; else :class:`gSGNHT` if a variable is on
        a curved manifold, else :class:`SGNHT`. A model with no more rows than a batch, 500, is
        sampled with all of them, exactly: by :class:`GMC` in place of :class:`gSGNHT`, else by
        NUTS.
    model : pymc.Model, bambi.Model or object, optional
        The model; by default that of the context. A model of Bambi is built if it is not, and the
        result is that of its own ``fit``. Objects of PyMC-Marketing hold the result afterwards.
    random_seed : int, sequence of int, SeedSequence or Generator, optional
        Source of the chains' seeds. A chain has the same seed whatever the number of chains.
    initvals : mapping or sequence of mapping, optional
        Initial values of variables, for all chains or for each.
    batch_size : int, optional
        Rows that a transition reads, of a model without ``pm.Minibatch``; by default as in
        :func:`minibatch`. A class or function given as ``step`` then samples batches too, and all
        rows otherwise.
    exact : {"nuts"}, optional
        Sample all rows with NUTS: run ``pm.sample`` with ``draws``, ``tune``, ``chains``,
        ``random_seed``, ``initvals``, ``var_names`` and the other arguments that it shares. Errors
        and the line at the end of the tuning phase say where this is better.
    chain_method : {"vectorized", "sequential"}
        One call of a compiled kernel for all chains, in blocks if they are large; or one call for
        each chain.
    backend : str, optional
        Deprecated. JAX compiles every model.
    progressbar : bool
        Whether to show a line with transitions per second, temperature, divergences and time left.
    var_names : sequence of str, optional
        Free variables and Deterministics to return; by default all. What others need is not stored.
    keep : mapping of str to "mean" or int, optional
        Variables that are too large for all draws to be kept. ``{"topics": "mean"}`` keeps means
        and standard deviations of each chain, ``{"topics": 50}`` every 50th draw too, for
        quantiles and functions of whole draws. They are the group ``running`` of the result, as
        :class:`RunningMoments` makes it. Draws that ``thin`` leaves out do not count.
    thin : int, default 1
        Interval of the draws to keep: ``draws // thin`` of each chain are kept.
    discard_tuned_samples : bool
        Whether to leave out the draws of the tuning phase; otherwise they are groups ``warmup_*``.
    compute_convergence_checks : bool
        Whether to check R-hat, effective sample sizes and divergences, as in ``pm.sample``, and
        whether draws are too wide or too narrow: by temperatures of positions, and by gradients of
        all rows at up to 1,000 draws, if they take a second or a small part of the run.
    refine : bool
        Whether to correct means and covariances of the draws with gradients at some of them, as
        :func:`refine` does, where that takes at most a second or a fifth of the run. If there is
        hardly time, the correction depends on the machine.
    checkpoint : path, optional
        A directory, such as ``"run.zarr"``, to which draws and the chains' states are written
        during the run. If it exists, the run continues where it stopped. Its draws are the same as
        without the stop, and there are more of them if ``draws`` is larger. Draws are not held in
        memory. It needs the package zarr; see :func:`read` and :func:`resume`.
    checkpoint_every : float, default 60
        Seconds from one checkpoint to the next. Draws since the last checkpoint are lost in a
        crash, but not with Ctrl-C.
    client : distributed.Client, optional
        A Dask cluster, whose workers have one thread each. One worker tunes all chains together;
        then the chains are divided among all workers. If a worker is lost, its draws are repeated
        and are the same. It needs the package distributed.

    Returns
    -------
    DataTree
        In the form of ``pm.sample``. After Ctrl-C it holds the draws that all chains have made. If
        draws are corrected, ``raw_posterior`` has them as they were made. With a ``checkpoint``,
        which holds the latter, values are loaded from it when they are used, and draws of more than
        256 MB are not corrected. The attribute ``verdict`` of ``posterior`` says whether draws are
        certified.

    Raises
    ------
    ChainError
        If a chain fails. Its attribute ``idata`` holds the draws so far.
    SamplingError
        If the tuning phase fails before the first draw.
    MemoryError
        If the draws would not fit into memory, or onto the disk; nothing is sampled.
    ValueError, TypeError
        For invalid arguments, and for a ``checkpoint`` of another run. Without a ``step``, for a
        model with few rows, or whose rows depend on each other: use ``exact="nuts"``.

    Notes
    -----
    All chains share the tuning phase: one search for a mode, from the start of the first chain,
    one measurement of curvature and gradient noise, and scales from the draws of all chains. Chains
    start from the Gaussian approximation of the posterior at the mode. After the tuning phase the
    draws of a chain depend only on its seed and the tuned parameters, up to rounding, and not on
    other chains. A correction is that of all chains together.

    Deterministics are computed after sampling, in blocks of draws. A Deterministic that depends on
    a minibatch is computed for one batch. One for which all rows of a model without minibatches are
    needed at every draw is left out, unless ``var_names`` names it. One that fails is NaN at the
    draws for which it does, and left out if it fails for all; one of which not all draws would fit
    into memory, or onto the disk of a ``checkpoint``, is left out before anything is sampled,
    unless ``var_names`` names it. All of this is logged.

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> data = np.random.default_rng(1).normal(2.0, 1.0, 10_000)
    >>> with pm.Model():
    ...     mean = pm.Normal("mean", 0.0, 10.0)
    ...     _ = pm.Normal("x", mean, 1.0, observed=data)
    ...     idata = pmg.sample(draws=500, tune=500, random_seed=1, progressbar=False)
    >>> idata.posterior["mean"].shape
    (4, 500)
    """
    began = time.perf_counter()
    given = getattr(step, "model", None) if model is None else model
    model = given_model(given)
    tuning = Phase("Tuning", phase_length("tune", tune, thin, least=0), thin, is_tuning=True)
    tuning.is_kept = not discard_tuned_samples
    sampling = Phase("Sampling", phase_length("draws", draws, thin), thin)
    one_of("chain_method", chain_method, get_args(ChainMethod))
    if backend is not None:
        no_backend("backend", backend)
    if client is not None:
        require_client(client)
    path = None if checkpoint is None else folder_of(checkpoint)
    flag("progressbar", progressbar)
    by_builder = computed_by(given)
    named = [*(var_names or ()), *(keep or ())]
    others: dict[str, Any] = {"until": until, "keep": keep, "thin": None if thin == 1 else thin}
    others |= {"batch_size": batch_size, "checkpoint": checkpoint, "client": client}
    n_chains = whole("chains", chains)
    with Progress(tuning.n_draws + sampling.n_draws, visible=progressbar) as progress:
        sampled, step, initvals, exact = chosen(
            model, step, exact, others, kept=named, initvals=initvals, n_chains=n_chains
        )
        model = sampled.model if exact else model
        left_out = [*sampled.left_out, *by_builder]
        traced = Traced(model, var_names, without=keep or (), unless_named=left_out)
        plan = Plan(
            model=model,
            batch_size=sampled.batch_size,
            tuning=tuning,
            sampling=sampling,
            traced=traced,
            running=running_of(model, keep, checkpoint=path),
            var_names=var_names,
            n_chains=n_chains,
            random_seed=random_seed,
            initvals=initvals,
            chain_method=chain_method,
            checkpoint=path,
            checkpoint_every=positive("checkpoint_every", checkpoint_every),
            client=client,
            exact=exact,
            refine=flag("refine", refine),
            until=until_of(until, model=model, traced=traced, began=began),
            began=began,
        )
        require_starts(initvals, model, plan.n_chains)
        if exact is not None:
            progress.hide()
            checks = compute_convergence_checks
            exactly = sample_with_nuts(
                plan, progressbar=progressbar, compute_convergence_checks=checks
            )
            return returned(finished(exactly, given), None, sampling)
        labels_of(model).log()
        fit_in_memory(plan)
        sampled.log(var_names=var_names, unsaid=by_builder)
        drawn = _drawn(plan, step, sampled.model, progress)
        with on_processor():
            idata = concluded(drawn, plan, sampled, checks=compute_convergence_checks)
        return returned(finished(idata, given), drawn.stopped, sampling)


def _drawn(plan: Plan, step: StepArgument, model: Model, progress: Progress) -> Drawn:
    """Make the draws of a run."""
    keep: Stored | None = None
    loop: RunLoop | None = None
    sampler: Sampler | None = None
    stopped: BaseException | None = None
    try:
        # The other threads of a linear algebra library wait actively between its small calls. When
        # a mixture was tuned, they took as much time of the processor as the calls.
        with threadpool_limits(1, user_api="blas"):
            made = step_for(step, model=model)
            sampler = made.sampler
            keep, loop = begin_run(plan, made, progress)
            progress.skip(plan.tuning.n_made + plan.sampling.n_made)
            for phase in (plan.tuning, plan.sampling):
                loop.draw(phase, progress, until=None if phase.is_tuning else plan.until)
        progress.end()
    except (KeyboardInterrupt, Exception) as reason:
        stopped = reason
    except BaseException as reason:
        closed(keep, loop, reason)
        raise
    return Drawn(keep, loop, sampler, closed(keep, loop, stopped))
