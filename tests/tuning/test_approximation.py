#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The Gaussian approximation, the check of a mode, and the directions that a diagonal misses."""

from types import SimpleNamespace

import numpy as np
import pymc as pm
import pytest

from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.mass.arrays import VariableMasses, joined
from pymc_geodesic.mass.low_rank import LowRankMass
from pymc_geodesic.potential import Potential
from pymc_geodesic.tuning.anchor import around, is_gaussian_around
from pymc_geodesic.tuning.approximation import N_PAIRS, _parts, approximate
from pymc_geodesic.tuning.center import find_center
from pymc_geodesic.tuning.curvature import curvature_mass
from pymc_geodesic.tuning.noise import rebalanced
from pymc_geodesic.tuning.scales import first_scales
from pymc_geodesic.tuning.secants import AveragedCurvature, dense_mass, low_rank_mass

N = 4_000


def regression():
    """Logistic regression on five coefficients."""
    rng = np.random.default_rng(1)
    x = rng.standard_normal((N, 5))
    y = (rng.random(N) < 1 / (1 + np.exp(-x @ [1.0, -0.5, 0.3, 0.0, 0.8]))).astype("int32")
    with pm.Model() as model:
        xb, yb = pm.Minibatch(x, y, batch_size=100)
        beta = pm.Normal("beta", shape=5)
        pm.Bernoulli("y", logit_p=xb @ beta, observed=yb, total_size=N)
    return model


def quantile_regression():
    """A likelihood with kinks."""
    rng = np.random.default_rng(2)
    x = rng.standard_normal((N, 3))
    y = x @ [1.0, 0.5, -0.5] + rng.standard_normal(N)
    with pm.Model() as model:
        xb, yb = pm.Minibatch(x, y, batch_size=100)
        beta = pm.Normal("beta", 0, 2, shape=3)
        pm.AsymmetricLaplace("y", mu=xb @ beta, b=0.5, q=0.9, observed=yb, total_size=N)
    return model


def varying_intercepts(n_groups=200):
    """A centred hierarchy with a few rows in each group, and a ridge with the mean."""
    rng = np.random.default_rng(3)
    group = rng.integers(0, n_groups, N).astype("int32")
    y = 2.0 + 0.7 * rng.standard_normal(n_groups)[group] + rng.standard_normal(N)
    with pm.Model() as model:
        gb, yb = pm.Minibatch(group, y, batch_size=200)
        mu, tau = pm.Normal("mu", 0, 2), pm.HalfNormal("tau", 1)
        a = pm.Normal("a", 0, tau, shape=n_groups)
        pm.Normal("y", mu + a[gb], 1.0, observed=yb, total_size=N)
    return model


class Setting:
    """What tuning sees of a model."""

    def __init__(self, model):
        self.point = model.initial_point()
        potential = Potential(model, model.value_vars, initial_point=self.point)
        self.gradient = HostGradient(potential)
        self.names = [variable.value.name for variable in potential.variables]
        self.start = self.gradient.to_points(*(self.point[name] for name in self.names))

    def mode(self, *, dense, seed=0):
        rng = np.random.default_rng(seed)
        rows = self.gradient.rows(rng, 10_000)

        def curvature(point):
            return curvature_mass(self.gradient, point, rows=rows, dense=dense, rng=rng)

        found = find_center(self.gradient, self.start, rows=rows, curvature=curvature)
        return found.point, found.mass

    def expectations(self, found, n_pairs=400):
        """Mean gradient and curvature of the approximation in its frame, with their errors."""
        rng = np.random.default_rng(9)
        slopes, curvatures = [], []
        for _ in range(n_pairs):
            z = [rng.standard_normal(np.shape(x)) for x in found.center]
            up, down = (
                joined(
                    found.mass.force(
                        self.gradient.whole(
                            around(self.gradient, found.center, found.mass, [s * x for x in z])
                        ).pulled_back
                    )
                )
                for s in (1, -1)
            )
            slopes.append((up + down) / 2)
            curvatures.append(joined(z) * (up - down) / 2)
        errors = [np.std(a, axis=0, ddof=1) / np.sqrt(n_pairs) for a in (slopes, curvatures)]
        return np.mean(slopes, axis=0), errors[0], np.mean(curvatures, axis=0), errors[1]


@pytest.mark.parametrize(
    ("build", "is_gaussian"),
    [(regression, True), (quantile_regression, False), (varying_intercepts, None)],
)
def test_a_mode_is_trusted_where_the_posterior_is_gaussian_around_it(build, is_gaussian):
    setting = Setting(build())
    if is_gaussian is None:
        # The mode itself of a hierarchy: at a scale that all but vanishes.
        point = setting.point | {"tau_log__": np.array(-8.0), "a": 1e-4 * np.ones(200)}
        point["mu"] = np.array(2.0)
        mode = list(setting.gradient.to_points(*(point[name] for name in setting.names)))
        rng = np.random.default_rng(0)
        rows = setting.gradient.rows(rng, 10_000)
        mass = curvature_mass(setting.gradient, mode, rows=rows, dense=False, rng=rng)
    else:
        mode, mass = setting.mode(dense=True)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        found = is_gaussian_around(setting.gradient, mode, mass, rng=rng)
        assert found is bool(is_gaussian)


def test_a_mode_is_trusted_although_a_subsample_hardly_knows_it(monkeypatch):
    # The gradient of 100 rows of 4,000 is off by six standard deviations of the posterior.
    monkeypatch.setattr("pymc_geodesic.tuning.anchor.SUBSAMPLE", 100)
    setting = Setting(regression())
    mode, mass = setting.mode(dense=True)
    for seed in range(10):
        assert is_gaussian_around(setting.gradient, mode, mass, rng=np.random.default_rng(seed))


@pytest.mark.parametrize("build", [regression, quantile_regression, varying_intercepts])
@pytest.mark.parametrize("seed", range(2))
def test_the_approximation_solves_its_two_equations(build, seed):
    setting = Setting(build())
    found = approximate(setting.gradient, setting.start, rng=np.random.default_rng(seed))
    slope, slope_error, curvature, error = setting.expectations(found)
    # A center that is half a standard deviation off is as good as any draw, and scales that are off
    # by less than a third are corrected by the first draws.
    assert np.all(np.abs(slope) < 0.6 + 4 * slope_error)
    assert np.all(np.abs(np.log(np.abs(curvature))) < np.log(1.8) + 4 * error / np.abs(curvature))
    assert np.abs(np.median(np.log(np.abs(curvature)))) < 0.25


def test_the_approximation_of_a_regression_is_its_posterior():
    setting = Setting(regression())
    found = approximate(setting.gradient, setting.start, rng=np.random.default_rng(0))
    mode, mass = setting.mode(dense=True)
    matrix = np.linalg.inv(mass.arrays[0].T @ np.eye(5) @ mass.arrays[0])
    # The mean of the rows differs by the posterior's skewness alone, some hundredths of a scale.
    z = (found.center[0] - mode[0]) * np.sqrt(np.diag(matrix))
    assert np.all(np.abs(z) < 0.35)
    np.testing.assert_allclose(found.mass.arrays[0], np.diag(matrix) ** -0.5, rtol=0.2)


@pytest.mark.parametrize("seed", range(4))
def test_it_does_not_end_while_a_deviation_still_grows(seed):
    # All effects start at one value, so that their deviation first falls to .15. It then grows by a
    # tenth a round, which the bound does not see, because its noise is several times as much.
    n_groups, per_group = 1_500, 6
    rng = np.random.default_rng(8)
    group = np.repeat(np.arange(n_groups), per_group)
    logit = -0.4 + rng.standard_normal(n_groups)
    y = (rng.uniform(size=len(group)) < 1 / (1 + np.exp(-logit[group]))).astype("int32")
    with pm.Model() as model:
        rows, batch = pm.Minibatch(group, y, batch_size=30)
        mu, tau = pm.Normal("mu"), pm.Exponential("tau", 1.0)
        effect = pm.Normal("effect", mu, tau, shape=n_groups)
        pm.Bernoulli("y", logit_p=effect[rows], observed=batch, total_size=len(y))
    setting = Setting(model)
    found = approximate(setting.gradient, setting.start, rng=np.random.default_rng(seed))
    deviation = np.exp(found.center[setting.names.index("tau_log__")])
    # .93 is what maximises the bound; steps are as long as they can be from .5 on.
    assert 0.5 < deviation < 1.3


@pytest.mark.parametrize("largest", [3e3, 1e4, 2.7e4, 1e5])
def test_columns_as_they_come_may_lead_to_huge_energies_first(largest):
    """At common scales they are finite, but no search ends there."""
    rng = np.random.default_rng(4)
    x = largest * rng.uniform(size=N) ** 3
    y = rng.poisson(np.exp(-1.0 + 1.5 * x / largest)).astype("int32")
    with pm.Model() as model:
        xb, yb = pm.Minibatch(x, y, batch_size=200)
        a, b = pm.Normal("a", 0.0, 5.0), pm.Normal("b", 0.0, 1.0)
        pm.Poisson("y", pm.math.exp(a + b * xb), observed=yb, total_size=N)
    setting = Setting(model)
    found = approximate(setting.gradient, setting.start, rng=np.random.default_rng(1))
    design, w = np.column_stack([np.ones(N), x / largest]), np.array([-1.0, 1.5])
    for _ in range(20):
        mean = np.exp(design @ w)
        curvature = (design.T * mean) @ design
        w = w + np.linalg.solve(curvature, design.T @ (y - mean))
    sd = np.sqrt(np.diag(np.linalg.inv(curvature))) / [1.0, largest]
    assert np.all(np.abs(joined(found.center) - w / [1.0, largest]) < sd)


def test_a_start_without_a_finite_energy_is_refused():
    with pm.Model() as model:
        x = pm.Normal("x")
        pm.Potential("none", -np.inf * (x**2 + 1))
    setting = Setting(model)
    assert approximate(setting.gradient, setting.start, rng=np.random.default_rng(0)) is None


@pytest.mark.parametrize("n_rows", [1, 4, 5, 16, 33])
def test_data_with_fewer_rows_than_pairs(n_rows):
    rng = np.random.default_rng(1)
    drawn = [np.arange(n_rows), np.arange(20)]
    rows = SimpleNamespace(rows=lambda rng, size: drawn, is_stream=False, n_rows=[n_rows, 20])
    first, second = zip(*_parts(rows, rng), strict=True)
    assert all(len(part) >= 1 for part in first)
    found = [np.sort(part) for part in first] if n_rows < N_PAIRS else [np.concatenate(first)]
    for part in found:
        np.testing.assert_array_equal(np.sort(part), np.arange(n_rows))
    np.testing.assert_array_equal(np.sort(np.concatenate(second)), np.arange(20))


@pytest.fixture(scope="module")
def hierarchy():
    setting = Setting(varying_intercepts())
    found = approximate(setting.gradient, setting.start, rng=np.random.default_rng(0))
    return setting, found


def test_lanczos_finds_the_ridge_that_a_diagonal_mass_misses(hierarchy):
    setting, found = hierarchy
    rng = np.random.default_rng(1)
    curvature = AveragedCurvature(setting.gradient, found.center, mass=found.mass, rng=rng)
    mass = low_rank_mass(curvature, found.mass)
    columns = np.array([curvature(column) for column in np.eye(curvature.size)])
    values, vectors = np.linalg.eigh(0.5 * (columns + columns.T))
    # The mean and 200 effects can all be moved together.
    assert values[0] < 0.1
    assert values[1] > 0.4
    softest = int(np.argmin(mass.curvatures))
    np.testing.assert_allclose(mass.curvatures[softest], values[0], rtol=0.1)
    direction = mass.arrays[-2][:, softest]
    assert np.abs(direction @ vectors[:, 0]) > 0.999
    after = AveragedCurvature(setting.gradient, found.center, mass=mass, rng=rng)
    columns = np.array([after(column) for column in np.eye(curvature.size)])
    assert np.linalg.eigvalsh(0.5 * (columns + columns.T))[0] > 0.3


def test_a_dense_mass_has_unit_curvature_in_its_frame():
    setting = Setting(quantile_regression())
    found = approximate(setting.gradient, setting.start, rng=np.random.default_rng(0))
    rng = np.random.default_rng(1)
    curvature = AveragedCurvature(setting.gradient, found.center, mass=found.mass, rng=rng)
    mass = dense_mass(curvature, found.mass)
    after = AveragedCurvature(setting.gradient, found.center, mass=mass, rng=rng)
    columns = np.array([after(column) for column in np.eye(3)])
    np.testing.assert_allclose(np.linalg.eigvalsh(0.5 * (columns + columns.T)), 1.0, atol=0.35)


def test_frictions_are_corrected_by_temperatures():
    directions = np.zeros((3, 2))
    directions[:, 0] = 3**-0.5
    mass = LowRankMass(
        [np.ones(3)],
        directions=directions,
        curvatures=np.ones(2),
        shapes=[(3,)],
        dtype="float64",
    )
    noise = (np.array([2.0, 0.0, 4.0]), np.array([1.0, 0.0]))
    temperatures = (np.array([1.5, 0.5, 1.0]), np.array([2.0, 1.0]))
    options = {"of_rows": [], "mass": mass, "shapes": [(3,)], "friction": 1.0, "step_size": 0.5}
    entries, excess = rebalanced(noise, temperatures, weight=1.0, **options)
    np.testing.assert_allclose(1.0 + 0.25 * entries, [2.25, 1.0, 2.0], rtol=1e-6)
    # Along the direction the variance was 2 + 1: its friction doubles from 1.75.
    along = excess[0] + entries.mean()
    np.testing.assert_allclose(1.0 + 0.25 * along, 3.5, rtol=1e-6)
    entries, excess = rebalanced(noise, temperatures, weight=0.0, **options)
    np.testing.assert_array_equal(entries, noise[0])
    np.testing.assert_allclose(excess, noise[1], atol=1e-12)


def test_covariances_of_rows_are_corrected_by_products_of_velocities():
    noise = np.full((30, 2), 4.0), np.array([[0.0, 1.0], [1.0, 0.0]]), np.zeros(0)
    temperatures = np.ones((30, 2)), np.zeros(0)
    entries, between, _ = rebalanced(
        noise,
        temperatures,
        of_rows=[np.array([[1.0, 0.1], [0.1, 1.0]])],
        mass=None,
        shapes=[(30, 2)],
        weight=0.5,
        friction=1.0,
        step_size=0.5,
    )
    np.testing.assert_array_equal(entries, noise[0])
    # The friction of entries is 2, and a covariance of 0.1 needs 2 * 2 * 0.1 / 0.5 more noise.
    np.testing.assert_allclose(between, [[0.0, 1.4], [1.4, 0.0]])


def test_the_mass_of_scales_keeps_one_number_for_a_curved_variable():
    import pymc_geodesic as pmg

    rng = np.random.default_rng(4)
    rows = rng.normal([3.0, 0.0, 0.0], 1.0, (N, 3))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    with pm.Model() as model:
        batch = pm.Minibatch(rows, batch_size=100)
        mu, kappa = pmg.SphericalUniform("mu", shape=3), pm.HalfNormal("kappa", 20)
        pmg.VonMisesFisher("x", mu, kappa, observed=batch, total_size=N)
    setting = Setting(model)
    found = approximate(setting.gradient, setting.start, rng=np.random.default_rng(0))
    assert isinstance(found.mass, VariableMasses)
    names = [name.split("_")[0] for name in setting.names]
    mean, scale = found.center[names.index("mu")], found.mass.arrays[names.index("mu")]
    direction = rows.mean(axis=0) / np.linalg.norm(rows.mean(axis=0))
    resultant = np.linalg.norm(rows.mean(axis=0))
    kappa = float(np.exp(found.center[names.index("kappa")]))
    # In a tangent direction the information is N kappa times the mean resultant length.
    expected = (N * kappa * resultant) ** -0.5
    assert scale.shape == (1,)
    np.testing.assert_allclose(scale, expected, rtol=0.25)
    assert np.linalg.norm(mean - direction) < 2 * expected


def test_long_vectors_stay_near_the_components_to_which_they_belong():
    """Clusters whose directions have a cosine of .8, which a tenth in each entry would lose."""
    import pymc_geodesic as pmg

    d, k, rng = 400, 6, np.random.default_rng(1)
    means = rng.normal(size=(k, d)) + 2 * rng.normal(size=d)
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    x = np.repeat(means, 250, axis=0) + 1.5 / np.sqrt(d) * rng.normal(size=(250 * k, d))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    with pm.Model() as model:
        mu = pmg.SphericalUniform("mu", shape=(k, d), initval=means)
        components = pmg.VonMisesFisher.dist(mu, d / 1.5**2)
        batch = pm.Minibatch(x, batch_size=200)
        pm.Mixture("x", np.full(k, 1 / k), components, observed=batch, total_size=len(x))
    setting = Setting(model)
    [found], mass, _ = approximate(setting.gradient, setting.start, rng=np.random.default_rng(2))
    assert np.min(np.sum(means * found, axis=1)) > 0.99
    # In a tangent direction the information is n kappa times the mean resultant length.
    expected = (250 * d / 1.5**2 / np.sqrt(1 + 1.5**2)) ** -0.5
    np.testing.assert_allclose(mass.arrays[0], expected, rtol=0.1)


def test_centers_of_an_angle_at_pi_are_averaged_along_the_circle():
    """The centers of the last rounds, of other rows each, are on both sides of the seam."""
    n = 60_000
    rows = np.random.default_rng(1).vonmises(0.0, 2.0, (n, 8))
    rows = np.angle(np.exp(1j * (rows - np.angle(np.exp(1j * rows).mean(axis=0)) + np.pi)))
    with pm.Model() as model:
        mean = pm.VonMises("mean", 0.0, 0.01, shape=8)
        batch = pm.Minibatch(rows, batch_size=20)
        pm.VonMises("rows", mean, 2.0, observed=batch, total_size=(n, None))
    start = [np.full(8, 3.0)]
    [found] = approximate(Setting(model).gradient, start, rng=np.random.default_rng(1)).center
    assert np.abs(np.angle(np.exp(1j * (found - np.pi)))).max() < 0.03


@pytest.mark.parametrize("seed", range(6))
def test_a_flat_tail_has_no_endless_scale(seed):
    """Nothing but its Jacobian holds the logarithm of a deviation that data bound from above."""
    rng = np.random.default_rng(1)
    groups, y = rng.integers(0, 25, 30_000), rng.standard_normal(30_000)
    with pm.Model() as model:
        group, rows = pm.Minibatch(groups, y, batch_size=200)
        deviation, effect = pm.HalfNormal("deviation"), pm.Normal("effect", shape=25)
        mean = deviation * effect[group]
        pm.Normal("y", mean, 1.0, observed=rows, total_size=len(y))
    gradient = HostGradient(Potential(model, model.value_vars, initial_point=model.initial_point()))
    start = [np.array(-5.0), np.zeros(25)]
    rng = np.random.default_rng(seed)
    mass = first_scales(gradient, start, rng=rng)
    found = approximate(gradient, start, mass=mass, is_near=True, rng=rng)
    assert -12 < found.center[0] < -3
    [scale, _] = found.mass.rate([np.array(1.0), np.zeros(25)])
    assert scale <= 1.01 * max(1.0, mass.rate([np.array(1.0), np.zeros(25)])[0])
