#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Inputs of strangers that were once taken silently, or failed where they should work.

A case either works, and returns whether what it found is right, or is refused by a sentence that
its pattern matches.
"""

from __future__ import annotations

import tempfile

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pymc as pm
import pytensor.tensor as pt
import scipy.sparse as sp
import xarray as xr

from pytensor.raise_op import Assert

import pymc_geodesic as pmg

__all__ = ["INPUTS", "Input"]

RUN = {"random_seed": 1, "progressbar": False}
SHORT = RUN | {"draws": 100, "tune": 100, "chains": 2}


class Input(NamedTuple):
    """What a stranger does; the pattern of the sentence that refuses it, or empty if it works."""

    run: Callable[[], Any]
    refused: str = ""


def unequal_lengths() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=5_000)
    with pm.Model():
        yb, xb = pm.Minibatch(x[:4_500], x, batch_size=100)
        pm.Normal("y", pm.Normal("b") * xb, 1.0, observed=yb, total_size=4_500)
        pmg.sample(**SHORT)


def codes(form: str) -> None:
    rng, n = np.random.default_rng(1), 20_000
    g = rng.integers(0, 3, n)
    outcome = np.array([0.0, 1.0, 5.0])[g] + rng.normal(size=n)
    labels = pd.Series(np.array(["a", "b", "c"])[g]).where(rng.random(n) > 0.1)
    c: Any
    with pm.Model():
        if form == "from one":
            c, y = pm.Minibatch(g + 1, outcome, batch_size=200)
        elif form == "missing":
            c, y = pm.Minibatch(labels.astype("category").cat.codes, outcome, batch_size=200)
        else:
            c, y = g, pm.Minibatch(outcome, batch_size=200)
        a, s = pm.Normal("a", 0, 5, shape=3), pm.HalfNormal("s", 2)
        pm.Normal("y", a[c], s, observed=y, total_size=n)
        pmg.sample(**SHORT)


def normal(name: str = "mu", extra: Callable[[Any], Any] | None = None, **model: Any) -> pm.Model:
    y = np.random.default_rng(1).normal(1.0, 1.0, 1_000)
    with pm.Model(**model) as found:
        mu = pm.Normal(name, 0, 10)
        if extra is not None:
            extra(mu)
        pm.Normal("obs", mu, 1, observed=pm.Minibatch(y, batch_size=50), total_size=1_000)
    return found


def named(name: str) -> bool:
    idata = pmg.sample(model=normal(name), **SHORT)
    return name in idata.posterior and abs(float(idata.posterior[name].mean()) - 1) < 0.3


def kept(extra: Callable[[Any], Any], **model: Any) -> bool:
    """Whether draws are returned although something fails after the last one."""
    idata = pmg.sample(model=normal(extra=extra, **model), **SHORT)
    return idata.posterior["mu"].sizes["draw"] == 100


def large(mu: Any) -> None:
    pm.Deterministic("fitted", mu * np.random.default_rng(1).normal(size=20_000_000))


def angle(form: str) -> bool:
    y = np.random.default_rng(1).vonmises(2.9, 4.0, 2_000)
    with pm.Model():
        if form == "von Mises":
            mu = pm.VonMises("mu", 0, 0.1)
        else:
            circular = pm.distributions.transforms.circular
            mu = pm.Uniform("mu", -np.pi, np.pi, default_transform=circular)
        batch = pm.Minibatch(y, batch_size=100)
        pm.VonMises("y", mu, 4.0, observed=batch, total_size=len(y))
        idata = pmg.sample(**SHORT)
    return abs(float(np.cos(idata.posterior["mu"] - 2.9).mean()) - 1) < 0.01


def topics(eta: float) -> bool:
    counts = np.random.default_rng(1).poisson(1.0, (60, 12))
    corpus = pmg.BagOfWords(sp.csr_array(counts), vocabulary=[f"w{i}" for i in range(12)])
    with pm.Model():
        topics = pmg.SymmetricDirichlet("topics", eta, shape=(2, 12))
        batch = pm.Minibatch(corpus, batch_size=20)
        pmg.LatentDirichletAllocation("w", topics, 0.5, observed=batch, total_size=len(corpus))
        idata = pmg.sample(**SHORT)
    return bool(np.isfinite(idata.posterior["topics"]).all())


def default_topics() -> bool:
    rng = np.random.default_rng(2)
    topics = rng.dirichlet(np.full(100, 0.1), 5)
    shares = rng.dirichlet(np.full(5, 0.5), 1_000)
    corpus = pmg.BagOfWords(rng.multinomial(60, shares @ topics))
    with pm.Model() as model:
        found = pmg.SymmetricDirichlet("topics", 0.1, shape=(5, 100))
        batch = pm.Minibatch(corpus, batch_size=50)
        pmg.LatentDirichletAllocation("w", found, 0.5, observed=batch, total_size=len(corpus))
    return pmg.sample(model=model, **RUN) is not None


def guarded(function: Callable[..., Any]) -> None:
    import warnings

    model = normal()
    idata = pmg.sample(model=model, **SHORT)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        function(idata, model=model, progressbar=False)


def diagnosed(change: Callable[[xr.DataTree], None]) -> str:
    """What is found in a good run that is changed afterwards."""
    idata = pmg.sample(model=normal(), **RUN).load()
    change(idata)
    return str(pmg.diagnose(idata))


def with_nan(idata: xr.DataTree) -> None:
    idata.posterior["mu"].values[0, 3] = np.nan


def of_nuts() -> bool:
    with pm.Model():
        pm.Normal("x", shape=2)
        idata = pm.sample(**SHORT, cores=1, compute_convergence_checks=False)
    return "step size is too large" not in str(pmg.diagnose(idata))


def degrees(function: Callable[..., Any]) -> None:
    function(np.random.default_rng(1).uniform(0, 360, 200))


def read_parquet(columns: Any) -> None:
    folder = Path(tempfile.mkdtemp())
    days = pd.date_range("2026-01-01", periods=100)
    pd.DataFrame({"x": np.arange(100.0), "day": days}).to_parquet(folder / "a.parquet")
    pmg.ParquetRows(folder / "a.parquet", columns=columns)


def home() -> bool:
    folder = Path(tempfile.mkdtemp())
    import os

    os.environ["HOME"] = str(folder)
    pmg.sample(model=normal(), checkpoint="~/run.zarr", **SHORT)
    return (folder / "run.zarr").is_dir() and pmg.read("~/run.zarr").posterior.sizes["draw"] == 100


TUPLES = {"coords": {"g": [("a", 1), ("a", 2), ("b", 1)]}}
INPUTS: dict[str, Input] = {
    "rows of unequal lengths": Input(unequal_lengths, r"4,?500.*5,?000|5,?000.*4,?500"),
    "codes from one": Input(lambda: codes("from one"), "expected .* got 3"),
    "codes of missing categories": Input(lambda: codes("missing"), "expected .* got -1"),
    "all rows beside a batch": Input(lambda: codes("beside"), "Minibatch"),
    **{f"the name {n!r}": Input(lambda n=n: named(n)) for n in ("1|g", "x,y", "f8", "bs(c, df=5)")},
    "a Deterministic that fails": Input(
        lambda: kept(lambda mu: pm.Deterministic("d", Assert("too large")(mu, pt.lt(mu, 0.0))))
    ),
    "a Deterministic of 30 GB": Input(lambda: kept(large)),
    "coordinates that are tuples": Input(
        lambda: kept(lambda mu: pm.Normal("z", dims="g"), **TUPLES)
    ),
    "a variable named draw": Input(lambda: kept(lambda mu: pm.Normal("draw")), "draw"),
    "an angle, von Mises": Input(lambda: angle("von Mises")),
    "an angle, uniform": Input(lambda: angle("uniform")),
    **{f"topics with eta = {e}": Input(lambda e=e: topics(e)) for e in (0.49, 0.5, 1.0)},
    "topics with default draws": Input(default_topics),
    "log likelihood of a batch": Input(lambda: guarded(pm.compute_log_likelihood), "full_data"),
    "predictions of a batch": Input(lambda: guarded(pm.sample_posterior_predictive), "full_data"),
    "draws that are not numbers": Input(lambda: "mu" in diagnosed(with_nan)),
    "draws of NUTS": Input(of_nuts),
    "degrees in a test": Input(lambda: degrees(pmg.diagnostics.watson_test), "radians|degrees"),
    "degrees in a plot": Input(lambda: degrees(pmg.plot_rose), "radians|degrees"),
    "dates in Parquet": Input(lambda: read_parquet(["x", "day"]), "day"),
    "one text as columns": Input(lambda: read_parquet("xy"), "columns"),
    "a column that is missing": Input(lambda: read_parquet(["x", "z"]), "z"),
    "a checkpoint at home": Input(home),
    "a checkpoint elsewhere": Input(
        lambda: pmg.sample(model=normal(), checkpoint="s3://bucket/run.zarr", **SHORT),
        "folder of this machine",
    ),
}
