#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
from functools import cache

import mpmath as mp
import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
import scipy.stats

from pymc.distributions.transforms import simplex
from pymc.testing import BaseTestDistributionRandom, assert_support_point_is_expected

import pymc_geodesic as pmg

TINY = np.finfo("float64").tiny

COPIED_RNG = "ignore:The RandomType SharedVariables:UserWarning"
NO_BLAS = "ignore:PyTensor could not link to a BLAS:UserWarning"
NO_CHECKS_IN_JAX = "ignore:Skipping Check:UserWarning"

# Compiling costs more than it saves where a test evaluates a small graph once.
FAST = pytensor.compile.mode.Mode("py", None)


@cache
def log_density(n, mode=None):
    """Compile the log density and its derivative in alpha as functions of alpha and p."""
    alpha, p = pt.scalar("alpha"), pt.tensor("p", shape=(n,))
    logp = pm.logp(pmg.SymmetricDirichlet.dist(alpha, shape=(n,)), p)
    return pytensor.function([alpha, p], [logp, pytensor.grad(logp, alpha)], mode=mode)


def draw(alpha, n):
    """Draw one vector in log space, apart from the graph under test."""
    rng = np.random.default_rng(n)
    logs = np.log(rng.gamma(alpha + 1, size=n)) - rng.exponential(size=n) / alpha
    p = np.exp(logs - logs.max())
    return np.maximum(p / p.sum(), TINY)


def reference(alpha, p):
    """Return the log density and its derivative in alpha in 40 digits."""
    with mp.workdps(40):
        n, a = len(p), mp.mpf(alpha)
        total = mp.fsum(mp.log(mp.mpf(float(x))) for x in p)
        log_f = mp.loggamma(n * a) - n * mp.loggamma(a) + (a - 1) * total
        return float(log_f), float(n * (mp.digamma(n * a) - mp.digamma(a)) + total)


@pytest.mark.parametrize("n", [2, 10, 1000, 50_000])
def test_accuracy(n):
    function = log_density(n)
    for alpha in (1e-3, 0.01, 0.1, 0.5, 1.0, 1.7, 10.0, 1e3):
        p = draw(alpha, n)
        for ours, exact, tolerance in zip(
            function(alpha, p), reference(alpha, p), (1e-11, 1e-8), strict=True
        ):
            assert abs(ours - exact) <= tolerance * max(1, abs(exact)), alpha


@pytest.mark.filterwarnings(NO_BLAS)
@pytest.mark.filterwarnings(NO_CHECKS_IN_JAX)
@pytest.mark.parametrize("mode", [pytest.param("CVM", marks=pytest.mark.slow), "JAX"])
def test_backends_agree(mode):
    numba, other = log_density(1000), log_density(1000, mode)
    for alpha in (1e-3, 0.5, 20.0):
        p = draw(alpha, 1000)
        np.testing.assert_allclose(other(alpha, p), numba(alpha, p), rtol=1e-9)


@pytest.mark.parametrize("alpha", [0.3, 1.0, 4.0])
def test_logp_against_scipy(alpha):
    p = np.random.default_rng(1).dirichlet(np.ones(4), size=5)
    logp = pm.logp(pmg.SymmetricDirichlet.dist(alpha, shape=(5, 4)), p).eval(mode=FAST)
    expected = scipy.stats.dirichlet.logpdf(p.T, np.full(4, alpha))
    np.testing.assert_allclose(logp, expected, rtol=1e-12)


def test_logp_broadcasts():
    alpha = np.array([0.3, 1.0, 4.0])
    p = np.random.default_rng(1).dirichlet(np.ones(4), size=(2, 1))
    logp = pm.logp(pmg.SymmetricDirichlet.dist(alpha, shape=(2, 3, 4)), pt.as_tensor(p)).eval(
        mode=FAST
    )
    expected = [[scipy.stats.dirichlet.logpdf(x[0], np.full(4, a)) for a in alpha] for x in p]
    np.testing.assert_allclose(logp, expected, rtol=1e-12)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0])
def test_boundary_and_outside_as_dirichlet(alpha):
    p = np.array([[0, 0.5, 0.5], [-0.1, 0.6, 0.5], [1.1, -0.1, 0], [TINY, 0.5, 0.5]])
    logp = pm.logp(pmg.SymmetricDirichlet.dist(alpha, shape=(4, 3)), p).eval(mode=FAST)
    dirichlet = pm.logp(pm.Dirichlet.dist(np.full((4, 3), alpha)), p).eval(mode=FAST)
    np.testing.assert_allclose(logp, dirichlet, rtol=1e-12)
    assert np.isfinite(logp[-1])
    off = pm.logp(pmg.SymmetricDirichlet.dist(alpha, shape=(3,)), [0.2, 0.3, 0.4]).eval(mode=FAST)
    assert np.isneginf(off)


def test_single_precision():
    with pytensor.config.change_flags(floatX="float32"):
        p = pm.draw(pmg.SymmetricDirichlet.dist(0.01, shape=(3, 5000)), random_seed=1)
        assert p.dtype == "float32"
        assert p.min() == np.finfo("float32").tiny
        np.testing.assert_allclose(p.sum(-1), 1, rtol=1e-5)
        value = pt.tensor("value", shape=(3, 5000), dtype="float32")
        logp = pm.logp(pmg.SymmetricDirichlet.dist(0.01, shape=(3, 5000)), value)
        expected = [reference(float(np.float32(0.01)), x)[0] for x in p]
        np.testing.assert_allclose(logp.eval({value: p}, mode=FAST), expected, rtol=1e-4)


def test_transformed_density_stays_finite_where_entries_underflow():
    alpha = 1e-3
    with pm.Model() as model:
        pmg.SymmetricDirichlet("p", alpha, shape=(4,))
    logp, dlogp = model.compile_logp(), model.compile_dlogp()
    for y in ([1.0, 2.0, 3.0], [900.0, -500.0, -300.0], [-2000.0, -500.0, 900.0]):
        point = {"p_simplex__": np.array(y)}
        logs = np.append(y, -np.sum(y))
        logs -= np.logaddexp.reduce(logs)
        normalizer = scipy.special.gammaln(4 * alpha) - 4 * scipy.special.gammaln(alpha)
        # The transform's volume element is K times the product of the probabilities.
        expected = normalizer + alpha * logs.sum() + np.log(4)
        np.testing.assert_allclose(logp(point), expected, rtol=1e-12)
        assert np.all(np.isfinite(dlogp(point)))


class TestRandom(BaseTestDistributionRandom):
    pymc_dist = pmg.SymmetricDirichlet
    pymc_dist_params = {"alpha": 0.7, "support_shape": (3,)}
    expected_rv_op_params = {"alpha": 0.7, "support_shape": (3,)}
    sizes_to_check = [None, (2, 3)]
    sizes_expected = [(3,), (2, 3, 3)]
    checks_to_run = ["check_pymc_params_match_rv_op", "check_rv_size"]


@pytest.mark.filterwarnings(COPIED_RNG)
@pytest.mark.filterwarnings(NO_BLAS)
@pytest.mark.parametrize("mode", ["NUMBA", pytest.param("CVM", marks=pytest.mark.slow), "JAX"])
def test_law_of_draws(mode):
    alpha, n, size = np.array([1e-3, 0.1, 1.0, 30.0]), 4, 5000
    x = pmg.SymmetricDirichlet.dist(alpha, shape=(size, 4, n))
    p = pm.draw(x, random_seed=1, mode=mode)
    assert p.min() >= TINY
    np.testing.assert_allclose(p.sum(-1), 1, atol=1e-12)
    variance = (n - 1) / (n**2 * (n * alpha + 1))
    for j, a in enumerate(alpha):
        first = p[:, j, 0]
        assert abs(first.mean() - 1 / n) < 4.5 * np.sqrt(variance[j] / size)
        squares = (first - 1 / n) ** 2
        assert abs(squares.mean() - variance[j]) < 4.5 * squares.std() / np.sqrt(size)
        # The marginal law is Beta; at 0.001 the floor takes up a part of it.
        marginal = scipy.stats.beta(a, (n - 1) * a)
        below = marginal.cdf(TINY)
        assert abs((first == TINY).mean() - below) <= 4.5 * np.sqrt(below * (1 - below) / size)
        if below < 1e-6:
            assert scipy.stats.kstest(first, marginal.cdf).pvalue > 1e-4


def test_many_entries_of_small_concentration():
    p = pm.draw(pmg.SymmetricDirichlet.dist(1e-3, shape=(2, 50_000)), random_seed=1)
    assert p.min() == TINY
    np.testing.assert_allclose(p.sum(-1), 1, atol=1e-12)
    assert np.all(np.isfinite(log_density(50_000)(1e-3, p[0])))


def test_shapes_and_names():
    with pm.Model(coords={"row": range(4), "word": range(3)}) as model:
        alpha = pm.LogNormal("alpha")
        pmg.SymmetricDirichlet("a", alpha, dims=("row", "word"))
        pmg.SymmetricDirichlet("b", alpha, shape=(2, 5))
        pmg.SymmetricDirichlet("c", alpha, observed=np.full((6, 2), 0.5))
        pmg.SymmetricDirichlet("d", alpha, support_shape=(3,), size=(7,))
        e = pmg.SymmetricDirichlet("e", [0.1, 2.0], support_shape=(3,))
    shapes = [tuple(model[name].shape.eval()) for name in "abcde"]
    assert shapes == [(4, 3), (2, 5), (6, 2), (7, 3), (2, 3)]
    assert model.rvs_to_transforms[e] is simplex
    assert isinstance(pmg.manifold_of(e), pmg.Simplex)
    assert "a ~ SymmetricDirichlet" in model.str_repr()


def test_support_point():
    with pm.Model() as model:
        pmg.SymmetricDirichlet("x", 0.2, shape=(2, 4))
    assert_support_point_is_expected(model, np.full((2, 4), 0.25))


def test_minibatch():
    data = np.random.default_rng(1).dirichlet(np.ones(3), size=20)
    with pm.Model() as model:
        batch = pm.Minibatch(data, batch_size=5)
        alpha = pm.LogNormal("alpha")
        pmg.SymmetricDirichlet("x", alpha, observed=batch, total_size=20)
    assert np.isfinite(model.compile_logp(mode=FAST)(model.initial_point()))


@pytest.mark.parametrize(
    ("alpha", "shape", "message"),
    [
        (0.0, (3,), r"positive and finite concentrations in `alpha`, got values in \[0, 0\]"),
        ([1.0, -2.0], (2, 3), r"got values in \[-2, 1\]"),
        (np.nan, (3,), "positive and finite"),
        (np.inf, (3,), "positive and finite"),
        (1.0, (5, 1), "two or more elements in the last axis, got length 1"),
        (1.0, None, "the number K of probabilities, got none"),
    ],
)
def test_bad_parameters(alpha, shape, message):
    with pytest.raises(ValueError, match=message):
        pmg.SymmetricDirichlet.dist(alpha, shape=shape)


def test_one_probability_by_dims():
    with pm.Model(coords={"row": range(3), "word": ["only"]}):
        with pytest.raises(ValueError, match="last axis, got length 1"):
            pmg.SymmetricDirichlet("x", 1.0, dims=("row", "word"))
        with pytest.raises(ValueError, match="last axis, got length 1"):
            pmg.SymmetricDirichlet("y", 1.0, shape=(3, 1))


def test_unknown_concentration_is_checked():
    with pytest.raises(pm.logprob.utils.ParameterValueError, match="alpha > 0"):
        log_density(3)(-1.0, [0.2, 0.3, 0.5])


@pytest.mark.parametrize(
    ("observed", "message"),
    [
        ([[2.0, 3.0]], r"got a smallest entry of 2 and sums in \[5, 5\]. If these are counts"),
        ([-0.5, 1.5], "got a smallest entry of -0.5"),
        ([0.0, 1.0], "1 exact zeros, where the log density is infinite"),
        ([np.nan, 1.0], "missing or infinite values"),
        ([[1.0]], "two or more elements in the last axis of `observed`, got length 1"),
        (1.0, "got a scalar"),
    ],
)
def test_bad_data(observed, message):
    with pm.Model(), pytest.raises(ValueError, match=message):
        pmg.SymmetricDirichlet("x", 1.0, observed=observed)


@pytest.mark.slow
def test_nuts():
    data = np.random.default_rng(1).dirichlet(np.full(5, 0.4), size=300)
    with pm.Model():
        alpha = pm.LogNormal("alpha")
        pmg.SymmetricDirichlet("x", alpha, observed=data)
        pmg.SymmetricDirichlet("p", 0.7, shape=(2, 4))
        idata = pm.sample(2000, chains=2, cores=1, random_seed=1, progressbar=False)
    assert idata.sample_stats["diverging"].sum() == 0
    p = idata.posterior["p"].values
    np.testing.assert_allclose(p.sum(-1), 1, rtol=1e-12)
    # NUTS draws are near independent here; a quarter of them is a cautious effective size.
    error = np.sqrt(3 / (16 * 3.8) / (p.shape[0] * p.shape[1] / 4))
    np.testing.assert_allclose(p.mean((0, 1)), 0.25, atol=4.5 * error)
    # Fisher information of alpha: K psi'(alpha) - K^2 psi'(K alpha) for each row.
    trigamma = scipy.special.polygamma(1, np.array([0.4, 2.0]))
    sd = 1 / np.sqrt(300 * (5 * trigamma[0] - 25 * trigamma[1]))
    draws = idata.posterior["alpha"].values
    assert abs(draws.mean() - 0.4) < 4.5 * sd
    assert 0.8 < draws.std() / sd < 1.25
