#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What every distribution of unit vectors keeps to. A new one is a line of CASES in spheres.py."""

import cloudpickle
import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest

from spheres import CASES, sphere_points

import pymc_geodesic as pmg

from pymc_geodesic.distributions.transforms import unit_vector

COPIED_RNG = "ignore:The RandomType SharedVariables:UserWarning"
POINTS, WEIGHTS = sphere_points()


@pytest.fixture(params=CASES, ids=str)
def case(request):
    return CASES[request.param]


def density(case):
    variable = case.distribution.dist(**case.parameters)
    return np.exp(pm.logp(variable, POINTS).eval(mode="FAST_COMPILE"))


def moments(x):
    """First, second and third moments, along the last axis."""
    second = x[..., :, None] * x[..., None, :]
    third = second[..., None] * x[..., None, None, :]
    shape = x.shape[:-1]
    return np.concatenate([x, second.reshape(*shape, 9), third.reshape(*shape, 27)], -1)


def test_the_density_is_normalised(case):
    np.testing.assert_allclose(density(case) @ WEIGHTS, 1, rtol=1e-9)


def test_only_densities_of_axes_are_even(case):
    x = POINTS[::50]
    logp = pm.logp(case.distribution.dist(**case.parameters), np.stack([x, -x])).eval(
        mode="FAST_COMPILE"
    )
    assert np.allclose(logp[0], logp[1], rtol=1e-12) == case.axial
    expected = pmg.ProjectiveSphere if case.axial else pmg.Sphere
    assert type(pmg.manifold_of(case.distribution.dist(**case.parameters))) is expected


@pytest.mark.filterwarnings(COPIED_RNG)
@pytest.mark.parametrize("mode", ["NUMBA", "JAX"])
def test_draws_have_the_moments_of_the_density(case, mode):
    n = 20_000
    variable = case.distribution.dist(**case.parameters, size=n)
    draws = pm.draw(variable, random_seed=1, mode=mode)
    np.testing.assert_allclose((draws**2).sum(-1), 1, rtol=1e-12)
    expected = (density(case) * WEIGHTS) @ moments(POINTS)
    found = moments(draws)
    # The largest of 39 correlated figures.
    error = found.std(0) / np.sqrt(n)
    np.testing.assert_array_less(np.abs(found.mean(0) - expected), 4.5 * error + 1e-12)


def test_parameters_have_leading_axes(case):
    many = {name: np.stack([value, value]) for name, value in case.parameters.items()}
    one = case.distribution.dist(**case.parameters)
    batch = case.distribution.dist(**many)
    assert one.type.shape == (3,)
    assert pm.draw(batch, random_seed=1, mode="FAST_COMPILE").shape == (2, 3)
    values = POINTS[:2]
    together = pm.logp(batch, values).eval(mode="FAST_COMPILE")
    np.testing.assert_allclose(together, pm.logp(one, values).eval(mode="FAST_COMPILE"), rtol=1e-12)
    shaped = case.distribution.dist(**many, shape=(4, 2, 3))
    assert pm.draw(shaped, random_seed=1, mode="FAST_COMPILE").shape == (4, 2, 3)
    sized = case.distribution.dist(**case.parameters, size=(5, 1))
    assert pm.draw(sized, mode="FAST_COMPILE").shape == (5, 1, 3)


def test_gradients_are_those_of_differences(case):
    value = pt.vector("value", shape=(3,))
    parameters = {
        name: pt.constant(np.asarray(x, float)).type(name) for name, x in case.parameters.items()
    }
    inputs = [value, *parameters.values()]
    logp = pm.logp(case.distribution.dist(**parameters), value)
    [logp] = pmg.potential.log_density.without_checks([logp], impossible=False)
    both = pytensor.function(inputs, [logp, *pytensor.grad(logp, inputs)], mode="FAST_COMPILE")
    point = [POINTS[4321], *(np.asarray(x, float) for x in case.parameters.values())]
    gradients, step = both(*point)[1:], 1e-5
    rng = np.random.default_rng(1)
    for i, gradient in enumerate(gradients):
        direction = rng.normal(size=point[i].shape)
        if direction.ndim == 2:
            direction = direction + direction.T
        ahead, behind = (
            both(*point[:i], point[i] + sign * step * direction, *point[i + 1 :])[0]
            for sign in (1, -1)
        )
        change = (ahead - behind) / (2 * step)
        np.testing.assert_allclose((gradient * direction).sum(), change, rtol=1e-7, atol=1e-8)


def test_the_support_point_is_on_the_sphere_and_likely(case):
    with pm.Model() as model:
        case.distribution("x", **case.parameters, shape=(2, 3))
    point = model.initial_point()["x_unitvector__"]
    assert point.shape == (2, 3)
    np.testing.assert_allclose(np.linalg.norm(point, axis=-1), 1)
    logp = pm.logp(case.distribution.dist(**case.parameters), point).eval(mode="FAST_COMPILE")
    assert np.exp(logp).min() > 0.3 * density(case).max()
    assert model.rvs_to_transforms[model["x"]] is unit_vector


def test_values_off_the_sphere_are_impossible(case):
    value = pt.vector("value", shape=(3,))
    logp = pm.logp(case.distribution.dist(**case.parameters), value)
    assert np.isneginf(logp.eval({value: 1.001 * POINTS[0]}, mode="FAST_COMPILE"))


@pytest.mark.parametrize(
    ("observed", "message"),
    [
        (2 * POINTS[:3], "`observed`, got norms"),
        (np.full((2, 3), np.nan), "missing or infinite values"),
        (np.eye(4), "equal length"),
    ],
)
def test_bad_data(case, observed, message):
    with pm.Model(), pytest.raises(ValueError, match=message):
        case.distribution("x", **case.parameters, observed=observed)


def test_names_pickles_and_batches(case):
    name = case.distribution.__name__
    with pm.Model() as model:
        data = pm.Minibatch(POINTS, batch_size=5)
        case.distribution("free", **case.parameters)
        case.distribution("x", **case.parameters, observed=data, total_size=len(POINTS))
    assert f"free ~ {name}" in model.str_repr()
    assert rf"\operatorname{{{name}}}" in model.str_repr(formatting="latex")
    assert name in pm.model_to_mermaid(model)
    copy = cloudpickle.loads(cloudpickle.dumps(model))
    assert [v.name for v in copy.value_vars] == ["free_unitvector__"]
