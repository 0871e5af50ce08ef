#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Models that were written with ``pymc.dims`` are the same models of tensors."""

import warnings

import numpy as np
import pymc as pm
import pytest
import test_written_models

import pymc_geodesic as pmg

from pymc_geodesic.rows.builders import plain

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # PyMC warns that the module is new.
    import pymc.dims as pmd

N = 60
ALL_ROWS = {"x": "row", "groups": "row", "X": ("row", "k"), "observed": "row"}


def named(n=N):
    """A regression with a variable of each transform."""
    rng = np.random.default_rng(1)
    coords = {"row": range(n), "k": list("abc"), "group": range(4)}
    data = {"x": rng.standard_normal(n), "groups": rng.integers(0, 4, n)}
    data |= {"X": rng.standard_normal((n, 3)), "observed": rng.standard_normal(n)}
    with pm.Model(coords=coords) as model:
        x, groups, X, observed = (pmd.Data(k, v, dims=ALL_ROWS[k]) for k, v in data.items())
        a, b, s = pmd.Normal("a"), pmd.Normal("b", dims="k"), pmd.HalfNormal("s")
        p, u = pmd.Beta("p", 2.0, 3.0), pmd.Uniform("u", 0.5, 2.0)
        w = pmd.Dirichlet("w", a=pmd.as_xtensor(np.ones(3), dims="k"), core_dims="k")
        z = pmd.ZeroSumNormal("z", core_dims="group", dims="group")
        mu = p * a * x + X.dot(b + u * w, dim="k") + z.isel(group=groups)
        pmd.Deterministic("mu", mu)
        pmd.Normal("y", mu, s, observed=observed)
    return model


def test_names_dims_and_densities_stay():
    model = named()
    found = plain(model)
    assert {x.name for x in found.value_vars} == {x.name for x in model.value_vars}
    dims = {name: dims for name, dims in model.named_vars_to_dims.items() if dims}
    assert found.named_vars_to_dims == dims
    assert found.coords == model.coords
    assert plain(found) is found


def test_the_expectation_over_batches_is_the_whole():
    model = named()
    batches = pmg.minibatch(model, batch_size=test_written_models.BATCH_SIZE)
    test_written_models.require_unbiased(plain(model), batches)


def test_the_result_has_the_dims_of_the_model():
    n = 1_000
    with pm.Model(coords={"row": range(n), "group": list("abcd")}) as model:
        group = pmd.Data("of_row", np.arange(n) % 4, dims="row")
        y = pmd.Data("observed", np.arange(n) % 4 - 1.5, dims="row")
        z = pmd.ZeroSumNormal("z", core_dims="group", dims="group")
        pmd.Normal("y", z.isel(group=group), 1.0, observed=y)
    idata = pmg.sample(
        100, tune=100, chains=2, model=model, batch_size=100, progressbar=False, random_seed=1
    )
    z = idata.posterior["z"]
    assert z.dims == ("chain", "draw", "group")
    assert list(z["group"].values) == list("abcd")
    np.testing.assert_allclose(z.mean(("chain", "draw")), np.arange(4) - 1.5, atol=0.2)


def test_a_transform_that_pymc_does_not_have_is_refused():
    class Doubled(pmd.transforms.DimTransform):
        name = "doubled"

        def forward(self, value, *inputs):
            return value / 2

        def backward(self, value, *inputs):
            return 2 * value

        def log_jac_det(self, value, *inputs):
            return pmd.math.log(2.0 + 0 * value)

    with pm.Model(coords={"row": range(N)}) as model:
        mean = pmd.Normal("mean", transform=Doubled())
        pmd.Normal("y", mean, 1.0, observed=pmd.as_xtensor(np.ones(N), dims="row"))
    with pytest.raises(ValueError, match=r"`mean` expected a transform of `pymc\.dims`"):
        pmg.minibatch(model, batch_size=10)
