#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""`total_size` is the number of rows, or is said to be meant otherwise."""

import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

N = 2_000
RNG = np.random.default_rng(1)
X = RNG.normal(size=(N, 3))
Y = X @ [1.0, 0.5, -0.2] + RNG.normal(size=N)


def regression(total_size):
    with pm.Model() as model:
        x, y = pm.Minibatch(X, Y, batch_size=50)
        pm.Normal("y", x @ pm.Normal("beta", shape=3), observed=y, total_size=total_size)
    return model


def step_of(model, method=pmg.SGNHT, **options):
    return method(step_size=1e-3, model=model, **options)


@pytest.mark.parametrize("size", [200_000, 200, 3, [20_000], (20_000, ...)], ids=str)
@pytest.mark.parametrize("method", [pmg.SGNHT, pmg.SGGMC, pmg.SGLD, pmg.GMC])
def test_sizes_that_are_not_the_number_of_rows(method, size):
    got = size if isinstance(size, int) else size[0]
    message = (
        f"`total_size` of `y` expected the number of rows, 2000, got {got}, .*`total_size=2000`"
    )
    with pytest.raises(ValueError, match=message + ".*`trust_total_size=True`"):
        step_of(regression(size), method)


@pytest.mark.parametrize("trust", [False, True])
def test_sizes_that_are_not_positive_are_never_meant(trust):
    with pytest.raises(ValueError, match=r"`total_size` of `y` expected.*got -5\. Pass a positive"):
        step_of(regression(-5), trust_total_size=trust)


def test_a_size_of_zero_is_none_for_pymc():
    with pytest.warns(UserWarning, match="total_size not provided"):
        model = regression(None)
    with pytest.raises(ValueError, match=r"`y` depends on.*no `total_size`"):
        step_of(model)
    with pytest.raises(ValueError, match=r"`y` depends on.*no `total_size`"):
        step_of(regression(0))


def test_sizes_with_decimals_are_refused_by_pymc():
    with pytest.raises(TypeError, match="Invalid type for total_size"):
        regression(2_000.5)


def test_another_size_that_is_meant():
    """A tenth of the rows: the variance is ten times that of all of them."""
    model = regression(200)
    step = step_of(model, pmg.SGNHT, trust_total_size=True, n_steps=50)
    energy = step.sampler.problem.potential.energy(
        step.sampler.problem.potential.positions, step.sampler.problem.potential.indices
    )
    rows = np.arange(50)
    at = {
        step.sampler.problem.potential.positions[0]: np.zeros(3),
        step.sampler.problem.potential.indices[0]: rows,
    }
    log_normal = 0.5 * np.log(2 * np.pi)
    expected = 200 / 50 * (0.5 * (Y[rows] ** 2).sum() + 50 * log_normal) + 3 * log_normal
    assert energy.eval(at) == pytest.approx(expected)
    assert "trust_total_size" in pmg.SGGMC.__doc__


def table(total_size):
    with pm.Model() as model:
        x = pm.Minibatch(X, batch_size=50)
        pm.Normal("x", pm.Normal("mean"), observed=x, total_size=total_size)
    return model


def test_axes_besides_that_of_the_rows():
    step_of(table([N, 3]))
    with pytest.raises(ValueError, match=r"number of entries of axis 1, 3, got 30, .*10 times"):
        step_of(table([N, 30]))
    step_of(table([N, 30]), trust_total_size=True)


def test_a_size_of_other_axes_alone_scales_no_rows():
    with pytest.raises(ValueError, match=r"`x` depends on.*no `total_size`"):
        step_of(table([None, 3]))


def test_every_variable_of_a_model_is_looked_at():
    with pm.Model() as model:
        theta = pm.Normal("theta")
        for name, data, size in (("a", Y, N), ("b", Y[:100], N)):
            pm.Normal(name, theta, observed=pm.Minibatch(data, batch_size=10), total_size=size)
    with pytest.raises(ValueError, match="`total_size` of `b` expected the number of rows, 100"):
        step_of(model)


def test_variables_of_one_stream_have_one_size():
    blocks = np.column_stack([Y, Y]).reshape(-1, 50, 2)
    with pm.Model() as model:
        batch = pm.Data("batch", np.zeros((50, 2)))
        theta = pm.Normal("theta")
        pm.Normal("a", theta, observed=batch[:, 0], total_size=N)
        pm.Normal("b", theta, observed=batch[:, 1], total_size=N // 10)
    with pytest.raises(ValueError, match="`total_size` of `b` expected the number of rows, 2000"):
        step_of(model, data={"batch": list(blocks)})


def test_check_minibatch():
    with pytest.raises(ValueError, match="`total_size` of `y` expected the number of rows, 2000"):
        pmg.check_minibatch(regression(20_000))
    with pytest.raises(ValueError, match="NUTS"):
        pmg.check_minibatch(regression(20_000), trust_total_size=True)
