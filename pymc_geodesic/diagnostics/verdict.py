#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A short verdict on a run: what is wrong, and what to change."""

from __future__ import annotations

import numpy as np
import xarray as xr

from pymc.model import Model

from pymc_geodesic.diagnostics.chain_checks import check_chains
from pymc_geodesic.diagnostics.findings import Diagnosis, Finding
from pymc_geodesic.diagnostics.gradients import model_points
from pymc_geodesic.diagnostics.model_checks import check_positions, check_total_size
from pymc_geodesic.diagnostics.sampler_checks import Evidence, check_sampler
from pymc_geodesic.diagnostics.temperature import (
    FREEDOM,
    KINETIC,
    configurational_temperature,
    kinetic_temperature,
)
from pymc_geodesic.diagnostics.virial_checks import check_virial
from pymc_geodesic.potential.minibatch import has_minibatch

__all__ = ["diagnose"]

MAX_DRAWS = 250


def diagnose(
    idata: xr.DataTree,
    *,
    model: Model | None = None,
    random_seed: int | np.random.Generator | None = 0,
) -> Diagnosis:
    """Print a verdict on a run: what is wrong, which parameter to change, in which direction.

    Parameters
    ----------
    idata : DataTree
        Result of ``pm.sample`` with a step of this package.
    model : Model, optional
        The model that was sampled; the one of the context, if there is one. With it ``total_size``
        is compared with the rows of the data and gradients are evaluated at some draws.
    random_seed : int or Generator, optional
        For the minibatches.

    Returns
    -------
    Diagnosis
        The findings as objects; ``str`` of it is what is printed.

    Raises
    ------
    ValueError
        If ``idata`` has no sample statistics of this package, or too few draws.

    Notes
    -----
    Names of findings, with the evidence each rests on:

    - ``total_size``: it is not the number of rows of ``pm.Minibatch``. The draws alone cannot tell:
      needs the model.
    - ``step_size_too_large``: diverging draws; velocities hotter than positions; a thermostat that
      damps more than 0.8 in a transition; Langevin steps of the order of the posterior variance;
      with the model, positions too wide or too narrow.
    - ``friction_too_small``: with a fixed friction, velocities and positions that are too hot.
    - ``gradient_noise_too_large``: with a fixed friction, velocities that are too cold.
    - ``thermostat_unsettled``, ``shared_thermostat``: temperatures that differ from one although
      there is a thermostat, in all or for some variables.
    - ``positions_too_wide``, ``positions_too_narrow``: ``configurational_temperature``, the
      temperature of the positions, differs from one, and nothing else was found.
    - ``different_modes``: chains far apart, each with many effective draws.
    - ``not_stationary``: other chains that disagree, with each other or with their own past.

    Temperatures count if they differ from one by four standard errors and by more than the steps
    of this package allow themselves when they tune their own parameters; see
    :func:`~pymc_geodesic.stein_check` and :func:`~pymc_geodesic.step_halving` for smaller biases.

    Examples
    --------
    >>> import numpy as np, arviz as az, pymc_geodesic as pmg
    >>> rng = np.random.default_rng(1)
    >>> stats = {"step_size": np.full((2, 200), 0.01), "diverging": np.zeros((2, 200), bool)}
    >>> draws = rng.normal([[0.0], [5.0]], 1.0, (2, 200))
    >>> idata = az.from_dict({"posterior": {"x": draws}, "sample_stats": stats})
    >>> verdict = pmg.diagnose(idata)  # doctest: +ELLIPSIS
    error: The chains are in different modes: ...
    >>> verdict.names
    ('different_modes',)
    """
    model = Model.get_context(error_if_none=False) if model is None else model
    stats = _statistics(idata)
    findings = [] if model is None else check_total_size(model)
    points = _points(idata, model)
    scalars = {f"{name}[{i}]": x[..., i] for name, x in points.items() for i in range(x.shape[-1])}
    if "potential_estimate" in stats:
        scalars["potential_estimate"] = stats["potential_estimate"]
    with_chains = check_chains(scalars)
    # Chains that come down from far away are hot for another reason.
    is_stationary = all(finding.name != "not_stationary" for finding in with_chains)
    # Of several steps it is not known which variables each has moved.
    if stats["step_size"].ndim == 2:
        findings += check_sampler(_evidence(idata, stats, points, model, is_stationary))
    findings += with_chains
    if not findings and stats["step_size"].ndim == 2:
        findings += check_virial(stats)
    # Draws that are no draws of any law have no temperature.
    if model is not None and not findings:
        findings += _positions(idata, model, stats, random_seed)
    findings.sort(key=lambda finding: finding.severity)
    diagnosis = Diagnosis(tuple(findings))
    print(diagnosis)
    return diagnosis


def _evidence(idata, stats, points, model: Model | None, is_stationary: bool) -> Evidence:
    temperatures = None
    if is_stationary and KINETIC in stats and FREEDOM in stats:
        temperatures = kinetic_temperature(idata)
    exact = model is not None and not has_minibatch(model)
    # The others are functions of these.
    sampled = [name for name in points if f"{FREEDOM}_{name}" in stats] or list(points)
    return Evidence(stats, temperatures, {name: points[name] for name in sampled}, exact)


def _statistics(idata: xr.DataTree) -> dict[str, np.ndarray]:
    if "sample_stats" not in idata or "step_size" not in idata["sample_stats"].data_vars:
        raise ValueError(
            "`diagnose` expected sample statistics of a step of this package, with a `step_size`; "
            f"got the groups {sorted(idata.children)}. Sample with `pm.sample(step=...)`."
        )
    if (draws := idata["posterior"].sizes["draw"]) < 20:
        raise ValueError(f"`diagnose` expected at least 20 draws a chain, got {draws}. Draw more.")
    found = idata["sample_stats"].to_dataset()
    return {
        name: found[name].transpose("chain", "draw", ...).to_numpy() for name in found.data_vars
    }


def _points(idata: xr.DataTree, model: Model | None) -> dict[str, np.ndarray]:
    """Draws in the coordinates of the sampler where the model is known, else in their own."""
    if model is not None:
        found = model_points(idata, model, max_draws=10**9)
        names = [variable.name for variable in found.potential.variables]
        arrays = dict(zip(names, found.points, strict=True))
    else:
        posterior = idata["posterior"].to_dataset()
        arrays = {
            name: _square_roots(posterior[name].transpose("chain", "draw", ...).to_numpy())
            for name in posterior.data_vars
            if np.issubdtype(posterior[name].dtype, np.floating)
        }
    return {name: x.reshape(*x.shape[:2], -1) for name, x in arrays.items()}


def _square_roots(x: np.ndarray) -> np.ndarray:
    """Recognise probability vectors, which are moved as square roots."""
    if x.ndim > 2 and x.min() >= 0 and np.allclose(x.sum(axis=-1), 1, atol=1e-6):
        return np.sqrt(x)
    return x


def _positions(idata, model: Model, stats, random_seed) -> list[Finding]:
    temperatures = configurational_temperature(
        idata, model=model, max_draws=MAX_DRAWS, random_seed=random_seed
    )
    friction = float(np.mean(stats["friction"])) if "friction" in stats else None
    step_size = float(np.median(stats["step_size"])) if stats["step_size"].ndim == 2 else None
    return check_positions(temperatures, friction=friction, step_size=step_size)
