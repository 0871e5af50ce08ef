#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
import scipy.stats

from pymc.distributions.transforms import simplex
from pymc.testing import BaseTestDistributionRandom, assert_support_point_is_expected

import pymc_geodesic as pmg

MU = np.array([0.3, -0.5])
CHOL = np.array([[1.2, 0.0], [0.6, 0.5]])
COV = CHOL @ CHOL.T

COPIED_RNG = "ignore:The RandomType SharedVariables:UserWarning"
NO_BLAS = "ignore:PyTensor could not link to a BLAS:UserWarning"
NO_CHECKS_IN_JAX = "ignore:Skipping Check:UserWarning"

# Compiling costs more than it saves where a test evaluates a small graph once.
FAST = pytensor.compile.mode.Mode("py", None)


def log_ratios(p):
    return np.log(p[..., :-1] / p[..., -1:])


def softmax(z):
    weights = np.exp(np.append(z, np.zeros((*np.shape(z)[:-1], 1)), axis=-1))
    return weights / weights.sum(-1, keepdims=True)


def expected_logp(p, mu=MU, cov=COV):
    return scipy.stats.multivariate_normal(mu, cov).logpdf(log_ratios(p)) - np.log(p).sum(-1)


def points(n, size):
    return np.random.default_rng(1).dirichlet(np.ones(n), size=size)


@pytest.mark.parametrize("matrix", [{"cov": COV}, {"chol": CHOL}], ids=["cov", "chol"])
def test_logp(matrix):
    p = points(3, 5)
    logp = pm.logp(pmg.LogisticNormal.dist(MU, **matrix, size=5), p).eval()
    np.testing.assert_allclose(logp, expected_logp(p), rtol=1e-12)


def test_logp_of_many_entries():
    rng = np.random.default_rng(1)
    chol = np.tril(rng.normal(size=(49, 49)), -1) / 10 + np.eye(49)
    p, mu = points(50, 2), rng.normal(size=49)
    logp = pm.logp(pmg.LogisticNormal.dist(mu, chol=chol, size=2), p).eval(mode=FAST)
    np.testing.assert_allclose(logp, expected_logp(p, mu, chol @ chol.T), rtol=1e-10)


def test_density_integrates_to_one_on_two_entries():
    nodes, weights = np.polynomial.legendre.leggauss(400)
    first = (nodes + 1) / 2
    p = np.stack([first, 1 - first], axis=-1)
    logp = pm.logp(pmg.LogisticNormal.dist([0.4], cov=[[0.7]], size=len(p)), p).eval(mode=FAST)
    assert abs(np.exp(logp) @ weights / 2 - 1) < 1e-6


def test_density_integrates_to_one_on_three_entries():
    nodes, weights = np.polynomial.legendre.leggauss(120)
    s, t = np.meshgrid((nodes + 1) / 2, (nodes + 1) / 2)
    # A triangle as a square: p = (s, (1 - s) t, rest), with area element 1 - s.
    p = np.stack([s, (1 - s) * t, (1 - s) * (1 - t)], axis=-1).reshape(-1, 3)
    area = np.outer(weights, weights).ravel() / 4 * (1 - s.ravel())
    cov = [[0.5, 0.2], [0.2, 0.4]]
    logp = pm.logp(pmg.LogisticNormal.dist(MU, cov=cov, size=len(p)), p).eval(mode=FAST)
    assert abs(np.exp(logp) @ area - 1) < 1e-6


@pytest.mark.filterwarnings(NO_BLAS)
@pytest.mark.filterwarnings(NO_CHECKS_IN_JAX)
@pytest.mark.parametrize("mode", ["NUMBA", pytest.param("CVM", marks=pytest.mark.slow), "JAX"])
def test_gradients(mode):
    value, mu = pt.tensor("value", shape=(3,)), pt.tensor("mu", shape=(2,))
    chol = pt.tensor("chol", shape=(2, 2))
    logp = pm.logp(pmg.LogisticNormal.dist(mu, chol=chol), value)
    function = pytensor.function(
        [value, mu, chol], pytensor.grad(logp, [value, mu, chol]), mode=mode
    )
    p = np.array([0.2, 0.5, 0.3])
    in_value, in_mu, in_chol = function(p, MU, CHOL)
    delta = np.linalg.solve(COV, log_ratios(p) - MU)
    np.testing.assert_allclose(in_mu, delta, rtol=1e-12)
    np.testing.assert_allclose(in_value, (-1 - np.append(delta, -delta.sum())) / p, rtol=1e-12)
    exact = np.outer(delta, np.linalg.solve(CHOL, log_ratios(p) - MU)) - np.diag(
        1 / CHOL.diagonal()
    )
    np.testing.assert_allclose(np.tril(in_chol), np.tril(exact), rtol=1e-10)


def test_batches_broadcast():
    mu = np.array([MU, MU + 1, MU - 1])
    chol = np.stack([CHOL, 2 * CHOL])[:, None]
    x = pmg.LogisticNormal.dist(mu, chol=chol)
    assert tuple(x.shape.eval()) == (2, 3, 3)
    p = points(3, (2, 3))
    expected = [
        [expected_logp(p[i, j], mu[j], (i + 1) ** 2 * COV) for j in range(3)] for i in range(2)
    ]
    np.testing.assert_allclose(pm.logp(x, p).eval(mode=FAST), expected, rtol=1e-12)


def test_draws_of_batches_keep_a_finite_density():
    mu, chol = np.array([MU, MU + 1, [2000.0, 0.0]]), 1e-6 * np.stack([CHOL, 2 * CHOL])[:, None]
    x = pmg.LogisticNormal.dist(mu, chol=chol)
    p = pm.draw(x, random_seed=1)
    np.testing.assert_allclose(p[:, :2], [softmax(mu[:2])] * 2, rtol=1e-4)
    assert np.all(p[:, 2, 1:] == np.finfo("float64").tiny)
    assert np.all(np.isfinite(pm.logp(x, p).eval(mode=FAST)))


def test_logp_off_the_simplex():
    p = np.array([[0, 0.5, 0.5], [-0.1, 0.6, 0.5], [0.2, 0.3, 0.4], [0.5, 0.5, 0]])
    logp = pm.logp(pmg.LogisticNormal.dist(MU, cov=COV, size=4), p).eval(mode=FAST)
    assert np.all(np.isneginf(logp))


def test_transformed_density_stays_finite_where_entries_underflow():
    with pm.Model() as model:
        pmg.LogisticNormal("p", MU, cov=COV)
    y = np.array([900.0, -500.0])
    z = y + y.sum()
    # The transform's volume element is K times the product of the probabilities.
    expected = scipy.stats.multivariate_normal(MU, COV).logpdf(z) + np.log(3)
    np.testing.assert_allclose(model.compile_logp()({"p_simplex__": y}), expected, rtol=1e-12)
    assert np.all(np.isfinite(model.compile_dlogp()({"p_simplex__": y})))


class TestRandom(BaseTestDistributionRandom):
    pymc_dist = pmg.LogisticNormal
    pymc_dist_params = {"mu": MU, "cov": COV}
    expected_rv_op_params = {"mu": MU, "chol": CHOL}
    sizes_to_check = [None, (2, 3)]
    sizes_expected = [(3,), (2, 3, 3)]
    checks_to_run = ["check_pymc_params_match_rv_op", "check_rv_size"]


@pytest.mark.filterwarnings(COPIED_RNG)
@pytest.mark.filterwarnings(NO_BLAS)
@pytest.mark.parametrize("mode", ["NUMBA", pytest.param("CVM", marks=pytest.mark.slow), "JAX"])
def test_moments_of_draws(mode):
    size = 5000
    x = pmg.LogisticNormal.dist(MU, chol=CHOL, shape=(size, 3))
    p = pm.draw(x, random_seed=1, mode=mode)
    np.testing.assert_allclose(p.sum(-1), 1, atol=1e-12)
    delta = log_ratios(p) - MU
    np.testing.assert_array_less(np.abs(delta.mean(0)), 4.5 * np.sqrt(np.diagonal(COV) / size))
    products = delta[:, :, None] * delta[:, None]
    error = products.std(0) / np.sqrt(size)
    np.testing.assert_array_less(np.abs(products.mean(0) - COV), 4.5 * error)


@pytest.mark.slow
@pytest.mark.parametrize("batched", [False, True])
def test_draws_by_matrix_product(batched):
    n, size = 40, 4000
    rng = np.random.default_rng(1)
    chol = np.tril(rng.normal(size=(n, n)), -1) / n + np.eye(n)
    mu = rng.normal(size=n)
    x = pmg.LogisticNormal.dist(mu, chol=chol[None] if batched else chol, shape=(size, n + 1))
    noise = np.linalg.solve(chol, (log_ratios(pm.draw(x, random_seed=1)) - mu).T)
    np.testing.assert_allclose(noise.mean(1), 0, atol=4.5 / np.sqrt(size))
    np.testing.assert_allclose(np.cov(noise), np.eye(n), atol=5 * np.sqrt(2 / size))


def test_single_precision():
    with pytensor.config.change_flags(floatX="float32"):
        dist = pmg.LogisticNormal.dist(MU, cov=COV, size=5)
        assert dist.dtype == "float32"
        p = points(3, 5).astype("float32")
        value = pt.tensor("value", shape=(5, 3), dtype="float32")
        logp = pm.logp(dist, value)
        assert logp.dtype == "float32"
        expected = expected_logp(p.astype("float64"))
        np.testing.assert_allclose(logp.eval({value: p}, mode=FAST), expected, rtol=1e-4)


def test_shapes_and_names():
    with pm.Model(coords={"row": range(4), "part": range(3)}) as model:
        mu = pm.Normal("mu", shape=2)
        chol = pm.HalfNormal("scale") * CHOL
        pmg.LogisticNormal("a", mu, chol=chol, dims=("row", "part"))
        pmg.LogisticNormal("b", mu, chol=chol, shape=(2, 5, 3))
        pmg.LogisticNormal("c", mu, chol=chol, observed=points(3, 6))
    shapes = [tuple(model[name].shape.eval()) for name in "abc"]
    assert shapes == [(4, 3), (2, 5, 3), (6, 3)]
    assert model.rvs_to_transforms[model["a"]] is simplex
    assert isinstance(pmg.manifold_of(model["a"]), pmg.Simplex)
    assert "a ~ LogisticNormal" in model.str_repr()


def test_support_point():
    with pm.Model() as model:
        pmg.LogisticNormal("x", MU, cov=COV, shape=(2, 3))
    assert_support_point_is_expected(model, softmax(np.array([MU, MU])))


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"mu": MU}, "exactly one of `cov` and `chol`, got neither"),
        ({"mu": MU, "cov": COV, "chol": CHOL}, "got both"),
        ({"mu": [np.nan, 0], "cov": COV}, "finite means"),
        ({"mu": 0.0, "cov": [[1.0]]}, "K - 1 means of log-ratios, one or more"),
        ({"mu": [], "cov": np.zeros((0, 0))}, "K - 1 means of log-ratios, one or more"),
        ({"mu": [0.0, 0, 0], "cov": COV}, r"`mu` and `cov` of equal length .* got 3 and 2"),
        ({"mu": MU, "cov": [1.0, 1.0]}, "square matrices in the last two axes of `cov`"),
        ({"mu": MU, "chol": np.ones((2, 3))}, "square matrices in the last two axes of `chol`"),
        ({"mu": MU, "cov": -COV}, "`cov` to be finite, symmetric and positive definite"),
        ({"mu": MU, "cov": [[1.0, 0.5], [0.0, 1.0]]}, "symmetric and positive definite"),
        ({"mu": MU, "cov": np.full((2, 2), np.inf)}, "symmetric and positive definite"),
        ({"mu": MU, "chol": COV}, "`chol` to be finite lower triangular"),
        ({"mu": MU, "chol": -CHOL}, "a positive diagonal"),
        ({"mu": MU, "cov": COV, "shape": (4, 2)}, "expected 3 probabilities.* got 2"),
    ],
)
def test_bad_parameters(kwargs, message):
    with pytest.raises(ValueError, match=message):
        pmg.LogisticNormal.dist(**kwargs)


def test_unknown_covariance_is_checked():
    cov = pt.tensor("cov", shape=(2, 2))
    logp = pytensor.function(
        [cov],
        pm.logp(pmg.LogisticNormal.dist(MU, cov=cov), np.array([0.2, 0.3, 0.5])),
        mode=FAST,
    )
    np.testing.assert_allclose(logp(COV), expected_logp(np.array([0.2, 0.3, 0.5])), rtol=1e-12)
    with pytest.raises(pm.logprob.utils.ParameterValueError, match="positive definite"):
        logp(-COV)


@pytest.mark.parametrize(
    ("observed", "message"),
    [
        ([[2.0, 3.0, 5.0]], r"sums in \[10, 10\]. If these are counts"),
        ([0.0, 0.5, 0.5], "1 exact zeros"),
        ([[0.5, 0.5]], r"expected 3 probabilities.* got 2"),
    ],
)
def test_bad_data(observed, message):
    with pm.Model(), pytest.raises(ValueError, match=message):
        pmg.LogisticNormal("x", MU, cov=COV, observed=observed)


@pytest.mark.slow
def test_nuts():
    with pm.Model():
        pmg.LogisticNormal("p", MU, cov=COV)
        idata = pm.sample(3000, chains=2, cores=1, random_seed=1, progressbar=False)
    assert idata.sample_stats["diverging"].sum() == 0
    p = idata.posterior["p"].values.reshape(-1, 3)
    np.testing.assert_allclose(p.sum(-1), 1, rtol=1e-12)
    delta = log_ratios(p) - MU
    # NUTS draws are near independent here; a quarter of them is a cautious effective size.
    size = len(p) / 4
    np.testing.assert_array_less(np.abs(delta.mean(0)), 4.5 * np.sqrt(np.diagonal(COV) / size))
    products = delta[:, :, None] * delta[:, None]
    error = products.std(0) / np.sqrt(size)
    np.testing.assert_array_less(np.abs(products.mean(0) - COV), 4.5 * error)


@pytest.mark.slow
@pytest.mark.filterwarnings(NO_BLAS)
def test_nuts_with_unknown_parameters():
    rng = np.random.default_rng(1)
    data = softmax(rng.multivariate_normal(MU, COV, size=400))
    with pm.Model():
        mu = pm.Normal("mu", shape=2)
        chol, *_ = pm.LKJCholeskyCov("chol", n=2, eta=2, sd_dist=pm.Exponential.dist(1, shape=2))
        pmg.LogisticNormal("p", mu, chol=chol, observed=data)
        idata = pm.sample(1000, chains=2, cores=1, random_seed=1, progressbar=False)
    assert idata.sample_stats["diverging"].sum() == 0
    # With 400 rows the priors hardly matter.
    error = np.sqrt(np.diagonal(COV) / 400)
    np.testing.assert_array_less(
        np.abs(idata.posterior["mu"].mean(("chain", "draw")) - MU), 4 * error
    )
    scales = idata.posterior["chol_stds"].mean(("chain", "draw")).values
    np.testing.assert_allclose(scales, np.sqrt(np.diagonal(COV)), rtol=4 / np.sqrt(800))
