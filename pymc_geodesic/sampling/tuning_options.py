#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The quantities that the user leaves to the tuning phase, and its initial mass."""

from __future__ import annotations

import math

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import numpy as np

from numpy.typing import ArrayLike

from pymc_geodesic.algorithms.tuning_rules import Rule, at_step
from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.mass import JointMass, Mass, VariableMasses
from pymc_geodesic.mass.arrays import MassForm, mass_form, n_flat_entries
from pymc_geodesic.sampling.problem import Problem
from pymc_geodesic.schedules import Schedule
from pymc_geodesic.tuning.center import Nearby
from pymc_geodesic.tuning.secants import n_directions, without_directions
from pymc_geodesic.tuning.self_tuner import VarianceReduction

__all__ = ["TuningOptions", "read_center", "tuned_form", "unit_mass"]


class TuningOptions(NamedTuple):
    """The quantities that the user leaves to tuning, and options.

    Attributes
    ----------
    tunes_itself : bool
        Whether step size, parameters and mass are found, as far as they are not given.
    chooses_n_steps : bool
        Whether the number of transitions per draw is chosen too.
    reduction : {"auto", "control_variates"} or None
        Whether gradients are taken relative to those at a center.
    center : mapping or None
        The given center.
    accuracy : float
        Tolerated bias, in posterior standard deviations.
    noise_is_known : bool
        Whether the gradient noise is given, which is independent between entries.
    given : mapping of str to float
        Given parameters of the dynamics.
    mass : Mass or None
        The given mass.
    schedule : Schedule or None
        The given step sizes, in the frame of the mass that is found or given.
    """

    tunes_itself: bool
    chooses_n_steps: bool
    reduction: VarianceReduction | None
    center: Mapping[str, ArrayLike] | None
    accuracy: float
    noise_is_known: bool
    given: Mapping[str, float]
    mass: Mass | None
    schedule: Schedule | None = None

    @property
    def is_near(self) -> bool:
        """Whether the given center is only near the mode, and may be improved."""
        return isinstance(self.center, Nearby)

    def with_step(self, rule: Rule) -> Rule:
        """Return the rule of an algorithm, for the given step size if there is one."""
        if self.schedule is None:
            return rule
        # Friction suits the longest steps, with which schedules begin.
        return partial(at_step, rule=rule, step_size=float(self.schedule(np.zeros(1))[0]))


def unit_mass(problem: Problem, *, dense: bool) -> Mass:
    """Return a mass of one, in the form that tuning will find, which the kernel compiles."""
    manifold, dtype = problem.manifold, problem.dtype
    shapes, form = manifold.shapes, tuned_form(problem, dense=dense)
    if form == "dense":
        size = sum(math.prod(shape) for shape in shapes)
        return JointMass(np.eye(size), shapes=shapes, dtype=dtype)
    pairs = zip(manifold.factors, shapes, strict=True)
    masses = [np.ones(factor.mass_shape(shape)) for factor, shape in pairs]
    mass = VariableMasses(masses, dense=[False] * len(masses), shapes=shapes, dtype=dtype)
    if form != "low_rank":
        return mass
    return without_directions(mass, n_directions(n_flat_entries(manifold.factors, shapes)))


def tuned_form(problem: Problem, *, dense: bool) -> MassForm:
    """Choose the form of the mass that tuning will find."""
    manifold = problem.manifold
    return mass_form(manifold.factors, manifold.shapes) if dense else "diagonal"


def read_center(
    problem: Problem, gradient: HostGradient, center: Mapping[str, ArrayLike] | None
) -> list[np.ndarray] | None:
    """Read a point in the form of ``pm.find_MAP`` or ``model.initial_point()``, if it is given."""
    if center is None:
        return None
    if missing := [name for name in problem.names if name not in center]:
        raise ValueError(
            f"`center` expected values for {problem.names}, as `model.initial_point()` or "
            f"`pm.find_MAP()` return them; got none for {missing}."
        )
    values = [np.asarray(center[name], dtype=problem.dtype) for name in problem.names]
    return [np.asarray(x) for x in gradient.to_points(*values)]
