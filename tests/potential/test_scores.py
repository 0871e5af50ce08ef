#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Scores of single rows, and the gradient noise that their spread tells."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest

from pytensor.compile.mode import Mode

import pymc_geodesic as pmg

from pymc_geodesic.potential import FisherNoise, KnownNoise, Potential

N = 40
INTERPRETED = Mode(linker="py", optimizer="fast_compile")
WIDTH = pt.constant(0.0)
RNG = np.random.default_rng(1)
X = RNG.normal([0.5, 1.0, 0.0], 1.0, (N, 3))
X /= np.linalg.norm(X, axis=1, keepdims=True)
Y = RNG.normal(1.0, 2.0, N)
MU = np.array([0.48, 0.6, 0.64])
THETA = np.array(0.7)


@pytest.fixture(scope="module")
def potential():
    with pm.Model() as model:
        x = pm.Minibatch(X, batch_size=6)
        y = pm.Minibatch(Y, batch_size=5)
        mu = pmg.VonMisesFisher("mu", [0.0, 0.0, 1.0], 2.0)
        theta = pm.Normal("theta")
        pmg.VonMisesFisher("x", mu, 3.0, observed=x, total_size=N)
        pm.Normal("y", theta + mu[0], 1.5, observed=y, total_size=N)
    return Potential(
        model,
        model.value_vars,
        initial_point=model.initial_point(),
    )


def compiled(potential, outputs):
    """Function of the rows of x and of y, in this order."""
    indices = [potential.indices[i] for i in order(potential)]
    inputs = [*potential.positions, *indices]
    function = pytensor.function(inputs, outputs, mode=INTERPRETED, on_unused_input="ignore")
    return lambda *rows: function(MU, THETA, *rows)


def order(potential):
    sizes = [source.batch_size for source in potential.sources]
    return [sizes.index(6), sizes.index(5)]


@pytest.fixture(scope="module")
def gradient(potential):
    return compiled(
        potential, potential.gradient(potential.positions, potential.indices, width=WIDTH)
    )


@pytest.fixture(scope="module")
def scores(potential):
    per_source = potential.scores(potential.positions, potential.indices, width=WIDTH)
    return compiled(
        potential, [score for source in order(potential) for score in per_source[source]]
    )


PRIOR = [-2.0 * np.array([0, 0, 1.0]), THETA]


def test_mean_score_is_the_likelihoods_share_of_the_gradient(potential, gradient, scores):
    rows = [np.array([3, 1, 4, 1, 5, 9]), np.array([2, 6, 5, 3, 5])]
    by_source = scores(*rows)
    total = gradient(*rows)
    n_variables = len(potential.variables)
    for i in range(n_variables):
        mean = by_source[i].mean(axis=0) + by_source[n_variables + i].mean(axis=0)
        np.testing.assert_allclose(-mean + PRIOR[i], total[i], atol=1e-10)


def test_scores_are_those_of_the_formula(scores):
    rows = [np.arange(6), np.arange(5)]
    mu_of_x, theta_of_x, mu_of_y, theta_of_y = scores(*rows)
    residual = N * (Y[:5] - THETA - MU[0]) / 1.5**2
    np.testing.assert_allclose(mu_of_x, N * 3.0 * X[:6], atol=1e-10)
    np.testing.assert_allclose(theta_of_x, 0, atol=0)
    np.testing.assert_allclose(mu_of_y[:, 0], residual, atol=1e-10)
    np.testing.assert_allclose(theta_of_y, residual, atol=1e-10)


def exact_variance():
    """Covariance in the tangent space for mu, variance for theta; rows with replacement."""
    tangent = np.eye(3) - np.outer(MU, MU)
    from_x = np.cov((3.0 * X @ tangent).T, ddof=0) * N**2 / 6
    residual = (Y - THETA - MU[0]) / 1.5**2
    variance = residual.var() * N**2 / 5
    from_y = variance * np.outer(tangent[0], tangent[0])
    return from_x + from_y, variance


def test_fisher_noise_is_unbiased(potential):
    noise = FisherNoise(potential)
    estimate = compiled(
        potential,
        noise.estimate(potential.positions, potential.indices, WIDTH, potential=potential),
    )
    rng = np.random.default_rng(2)
    draws = [estimate(rng.integers(0, N, 6), rng.integers(0, N, 5)) for _ in range(600)]
    tangent = np.eye(3) - np.outer(MU, MU)
    of_mu, of_theta = (np.array(values) for values in zip(*draws, strict=True))
    exact = exact_variance()
    for values, expected in ((tangent @ of_mu @ tangent, exact[0]), (of_theta, exact[1])):
        error = values.std(axis=0) / np.sqrt(len(values))
        assert np.all(np.abs(values.mean(axis=0) - expected) < 4 * error + 1e-9)


def test_fisher_noise_is_the_variance_of_the_gradient(gradient):
    """The formula of the exact variance above, against gradients of random batches."""
    rng = np.random.default_rng(3)
    draws = [gradient(rng.integers(0, N, 6), rng.integers(0, N, 5)) for _ in range(3000)]
    mu, theta = (np.array(values) for values in zip(*draws, strict=True))
    tangent = mu - np.outer(mu @ MU, MU)
    on_mu, on_theta = exact_variance()
    scale = np.trace(on_mu)
    np.testing.assert_allclose(np.cov(tangent.T) / scale, on_mu / scale, atol=0.05)
    np.testing.assert_allclose(theta.var(), on_theta, rtol=0.1)


def test_rows_drawn_once_give_less_noise(potential, gradient):
    """The variance of a total of n rows out of N, each drawn once: N^2 / n (1 - n / N) S^2."""
    noise = FisherNoise(potential, replacement=False)
    estimate = compiled(
        potential,
        noise.estimate(potential.positions, potential.indices, WIDTH, potential=potential),
    )
    rng = np.random.default_rng(2)
    found, gradients = [], []
    for _ in range(3000):
        rows = rng.permutation(N)[:6], rng.permutation(N)[:5]
        found.append(float(np.ravel(estimate(*rows)[1])[0]))
        gradients.append(float(gradient(*rows)[1]))
    residual = (Y - THETA - MU[0]) / 1.5**2
    exact = N**2 / 5 * (1 - 5 / N) * residual.var(ddof=1)
    # Without the factor it is one seventh more, ten errors away.
    assert abs(np.mean(found) - exact) < 4 * np.std(found) / np.sqrt(3000)
    np.testing.assert_allclose(np.var(gradients), exact, rtol=0.12)


def test_all_rows_drawn_once_have_no_noise():
    with pm.Model() as model:
        theta = pm.Normal("theta")
        pm.Normal("y", theta, observed=pm.Minibatch(Y, batch_size=N), total_size=N)
    step = pmg.SGHMC(
        step_size=1e-3,
        friction=10.0,
        gradient_noise="fisher",
        replacement=False,
        model=model,
    )
    step.setup_chain(np.random.default_rng(1), 0, 1)
    step.step(model.initial_point())
    assert step.sampler.calls.noise.largest(step.chain.memory) == 0


def test_fisher_noise_averages_and_forgets(potential):
    noise = FisherNoise(potential)
    placeholders = [pt.as_tensor(array).type() for array in noise.initial()]
    (of_mu, of_theta), memory = noise.update(
        tuple(placeholders),
        potential.positions,
        potential.indices,
        WIDTH,
        potential=potential,
    )
    estimate = noise.estimate(potential.positions, potential.indices, WIDTH, potential=potential)
    in_tangent_space = (of_mu.vectors * of_mu.values) @ of_mu.vectors.T
    function = pytensor.function(
        [*potential.positions, *(potential.indices[i] for i in order(potential)), *placeholders],
        [*memory, *estimate, in_tangent_space, of_theta],
        mode=INTERPRETED,
        on_unused_input="ignore",
    )
    rows = [np.arange(6), np.arange(5)]
    mean, on_theta, count, largest, estimated, *rest = function(MU, THETA, *rows, *noise.initial())
    np.testing.assert_allclose(mean, estimated)  # the first batch is all that is known
    assert count == 1
    # The variance used is the mean after the batch, for mu between vectors of the tangent space.
    tangent = np.eye(3) - np.outer(MU, MU)
    np.testing.assert_allclose(rest[1], tangent @ mean @ tangent, atol=1e-9 * np.trace(mean))
    np.testing.assert_allclose(rest[2], on_theta)
    assert largest == pytest.approx(np.linalg.eigvalsh(rest[1])[-1])
    old = [np.zeros((3, 3)), np.zeros(()), np.array(1e9), np.zeros(())]
    late = function(MU, THETA, *rows, *old)
    np.testing.assert_allclose(late[0], 1e-3 * late[4])
    found = [mean, on_theta, count, largest]
    assert noise.largest(found) == max(float(largest), float(on_theta))


def test_fisher_noise_needs_batches_of_two_rows():
    with pm.Model() as model:
        theta = pm.Normal("theta")
        pm.Normal("y", theta, observed=pm.Minibatch(Y, batch_size=1), total_size=N)
    potential = Potential(model, model.value_vars, initial_point=model.initial_point())
    with pytest.raises(ValueError, match=r"two rows or more.*got a batch of one row"):
        FisherNoise(potential)


@pytest.mark.parametrize(
    ("variance", "expected"),
    [
        (None, [None, None]),
        (2.0, [2.0, 2.0]),
        ({"mu": [1.0, 2.0, 3.0]}, [[1.0, 2.0, 3.0], None]),
        ({"theta": 0.0}, [None, None]),
    ],
)
def test_known_noise(potential, variance, expected):
    noise = KnownNoise(potential, variance=variance)
    got = [None if v is None else v.data.tolist() for v in noise.variance]
    assert got == expected
    assert noise.largest([]) == max((np.max(v) for v in expected if v is not None), default=0.0)


@pytest.mark.parametrize("backend", ["JAX", "NUMBA"])
def test_scores_of_a_mixture(backend):
    """Each row alone, by its responsibilities: mixtures repeat their parameters for every row."""
    with pm.Model() as model:
        x = pm.Minibatch(X, batch_size=6)
        mu = pmg.SphericalUniform("mu", shape=(2, 3))
        pm.Mixture(
            "x", [0.3, 0.7], pmg.VonMisesFisher.dist(mu, [3.0, 5.0]), observed=x, total_size=N
        )
    potential = Potential(model, model.value_vars, initial_point=model.initial_point())
    [[score]] = potential.scores(potential.positions, potential.indices, width=WIDTH)
    function = pytensor.function([*potential.positions, *potential.indices], score, mode=backend)
    at, rows, kappa = np.array([MU, -MU]), np.array([3, 1, 4, 1, 5, 9]), np.array([3.0, 5.0])
    weights = np.array([0.3, 0.7]) * kappa / np.sinh(kappa) * np.exp(kappa * (X[rows] @ at.T))
    shares = weights / weights.sum(axis=1, keepdims=True)
    exact = N * (shares * kappa)[..., None] * X[rows][:, None]
    np.testing.assert_allclose(function(at, rows), exact, rtol=1e-9)
