#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A mass for each point of a variable on a curved manifold, given or found in the tuning phase."""

import numpy as np
import pymc as pm
import pytest

from chains import assert_mean, run

import pymc_geodesic as pmg

from pymc_geodesic.mass.arrays import VariableMasses, averaged

KAPPA = np.array([0.5, 20.0, 500.0])
N_COPIES = 64
STEPS = {
    "SGGMC": (pmg.SGGMC, {"friction": 1.0, "n_steps": 20}),
    "gSGNHT": (pmg.gSGNHT, {"diffusion": 1.0, "n_steps": 20}),
    "GMC": (pmg.GMC, {"n_leapfrog": 10}),
}


def concentrated(n, *, n_copies=N_COPIES):
    """Unit vectors around one direction, every third of them equally close to it."""
    direction = np.eye(n)[0]
    shape = (n_copies, len(KAPPA), n)
    with pm.Model() as model:
        kappa = np.broadcast_to(KAPPA, shape[:-1])
        pmg.VonMisesFisher("x", direction, kappa, shape=shape, default_transform=None)
    return model


def moments(n, kappa):
    """Mean and second moment of the cosine, by quadrature."""
    t = np.linspace(-1, 1, 400_001)
    density = np.exp(kappa * (t - 1)) * np.clip(1 - t**2, 0, None) ** ((n - 3) / 2)
    return [np.trapezoid(t**k * density, t) / np.trapezoid(density, t) for k in (1, 2)]


@pytest.mark.parametrize("n", [3, pytest.param(8, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", STEPS)
def test_points_of_different_widths_with_masses_of_their_own(name, n):
    step, options = STEPS[name]
    model = concentrated(n)
    mass = np.broadcast_to(1.0 + KAPPA, (N_COPIES, len(KAPPA)))[..., None]
    built = step(model=model, step_size=0.1, mass={"x": mass}, **options)
    draws = 600 if name == "GMC" else 300
    cosines, temperatures = [], []
    for point, stats in run(built, model.initial_point(), draws=draws, discard=100):
        cosines.append(point["x"][..., 0])
        temperatures.append(stats["kinetic_temperature"])
    cosines = np.array(cosines)
    for k, kappa in enumerate(KAPPA):
        for power, expected in enumerate(moments(n, kappa), start=1):
            assert_mean((cosines[..., k] ** power).mean(axis=0), expected)
    assert_mean(np.array(temperatures).reshape(20, -1).mean(axis=1), 1.0)


def test_tuning_finds_the_width_of_every_point():
    """One width for all would be that of the narrowest, and the widest would hardly move."""
    with concentrated(3, n_copies=1) as model:
        pm.Normal("y", 0.0, 1.0, observed=pm.Minibatch(np.zeros(40), batch_size=20), total_size=40)
        step = pmg.gSGNHT()
    path = run(step, model.initial_point(), draws=800, tune=400)
    cosines = np.array([point["x"][0, :, 0] for point, _ in path][400:])
    [width] = step.chain.settings.mass.arrays
    assert width.shape == (1, 3, 1)
    # Draws correct what the mode says. Their variance is averaged over the three entries of a
    # point, of which two are tangent.
    expected = [np.sqrt((1 - moments(3, kappa)[1]) / 3) for kappa in KAPPA]
    np.testing.assert_allclose(width[0, 1:, 0], expected[1:], rtol=0.25)
    # Of a wide one the manifold's own size is the scale.
    assert 0.4 < width[0, 0, 0] <= 1
    for k, kappa in enumerate(KAPPA):
        mean, second = moments(3, kappa)
        # Five errors of a mean of 50 independent draws.
        assert abs(cosines[:, k].mean() - mean) < 5 * np.sqrt((second - mean**2) / 50)


def test_refined_mass_averages_what_shares_a_number():
    masses = VariableMasses(
        [np.ones((2, 1)), np.ones(3)], dense=[False, False], shapes=[(2, 2), (3,)], dtype="float64"
    )
    variances = np.array([1.0, 3.0, 5.0, 7.0, 1.0, 4.0, 9.0])
    points, entries = masses.refined(variances).arrays
    np.testing.assert_allclose(points**2, [[2.0], [6.0]])
    np.testing.assert_allclose(entries**2, [1.0, 4.0, 9.0])


@pytest.mark.parametrize("shape", [(), (1,), (2, 1, 1), (2, 1, 3), (2, 4, 3)])
def test_average_over_the_axes_that_are_repeated(shape):
    x = np.arange(24.0).reshape(2, 4, 3)
    found = averaged(x, shape)
    assert found.shape == shape
    total = np.broadcast_to(found, x.shape).sum()
    np.testing.assert_allclose(total, x.sum())


@pytest.mark.parametrize("shape", [(3,), (64, 3), (3, 1), (64, 3, 3), (64, 1, 3)])
def test_other_shapes_are_refused(shape):
    with (
        concentrated(3) as model,
        pytest.raises(ValueError, match="expected a number or one for each point for `x`"),
    ):
        pmg.SGGMC(model=model, step_size=0.1, mass={"x": np.ones(shape)})
