#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Models of PyMC-Marketing, which builds them itself, on simulated customers."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmarks.correctness.foreign_registry import foreign

__all__ = ["customers"]

CLV = "pymc-marketing: clv/models/"


def customers(n: int, *, seed: int = 1) -> pd.DataFrame:
    """Simulate purchases until customers leave, as the beta-geometric model has it."""
    rng = np.random.default_rng(seed)
    rate, drop = rng.gamma(0.6, 1 / 8, n), rng.beta(0.9, 2.5, n)
    length = rng.uniform(20, 60, n).round(1)
    frequency, recency, now = np.zeros(n), np.zeros(n), np.zeros(n)
    active = np.ones(n, dtype=bool)
    while active.any():
        now[active] += rng.exponential(1 / rate[active])
        active &= now <= length
        frequency[active] += 1
        recency[active] = now[active]
        active &= rng.random(n) >= drop
    return pd.DataFrame(
        {
            "customer_id": np.arange(n),
            "frequency": frequency,
            "recency": recency,
            "T": length,
            "x": rng.standard_normal(n),
            "monetary_value": np.where(frequency > 0, rng.gamma(4, 5, n), 0.0),
        }
    )


def subscribers(n: int, *, seed: int = 2) -> pd.DataFrame:
    """Simulate contracts that are renewed or not, at most eight times."""
    rng = np.random.default_rng(seed)
    ended = np.minimum(rng.geometric(np.clip(rng.beta(1.0, 3.0, n), 1e-6, 1)), 8)
    return pd.DataFrame(
        {
            "customer_id": np.arange(n),
            "recency": ended,
            "T": 8,
            "cohort": rng.choice(["2023", "2024"], n),
        }
    )


def built(name: str, data: pd.DataFrame, **config):
    """Return a model of customers' lifetime value, built for some data."""
    from pymc_marketing import clv

    model = getattr(clv, name)(model_config=config or None)
    model.build_model(data)
    return model


@foreign(CLV + "beta_geo.py")
def bg_nbd(n):
    return built("BetaGeoModel", customers(n))


@foreign(CLV + "beta_geo.py")
def bg_nbd_with_covariates(n):
    return built(
        "BetaGeoModel", customers(n), purchase_covariate_cols=["x"], dropout_covariate_cols=["x"]
    )


@foreign(CLV + "modified_beta_geo.py")
def mbg_nbd(n):
    return built("ModifiedBetaGeoModel", customers(n))


@foreign(CLV + "pareto_nbd.py")
def pareto_nbd(n):
    # In NumPy, its hypergeometric function takes 0.2 ms a row.
    return built("ParetoNBDModel", customers(min(n, 2_000)))


@foreign(CLV + "beta_geo_beta_binom.py")
def bg_bb(n):
    rng = np.random.default_rng(3)
    bought = rng.random((n, 6)) < rng.beta(1.2, 0.8, n)[:, None]
    bought &= np.arange(6) < rng.geometric(0.2, n)[:, None]
    last = np.where(bought.any(1), 6 - np.argmax(bought[:, ::-1], axis=1), 0)
    data = {"customer_id": np.arange(n), "frequency": bought.sum(1), "recency": last, "T": 6}
    return built("BetaGeoBetaBinomModel", pd.DataFrame(data))


@foreign(CLV + "gamma_gamma.py")
def gamma_gamma(n):
    data = customers(4 * n)
    data = data[data["frequency"] > 0].head(n).reset_index(drop=True)
    return built("GammaGammaModel", data)


@foreign(CLV + "gamma_gamma.py")
def gamma_gamma_individual(n):
    rng = np.random.default_rng(4)
    who = np.sort(rng.integers(0, n // 10, n))
    data = {"customer_id": who, "individual_transaction_value": rng.gamma(4, 5, n)}
    return built("GammaGammaModelIndividual", pd.DataFrame(data))


@foreign(CLV + "shifted_beta_geo.py")
def shifted_beta_geometric(n):
    return built("ShiftedBetaGeoModel", subscribers(n))
