#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A tangent mass changes the way to the target, never the target."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest

from chains import assert_mean, assert_temperature_of_positions, chain_averages, run
from exact_moments import second_moments
from pytensor.compile.mode import Mode

import pymc_geodesic as pmg

from pymc_geodesic.distributions.bessel import bessel_ratio
from pymc_geodesic.manifolds.stretched import Stretched

INTERPRETED = Mode(linker="py", optimizer=None)
RNG = np.random.default_rng(5)
SCATTER = {n: np.cov(RNG.normal(size=(n, 3 * n)) * np.linspace(1, 3, n)[:, None]) for n in (3, 5)}
MU = np.array([2.0, -1.0, 0.5])
MU = MU / np.linalg.norm(MU)


def tangent_basis(manifold, x):
    """An orthonormal basis of the tangent space, one array per row."""
    size = x.size
    units = pt.constant(np.eye(size).reshape(size, *x.shape))
    point = pt.stack([pt.constant(x)] * size)
    projected = manifold.to_tangent(point, units).eval(mode=INTERPRETED).reshape(size, size)
    left, sizes, _ = np.linalg.svd(projected)
    return left[:, sizes > 0.5].T.reshape(-1, *x.shape)


@pytest.mark.parametrize(
    ("base", "shape"), [(pmg.Sphere(), (5,)), (pmg.Stiefel(), (5, 2)), (pmg.Stiefel(), (5, 4))]
)
def test_the_volume_is_that_of_the_map(base, shape):
    manifold = Stretched(base, np.linalg.cholesky(SCATTER[5]))
    excess, h = [], 1e-6
    for seed in range(3):
        noise = pt.constant(np.random.default_rng(seed).normal(size=shape))
        z = base.random_point(noise).eval(mode=INTERPRETED)
        basis = tangent_basis(base, z)

        def value(point):
            return manifold.unembed(pt.constant(point)).eval(mode=INTERPRETED)

        slopes = np.array([(value(z + h * b) - value(z - h * b)).ravel() / (2 * h) for b in basis])
        log_volume = 0.5 * np.linalg.slogdet(slopes @ slopes.T)[1]
        excess.append(log_volume - manifold.log_volume(pt.constant(z)).eval(mode=INTERPRETED))
    np.testing.assert_allclose(excess, excess[0], atol=1e-6)


@pytest.mark.parametrize("method", [pmg.SGGMC, pmg.gSGNHT])
def test_moments_do_not_depend_on_the_mass(method):
    n_points, kappa, step_size = 100, 5.0, 0.05
    with pm.Model() as model:
        pmg.VonMisesFisher("x", np.tile(MU, (n_points, 1)), kappa)
    name = {pmg.SGGMC: "friction", pmg.gSGNHT: "diffusion"}[method]
    options = {name: 0.1 / step_size}
    if method is pmg.gSGNHT:
        options["thermostat"] = "per_point"
    step = method(
        model=model,
        step_size=step_size,
        n_steps=25,
        mass={"x": pmg.TangentMass(SCATTER[3])},
        **options,
    )
    averages, stats = chain_averages(
        step,
        model.initial_point(),
        {
            "mean": lambda point: point["x_unitvector__"] @ MU,
            "across": lambda point: point["x_unitvector__"] @ np.cross(MU, [0, 0, 1.0]),
            "square": lambda point: (point["x_unitvector__"] @ MU) ** 2,
        },
        draws=300,
        discard=30,
    )
    ratio = float(bessel_ratio(3, kappa).eval(mode=INTERPRETED))
    assert_mean(averages["mean"], ratio)
    assert_mean(averages["across"], 0.0)
    assert_mean(averages["square"], 1 - 2 * ratio / kappa)
    assert_temperature_of_positions(stats, allowed=0.02)


def test_frames_by_gmc_with_a_mass():
    f = np.array([[3.0, 0], [0, 1.5], [0.5, 0]])
    with pm.Model() as model:
        pmg.MatrixLangevin("x", f)
    step = pmg.GMC(
        model=model,
        step_size=0.3,
        n_leapfrog=5,
        n_steps=50,
        mass={"x": pmg.TangentMass(SCATTER[3])},
    )
    statistic = {"trace": lambda point: (point["x_frame__"] * f).sum()}
    runs = [
        chain_averages(step, model.initial_point(), statistic, draws=40, discard=5, seed=seed)
        for seed in range(20)
    ]
    averages = [found["trace"] for found, _ in runs]
    # From two million importance draws.
    expected = np.sum(f * [[0.6847, 0], [0, 0.4931], [0.1145, 0]])
    assert_mean(averages, expected)


def test_draws_show_the_widths():
    mass = pmg.TangentMass.from_draws(
        np.random.default_rng(1).normal([0, 0, 1.0], [1e-3, 0.1, 0.0], (4, 500, 3))
    )
    widths = np.sqrt(np.linalg.eigvalsh(mass.factor @ mass.factor.T))
    np.testing.assert_allclose(widths, [0.01, 1, 1], rtol=0.1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pmg.TangentMass(np.ones(3)), "square matrix"),
        (lambda: pmg.TangentMass([[1.0, 0.5], [0.0, 1.0]]), "symmetric"),
        (lambda: pmg.TangentMass(np.diag([1.0, -1.0])), "positive eigenvalues"),
    ],
)
def test_what_is_no_scatter_matrix_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_other_variables_are_refused():
    mass = pmg.TangentMass(np.eye(3))
    with pm.Model() as model:
        pm.Normal("y", shape=3)
        pmg.UniformRotation("r")
    for given, message in (
        (mass, "dict by variable name"),
        ({"z": mass}, "expected variables among"),
        ({"y": mass}, "a unit vector or a frame"),
        ({"r": mass}, "a unit vector or a frame"),
    ):
        with pytest.raises(ValueError, match=message):
            pmg.SGGMC(model=model, mass=given, step_size=0.1, friction=1.0)


def test_axes_of_all_chains_have_the_same_end():
    A = np.diag([-400.0, -20.0, 0.0])
    mass = {"x": pmg.TangentMass(np.diag([0.05, 0.5, 1.0]) + 0.01)}
    with pm.Model() as model:
        pmg.Bingham("x", A)
        step = pmg.SGGMC(mass=mass, step_size=0.05, friction=2.0, n_steps=20)
    assert step.sampler.problem.manifold_names == {"x": "ProjectiveSphere"}
    draws = [point["x_unitvector__"] for point, _ in run(step, model.initial_point(), draws=4_000)]
    x = np.array(draws)
    assert np.all(x[:, 2] >= 0)
    exact = second_moments(A)
    for i in (0, 1):
        assert_mean((x[:, i] ** 2).reshape(40, -1).mean(axis=1), exact[i, i])


WIDTHS = {"cap": [0.01, 0.2, 0.2, 1e3], "girdle": [0.01, 0.01, 1.0, 1.0], "round": [0.2, 0.2, 0.2]}


def narrow(kind):
    """A density whose second moments are those of a Bingham distribution."""
    A = -0.5 * np.diag(1 / np.square(WIDTHS[kind]))
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=A.shape))[0]
    A = turn @ A @ turn.T
    with pm.Model() as model:
        x = pmg.SphericalUniform("x", shape=len(A))
        pm.Potential("narrow", x @ A @ x)
    return model, A, turn


@pytest.mark.parametrize("method", [pmg.SGGMC, pmg.gSGNHT])
@pytest.mark.parametrize("kind", ["cap", "girdle"])
def test_tuning_finds_the_mass(kind, method):
    model, A, turn = narrow(kind)
    with model:
        step = method()
        [manifold] = step.sampler.problem.manifold.factors
        assert isinstance(manifold, Stretched)
        idata = pm.sample(
            1_000, tune=300, chains=2, cores=1, step=step, random_seed=1, progressbar=False
        )
    assert idata.sample_stats["n_steps"].max() <= 50
    x = idata.posterior["x"].values @ turn
    exact = turn.T @ second_moments(A) @ turn
    for i in range(2):
        batches = (x[..., i] ** 2).reshape(40, -1).mean(axis=1)
        error = batches.std(ddof=1) / np.sqrt(40)
        # Tuning may leave a bias of a tenth of a standard deviation.
        assert abs(batches.mean() - exact[i, i]) < 4 * error + 0.05 * exact[i, i]
        assert_mean(x[..., i].reshape(40, -1).mean(axis=1), 0.0)
    assert not idata.sample_stats["diverging"].any()


def test_a_round_posterior_keeps_its_coordinates():
    model, *_ = narrow("round")
    step = pmg.SGGMC(model=model)
    assert isinstance(step.sampler.problem.manifold.factors[0], pmg.Sphere)


def test_a_mass_of_one_switches_it_off():
    model, *_ = narrow("cap")
    step = pmg.SGGMC(model=model, mass={"x": pmg.TangentMass(np.eye(4))})
    np.testing.assert_array_equal(step.sampler.problem.manifold.factors[0].factor, np.eye(4))
