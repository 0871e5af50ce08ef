#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Points and gradients at draws, whatever the transforms and the minibatches."""

import arviz as az
import numpy as np
import pymc as pm
import pytest

from draws import independent_draws, model

from pymc_geodesic.diagnostics.gradients import gradient_draws, model_points


def options(**given):
    return {"batches": 1, "max_draws": 10**6, "random_seed": 1} | given


def test_points_are_those_of_the_sampler():
    idata = independent_draws(draws=20)
    posterior = idata["posterior"]
    found = gradient_draws(idata, model=model(), **options())
    points = dict(zip((v.name for v in found.variables), found.points, strict=True))
    np.testing.assert_allclose(points["k"], np.log(posterior["k"]))
    np.testing.assert_allclose(points["d"], np.sqrt(posterior["d"]))
    np.testing.assert_allclose(points["s"], posterior["s"])
    gradients = dict(zip((v.name for v in found.variables), found.gradients, strict=True))
    np.testing.assert_allclose(gradients["x"], (points["x"] - [1, 2]) / [0.01, 9], rtol=1e-6)
    np.testing.assert_allclose(gradients["k"], posterior["k"] - 3, rtol=1e-6)


def test_draws_are_thinned_evenly_to_the_last():
    idata = independent_draws(draws=25)
    found = model_points(idata, model(), max_draws=10)
    np.testing.assert_allclose(found.points[0], idata["posterior"]["x"][:, 0::3])


def test_transforms_that_depend_on_other_variables_and_discrete_variables():
    with pm.Model() as result:
        top = pm.Gamma("top", 10, 1)
        pm.Uniform("x", 0, top)
        n = pm.Poisson("n", 3)
        pm.Normal("y", n, 1)
    rng = np.random.default_rng(1)
    top = rng.gamma(10, 1, (2, 30))
    n = rng.poisson(3, (2, 30))
    y = rng.normal(n, 1)
    draws = {"top": top, "x": rng.uniform(0, top), "n": n, "y": y}
    found = gradient_draws(az.from_dict({"posterior": draws}), model=result, **options())
    points = dict(zip((v.name for v in found.variables), found.points, strict=True))
    np.testing.assert_allclose(points["x"], np.log(draws["x"] / (top - draws["x"])))
    gradients = dict(zip((v.name for v in found.variables), found.gradients, strict=True))
    np.testing.assert_allclose(gradients["y"], y - n, atol=1e-10)


def test_minibatch_gradients_have_the_mean_of_the_whole():
    rng = np.random.default_rng(1)
    data = rng.normal(2.0, 1.0, (300, 2))
    with pm.Model() as noisy:
        theta = pm.StudentT("theta", nu=3, shape=2)
        rows = pm.Minibatch(data, batch_size=10)
        pm.StudentT("y", 4, mu=theta, observed=rows, total_size=(300, None))
    draws = np.repeat([[[2.0, 1.9]], [[2.3, 2.0]]], 400, axis=1)
    idata = az.from_dict({"posterior": {"theta": draws}})
    [estimates] = gradient_draws(idata, model=noisy, **options()).gradients
    [exact] = gradient_draws(idata, model=noisy, **options(batches="all", max_draws=1)).gradients
    # The center is one of the two places, where nothing is left of the noise.
    errors = estimates.std(axis=1) / 20
    assert np.all(np.abs(estimates.mean(axis=1) - exact[:, 0]) <= 4 * errors + 1e-9)
    assert np.max(errors) > 0


def test_scalars_that_numpy_has_no_functions_for():
    """The digamma function of a number of degrees of freedom has to be compiled."""
    data = np.random.default_rng(1).standard_t(4, 50)

    def build(observed, **scaled):
        with pm.Model() as result:
            sigma, nu = pm.Uniform("sigma", 0, 10), pm.Gamma("nu", 2, 0.1)
            pm.StudentT("y", nu=nu, mu=0, sigma=sigma, observed=observed, **scaled)
        return result

    sigma, nu = np.array([[1.0, 1.5]]), np.array([[3.0, 6.0]])
    idata = az.from_dict({"posterior": {"sigma": sigma, "nu": nu}})
    noisy = build(pm.Minibatch(data, batch_size=10), total_size=50)
    found = gradient_draws(idata, model=noisy, **options(batches="all")).gradients
    dlogp = build(data).compile_dlogp(mode="FAST_COMPILE")
    values = {"sigma_interval__": np.log(sigma / (10 - sigma)), "nu_log__": np.log(nu)}
    for draw in range(2):
        expected = dlogp({name: value[0, draw] for name, value in values.items()})
        np.testing.assert_allclose([g[0, draw] for g in found], -expected, rtol=1e-6)


def test_missing_variables():
    idata = az.from_dict({"posterior": {"x": np.zeros((1, 5, 2))}})
    with pytest.raises(ValueError, match=r"no draws of \['k', 'u', 's', 'd'\]"):
        gradient_draws(idata, model=model(), **options())


def test_gradients_that_are_not_finite():
    with pm.Model() as result:
        x = pm.Normal("x")
        pm.Potential("pole", -pm.math.log(x))
    idata = az.from_dict({"posterior": {"x": np.array([[0.0, 1.0]])}})
    with np.errstate(divide="ignore", invalid="ignore"), pytest.raises(ValueError, match="1 of 2"):
        gradient_draws(idata, model=result, **options())
