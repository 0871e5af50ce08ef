#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Step sizes that change with the number of transitions made."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

__all__ = ["ConstantSchedule", "PolynomialSchedule", "Schedule"]


@runtime_checkable
class Schedule(Protocol):
    """A step size for every transition of a chain."""

    def __call__(self, transition: np.ndarray) -> np.ndarray:
        """Return positive step sizes for the transition numbers, counted from zero."""
        ...


class ConstantSchedule:
    """The same step size for ever.

    Parameters
    ----------
    step_size : float
        The step size, positive.

    Raises
    ------
    ValueError
        If ``step_size`` is not positive and finite.
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
        Transitions after which the decay sets in.
    c : float
        Exponent; convergence without bias needs ``1/2 < c <= 1`` (Welling and Teh 2011).

    Raises
    ------
    ValueError
        If a parameter is not positive and finite.
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


def positive(name: str, value: float) -> float:
    """Return ``value`` as a float if it is positive and finite, else say what is wrong."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not (np.isfinite(number) and number > 0):
        raise ValueError(f"`{name}` expected a positive, finite number, got {value!r}.")
    return number


def whole(name: str, value: int) -> int:
    """Return ``value`` as an int if it is a whole number of at least one, else say what is wrong."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ValueError(f"`{name}` expected a whole number of at least 1, got {value!r}.")
    return int(value)
