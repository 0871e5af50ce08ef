#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What a run returns or raises: its draws first, whatever happens after the last one."""

from __future__ import annotations

import time

from typing import Any, NamedTuple

import xarray as xr

from pymc.exceptions import SamplingError
from pymc.stats.convergence import log_warnings

from pymc_geodesic.rows.builders import completed
from pymc_geodesic.runs.certificate import NEVER_TOO_MUCH, Certificate, certified
from pymc_geodesic.runs.checkpoints.checkpoint import Checkpoint
from pymc_geodesic.runs.checkpoints.folder import CheckpointError
from pymc_geodesic.runs.choose_step import Sampled
from pymc_geodesic.runs.convergence import warnings_of_convergence
from pymc_geodesic.runs.gradients_at_draws import (
    ENOUGH,
    SHARE_OF_BATCHES,
    DrawGradients,
    batches_of_run,
)
from pymc_geodesic.runs.plan import Plan
from pymc_geodesic.runs.refined import (
    Refined,
    has_constant_step,
    of_raw_draws,
    refined,
    unclear,
)
from pymc_geodesic.runs.run_loop import Phase, RunLoop, Stored
from pymc_geodesic.runs.verdict import SHARE, checked_with_rows
from pymc_geodesic.sampling import ChainFailure
from pymc_geodesic.sampling.advance import Sampler
from pymc_geodesic.sampling.stochastic import StochasticSampler
from pymc_geodesic.stages import log

# Of the duration of a run, what gradients of all rows may take that correct its draws.
SHARE_TO_REFINE = 0.15
# The same for all together with points around the draws that certify them, which have the rest.
SHARE_OF_ALL = 0.2
# Bytes of draws that are held in memory twice, as drawn and corrected.
MOST_CORRECTED = 2**28

__all__ = [
    "ChainError",
    "Drawn",
    "closed",
    "concluded",
    "finished",
    "returned",
]


class Drawn(NamedTuple):
    """What a run has when it ends.

    Attributes
    ----------
    kept : InMemory or Checkpoint, optional
        The storage of the draws.
    loop : RunLoop, optional
        With the chains after the last draw.
    sampler : Sampler, optional
        It has moved them.
    stopped : BaseException, optional
        The exception that ended the run.
    """

    kept: Stored | None
    loop: RunLoop | None
    sampler: Sampler | None
    stopped: BaseException | None


class ChainError(SamplingError):
    """One chain of :func:`sample`, or all of them, failed.

    Attributes
    ----------
    idata : DataTree or None
        Draws that all chains made before; None if there are none.
    """

    def __init__(self, message: str, idata: xr.DataTree | None = None) -> None:
        super().__init__(message)
        self.idata = idata


def closed(
    kept: Stored | None, loop: RunLoop | None, stopped: BaseException | None
) -> BaseException | None:
    """Release what a run holds; return why it ended.

    A cluster that is gone prevents neither the last draws from being written nor the release of a
    checkpoint's lock.
    """
    if loop is not None:
        try:
            loop.close()
        except (KeyboardInterrupt, Exception) as error:
            log.warning(f"The cluster was not told that the run has ended: {_short(error)}.")
    if kept is not None:
        try:
            kept.close(failed=isinstance(stopped, CheckpointError))
        except (KeyboardInterrupt, Exception) as error:
            return error if stopped is None else stopped
    return stopped


def concluded(drawn: Drawn, plan: Plan, sampled: Sampled, *, checks: bool) -> xr.DataTree | None:
    """Return the draws of a run, None if there are none, after a check of those of a whole run."""
    idata = _datatree(drawn.kept)
    if idata is None:
        return None
    if (checks or plan.refine) and drawn.stopped is None:
        idata = _checked(idata, drawn, plan, sampled, warn=checks)
    if plan.until is not None and drawn.stopped is None:
        plan.until.log()
    log.info(
        f"Sampling {plan.n_chains} chains for {plan.tuning.n_made:_d} tune and "
        f"{plan.sampling.n_made:_d} draw iterations took {time.perf_counter() - plan.began:.0f} "
        "seconds, compilation included."
    )
    return idata


def _datatree(kept: Stored | None) -> xr.DataTree | None:
    """Return the draws of a run, without what is interrupted or fails; None if there are none."""
    if kept is None:
        return None
    try:
        return kept.datatree()
    except KeyboardInterrupt:
        log.warning(
            "Interrupted: the result has the free variables only. `pm.compute_deterministics("
            "idata.posterior, model=model)` computes the Deterministics."
        )
    except Exception as error:
        log.warning(
            f"The result has the free variables only, without coordinates: {_short(error)}. "
            "`pm.compute_deterministics(idata.posterior, model=model)` computes the Deterministics."
        )
    return kept.datatree(plain=True)


def _checked(
    idata: xr.DataTree, drawn: Drawn, plan: Plan, sampled: Sampled, *, warn: bool
) -> xr.DataTree:
    """Warn of draws that do not represent the posterior, and correct what can be corrected."""
    kept, sampler, model = drawn.kept, drawn.sampler, plan.model
    chains = [] if drawn.loop is None else drawn.loop.chains
    seconds = plan.seconds()
    looked = idata
    try:
        if isinstance(kept, Checkpoint):
            # The values that the checks load are not to stay in memory with the result.
            looked = kept.datatree() or idata
        of_chains = warnings_of_convergence(looked, model) if warn else []
        log_warnings(of_chains)
        share = SHARE_TO_REFINE if plan.refine else SHARE
        found = checked_with_rows(
            looked, sampler, chains, model=model, seconds=seconds, share=share
        )
        better, gradients = None, found.gradients
        if plan.refine and isinstance(sampler, StochasticSampler):
            better, gradients = _refined(idata, gradients, sampler, plan, seconds)
        is_clear = better is not None and not better.is_unclear
        certificate: Certificate | None = None
        try:
            if warn and gradients is not None:
                is_wrong = any(x.level == "error" for x in found.warnings)
                left = (1 + SHARE_OF_ALL) * seconds - plan.seconds()
                certificate = certified(
                    looked if better is None else better.idata,
                    gradients.evaluate,
                    seconds=max(left, NEVER_TOO_MUCH),
                    is_wrong=is_wrong or (better is not None and not is_clear),
                    disagree=any(x.level == "error" for x in of_chains),
                )
        finally:
            if warn:
                is_certified = certificate is not None and certificate.verdict == "certified"
                raw = of_raw_draws(found.warnings, is_certified=is_certified)
                log_warnings(raw if is_clear else found.warnings)
        if warn:
            sampled.check(looked)
        if better is not None:
            log.info(better.text)
            if better.is_unclear:
                log.warning(unclear(better))
            idata = better.idata
        if certificate is not None:
            log.log(certificate.level, certificate.sentence)
            idata = certificate.on(idata)
    except KeyboardInterrupt:
        log.warning("Interrupted: the draws were not checked. `pmg.diagnose(idata)` checks them.")
    except Exception as error:
        log.warning(f"The draws were not checked, because the checks failed: {_short(error)}.")
    return idata


def _refined(
    idata: xr.DataTree,
    gradients: DrawGradients | None,
    sampler: StochasticSampler,
    plan: Plan,
    seconds: float,
) -> tuple[Refined | None, DrawGradients | None]:
    """Correct draws of equal weight that fit into memory; return the gradients for it too."""
    size = sum(x.nbytes for x in idata["posterior"].data_vars.values())
    if size > MOST_CORRECTED or not has_constant_step(idata):
        return None, gradients
    sizes = idata["posterior"].sizes
    enough = min(ENOUGH, sizes["chain"] * sizes["draw"])
    last = None if plan.until is None else plan.until.gradients
    if last is not None and last.everywhere[0].shape[1] == sizes["draw"]:
        gradients = last
    if gradients is None or gradients.n_draws < enough:
        allowed = SHARE_OF_BATCHES * seconds
        gradients = batches_of_run(idata, sampler, plan.model, seconds=allowed) or gradients
    return None if gradients is None else refined(idata, gradients, plan.traced), gradients


def finished(idata: xr.DataTree | None, given: Any) -> xr.DataTree | None:
    """Complete the draws as the object that built the model would; see :func:`completed`."""
    if idata is None:
        return None
    try:
        return completed(idata, given)
    except Exception as error:
        log.warning(
            "The result has the variables of the PyMC model; "
            f"`{type(given).__module__.split('.')[0]}` could not complete it: {_short(error)}. "
            "Its own methods do not expect such a result."
        )
        return idata


def returned(
    idata: xr.DataTree | None, stopped: BaseException | None, sampling: Phase
) -> xr.DataTree:
    """Return the draws, or raise the exception that prevented them."""
    there = f"{_n_draws(idata)} of {sampling.most} draws of each chain"
    if isinstance(stopped, Exception) and (idata is not None or isinstance(stopped, ChainFailure)):
        who = f"Chain {stopped.chain}" if isinstance(stopped, ChainFailure) else "The run"
        cause = stopped.__cause__ if isinstance(stopped, ChainFailure) else stopped
        kept = f" {there} are the attribute `idata` of this error." if idata is not None else ""
        raise ChainError(f"{who} failed: {cause}{kept}", idata) from cause
    if idata is None:
        raise stopped or RuntimeError("Nothing was drawn.")
    if stopped is not None:
        log.warning(f"Interrupted: the run has {there}.")
    return idata


def _n_draws(idata: xr.DataTree | None) -> int:
    if idata is None or "sample_stats" not in idata:
        return 0
    return idata["sample_stats"].sizes["draw"]


def _short(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".rstrip(".: ")
