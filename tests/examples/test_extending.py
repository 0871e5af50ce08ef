#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What the documentation adds in a file of its own can be sampled, and nothing else is told of it.

Their geometry is tested by the laws of all manifolds.
"""

import numpy as np
import pymc as pm
import pytest

from half_line import HalfLine
from stiefel import Stiefel
from time_of_day import Clock, TimeOfDay

import pymc_geodesic as pmg

SIGMA = 2.0
KNOWN = {"step_size": 0.4, "friction": 1.0, "n_steps": 20}
STEPS = {
    "SGGMC": (pmg.SGGMC, KNOWN),
    "gSGNHT": (pmg.gSGNHT, {"step_size": 0.3, "diffusion": 1.0, "n_steps": 20}),
    "gSGNHT-points": (
        pmg.gSGNHT,
        {"step_size": 0.3, "diffusion": 1.0, "n_steps": 20, "thermostat": "per_point"},
    ),
    "gSGNHT-tuned": (pmg.gSGNHT, {}),
    "SGGMC-mass": (pmg.SGGMC, KNOWN | {"mass": 0.25}),
    "GMC": (pmg.GMC, {"n_leapfrog": 5}),
}


@pytest.fixture
def half_line():
    pmg.register_manifold(pm.HalfNormal, HalfLine())
    yield
    pmg.register_manifold(pm.HalfNormal, pmg.Euclidean())


def sample(make, options, draws=1000):
    step = make(**options)
    return pm.sample(
        draws, tune=200, chains=2, cores=1, step=step, random_seed=1, progressbar=False
    )


def away(x, expected):
    """Distance of the mean over draws from what it should be, in its own standard errors."""
    x = np.asarray(x)
    batches = x.reshape(len(x), 20, -1).mean(axis=-1).ravel()
    return (batches.mean() - expected) / (batches.std(ddof=1) / np.sqrt(batches.size))


FAST = {("SGGMC", ()), ("GMC", ()), ("gSGNHT-points", (2,))}
CASES = [
    pytest.param(name, shape, marks=[] if (name, shape) in FAST else [pytest.mark.slow])
    for name in STEPS
    for shape in [(), (2,)]
]


@pytest.mark.parametrize(("name", "shape"), CASES)
@pytest.mark.usefixtures("half_line")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_half_normal_variable_is_moved_on_the_half_line(name, shape):
    with pm.Model() as model:
        pm.HalfNormal("scale", SIGMA, shape=shape)
        idata = sample(*STEPS[name])
    scale = idata.posterior["scale"].transpose("chain", "draw", ...).values
    scale = scale.reshape(*scale.shape[:2], -1)
    assert scale.min() >= 0
    for entry in np.moveaxis(scale, -1, 0):
        assert abs(away(entry**2, SIGMA**2)) < 4.5
        assert abs(away(entry < 0.2, 2 * 0.0398278)) < 4.5  # Phi(0.1) - 1/2
    temperature = pmg.configurational_temperature(idata, model=model, max_draws=100)
    assert abs(temperature.loc["scale", "z"]) < 4.5


@pytest.mark.usefixtures("half_line")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_scale_on_the_half_line_is_found_from_minibatches():
    y = np.random.default_rng(1).normal(0.0, 3.0, 2_000)
    with pm.Model():
        sigma = pm.HalfNormal("sigma", 10.0)
        batch = pm.Minibatch(y, batch_size=100)
        pm.Normal("y", 0.0, sigma, observed=batch, total_size=len(y))
        idata = sample(pmg.SGGMC, {"gradient_noise": "fisher"}, draws=500)
    # The posterior standard deviation is sigma / sqrt(2 N) = 0.047.
    sigma = idata.posterior["sigma"].values
    assert abs(sigma.mean() - y.std()) < 0.03
    assert 0.03 < sigma.std() < 0.07


@pytest.mark.usefixtures("half_line")
def test_a_mass_for_each_entry_and_no_more():
    with pm.Model():
        pm.HalfNormal("scale", [1.0, 9.0])
        pmg.SGGMC(step_size=0.1, friction=1.0, mass={"scale": [1.0, 1 / 81]})
        with pytest.raises(ValueError, match="`mass` expected a number or one for each entry"):
            pmg.SGGMC(step_size=0.1, friction=1.0, mass={"scale": np.eye(2) + 0.1})


HOUR, RHO = 23.0, 0.4


def angles_of(hours):
    """Angles to the busiest hour."""
    return 2 * np.pi / 24 * (hours - HOUR)


def test_time_of_day_has_its_density_and_draws():
    x = np.linspace(0, 24, 1_000, endpoint=False)
    density = np.exp(pm.logp(TimeOfDay.dist(HOUR, RHO), x).eval())
    np.testing.assert_allclose(density.mean() * 24, 1.0)
    assert pm.logp(TimeOfDay.dist(HOUR, RHO), 24.5).eval() == -np.inf
    draws = pm.draw(TimeOfDay.dist(HOUR, RHO), 20_000, random_seed=1)
    assert Clock().check(draws) is None
    for n, expected in [(1, RHO), (2, 0.0)]:
        assert abs(away(np.cos(n * angles_of(draws))[None], expected)) < 4.5
        assert abs(away(np.sin(n * angles_of(draws))[None], 0.0)) < 4.5
    assert pm.draw(TimeOfDay.dist([0.0, 1.0], RHO, size=(3, 2))).shape == (3, 2)


@pytest.mark.parametrize(
    "name",
    ["SGGMC", *(pytest.param(name, marks=pytest.mark.slow) for name in ("gSGNHT-tuned", "GMC"))],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_time_of_day_is_sampled_around_the_clock(name):
    make, options = STEPS[name]
    if "step_size" in options:
        options = options | {"step_size": 1.0}
    with pm.Model() as model:
        TimeOfDay("hour", HOUR, RHO)
        idata = sample(make, options, draws=2000)
        assert isinstance(pmg.manifold_of(model["hour"]), Clock)
    hour = idata.posterior["hour"].values
    assert Clock().check(hour) is None
    assert abs(away(np.cos(angles_of(hour)), RHO)) < 4.5
    assert abs(away(np.sin(angles_of(hour)), 0.0)) < 4.5
    assert abs(away(np.cos(2 * angles_of(hour)), 0.0)) < 4.5
    pmg.diagnose(idata, model=model)


@pytest.mark.slow
def test_nuts_samples_the_time_of_day_too():
    with pm.Model():
        TimeOfDay("hour", HOUR, RHO)
        idata = pm.sample(2000, chains=2, cores=1, random_seed=1, progressbar=False)
    assert abs(away(np.cos(angles_of(idata.posterior["hour"].values)), RHO)) < 4.5


def test_points_need_their_axes():
    pmg.register_manifold(pm.MatrixNormal, Stiefel())
    try:
        with pm.Model():
            pm.MatrixNormal("x", np.zeros((1, 1)), rowcov=np.eye(1), colcov=np.eye(1))
            with pytest.raises(ValueError, match="`x` expected at least two entries in each point"):
                pmg.SGGMC(step_size=0.1, friction=1.0)
        pmg.register_manifold(pm.MvNormal, Stiefel())
        with pm.Model():
            pm.MvNormal("x", np.zeros(3), np.eye(3))
            with pytest.raises(ValueError, match=r"`x` expected points along its last 2 axes"):
                pmg.SGGMC(step_size=0.1, friction=1.0)
    finally:
        for distribution in (pm.MatrixNormal, pm.MvNormal):
            pmg.register_manifold(distribution, pmg.Euclidean())


@pytest.fixture
def stiefel():
    pmg.register_manifold(pm.MatrixNormal, Stiefel())
    yield
    pmg.register_manifold(pm.MatrixNormal, pmg.Euclidean())


def matrix_fisher_mean(f, n=200_000):
    """Mean, and its standard error, of the density exp(tr(F'X)), by weighted uniform draws."""
    left, _, right = np.linalg.svd(
        np.random.default_rng(1).normal(size=(n, *f.shape)), full_matrices=False
    )
    x = left @ right
    weights = np.exp((f * x).sum(axis=(1, 2)))
    weights /= weights.sum()
    mean = np.tensordot(weights, x, 1)
    return mean, np.sqrt(np.tensordot(weights**2, (x - mean) ** 2, 1))


@pytest.mark.parametrize(
    "name",
    [
        "SGGMC",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("gSGNHT-points", "gSGNHT-tuned", "GMC")
        ),
    ],
)
@pytest.mark.usefixtures("stiefel")
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
def test_matrices_with_orthonormal_columns_are_sampled(name):
    """A matrix normal density on them is the matrix Fisher distribution."""
    f = np.array([[2.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    make, options = STEPS[name]
    if "step_size" in options:
        options = options | {"step_size": 0.2}
    with pm.Model():
        start = np.eye(3)[:, :2]
        pm.MatrixNormal("x", mu=f, rowcov=np.eye(3), colcov=np.eye(2), initval=start)
        idata = sample(make, options)
    x = idata.posterior["x"].values
    np.testing.assert_allclose(
        x.swapaxes(-1, -2) @ x, np.broadcast_to(np.eye(2), (*x.shape[:2], 2, 2)), atol=1e-12
    )
    batches = x.reshape(len(x) * 20, -1, *f.shape).mean(axis=1)
    error = batches.std(axis=0, ddof=1) / np.sqrt(len(batches))
    mean, known = matrix_fisher_mean(f)
    assert np.all(np.abs(batches.mean(axis=0) - mean) < 4.5 * np.hypot(error, known))
