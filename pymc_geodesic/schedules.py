#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Step sizes that change with the number of transitions made."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from pymc_geodesic.validation import positive, whole

__all__ = ["ConstantSchedule", "CyclicalSchedule", "PolynomialSchedule", "Schedule", "as_schedule"]

# A function cannot be checked everywhere; these transitions reveal a wrong sign on any time scale.
CHECKED_TRANSITIONS = np.unique(np.geomspace(1, 1e6, 200).astype(int)) - 1


@runtime_checkable
class Schedule(Protocol):
    """A step size for every transition of a chain."""

    def __call__(self, transition: np.ndarray) -> np.ndarray:
        """Return positive step sizes for the transition numbers, counted from zero."""
        ...


class ConstantSchedule:
    """A constant step size.

    Parameters
    ----------
    step_size : float
        The step size, positive.

    Raises
    ------
    ValueError
        If ``step_size`` is not positive and finite.

    Examples
    --------
    >>> import numpy as np
    >>> ConstantSchedule(0.1)(np.array([0, 1000]))
    array([0.1, 0.1])
    """

    def __init__(self, step_size: float) -> None:
        self.step_size = positive("step_size", step_size)

    def __call__(self, transition: np.ndarray) -> np.ndarray:
        """Return the step size for every transition."""
        return np.full(np.shape(transition), self.step_size)

    def __repr__(self) -> str:
        """Show the step size."""
        return f"ConstantSchedule({self.step_size!r})"


class PolynomialSchedule:
    r"""Step sizes :math:`a (1 + t / b)^{-c}` for transition t.

    Parameters
    ----------
    a : float
        The first step size.
    b : float
        Number of transitions after which the decay sets in.
    c : float
        Exponent, positive, so that the step sizes decrease. Convergence without bias needs ``1/2 <
        c <= 1`` (Welling and Teh 2011). For a second-order sampler the mean squared error falls
        fastest with 1/5, the bias with 1/3 (Chen, Ding and Carin 2015).

    Raises
    ------
    ValueError
        If a parameter is not positive and finite.

    Examples
    --------
    >>> import numpy as np
    >>> PolynomialSchedule(0.1, 100, 0.5)(np.array([0, 300]))
    array([0.1 , 0.05])
    """

    def __init__(self, a: float, b: float, c: float) -> None:
        self.a = positive("a", a)
        self.b = positive("b", b)
        self.c = positive("c", c)

    def __call__(self, transition: np.ndarray) -> np.ndarray:
        """Return the step sizes."""
        return self.a * (1 + np.asarray(transition) / self.b) ** -self.c

    def __repr__(self) -> str:
        """Show the parameters."""
        return f"PolynomialSchedule({self.a!r}, {self.b!r}, {self.c!r})"


class CyclicalSchedule:
    r"""Step sizes that follow a cosine down and restart, to visit several modes.

    .. math::

        \epsilon_t = \frac{\epsilon_0}{2}
            \left[\cos\left(\pi \, \frac{t \bmod T}{T}\right) + 1\right]

    with a lower bound of :math:`\epsilon_0 / 100`, so that every transition moves the chain.

    Parameters
    ----------
    step_size : float
        Step size :math:`\epsilon_0` at the start of each cycle.
    period : int
        Number of transitions T per cycle.

    Raises
    ------
    ValueError
        If ``step_size`` is not positive or ``period`` not a whole number of at least one.

    References
    ----------
    Zhang, R. et al. (2020). Cyclical stochastic gradient MCMC for Bayesian deep learning. ICLR.
    Equation 1.

    Examples
    --------
    >>> import numpy as np
    >>> CyclicalSchedule(0.1, 10)(np.array([0, 5, 10]))
    array([0.1 , 0.05, 0.1 ])
    """

    def __init__(self, step_size: float, period: int) -> None:
        self.step_size = positive("step_size", step_size)
        self.period = whole("period", period)

    def __call__(self, transition: np.ndarray) -> np.ndarray:
        """Return the step sizes."""
        phase = np.pi * (np.asarray(transition) % self.period) / self.period
        return self.step_size * np.maximum(0.5 * (np.cos(phase) + 1), 0.01)

    def __repr__(self) -> str:
        """Show the parameters."""
        return f"CyclicalSchedule({self.step_size!r}, {self.period!r})"


def as_schedule(step_size: float | Schedule) -> Schedule:
    """Turn a number into a constant schedule, and check the first values of a schedule.

    Raises
    ------
    ValueError
        If the number, or a step size of the schedule, is not positive and finite, or the schedule
        only increases.
    """
    if not callable(step_size):
        return ConstantSchedule(positive("step_size", step_size))
    values = _first_values(step_size)
    if values.ndim == 0:
        return ConstantSchedule(positive("step_size", values.item()))
    for value in values:
        positive("step_size", value)
    changes = np.diff(values)
    if np.all(changes >= 0) and np.any(changes > 0):
        raise ValueError(
            "`step_size` expected a schedule that decreases, stays constant or restarts, got one "
            f"that only increases, from {values[0]:g} to {values[-1]:g} over "
            f"{CHECKED_TRANSITIONS[-1]} transitions. Use `pmg.PolynomialSchedule`, for instance."
        )
    return step_size


def _first_values(schedule: Schedule) -> np.ndarray:
    """Call a schedule as a step does, and check the shape of the result."""
    expected = (
        "`step_size` expected a number, a schedule such as `pmg.PolynomialSchedule`, or a function "
        "that maps an integer array of transition numbers to as many step sizes"
    )
    try:
        values = np.asarray(schedule(CHECKED_TRANSITIONS), dtype=float)
    except Exception as error:
        raise ValueError(f"{expected}, got {schedule!r}, which raised {error!r}.") from error
    if values.shape not in ((), CHECKED_TRANSITIONS.shape):
        raise ValueError(
            f"{expected}, got {schedule!r}, which returned shape {values.shape} for "
            f"{len(CHECKED_TRANSITIONS)} numbers."
        )
    return values
