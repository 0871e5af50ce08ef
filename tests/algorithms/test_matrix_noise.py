#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Noise with a direction on curved manifolds: what the batch has and what is injected add up."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.algorithms.gsgnht import thermostat_noise_variance
from pymc_geodesic.algorithms.splitting import balanced_kick, damp, matched_friction
from pymc_geodesic.mass.frames import Scaling, VariableFrames, WeightedProduct
from pymc_geodesic.potential import FisherNoise, Potential
from pymc_geodesic.potential.estimate import MOST_ENTRIES, Spectrum, applied, mapped

STEP_SIZE, N_ROWS, BATCH = 0.1, 60, 8
# With the second friction the noise of some directions exceeds what it dissipates.
FRICTIONS = [3.0, 0.01]

VARIABLES = {
    "a unit vector": lambda: pmg.SphericalUniform("x", shape=4),
    "unit vectors": lambda: pmg.SphericalUniform("x", shape=(2, 3)),
    "a frame": lambda: pmg.UniformStiefel("x", n=4, p=2),
    "a rotation": lambda: pmg.UniformRotation("x", shape=(3, 3)),
    "probabilities": lambda: pm.Dirichlet("x", np.full(4, 2.0)),
    "two variables": lambda: [pmg.SphericalUniform("x", shape=4), pm.Normal("y", shape=2)][0],
}


def potential_of(variable):
    """Write rows that are ten times as long in one direction as in the others."""
    rng = np.random.default_rng(1)
    with pm.Model() as model:
        x = variable()
        shape = tuple(x.type.shape)
        rows = rng.normal(size=(N_ROWS, *shape))
        rows += 10 * np.multiply.outer(rng.normal(size=N_ROWS), rng.normal(size=shape))
        batch = pm.Minibatch(rows / 3, batch_size=BATCH)
        logp = lambda row, x: row * x / N_ROWS  # noqa: E731
        pm.CustomDist("rows", x, logp=logp, observed=batch, total_size=N_ROWS)
    return Potential(model, model.value_vars, initial_point=model.initial_point())


def compiled(potential, outputs):
    inputs = [*potential.positions, *potential.indices]
    return pytensor.function(inputs, outputs, mode="FAST_COMPILE", on_unused_input="ignore")


def point_of(potential):
    rng = np.random.default_rng(2)
    noise = tuple(pt.as_tensor(rng.normal(size=s)) for s in potential.manifold.shapes)
    return [x.eval() for x in potential.manifold.random_point(noise)]


def matrix_of(function, shape):
    """Write a linear function of a tensor as a matrix, one column for each entry."""
    size = int(np.prod(shape))
    units = pt.as_tensor(np.eye(size).reshape(size, *shape))
    return pt.stack([function(units[i]).ravel() for i in range(size)], axis=1)


@pytest.mark.parametrize("friction", FRICTIONS)
@pytest.mark.parametrize("mass", [1.0, 2.0])
@pytest.mark.parametrize("what", VARIABLES)
def test_noise_of_a_batch_and_injected_noise_keep_the_velocity(what, mass, friction):
    """With D of B and f, s of O: D [D Lambda D + s + eps^2 f V f] D = Lambda to rounding."""
    potential = potential_of(VARIABLES[what])
    noise, position = FisherNoise(potential), potential.positions
    maps = [Scaling(pt.as_tensor(mass**-0.5)) for _ in position]
    manifold = WeightedProduct(potential.manifold, frame=VariableFrames(maps))
    variance, _ = noise.update(
        tuple(map(pt.as_tensor, noise.initial())),
        position,
        potential.indices,
        pt.zeros(()),
        potential=potential,
    )
    variance = manifold.variance_to_frame(variance)
    frictions = matched_friction(manifold, pt.as_tensor(friction), STEP_SIZE, variance)
    scales, injected = balanced_kick(manifold, frictions, STEP_SIZE, variance)
    factor, shape, x = manifold.factors[0], manifold.shapes[0], position[0]
    [score] = potential.scores(position, potential.indices, width=pt.zeros(()))

    def tangent(u):
        return factor.to_tangent(x, u)

    def damped(u):
        return damp((u,), frictions[:1], STEP_SIZE / 2)[0]

    outputs = [
        score[0],
        matrix_of(tangent, shape),
        matrix_of(lambda u: damped(tangent(u)), shape),
        matrix_of(lambda u: tangent(applied(scales[0], u)), shape),
        matrix_of(lambda u: tangent(applied(mapped(pt.sqrt, injected[0]), u)), shape),
    ]
    rows = np.random.default_rng(3).integers(0, N_ROWS, BATCH)
    scores, projection, damping, scale, color = compiled(potential, outputs)(
        *point_of(potential), rows
    )
    between = scores.reshape(BATCH, -1) @ projection
    covariance = np.cov(between, rowvar=False) / BATCH / mass
    if what == "unit vectors":
        # The noise of two points is balanced for each of them.
        covariance[:3, 3:] = covariance[3:, :3] = 0
    assert np.linalg.matrix_rank(covariance) >= 2
    heat = STEP_SIZE**2 * scale @ covariance @ scale.T
    after = damping @ (damping @ damping.T + color @ color.T + heat) @ damping.T
    np.testing.assert_allclose(after, projection, atol=1e-9)
    assert np.linalg.eigvalsh(color @ color.T)[0] > -1e-12
    if friction == FRICTIONS[0]:
        # The friction is the given one: the total is 2 sinh(C eps) in every direction.
        total = 2 * np.sinh(friction * STEP_SIZE) * projection
        np.testing.assert_allclose(color @ color.T + heat, total, atol=1e-9)


def test_a_thermostat_leaves_out_the_given_noise_of_each_direction():
    values = pt.as_tensor([0.0, 1.0, 50.0])
    left = thermostat_noise_variance(2.0, STEP_SIZE, Spectrum(values, pt.eye(3)))
    np.testing.assert_allclose(left.values.eval(), [0.4, 0.39, 0.0])


def test_points_of_many_entries_have_a_number():
    potential = potential_of(lambda: pmg.SphericalUniform("x", shape=MOST_ENTRIES + 1))
    mean, _ = FisherNoise(potential).initial()
    assert mean.shape == (1,)


def test_points_with_one_direction_have_a_number():
    potential = potential_of(lambda: pmg.SphericalUniform("x", shape=2))
    mean, _ = FisherNoise(potential).initial()
    assert mean.shape == (1,)
