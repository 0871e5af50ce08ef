#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""With all rows in order, the minibatch density and gradient are those of the full-data model."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest

from pytensor.compile.mode import Mode

import pymc_geodesic as pmg

from pymc_geodesic.potential import Potential

N = 30
INTERPRETED = Mode(linker="py", optimizer="fast_compile")


def unit_vectors(rng, *shape):
    x = rng.normal(size=shape)
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


RNG = np.random.default_rng(1)
X = unit_vectors(RNG, N, 3)
COVARIATES = RNG.normal(size=(N, 2))
Y = RNG.normal(size=N)
COUNTS = RNG.multinomial(5, [0.2, 0.3, 0.5], size=N).astype("int32")


def scale(data, batches):
    return {"total_size": len(data)} if batches else {}


def batch(*data, size, batches):
    rows = pm.Minibatch(*data, batch_size=size) if batches else data
    return rows if len(data) > 1 else rows[0] if isinstance(rows, tuple) else rows


def sphere(batches):
    x = batch(X, size=7, batches=batches)
    mu = pmg.VonMisesFisher("mu", [0.0, 0.6, 0.8], 1.5)
    kappa = pm.HalfNormal("kappa", 10.0)
    pmg.VonMisesFisher("x", mu, kappa, observed=x, **scale(X, batches))


def points_on_spheres(batches):
    x = batch(X, size=7, batches=batches)
    mu = pmg.SphericalUniform("mu", shape=(2, 3))
    w = pm.Dirichlet("w", [2.0, 3.0])
    parts = pmg.VonMisesFisher.dist(mu, np.array([2.0, 4.0]))
    pm.Mixture("x", w=w, comp_dists=parts, observed=x, **scale(X, batches))


def regression(batches):
    covariates, y = batch(COVARIATES, Y, size=8, batches=batches)
    b = pm.Normal("b", 0.5, 2.0, shape=2)
    sigma = pm.Deterministic("sigma", pm.math.exp(pm.Normal("log_sigma")))
    pm.Potential("pull", -(b**4).sum())
    pm.Normal("y", covariates @ b, sigma, observed=y, **scale(Y, batches))


def two_streams(batches):
    x = batch(X, size=7, batches=batches)
    y = batch(Y, size=5, batches=batches)
    mu = pmg.VonMisesFisher("mu", [0.0, 0.6, 0.8], 1.5)
    b = pm.Normal("b")
    pmg.VonMisesFisher("x", mu, 3.0, observed=x, **scale(X, batches))
    pm.Normal("y", b + mu[0], 0.5, observed=y, **scale(Y, batches))
    pm.Normal("whole", b, 1.0, observed=[0.5, 1.0])


def counts(batches):
    n = batch(COUNTS, size=6, batches=batches)
    p = pm.Dirichlet("p", [1.0, 2.0, 3.0])
    pm.Multinomial("n", 5, p, observed=n, **scale(COUNTS, batches))


def vectors(batches):
    x = batch(COVARIATES, size=6, batches=batches)
    mean = pm.Normal("mean", shape=2)
    pm.MvNormal("x", mean, np.array([[2.0, 0.5], [0.5, 1.0]]), observed=x, **scale(X, batches))


def named_data(batches):
    x = pm.Data("X", X)
    x = pm.Minibatch(x, batch_size=7) if batches else x
    mu = pmg.VonMisesFisher("mu", [0.0, 0.6, 0.8], 1.5)
    pmg.VonMisesFisher("x", mu, 3.0, observed=x, **scale(X, batches))


def sum_of_rows(batches):
    y = batch(Y, size=7, batches=batches)
    theta = pm.Normal("theta")

    def logp(value, theta):
        return pm.logp(pm.Normal.dist(theta, 2.0), value).sum()

    pm.CustomDist("y", theta, logp=logp, observed=y, **scale(Y, batches))


def directions_of_covariates(batches):
    covariates, x = batch(COVARIATES, X, size=7, batches=batches)
    mu = pmg.VonMisesFisher("mu", [0.0, 0.6, 0.8], 1.5)
    slope = pm.Normal("slope", shape=3)
    mean = mu + covariates[:, :1] * slope
    mean = mean / pm.math.sqrt((mean**2).sum(axis=-1, keepdims=True))
    pmg.VonMisesFisher("x", mean, 3.0, observed=x, **scale(X, batches))


def mixture_of_covariates(batches):
    covariates, y = batch(COVARIATES, Y, size=7, batches=batches)
    b = pm.Normal("b", shape=2)
    means = [covariates @ b, covariates[:, 0] * 0.5]
    censored = [pm.Censored.dist(pm.Normal.dist(mean, 1.0), -3.0, 3.0) for mean in means]
    pm.Mixture("y", w=[0.3, 0.7], comp_dists=censored, observed=y, **scale(Y, batches))


MODELS = [
    sphere,
    directions_of_covariates,
    mixture_of_covariates,
    points_on_spheres,
    regression,
    two_streams,
    counts,
    vectors,
    named_data,
    sum_of_rows,
]


def build(write, *, batches):
    with pm.Model() as model:
        write(batches)
    return model


def potential_of(model, **options):
    return Potential(
        model, model.continuous_value_vars, initial_point=model.initial_point(), **options
    )


def embedded_density(model, potential):
    """PyMC's own full-data density of the values, as a function of embedded points.

    The transforms' Jacobians turn the density of the values into that of the variables, and the
    volume terms turn it into a density with respect to surface measure.
    """
    terms = [model.logp()]
    replacements = {}
    for variable in potential.variables:
        if variable.is_flat:
            replacements[variable.value] = variable.position
            continue
        manifold = variable.manifold
        point = manifold.unembed(variable.position)
        inputs = variable.rv.owner.inputs
        value = variable.transform.forward(point, *inputs)
        terms.append(-variable.transform.log_jac_det(value, *inputs).sum())
        volume = manifold.log_volume(variable.position)
        terms.append(pt.zeros(()) if volume is None else volume.sum())
        replacements[variable.value] = value
    return pytensor.graph.clone_replace(sum(terms), replacements, rebuild_strict=False)


def difference_from_full_data(write):
    model = build(write, batches=True)
    full = build(write, batches=False)
    potential, reference = potential_of(model), potential_of(full)
    rng = np.random.default_rng(4)
    points = [rng.normal(size=v.shape) for v in potential.variables]
    points = [
        x if v.is_flat else np.abs(x) / np.linalg.norm(x, axis=-1, keepdims=True)
        for x, v in zip(points, potential.variables, strict=True)
    ]
    rows = [np.arange(source.n_rows) for source in potential.sources]

    indices = [source.placeholder("rows", None) for source in potential.sources]
    energy = potential.energy(potential.positions, indices)
    gradient = potential.gradient(potential.positions, indices, width=pt.constant(0.0))
    ours = pytensor.function(
        [*potential.positions, *indices],
        [energy, *gradient],
        mode=INTERPRETED,
        on_unused_input="ignore",
    )(*points, *rows)

    density = embedded_density(full, reference)
    tangent = [
        v.manifold.to_tangent(v.position, g)
        for v, g in zip(
            reference.variables, pt.grad(density, list(reference.positions)), strict=True
        )
    ]
    theirs = pytensor.function(list(reference.positions), [density, *tangent], mode=INTERPRETED)(
        *points
    )
    projected = [
        np.asarray(v.manifold.to_tangent(pt.constant(x), pt.constant(g)).eval(mode=INTERPRETED))
        for v, x, g in zip(potential.variables, points, ours[1:], strict=True)
    ]
    return ours[0] + theirs[0], [a + b for a, b in zip(projected, theirs[1:], strict=True)]


@pytest.mark.parametrize("write", MODELS, ids=lambda write: write.__name__)
def test_all_rows_give_the_full_data_density_and_gradient(write):
    energy, gradient = difference_from_full_data(write)
    # Our density leaves out constants of the volume terms only: (K - 1) log 2 on the simplex.
    assert abs(energy) < 1e-10
    for part in gradient:
        np.testing.assert_allclose(part, 0, atol=1e-9)
