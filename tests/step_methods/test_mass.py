#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Steps with a mass: the same law, the same bits where the mass is one, and clear refusals."""

import numpy as np
import pymc as pm
import pytest

from chains import add_gradient_noise, assert_mean, batch_mean, run

import pymc_geodesic as pmg

STEPS = {
    "SGHMC": (pmg.SGHMC, {"friction": 1.0}),
    "SGNHT": (pmg.SGNHT, {"diffusion": 1.0}),
    "GMC": (pmg.GMC, {"n_leapfrog": 5}),
    "SGNPHMC": (pmg.SGNPHMC, {"n_leapfrog": 10, "thermal_mass": 10.0}),
}


def build(name, model, **options):
    cls, own = STEPS[name]
    return cls(model=model, rng=1, **(own | options))


def gaussian(n):
    """Standard deviations 1 and 1/2 by turns, and a correlation between neighbours."""
    scales = np.where(np.arange(n) % 2, 0.5, 1.0)
    correlation = 0.4 ** np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    covariance = correlation * np.outer(scales, scales)
    with pm.Model() as model:
        pm.MvNormal("x", mu=np.linspace(-1, 1, n), cov=covariance, shape=n)
    return model, scales


def masses(n):
    diagonal = np.where(np.arange(n) % 2, 9.0, 1.0)
    rotation = np.linalg.qr(np.random.default_rng(1).standard_normal((n, n)))[0]
    return {"diagonal": diagonal, "dense": rotation * diagonal @ rotation.T}


def path_with(name, mass):
    model, _ = gaussian(4)
    step = build(name, model, step_size=0.2, mass=mass)
    draws = run(step, model.initial_point(), draws=20)
    return np.array([point["x"] for point, _ in draws])


@pytest.mark.parametrize("name", STEPS)
def test_a_mass_of_one_gives_the_draws_of_no_mass(name):
    plain = path_with(name, None)
    for unit in (1.0, np.ones(4), np.eye(4)):
        np.testing.assert_array_equal(path_with(name, unit), plain)
    # Before its first M step. Products with one and sums with zero, which the compiler may round in
    # another order.
    learned = pmg.MonteCarloEM(kind="dense", update_every=1_000)
    np.testing.assert_allclose(path_with(name, learned), plain, rtol=1e-9)


@pytest.mark.parametrize("kind", ["diagonal", "dense"])
@pytest.mark.parametrize("n", [pytest.param(n, marks=pytest.mark.slow) for n in (1, 2, 50)] + [10])
@pytest.mark.parametrize("name", STEPS)
def test_law_does_not_depend_on_the_mass(name, n, kind):
    model, scales = gaussian(n)
    mass = masses(n)[kind]
    step = build(name, model, step_size=0.1, n_steps=10, mass=mass)
    center = np.linspace(-1, 1, n)
    path, temperatures, positions = [], [], []
    for point, stats in run(step, model.initial_point(), draws=6_000, discard=200):
        path.append((point["x"] - center) / scales)
        temperatures.append(stats["kinetic_temperature"])
        positions.append(stats.get("configurational_temperature", np.nan))
    # Means of batches of 120 draws are independent: their spread gives the standard error.
    batches = np.array(path).reshape(50, -1, n)
    for group in (slice(0, None, 2), slice(1, None, 2))[: min(n, 2)]:
        assert_mean(batches[..., group].mean(axis=(1, 2)), 0.0)
        assert_mean((batches[..., group] ** 2).mean(axis=(1, 2)), 1.0)
    assert_mean(np.array(temperatures).reshape(50, -1).mean(axis=1), 1.0)
    mean, error = batch_mean(positions)
    # The Metropolis test of GMC leaves its positions no temperature to be told.
    assert name == "GMC" or abs(mean - 1) < 0.01 + 5 * error


def test_printed_thermostat_with_a_mass_has_another_law():
    """Friction xi M^-1 p with noise 2 A I, as first published, keeps no law with a mass."""
    mass, precision = np.array([1.0, 9.0]), np.array([1.0, 4.0])
    rng, h, diffusion, n_chains = np.random.default_rng(1), 0.02, 1.0, 4_000
    theta, p = rng.standard_normal((2, n_chains, 2)) / np.sqrt(precision)
    xi, total, kept = np.full((n_chains, 1), diffusion), 0, 0
    for t in range(6_000):
        noise = np.sqrt(2 * diffusion * h) * rng.standard_normal(p.shape)
        p = p - xi * p / mass * h - precision * theta * h + noise
        theta = theta + p / mass * h
        xi = xi + h * ((p**2 / mass).mean(axis=1, keepdims=True) - 1)
        if t >= 1_000:
            total, kept = total + theta**2 * precision, kept + 1
    averages = total / kept
    error = averages.std(axis=0) / np.sqrt(n_chains)
    np.testing.assert_allclose(averages.mean(axis=0), [1.26, 0.75], atol=0.03)
    assert np.all(error < 0.01)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["diag", "dense"])
def test_em_learns_the_covariance_of_the_gradient_noise(kind):
    variance = np.array([200.0, 10.0])
    rows = np.random.default_rng(0).standard_normal((200_000, 2))
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0) * np.sqrt(variance)
    with pm.Model() as model:
        x = pm.Normal("x", shape=2)
        add_gradient_noise("noise", x, rows)
    common = {"step_size": 0.05, "n_steps": 20}
    plain = build("SGNHT", model, **common)
    path = np.array([p["x"] for p, _ in run(plain, model.initial_point(), draws=10_000, tune=500)])
    ratios = (path[500:] ** 2).mean(axis=0)
    # A + eps V / 2 over its mean: (1 + 5) / 3.625 and (1 + 0.25) / 3.625, up to fluctuations of xi.
    np.testing.assert_allclose(ratios, [1.655, 0.345], atol=0.08)

    step = build("SGNHT", model, mass=pmg.MonteCarloEM(kind=kind), **common)
    tune = 40_000
    path = [p["x"] for p, _ in run(step, model.initial_point(), draws=tune + 30_000, tune=tune)]
    batches = (np.array(path[tune:]) ** 2).reshape(50, -1, 2).mean(axis=1)
    error = batches.std(axis=0, ddof=1) / np.sqrt(len(batches))
    assert 17 < step.chain.mass_adaptation.statistics["mass_ratio"] < 23
    assert np.all(np.abs(batches.mean(axis=0) - 1) < 0.03 + 3 * error)


def test_number_on_a_sphere_slows_it_down_and_keeps_the_law():
    with pm.Model() as model:
        pmg.VonMisesFisher("mu", mu=[1.0, 0.0, 0.0], kappa=0.0)
        pm.Normal("y", shape=2)
    step = pmg.gSGNHT(step_size=0.2, diffusion=1.0, n_steps=10, mass={"mu": 4.0}, model=model)
    path = [p for p, _ in run(step, model.initial_point(), draws=5_000, discard=100)]
    for name, size in (("mu", 3), ("y", 2)):
        values = np.array([point[name if name == "y" else step.vars[0].name] for point in path])
        squares = (values**2).reshape(50, -1, size).mean(axis=1)[:, 0]
        assert_mean(squares, 1 / 3 if name == "mu" else 1.0)


def test_mass_and_step_size_scale_together():
    """A mass of 10^4 with a step of 2 moves a point as no mass with one of 0.02 does, poles too."""
    counts = np.random.default_rng(1).multinomial(1, [0.9, 0.09, 0.01], size=200).astype("int32")
    with pm.Model() as model:
        p = pm.Dirichlet("p", np.ones(3))
        batch = pm.Minibatch(counts, batch_size=50)
        pm.Multinomial("x", 1, p, observed=batch, total_size=200)
    common = {"n_steps": 20}
    paths = []
    for options in ({"friction": 10.0}, {"friction": 0.1, "mass": {"p": 1e4}}):
        step_size = 0.02 * (100 if "mass" in options else 1)
        step = pmg.SGGMC(step_size=step_size, model=model, rng=1, **options, **common)
        name = step.vars[0].name
        draws = run(step, model.initial_point(), draws=5)
        paths.append(np.array([point[name] for point, _ in draws]))
    np.testing.assert_allclose(*paths, rtol=1e-6)


def test_statistics_and_history_of_a_learned_mass():
    model, _ = gaussian(3)
    step = build("SGHMC", model, mass=pmg.MonteCarloEM(update_every=20), step_size=0.2)
    idata = pm.sample(
        step=step, model=model, draws=50, tune=100, chains=1, cores=1, progressbar=False
    )
    assert {"mass_log_determinant", "mass_ratio"} <= set(idata.sample_stats)
    assert np.ptp(idata.sample_stats["mass_ratio"].values) == 0
    assert len(step.mass_history) >= 3
    assert step.mass_history[0].n_draws == 20


BAD = {
    "`mass` expected positive and finite entries": (-1.0, np.array([1.0, 0.0]), np.nan),
    "`mass` expected positive eigenvalues": (np.array([[1.0, 2.0], [2.0, 1.0]]),),
    "`mass` expected a symmetric matrix": (np.array([[1.0, 0.5], [0.0, 1.0]]),),
    "`mass` expected a number, 2 diagonal entries": (np.ones(3), np.ones((3, 3))),
    "`mass` expected variables among": ({"z": 1.0},),
    "`mass` of `x` expected a number, an array": ({"x": np.ones(3)},),
    "`mass` expected None, a number": ("big",),
}


@pytest.mark.parametrize(
    ("mass", "message"), [(mass, message) for message, all_ in BAD.items() for mass in all_]
)
def test_bad_masses(mass, message):
    with pm.Model() as model:
        pm.Normal("x", shape=2)
    with pytest.raises(ValueError, match=message):
        pmg.SGHMC(mass=mass, model=model)


@pytest.mark.parametrize("mass", [np.ones(3), np.eye(3), {"mu": np.ones(3)}, pmg.MonteCarloEM()])
def test_masses_of_a_sphere_are_numbers(mass):
    with pm.Model() as model:
        pmg.VonMisesFisher("mu", mu=[1.0, 0.0, 0.0], kappa=1.0)
    with pytest.raises(ValueError, match="On a curved manifold a mass that differs"):
        pmg.SGGMC(mass=mass, model=model)


def test_steps_without_velocity_have_no_mass():
    model, _ = gaussian(2)
    with pytest.raises(ValueError, match="`SGLD` expected no `mass`, because it has no velocities"):
        pmg.SGLD(mass=1.0, model=model)


def test_dense_mass_and_known_noise_exclude_each_other():
    model, _ = gaussian(2)
    with pytest.raises(ValueError, match="`gradient_noise` expected a diagonal mass"):
        pmg.SGHMC(mass=2 * np.eye(2), gradient_noise=1.0, model=model)


def test_masses_of_scalars_compile():
    with pm.Model() as model:
        pm.Normal("x")
        pm.Normal("y", shape=2)
    step = pmg.SGHMC(step_size=0.1, friction=1.0, mass={"x": 2.0, "y": 3.0}, model=model)
    assert np.isfinite([point["x"] for point, _ in run(step, model.initial_point(), draws=3)]).all()
