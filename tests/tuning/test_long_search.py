#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Searches of modes that are hard to find, and which approximation describes a posterior best."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest

from scipy.optimize import minimize

from pymc_geodesic.kernel.host_gradient import SUBSAMPLE, HostGradient
from pymc_geodesic.mass.arrays import JointMass, VariableMasses, joined, split
from pymc_geodesic.potential import Potential
from pymc_geodesic.tuning.center import find_center
from pymc_geodesic.tuning.curvature import curvature_mass
from pymc_geodesic.tuning.frame import anchored_frame
from pymc_geodesic.tuning.long_search import evidence_bounds, log_volume, search_long
from pymc_geodesic.tuning.starts import best_starts

N = 3_000


def network(n_units=3):
    """A curve by a few hidden units: modes hundreds of nats apart, scales thousands."""
    rng = np.random.default_rng(1)
    x = rng.uniform(-2, 2, N)
    y = np.sin(3 * x) + 0.2 * rng.standard_normal(N)
    with pm.Model() as model:
        xb, yb = pm.Minibatch(x, y, batch_size=100)
        inner, shift, outer = (pm.Normal(name, shape=n_units) for name in ("a", "b", "c"))
        mean = pt.tanh(xb[:, None] * inner + shift) @ outer
        pm.Normal("y", mean, 0.2, observed=yb, total_size=N)
    return model


class Search:
    """The host gradients of a model, and its start."""

    def __init__(self, model):
        point = model.initial_point()
        potential = Potential(model, model.value_vars, initial_point=point)
        self.gradient = HostGradient(potential)
        names = [variable.value.name for variable in potential.variables]
        self.start = self.gradient.to_points(*(point[name] for name in names))
        self.shapes = [np.shape(x) for x in self.start]

    def energy(self, point):
        return self.gradient.whole(point).energy

    def lowest(self, n_starts=15):
        """The energy of the lowest of many modes, by another program's descents on all rows."""

        def objective(z):
            found = self.gradient.whole(split(z, self.shapes))
            return found.energy, joined(found.gradient)

        rng, size = np.random.default_rng(0), sum(map(np.size, self.start))
        starts = 2 * rng.standard_normal((n_starts, size))
        options = {"maxiter": 5_000, "maxfun": 5_000}
        return min(
            minimize(objective, z, jac=True, method="L-BFGS-B", options=options).fun for z in starts
        )


@pytest.fixture(scope="module")
def searched():
    """A network, and the energy of its lowest mode."""
    search = Search(network())
    return search, search.lowest()


def test_the_lowest_mode_of_a_network_is_found(searched):
    search, lowest = searched
    for seed in range(4):
        rng = np.random.default_rng(seed)
        rows = search.gradient.rows(rng, SUBSAMPLE)
        starts = best_starts(search.gradient, search.start, movable=[True] * 3, rng=rng)
        assert len(starts) == 4
        found = search_long(search.gradient, starts, rows=rows, rng=rng)
        assert found.has_ended
        assert search.energy(found.point) < lowest + 0.5, f"seed {seed}"


def test_a_short_search_says_whether_it_has_ended():
    for n_units, has_ended in ((1, True), (6, False)):
        search, rng = Search(network(n_units)), np.random.default_rng(0)
        rows = search.gradient.rows(rng, SUBSAMPLE)
        start, *_ = best_starts(search.gradient, search.start, movable=[True] * 3, rng=rng)

        def curvature(point, search=search, rows=rows, rng=rng):
            return curvature_mass(search.gradient, point, rows=rows, rng=rng)

        found = find_center(search.gradient, start, rows=rows, curvature=curvature)
        assert found.has_ended == has_ended


def test_tuning_begins_at_the_lowest_mode(searched):
    search, lowest = searched
    for seed in range(3):
        rng = np.random.default_rng(seed)
        starts = best_starts(search.gradient, search.start, movable=[True] * 3, rng=rng)
        rows = search.gradient.rows(rng, SUBSAMPLE)
        frame = anchored_frame(
            search.gradient, starts, rows=rows, form="dense", fixed=None, rng=rng
        )
        # Within what a posterior of nine parameters covers.
        assert search.energy(frame.point) < lowest + 9, f"seed {seed}"


def test_bounds_differ_by_the_divergence_from_a_gaussian_posterior():
    x = np.random.default_rng(1).standard_normal((N, 2)) * [1.0, 0.1] + [0.0, 3.0]
    with pm.Model() as model:
        xb = pm.Minibatch(x, batch_size=100)
        mu = pm.Normal("mu", 0.0, 10.0, shape=2)
        pm.Normal("x", mu, [1.0, 0.1], observed=xb, total_size=N)
    search = Search(model)
    precision = N / np.array([1.0, 0.1]) ** 2 + 0.01
    mean = (x.sum(axis=0) / np.array([1.0, 0.1]) ** 2) / precision

    def candidate(shift, width):
        mass = VariableMasses([precision / width**2], dense=[False], shapes=[(2,)], dtype="float64")
        return [mean + shift / np.sqrt(precision)], mass

    cases = [(0.0, 1.0), (np.array([2.0, -1.0]), 1.0), (0.0, np.array([0.5, 2.0]))]
    rng = np.random.default_rng(2)
    found = evidence_bounds(search.gradient, [candidate(*case) for case in cases], rng=rng)
    # Kullback and Leibler's divergences. Noise is common, so that that of a shift is all but exact:
    # only the numbers of rows of the pairs differ by one.
    assert found[0] - found[1] == pytest.approx(2.5, abs=1e-3)
    width = np.array([0.5, 2.0])
    # Of the mean square of 32 standard normal numbers of either entry.
    error = np.sqrt(2 / 16 * np.sum((0.5 * (width**2 - 1)) ** 2))
    expected = float(np.sum(0.5 * (width**2 - 1) - np.log(width)))
    assert found[0] - found[2] == pytest.approx(expected, abs=4 * error)


def test_an_approximation_without_finite_energy_is_the_worst():
    with pm.Model() as model:
        pm.Normal("x", shape=2)
    search = Search(model)
    mass = VariableMasses([np.ones(2)], dense=[False], shapes=[(2,)], dtype="float64")
    candidates = [([np.full(2, np.inf)], mass), ([np.zeros(2)], mass)]
    bounds = evidence_bounds(search.gradient, candidates, rng=np.random.default_rng(1))
    assert bounds[0] == -np.inf
    assert np.isfinite(bounds[1])


def test_volumes_are_determinants_of_masses():
    rng = np.random.default_rng(1)
    options = {"shapes": [(2,), (3,)], "dtype": "float64"}
    root = rng.standard_normal((5, 5))
    matrix = root @ root.T + np.eye(5)
    of_entries = rng.gamma(2, 1, 2)
    cases = [
        (JointMass(matrix, **options), np.linalg.slogdet(matrix)[1]),
        (
            VariableMasses([of_entries, np.full(3, 0.3)], dense=[False, False], **options),
            np.log(of_entries).sum() + 3 * np.log(0.3),
        ),
    ]
    for mass, expected in cases:
        assert log_volume(mass, options["shapes"]) == pytest.approx(-0.5 * expected, abs=1e-10)
