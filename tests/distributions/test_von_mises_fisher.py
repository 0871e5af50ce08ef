#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
import cloudpickle
import numpy as np
import pymc as pm
import pymc.testing
import pytensor
import pytensor.tensor as pt
import pytest

from bessel_reference import reference
from pymc.testing import BaseTestDistributionRandom, Domain, assert_support_point_is_expected
from pytensor.graph.traversal import ancestors
from scipy.stats import vonmises_fisher

from pymc_geodesic.distributions import VonMisesFisher
from pymc_geodesic.distributions.transforms import unit_vector

MU = np.array([[0.0, 0.6, 0.8], [1.0, 0.0, 0.0], [-0.36, 0.48, 0.8]])

COPIED_RNG = "ignore:The RandomType SharedVariables:UserWarning"


def scipy_logp(value, mu, kappa):
    if kappa == 0:
        return -np.log(4 * np.pi)
    return vonmises_fisher(mu, float(kappa)).logpdf(value)


def test_logp_against_scipy():
    unit_vectors = Domain(MU, edges=(None, None))
    pymc.testing.check_logp(
        VonMisesFisher,
        unit_vectors,
        {"mu": unit_vectors, "kappa": Domain([0.0, 0.01, 1.0, 20.0, 1e4], edges=(None, None))},
        scipy_logp,
        skip_paramdomain_outside_edge_test=True,
    )


def test_logp_broadcasts_and_is_minus_infinity_off_the_sphere():
    value, kappa = pt.tensor("value", shape=(2, 1, 3)), np.array([0.5, 2.0, 9.0])
    logp = pytensor.function([value], pm.logp(VonMisesFisher.dist(MU, kappa), value))
    points = MU[:2, None]
    expected = [[scipy_logp(x, m, k) for m, k in zip(MU, kappa, strict=True)] for x in MU[:2]]
    np.testing.assert_allclose(logp(points), expected, rtol=1e-10)
    assert np.all(np.isneginf(logp(1.001 * points)))


def test_wide_data_take_the_matrix_product():
    rng = np.random.default_rng(1)
    mu, *data = rng.normal(size=(5, 200))
    mu, data = mu / np.linalg.norm(mu), data / np.linalg.norm(data, axis=-1, keepdims=True)
    logp = pm.logp(VonMisesFisher.dist(mu, 300.0), data).eval()
    np.testing.assert_allclose(logp, reference(200, 300.0)[0] + 300 * data @ mu, rtol=1e-12)


def test_wide_mixtures_take_the_matrix_product():
    rng = np.random.default_rng(1)
    mu, data = (rng.normal(size=(n, 200)) for n in (3, 5))
    mu, data = (x / np.linalg.norm(x, axis=-1, keepdims=True) for x in (mu, data))
    kappa = np.array([100.0, 200.0, 300.0])
    means = pt.matrix("means", shape=(3, 200))
    logp = pm.logp(VonMisesFisher.dist(means, kappa), pt.constant(data)[:, None])
    # No array has entries of all rows and components.
    assert (5, 3, 200) not in {x.type.shape for x in ancestors([logp])}
    constants = np.array([reference(200, one)[0] for one in kappa])
    found = logp.eval({means: mu})
    np.testing.assert_allclose(found, constants + kappa * (data @ mu.T), rtol=1e-12)


def test_gradients():
    value, mu, kappa = pt.vector("value", shape=(3,)), pt.vector("mu", shape=(3,)), pt.scalar()
    logp = pm.logp(VonMisesFisher.dist(mu, kappa), value)
    gradient = pytensor.function([value, mu, kappa], pytensor.grad(logp, [value, mu, kappa]))
    for k in (0.0, 3.0, 1e5):
        in_value, in_mu, in_kappa = gradient(MU[0], MU[2], k)
        np.testing.assert_allclose(in_value, k * MU[2], rtol=1e-12)
        np.testing.assert_allclose(in_mu, k * MU[0], rtol=1e-12)
        np.testing.assert_allclose(in_kappa, MU[0] @ MU[2] - reference(3, k)[1], rtol=1e-10)


@pytest.mark.parametrize(("kappa", "mu"), [(-1.0, MU[0]), (1.0, 2 * MU[0])])
def test_symbolic_parameters_are_checked(kappa, mu):
    mu_, kappa_ = pt.vector("mu", shape=(3,)), pt.scalar("kappa")
    logp = pytensor.function([mu_, kappa_], pm.logp(VonMisesFisher.dist(mu_, kappa_), MU[0]))
    with pytest.raises(pm.logprob.utils.ParameterValueError, match="norm of mu = 1"):
        logp(mu, kappa)


@pytest.mark.parametrize(
    ("mu", "kappa", "message"),
    [
        ([1.0, 1.0, 0.0], 1.0, r"`mu`, got norms in \[1.41421, 1.41421\]. Normalise `mu`"),
        ([1.0, np.nan], 1.0, "missing or infinite values"),
        ([1.0], 1.0, "two or more elements in the last axis of `mu`, got length 1"),
        (1.0, 1.0, "got a scalar"),
        ([1, 0, 0], -2.0, r"0 or more in `kappa`, got values in \[-2, -2\]"),
        ([1, 0, 0], np.inf, "expected finite concentrations"),
    ],
)
def test_bad_parameters(mu, kappa, message):
    with pytest.raises(ValueError, match=message):
        VonMisesFisher.dist(mu, kappa)


@pytest.mark.parametrize(
    ("observed", "message"),
    [(2 * MU, "`observed`, got norms"), (np.full((2, 3), np.nan), "missing or infinite values")],
)
def test_bad_data(observed, message):
    with pm.Model(), pytest.raises(ValueError, match=message):
        VonMisesFisher("x", [1, 0, 0], 1.0, observed=observed)


class TestRandom(BaseTestDistributionRandom):
    pymc_dist = VonMisesFisher
    pymc_dist_params = {"mu": MU[0], "kappa": 2.0}
    expected_rv_op_params = {"mu": MU[0], "kappa": 2.0}
    sizes_to_check = [None, 1, (4,), (2, 3)]
    sizes_expected = [(3,), (1, 3), (4, 3), (2, 3, 3)]
    checks_to_run = ["check_pymc_params_match_rv_op", "check_rv_size"]


@pytest.mark.filterwarnings(COPIED_RNG)
@pytest.mark.filterwarnings("ignore:PyTensor could not link to a BLAS:UserWarning")
@pytest.mark.parametrize("n", [2, 3, 10, 500])
@pytest.mark.parametrize("mode", ["NUMBA", "CVM", "JAX"])
def test_moments_of_draws(mode, n):
    kappa, size = np.array([0.0, 1.0, 50.0, 1e4]), 3000
    mu = np.zeros(n)
    mu[:2] = 0.6, 0.8
    draws = pm.draw(VonMisesFisher.dist(mu, kappa, size=(size, 4)), random_seed=n, mode=mode)
    np.testing.assert_allclose((draws**2).sum(-1), 1, rtol=1e-12)
    cosine = draws @ mu
    mean = np.array([reference(n, k)[1] for k in kappa])
    variance = np.append(1 / n, 1 - mean[1:] ** 2 - (n - 1) * mean[1:] / kappa[1:])
    np.testing.assert_array_less(np.abs(cosine.mean(0) - mean), 4.5 * np.sqrt(variance / size))
    squares = (cosine - mean) ** 2
    error = squares.std(0) / np.sqrt(size)
    np.testing.assert_array_less(np.abs(squares.mean(0) - variance), 4.5 * error)
    if n == 2:
        across = draws @ np.array([0.8, -0.6])
        np.testing.assert_array_less(np.abs(across.mean(0)), 4.5 * across.std(0) / np.sqrt(size))


def test_batched_parameters():
    draws = pm.draw(VonMisesFisher.dist(MU, [1e6, 1e6, 1e6]), random_seed=1)
    np.testing.assert_allclose(draws, MU, atol=1e-2)


def test_support_point():
    with pm.Model() as model:
        VonMisesFisher("x", MU[0], 2.0, shape=(2, 3))
    assert_support_point_is_expected(model, np.stack([MU[0], MU[0]]))


@pytest.mark.parametrize("batched", [True, False])
def test_mixture(batched):
    mu, kappa, weights = MU[:2], np.array([20.0, 5.0]), np.array([0.3, 0.7])
    components = (
        VonMisesFisher.dist(mu, kappa)
        if batched
        else [VonMisesFisher.dist(m, k) for m, k in zip(mu, kappa, strict=True)]
    )
    mixture = pm.Mixture.dist(weights, components, shape=(2000, 3))
    expected = [
        np.log(
            sum(w * np.exp(scipy_logp(x, m, k)) for w, m, k in zip(weights, mu, kappa, strict=True))
        )
        for x in MU
    ]
    small = pm.Mixture.dist(weights, components)
    np.testing.assert_allclose(pm.logp(small, MU).eval(), expected, rtol=1e-10)
    mean = sum(w * reference(3, k)[1] * m for w, m, k in zip(weights, mu, kappa, strict=True))
    draws = pm.draw(mixture, random_seed=1)
    np.testing.assert_allclose(draws.mean(0), mean, atol=4.5 / np.sqrt(2000))


def make_model():
    with pm.Model() as model:
        mu = VonMisesFisher("mu", [1, 0, 0], 1.0)
        kappa = pm.HalfNormal("kappa", 50.0)
        VonMisesFisher("x", mu, kappa, observed=MU)
    return model


def test_names():
    model = make_model()
    assert "mu ~ VonMisesFisher" in model.str_repr()
    assert r"\operatorname{VonMisesFisher}" in model.str_repr(formatting="latex")
    assert [v.name for v in model.value_vars] == ["mu_unitvector__", "kappa_log__"]
    assert "VonMisesFisher" in pm.model_to_mermaid(model)


def test_graphviz():
    pytest.importorskip("graphviz")
    assert "VonMisesFisher" in pm.model_to_graphviz(make_model()).source


def test_pickle():
    model = make_model()
    copy = cloudpickle.loads(cloudpickle.dumps(model))
    point = model.initial_point()
    assert copy.point_logps(point) == model.point_logps(point)


def test_minibatch():
    with pm.Model() as model:
        x = pm.Minibatch(np.tile(MU, (4, 1)), batch_size=5)
        mu = VonMisesFisher("mu", [1, 0, 0], 1.0)
        VonMisesFisher("x", mu, 2.0, observed=x, total_size=12)
    assert np.isfinite(model.compile_logp()(model.initial_point()))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "kappa"), [(2, 0.0), (2, 50.0), (3, 5.0), (3, 50.0), (10, 0.5), (10, 50.0)]
)
def test_nuts(n, kappa):
    mu = np.eye(n)[1]
    with pm.Model() as model:
        VonMisesFisher("x", mu, kappa)
    assert model.rvs_to_transforms[model["x"]] is unit_vector
    with model:
        idata = pm.sample(2000, chains=2, cores=1, random_seed=1, progressbar=False)
    assert idata.sample_stats["diverging"].sum() == 0
    x = idata.posterior["x"].values
    np.testing.assert_allclose((x**2).sum(-1), 1, rtol=1e-12)
    cosine = x @ mu
    # NUTS draws are near independent here; a quarter of them is a cautious effective size.
    error = cosine.std() / np.sqrt(cosine.size / 4)
    assert abs(cosine.mean() - reference(n, kappa)[1]) < 4.5 * error
