#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Variables may have every name that PyMC allows, such as those of Bambi's models."""

import ast
import logging

from pathlib import Path

import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

PLAIN = ("i", "b", "s", "g", "z", "n", "d", "e")
# NumPy reads some as dtypes and fails at others; files end in ".partial" while they are written.
ODD = ("Intercept", "bs(x, df=5)", "1|g_sigma", "1|g", "x:y.partial", "2 mean", "f8,%s{}{0}", "i8")


@pytest.fixture(autouse=True)
def _no_log(caplog):
    caplog.set_level(logging.ERROR, logger="pymc")


def model_with(names):
    """A linear regression with an intercept for each group, as Bambi writes it."""
    rng = np.random.default_rng(1)
    groups, x = rng.integers(0, 4, 1000), rng.normal(size=1000)
    y = 1 + 0.5 * x + groups + rng.normal(size=1000)
    i, b, s, g, z, n, d, e = names
    with pm.Model(coords={"g__factor_dim": list("abcd"), "x,y dim": [0, 1]}) as model:
        intercept, slope = pm.Normal(i, 0, 5), pm.Normal(b)
        effects = pm.Normal(g, 0, pm.HalfNormal(s), dims="g__factor_dim")
        noise = pm.HalfNormal(n)
        pm.Normal(z, dims="x,y dim")
        pm.Deterministic(d, intercept + effects, dims="g__factor_dim")
        pm.Deterministic(e, intercept**2)
        rows, of_rows, batch = pm.Minibatch(x, groups, y, batch_size=100)
        mean = intercept + slope * rows + effects[of_rows]
        pm.Normal(f"y|{b}", mean, noise, observed=batch, total_size=1000)
    return model


def test_draws_do_not_depend_on_names(tmp_path):
    options = {
        "chains": 2,
        "tune": 60,
        "random_seed": 1,
        "progressbar": False,
        "compute_convergence_checks": False,
        "refine": False,
    }
    plain = pmg.sample(40, model=model_with(PLAIN), **options)
    model, path = model_with(ODD), tmp_path / "run.zarr"
    for draws in (20, 40):
        pmg.sample(draws, model=model, checkpoint=path, **options)
    odd = pmg.read(path)
    for a, b in zip(PLAIN, ODD, strict=True):
        np.testing.assert_array_equal(plain.posterior[a].values, odd.posterior[b].values)
    assert len(pmg.summary(odd).index) == 15
    pmg.diagnose(odd)


def test_no_name_of_a_variable_is_read_as_a_dtype():
    """``pytensor.tensor.tensor`` takes only names that stand in the code."""
    for path in sorted(Path(pmg.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            called = getattr(node.func, "id", getattr(node.func, "attr", None))
            assert called != "tensor" or isinstance(node.args[0], ast.Constant), path
