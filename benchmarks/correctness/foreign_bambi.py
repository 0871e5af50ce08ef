#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Formulas of Bambi's notebooks, on columns of the names that ``frame`` gives them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.correctness.foreign_registry import MODELS, Foreign, frame

__all__: list[str] = []

NOTEBOOKS = "bambi: docs/notebooks/"

# Formula or formulas, and options, by notebook.
FORMULAS: dict[str, tuple[str | tuple[str, ...], dict[str, Any]]] = {
    "ESCS_multiple_regression": ("y ~ x + z + w + y2", {}),
    "Strack_RRR_re_analysis": ("y ~ level_name + x + (1|g) + (level_name|h) + (1|s)", {}),
    "alternative_links_binary": ("p(wins, tries) ~ x", {"family": "binomial", "link": "cloglog"}),
    "bayesian_t-test": (("y ~ 1 + party", "sigma ~ 0 + party"), {}),
    "beta_regression": (("prop ~ x + level_name", "kappa ~ x"), {"family": "beta"}),
    "categorical_regression": ("level_name ~ x + z", {"family": "categorical"}),
    "circular_regression": ("angle ~ x + z", {"family": "vonmises"}),
    "count_roaches": (
        "count ~ x + bin + w + offset(log(exposure))",
        {"family": "zero_inflated_negativebinomial"},
    ),
    "cr_spline": ("y ~ bs(x, df=8)", {}),
    "distributional_models": (("time ~ x", "alpha ~ x"), {"family": "gamma", "link": "log"}),
    "fixed_random": ("y ~ 1 + x + (1|g)", {"noncentered": False}),
    "getting_started": ("y ~ 1 + x + (x|g)", {}),
    "hierarchical_binomial_bambi": ("p(wins, tries) ~ 1 + (1|g)", {"family": "binomial"}),
    "hsgp_1d": ("y ~ 0 + hsgp(x, m=10, c=2, cov='Matern52')", {}),
    "hsgp_2d": ("y ~ 0 + hsgp(x, z, m=6, c=1.5)", {}),
    "logistic_regression": ("party['b'] ~ level_name + level_name:x", {"family": "bernoulli"}),
    "mister_p": (
        "p(wins, tries) ~ x + bin + (1|g) + (1|h) + (1|s) + (1|g:bin)",
        {"family": "binomial"},
    ),
    "model_comparison": ("bin ~ scale(x) + I(scale(x)**2) + scale(z)", {"family": "bernoulli"}),
    "multi-level_regression": ("y ~ 1 + x + (1 + x|g)", {}),
    "negative_binomial": ("count ~ 0 + level_name*scale(x)", {"family": "negativebinomial"}),
    "ordinal_regression": ("ordered ~ 0 + x + z", {"family": "cumulative"}),
    "ordinal_regression, sequential": ("ordered ~ 0 + x + z", {"family": "sratio"}),
    "orthogonal_polynomial_reg": ("y ~ poly(x, 4)", {}),
    "per_prior_noncentered": ("y ~ x + (1|g) + (z|h)", {"noncentered": False}),
    "plot_comparisons": ("zeros ~ x + bin + z", {"family": "zero_inflated_poisson"}),
    "polynomial_regression": ("y ~ x + I(x**2) + I(x**3)", {}),
    "predict_new_groups": ("y ~ 1 + x + (1|g) + (0 + x|h)", {}),
    "quantile_regression": ("y ~ bs(x, df=7)", {"family": "asymmetriclaplace"}),
    "radon_example": ("y ~ 0 + bin + (0 + bin|g)", {}),
    "shooter_crossed_random_ANOVA": (
        "y ~ S(party)*S(level_name) + (S(party)*S(level_name)|g) + (S(party)|h)",
        {},
    ),
    "sleepstudy": ("y ~ 1 + x + (x|g)", {"priors": "student"}),
    "survival_model": ("censored(time, censoring) ~ 1 + party", {"family": "exponential"}),
    "survival_model, Weibull": (
        "censored(time, censoring) ~ x",
        {"family": "weibull", "link": "log"},
    ),
    "t_regression": ("y ~ x", {"family": "t"}),
    "truncated_regression": ("truncated(low, ub=1.0) ~ x", {"priors": "plain"}),
    "wald_gamma_glm": ("time ~ C(h) + party", {"family": "wald", "link": "log"}),
    "zero_inflated_regression": (("zeros ~ x", "psi ~ z"), {"family": "hurdle_poisson"}),
    "weighted responses (FAQ)": ("weighted(y, exposure) ~ x + (1|g)", {}),
}


def columns(n: int) -> pd.DataFrame:
    """Add what formulas need beside numbers: strings, categories, bounds."""
    data = frame(n)
    rng = np.random.default_rng(9)
    data["g"], data["h"] = "g" + data["g"].astype(str), "h" + data["h"].astype(str)
    data["s"], data["party"] = data["g"] + data["h"], rng.choice(["a", "b"], n)
    data["level_name"] = np.array(["lo", "mid", "hi"])[np.minimum(data["level"], 2)]
    data["ordered"] = pd.Categorical(data["level_name"], ["lo", "mid", "hi"], ordered=True)
    data["exposure"] = rng.uniform(0.2, 2, n)
    data["zeros"] = data["count"] * rng.integers(0, 2, n)
    data["low"] = np.minimum(data["y"], 1 - rng.exponential(1, n))
    data["censoring"] = np.where(data["event"], "none", "right")
    return data


def built(formula: str | tuple[str, ...], options: dict[str, Any], n: int) -> Any:
    """Return the model of Bambi of a formula; Bambi is imported here."""
    import bambi as bmb

    if options.get("priors") == "student":
        hyper = bmb.Prior("HalfStudentT", nu=4, sigma=1.0)
        options = {"priors": {"1|g": bmb.Prior("Normal", mu=0, sigma=hyper)}}
    elif options.get("priors") == "plain":
        normal = bmb.Prior("Normal", mu=0, sigma=1)
        scale = bmb.Prior("HalfNormal", sigma=1)
        options = {"priors": {"Intercept": normal, "x": normal, "sigma": scale}}
    formula = formula if isinstance(formula, str) else bmb.Formula(*formula)
    return bmb.Model(formula, columns(n), **options)


for notebook, (formula, options) in FORMULAS.items():
    MODELS[f"bambi {notebook}"] = Foreign(
        partial(built, formula, options), NOTEBOOKS + notebook.split(",")[0], ""
    )
