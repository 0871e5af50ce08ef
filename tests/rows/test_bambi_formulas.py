#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Models that Bambi builds from formulas are estimated from rows without bias."""

import numpy as np
import pandas as pd
import pytest
import test_written_models

import pymc_geodesic as pmg

bmb = pytest.importorskip("bambi")

N = 72

# What differs in how Bambi writes the likelihood, or what stands before it.
FORMULAS = {
    "groups": ("y ~ x*h + (x|g)", {}),
    "centred groups": ("y ~ x + (1|g) + (z|h)", {"noncentered": False}),
    "nested groups": ("y ~ x + (1|g/h)", {}),
    "trials": ("p(suc, n) ~ x + (1|g)", {"family": "binomial"}),
    "offset": ("cnt ~ x + offset(np.log(off))", {"family": "poisson"}),
    "splines": ("y ~ bs(x, df=6, intercept=True) + poly(z, 3)", {}),
    "Gaussian process": ("y ~ 0 + hsgp(x, by=h, m=8, c=1.5)", {}),
    "distributional": (("y ~ x + (1|g)", "sigma ~ z + (1|h)"), {}),
    "categorical": ("cat ~ x + (1|g)", {"family": "categorical"}),
    "ordinal": ("ord ~ 0 + x + z", {"family": "cumulative"}),
    "sequential": ("ord ~ 0 + x + z", {"family": "sratio"}),
    "zeros": (("zero ~ x", "psi ~ z"), {"family": "zero_inflated_poisson"}),
    "hurdle": ("zero ~ x", {"family": "hurdle_poisson"}),
    "censored": ("censored(pos, cens) ~ x", {"family": "weibull", "link": "log"}),
    "weighted": ("weighted(y, w) ~ x + (1|g)", {}),
    "multinomial": ("counts(cnt, zero, bin) ~ x", {"family": "multinomial"}),
    "angles": ("ang ~ x", {"family": "vonmises"}),
    "intercept": ("y ~ 1", {}),
}


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.standard_normal((N, 3)), columns=["x", "z", "y"])
    data["g"], data["h"] = rng.choice(list("abcdefg"), N), rng.choice(list("uvw"), N)
    data["cnt"], data["bin"], data["n"] = rng.poisson(2, N), rng.integers(0, 2, N), 8
    data["suc"], data["zero"] = rng.binomial(8, 0.4, N), data["cnt"] * rng.integers(0, 2, N)
    data["pos"], data["ang"] = rng.gamma(2, 1, N) + 0.05, rng.vonmises(0, 1, N)
    data["off"], data["w"] = rng.uniform(0.1, 1, N), rng.uniform(0.5, 2, N)
    levels = ["lo", "mid", "hi"]
    data["cat"] = rng.choice(list("lmn"), N)
    data["ord"] = pd.Categorical(rng.choice(levels, N), levels, ordered=True)
    data["cens"] = rng.choice(["none", "right"], N)
    return data


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FORMULAS)
def test_the_expectation_over_batches_is_the_whole(name, frame):
    formula, options = FORMULAS[name]
    formula = formula if isinstance(formula, str) else bmb.Formula(*formula)
    model = bmb.Model(formula, frame, **options)
    batches = pmg.minibatch(model, batch_size=test_written_models.BATCH_SIZE)
    test_written_models.require_unbiased(model.backend.model, batches)
