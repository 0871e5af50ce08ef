#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The identity of a run: two calls with the same identity make the same draws."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from pymc.model import Model

from pymc_geodesic.run_record import NOT_SETTINGS
from pymc_geodesic.runs.checkpoints.digest import digest, graph_digests
from pymc_geodesic.runs.starts import InitialValues
from pymc_geodesic.step_methods.step import Step

__all__ = ["Identity", "identity_of", "identity_of_model", "require_same"]

type Identity = dict[str, Any]
"""What is compared, by the name under which a difference is told. It can be written as JSON."""

PACKAGES = ("pymc_geodesic", "pymc", "pytensor", "numpy", "jax", "jaxlib")


def identity_of(
    model: Model,
    step: Step,
    *,
    chain_seeds: Sequence[np.random.SeedSequence],
    initvals: InitialValues,
    arguments: Mapping[str, Any],
) -> Identity:
    """Describe a run.

    Parameters
    ----------
    model : Model
        The model: its densities, Deterministics, coordinates and data.
    step : Step
        The step: its class, its options, and the first batch of its stream.
    chain_seeds : sequence of SeedSequence
        Seeds of the chains.
    initvals : mapping or sequence of mapping, optional
        Starts of the chains.
    arguments : mapping
        Other arguments of the run, which can be written as JSON.
    """
    return {
        **identity_of_model(model),
        "the class of the step": type(step).__name__,
        **_options(step),
        "the seeds": [_seed(seed) for seed in chain_seeds],
        "`initvals`": digest(initvals),
        **{f"`{name}`": value for name, value in arguments.items()},
    }


def identity_of_model(model: Model) -> Identity:
    """Describe a model, and what evaluates it."""
    formulas = [*model.logp(sum=False), *model.replace_rvs_by_values(model.deterministics)]
    graph, arrays = graph_digests(formulas)
    labels = digest([dict(model.coords), dict(model.named_vars_to_dims)])
    return {
        "the model": f"{graph}-{labels}",
        "the data, or arrays of the priors": arrays,
        **{f"the version of {package}": version(package) for package in PACKAGES},
    }


def _options(step: Step) -> Identity:
    """Describe the keywords of a step."""
    _, settings = step.__getnewargs_ex__()
    found: Identity = {
        f"the step's `{name}`": _shown(value)
        for name, value in settings.items()
        if name not in {*NOT_SETTINGS, "data"} and value is not None
    }
    calls = getattr(step.sampler, "calls", None)
    if calls is not None and calls.reader is not None:
        # Reading all of the stream would take as long as a pass of the run.
        found["the first batch of the stream"] = digest(calls.reader.first_batch)
    return found


def _shown(value: Any) -> Any:
    """Show values that a person can compare, and digests of other values."""
    if isinstance(value, bool | int | float | str):
        return value
    return digest(value)


def _seed(seed: np.random.SeedSequence) -> str:
    return f"{seed.entropy}/{'.'.join(map(str, seed.spawn_key))}"


def require_same(
    found: Identity, expected: Identity, *, path: str, free: Collection[str] = ()
) -> None:
    """Raise an error if the run differs from that of the checkpoint.

    Parameters
    ----------
    found, expected : dict
        Identities of the call, and of the run on disk.
    path : str
        Directory of the run.
    free : collection of str
        Names that are not compared.

    Raises
    ------
    ValueError
        If they differ; the error names the difference.
    """
    compared = [name for name in {**expected, **found} if name not in free]
    names = [name for name in compared if found.get(name) != expected.get(name)]
    if not names:
        return
    differences = "; ".join(f"{n}: {expected.get(n)} there, {found.get(n)} here" for n in names)
    raise ValueError(
        f"The checkpoint {path!r} expected the run that it holds, got a run that differs in "
        f"{differences}. Make the same call, or pass another `checkpoint`."
    )
