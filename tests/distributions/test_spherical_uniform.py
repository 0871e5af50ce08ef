#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
import numpy as np
import pymc as pm
import pytest

from pymc.testing import assert_support_point_is_expected
from scipy.special import gammaln

from pymc_geodesic.distributions import SphericalUniform
from pymc_geodesic.distributions.transforms import unit_vector

COPIED_RNG = "ignore:The RandomType SharedVariables:UserWarning"


@pytest.mark.parametrize("n", [2, 3, 1000])
def test_logp(n):
    points = np.stack([np.eye(n)[0], np.full(n, n**-0.5), np.ones(n)])
    logp = pm.logp(SphericalUniform.dist(shape=(3, n)), points).eval()
    density = gammaln(n / 2) - np.log(2) - n / 2 * np.log(np.pi)
    np.testing.assert_allclose(logp, [density, density, -np.inf], rtol=1e-12)


@pytest.mark.filterwarnings(COPIED_RNG)
@pytest.mark.parametrize("mode", ["NUMBA", "JAX"])
def test_draws(mode):
    x = pm.draw(SphericalUniform.dist(shape=(4000, 3)), random_seed=1, mode=mode)
    np.testing.assert_allclose((x**2).sum(-1), 1, rtol=1e-12)
    np.testing.assert_allclose(x.mean(0), 0, atol=4.5 / np.sqrt(3 * 4000))
    # Archimedes: each coordinate is uniform, E x^2 = 1/3 and Var x^2 = 4/45.
    np.testing.assert_allclose((x**2).mean(0), 1 / 3, atol=4.5 * np.sqrt(4 / 45 / 4000))


def test_shapes():
    with pm.Model(coords={"row": range(4), "axis": range(3)}) as model:
        SphericalUniform("a", dims=("row", "axis"))
        SphericalUniform("b", shape=(2, 5))
        SphericalUniform("c", observed=np.eye(6))
        SphericalUniform("d", support_shape=(3,), size=(7,))
    shapes = [tuple(model[name].shape.eval()) for name in "abcd"]
    assert shapes == [(4, 3), (2, 5), (6, 6), (7, 3)]
    assert "a ~ SphericalUniform" in model.str_repr()
    assert model.rvs_to_transforms[model["a"]] is unit_vector


def test_support_point():
    with pm.Model() as model:
        SphericalUniform("x", shape=(2, 4))
    assert_support_point_is_expected(model, np.full((2, 4), 0.5))


def test_errors():
    with pytest.raises(ValueError, match="expected the dimension n of its space, got none"):
        SphericalUniform.dist()
    with pytest.raises(ValueError, match="got length 1"):
        SphericalUniform.dist(shape=(3, 1))
    with pm.Model(), pytest.raises(ValueError, match="`observed`, got norms"):
        SphericalUniform("x", observed=np.ones((2, 3)))


@pytest.mark.slow
def test_nuts():
    with pm.Model():
        SphericalUniform("x", shape=(2, 3))
        idata = pm.sample(2000, chains=2, cores=1, random_seed=1, progressbar=False)
    assert idata.sample_stats["diverging"].sum() == 0
    x = idata.posterior["x"].values.reshape(-1, 6)
    np.testing.assert_allclose(x.mean(0), 0, atol=4.5 / np.sqrt(3 * len(x) / 4))
