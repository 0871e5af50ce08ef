#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Temperatures along directions, where averages over directions are right."""

import arviz as az
import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.diagnostics.gradient_checks import check_directions
from pymc_geodesic.diagnostics.gradients import gradient_draws, model_points
from pymc_geodesic.runs.direction_coordinates import direction_draws
from pymc_geodesic.runs.directions import extremes

N_ROWS, BATCH, CHAINS = 1000, 100, 4


def found_of(model, draws, *, max_draws=250):
    """Check draws by name of shape (chain, draw, ...)."""
    idata = az.from_dict({"posterior": draws})
    some = gradient_draws(idata, model=model, batches=1, max_draws=max_draws, random_seed=1)
    points = model_points(idata, model, max_draws=10**9).points
    draws = direction_draws(*some, points)
    return check_directions(draws), extremes(draws)


class Regression:
    """Correlated columns of unequal scale, with the exact posterior."""

    def __init__(self, size, *, seed=1, batch_size=BATCH):
        rng = np.random.default_rng(seed)
        mixed = rng.normal(size=(size, size)) * np.logspace(0, 1, size)
        columns = rng.normal(size=(N_ROWS, size)) @ mixed
        y = columns @ np.ones(size) + rng.normal(size=N_ROWS)
        covariance = np.linalg.inv(columns.T @ columns + np.eye(size))
        self.mean = covariance @ (columns.T @ y)
        values, self.axes = np.linalg.eigh(covariance)
        self.scales, self.rng = np.sqrt(values), rng
        with pm.Model() as self.model:
            slopes = pm.Normal("slopes", shape=size)
            x, observed = pm.Minibatch(columns, y, batch_size=batch_size)
            pm.Normal("y", x @ slopes, 1.0, observed=observed, total_size=N_ROWS)

    def draws(self, widths=1.0, *, n=500):
        """Return draws with other variances, relative to the exact ones, along principal axes."""
        z = self.rng.normal(size=(CHAINS, n, len(self.mean)))
        return {"slopes": self.mean + z * np.sqrt(widths) * self.scales @ self.axes.T}


@pytest.mark.parametrize("size", [8, 40])
def test_a_stiff_direction_that_is_too_wide_is_found(size):
    """Soft directions are 5 per cent too narrow, so that the mean temperature is one."""
    regression = Regression(size, batch_size=400)
    widths = np.r_[1.47, np.full(size - 1, 0.95)]
    [finding], (widest, _) = found_of(regression.model, regression.draws(widths, n=1000))
    assert finding.name == "directions_too_wide"
    assert widest.owner == "slopes"
    # The direction is known up to the noise of the gradients, which lowers its temperature.
    assert 1.2 < widest.temperature < 1.47 + 5 * widest.error
    assert "mostly of `slopes`" in finding.sentence


def test_narrow_directions_are_found():
    regression = Regression(8)
    [finding], (_, narrowest) = found_of(
        regression.model, regression.draws(np.r_[0.5, np.full(7, 1.1)])
    )
    assert finding.name == "directions_too_narrow"
    assert abs(narrowest.temperature - 0.5) < 0.1 + 4 * narrowest.error


@pytest.mark.parametrize("size", [8, 80])
def test_right_draws_of_a_regression_are_quiet(size):
    """Directions that are chosen by other draws have temperatures of one within their errors."""
    regression = Regression(size)
    found = [found_of(regression.model, regression.draws())[1] for _ in range(5 if size < 9 else 3)]
    assert not any(x.is_wrong for one in found for x in one)
    z = np.array([[(x.temperature - 1) / x.error for x in one] for one in found])
    assert np.all(np.abs(z) < 5)


def test_right_draws_of_spread_points_are_quiet():
    """The identity holds on the whole manifold, not only in the tangent space of a narrow law."""
    f = 2.0 * np.eye(4)[:, :2]
    with pm.Model() as model:
        pmg.MatrixLangevin("frame", F=f)
        pmg.VonMisesFisher("vectors", mu=np.eye(3)[:2], kappa=2.0)
        pmg.SphericalUniform("uniform", shape=3)
        pmg.Watson("axis", [0.0, 0.0, 1.0], 5.0)
    n = CHAINS * 250
    laws = {
        "frame": pmg.MatrixLangevin.dist(f, size=n),
        "vectors": pmg.VonMisesFisher.dist(np.eye(3)[:2], 2.0, size=(n, 2)),
        "uniform": pmg.SphericalUniform.dist(shape=(n, 3)),
        "axis": pmg.Watson.dist([0.0, 0.0, 1.0], 5.0, size=n),
    }
    pairs = zip(laws, pm.draw(list(laws.values()), random_seed=1), strict=True)
    draws = {name: x.reshape(CHAINS, 250, *x.shape[1:]) for name, x in pairs}
    findings, both = found_of(model, draws, max_draws=100)
    assert not findings
    assert all(abs(x.temperature - 1) < 5 * x.error for x in both)


def turned(draws, widths):
    """Stretch draws around a mean direction in its tangent space: the noise has a direction."""
    mean = draws.mean(axis=0) / np.linalg.norm(draws.mean(axis=0))
    axes = np.linalg.svd(np.eye(3) - np.outer(mean, mean))[0][:, :2]
    along = draws @ axes * np.sqrt(widths)
    height = np.sqrt(1 - (along**2).sum(axis=1, keepdims=True))
    return along @ axes.T + height * mean


@pytest.mark.parametrize(("widths", "is_wrong"), [((1.0, 1.0), False), ((1.26, 0.75), True)])
def test_a_direction_on_a_sphere(widths, is_wrong):
    """As one thermostat leaves it with elongated rows: the kinetic temperature is one."""
    rng = np.random.default_rng(4)
    rows = np.column_stack([0.5 * rng.normal(size=N_ROWS), 0.05 * rng.normal(size=N_ROWS)])
    rows = np.column_stack([rows, np.ones(N_ROWS)])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    with pm.Model() as model:
        mean = pmg.SphericalUniform("mean", shape=3)
        batch = pm.Minibatch(rows, batch_size=BATCH)
        pmg.VonMisesFisher("x", mu=mean, kappa=10.0, observed=batch, total_size=N_ROWS)
    total = 10.0 * rows.sum(axis=0)
    kappa = np.linalg.norm(total)
    drawn = pm.draw(pmg.VonMisesFisher.dist(total / kappa, kappa, size=CHAINS * 800), random_seed=1)
    draws = turned(drawn, widths).reshape(CHAINS, 800, 3)
    findings, both = found_of(model, {"mean": draws})
    assert bool(findings) is is_wrong
    if is_wrong:
        assert findings[0].name == "directions_too_wide"
        assert all(x.is_wrong for x in both)


def test_few_draws_are_not_judged():
    regression = Regression(30)
    findings, both = found_of(regression.model, regression.draws(n=8))
    assert not findings
    assert both == []
