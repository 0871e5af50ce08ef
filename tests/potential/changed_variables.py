#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The energy of a model in other coordinates, from its own density and a numerical volume."""

import numpy as np
import pytest

from pymc_geodesic.kernel.host_functions import Change
from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.potential import Potential
from pymc_geodesic.potential.centering import outside


def check_energy_and_gradient(model, exponents):
    """Require the energy of the changed variables, and the gradient of that energy."""
    potential = Potential(
        model, model.value_vars, initial_point=model.initial_point(), centering=exponents
    )
    gradient, variables = HostGradient(potential), potential.variables
    values = [variable.value for variable in variables]
    outer = outside(variables, values)
    to_values = Change(values, [outer[value] for value in values])
    logp = model.compile_logp()
    rng = np.random.default_rng(5)
    at = [0.5 * rng.standard_normal(shape) for shape in potential.manifold.shapes]
    point = dict(zip([v.name for v in values], to_values(at), strict=True))
    expected = -float(logp(point)) - _log_volume(to_values, at)
    assert gradient(at, []).energy == pytest.approx(expected, abs=1e-6)
    for i, (x, slope) in enumerate(zip(at, gradient(at, []).gradient, strict=True)):
        direction = rng.standard_normal(np.shape(x))
        ends = [
            [y + s * 1e-4 * direction if j == i else y for j, y in enumerate(at)] for s in (1, -1)
        ]
        ahead, behind = (gradient(end, []).energy for end in ends)
        assert np.sum(slope * direction) == pytest.approx((ahead - behind) / 2e-4, abs=1e-5)


def _log_volume(to_values, at):
    """Logarithm of the determinant of the map from coordinates to values."""
    places = np.cumsum([np.size(x) for x in at])[:-1]
    shapes = [np.shape(x) for x in at]

    def flat(vector):
        parts = zip(np.split(vector, places), shapes, strict=True)
        return np.concatenate([np.ravel(x) for x in to_values([x.reshape(s) for x, s in parts])])

    here = np.concatenate([np.ravel(x) for x in at])
    steps = 1e-6 * np.eye(len(here))
    jacobian = [(flat(here + step) - flat(here - step)) / 2e-6 for step in steps]
    return np.linalg.slogdet(np.array(jacobian))[1]
