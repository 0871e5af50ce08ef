#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A chain as a value: everything that its next draw depends on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from pymc.step_methods.step_sizes import DualAverageAdaptation

from pymc_geodesic.kernel.row_weights import read_only
from pymc_geodesic.kernel.streams import BatchStream
from pymc_geodesic.latents.gmc import LocalState
from pymc_geodesic.mass import Mass
from pymc_geodesic.run_record import ModesRecord
from pymc_geodesic.sampling.forecast import Clock, News
from pymc_geodesic.sampling.monitors import Monitors
from pymc_geodesic.schedules import Schedule
from pymc_geodesic.tuning.mass_adaptation import MassAdaptation
from pymc_geodesic.tuning.self_tuner import Center, Findings
from pymc_geodesic.tuning.thermostat_settling import ThermostatSettling
from pymc_geodesic.tuning.velocity_moments import VelocityMoments

__all__ = [
    "Chain",
    "ChainFailure",
    "ExactChain",
    "GradientChain",
    "Settings",
    "Tuning",
    "failing",
    "tuning_of",
]


class ChainFailure(Exception):
    """One of several chains failed; the cause is the error itself.

    Parameters
    ----------
    chain : int
        Index of the chain.
    """

    def __init__(self, chain: int) -> None:
        super().__init__(f"Chain {chain} failed.")
        self.chain = chain

    def __reduce__(self) -> tuple[type[ChainFailure], tuple[int]]:
        """Make the error picklable, so that another process can raise it."""
        return type(self), (self.chain,)


@contextmanager
def failing(number: int) -> Iterator[None]:
    """Raise an error as that of one of several chains."""
    try:
        yield
    except Exception as error:
        raise ChainFailure(number) from error


@dataclass(frozen=True)
class Settings:
    """The settings of a chain, which the tuning phase may change.

    Attributes
    ----------
    schedule : Schedule
        Step sizes.
    parameters : mapping of str to float
        Parameters of the dynamics.
    n_steps : int
        Transitions per draw.
    mass : Mass or None
        Mass of the variables.
    dtype : str
        Type of the variables.
    measured_noise : tuple of ndarray
        Variance of the gradient's noise for the entries of each variable, in the frame of the mass,
        covariances within the rows of variables that have them, and by how much the variance along
        each direction of the mass exceeds that of entries; empty where noise is not balanced entry
        by entry.
    """

    schedule: Schedule
    parameters: Mapping[str, float]
    n_steps: int
    mass: Mass | None
    dtype: str
    measured_noise: tuple[np.ndarray, ...] = ()

    @property
    def step_size(self) -> float:
        """The first step size."""
        return float(self.schedule(np.zeros(1))[0])

    @cached_property
    def parameter_arrays(self) -> dict[str, Any]:
        """Inputs of the kernel; the same arrays in every call."""
        values = self.parameters.items()
        arrays: dict[str, Any] = {n: np.asarray(value, dtype=self.dtype) for n, value in values}
        if self.measured_noise:
            arrays["measured_noise"] = self.measured_noise
        return arrays


@dataclass
class Tuning:
    """The measurements of the tuning phase.

    Attributes
    ----------
    found : Findings or None
        The last measurement; None before the first.
    window : list of list of ndarray
        Draws since then, for the next one.
    moments : VelocityMoments or None
        Of the velocities of the same draws, where the noise of every entry is balanced.
    began : float
        Seconds of the processor that the process had used before the first measurement.
    clock : Clock or None
        Time of the last choice.
    reports : bool
        Whether the chain reports the results: one of the chains that are tuned together does.
    repeats : bool
        Whether a late measurement is due, because batches grew at the last regular one: the draws
        before may have run off, and overstate the noise of some entries.
    center : Center or None
        Center of the control variates.
    controlled : bool
        Whether control variates are used.
    variance_ratio : float
        Ratio of the noise variances with and without them.
    modes : ModesRecord or None
        What a search for other modes has found; None if there was none.
    mode : int
        Which of the modes the chain began in: those of one are tuned together.
    """

    controlled: bool
    found: Findings | None = None
    window: list[list[np.ndarray]] = field(default_factory=list)
    moments: VelocityMoments | None = None
    began: float = 0.0
    clock: Clock | None = None
    reports: bool = True
    repeats: bool = False
    center: Center | None = None
    variance_ratio: float = np.nan
    modes: ModesRecord | None = None
    mode: int = 0

    def forget_draws(self) -> None:
        """Drop the draws that were kept for measurements to come."""
        self.window, self.moments = [], None

    def __getstate__(self) -> dict[str, Any]:
        """Join draws to few arrays: chains are copied often, and many small arrays take long."""
        return self.__dict__ | {"window": _stacked(self.window)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Separate the draws again."""
        self.__dict__.update(state | {"window": _apart(state["window"])})


def _stacked(draws: list[list[np.ndarray]]) -> list[np.ndarray]:
    # Copies of chains share what cannot be written to.
    return [read_only(np.array(arrays)) for arrays in zip(*draws, strict=True)]


def _apart(arrays: list[np.ndarray]) -> list[list[np.ndarray]]:
    # With an ellipsis an entry is a zero-dimensional array instead of a number.
    return [[x[i, ...] for x in arrays] for i in range(len(arrays[0]) if arrays else 0)]


@dataclass(kw_only=True)
class Chain:
    """A chain between two draws. It can be copied and pickled, and continues exactly.

    Attributes
    ----------
    rng : numpy.random.Generator
        Source of all its random numbers.
    state : NamedTuple
        The state of the algorithm; positions are points of the embedding.
    values : dict of str to ndarray
        PyMC's values of the same position, and of the last draw of local variables.
    others : dict of str to ndarray
        PyMC's values of the variables that other steps sample.
    settings : Settings
        Step sizes, parameters, transitions per draw and mass.
    tuning_draws : int
        Length of the tuning phase.
    n_drawn : int
        Draws so far.
    n_transitions : int
        Transitions so far.
    tune : bool
        Whether the chain is in its tuning phase.
    latents : LocalState or None
        State of the variables that belong to the rows of a batch.
    mass_adaptation : MassAdaptation or None
        Learns the mass.
    has_warned : bool
        Whether it has warned of transitions that were not finite.
    news : News or None
        Message that is not yet reported.
    is_checked : bool
        Whether its start has been checked.
    """

    rng: np.random.Generator
    state: Any
    values: dict[str, np.ndarray]
    others: dict[str, np.ndarray]
    settings: Settings
    tuning_draws: int
    tune: bool
    latents: LocalState | None
    mass_adaptation: MassAdaptation | None
    n_drawn: int = 0
    n_transitions: int = 0
    has_warned: bool = False
    news: News | None = None
    is_checked: bool = False

    @property
    def mass(self) -> Mass | None:
        """The mass in use: given, found or learned."""
        adaptation = self.mass_adaptation
        return self.settings.mass if adaptation is None else adaptation.mass

    @property
    def point(self) -> dict[str, np.ndarray]:
        """PyMC's values of all variables."""
        return self.others | self.values


@dataclass(kw_only=True)
class GradientChain(Chain):
    """A chain that follows stochastic gradients.

    Attributes
    ----------
    memory : tuple of ndarray
        Memory of the gradient estimator.
    batches : BatchStream
        Position in the data.
    monitors : Monitors
        Monitors of the chain.
    tuning : Tuning or None
        What the tuning phase has measured.
    settling : ThermostatSettling or None
        State of the settling of the thermostats.
    window : list of list of ndarray
        Draws by which the transitions per draw are chosen, where nothing else is tuned.
    """

    memory: tuple[np.ndarray, ...]
    batches: BatchStream
    monitors: Monitors
    tuning: Tuning | None = None
    settling: ThermostatSettling | None = None
    window: list[list[np.ndarray]] = field(default_factory=list)


def tuning_of(chain: GradientChain) -> Tuning:
    """Return the state of the tuning phase of a chain that tunes itself.

    Raises
    ------
    RuntimeError
        If the chain was begun by a sampler that does not tune itself.
    """
    if chain.tuning is None:
        raise RuntimeError(
            "The chain expected a sampler that does not tune itself, like the one that began it, "
            "got one that does."
        )
    return chain.tuning


@dataclass(kw_only=True)
class ExactChain(Chain):
    """A chain of trajectories with a Metropolis test.

    Attributes
    ----------
    step_size_adaptation : DualAverageAdaptation
        Adaptation of the leapfrog's step size.
    """

    step_size_adaptation: DualAverageAdaptation
