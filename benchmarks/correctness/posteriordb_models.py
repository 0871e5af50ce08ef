#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Posteriors of posteriordb whose likelihood is a product over rows, as PyMC models.

They are written from the densities of the database's Stan programs. A parameter without a prior
there has a constant density on its support. All are normal linear regressions, so a design, an
outcome and priors say it all.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pymc as pm

from benchmarks.harness.sampling import rows

__all__ = ["POSTERIORS", "Posterior", "batch_size"]

Data = dict[str, Any]
# Rows of a batch, where a tenth of all rows is less and half of them are more.
FEW_ROWS = 50
SIGMA = "sigma"


class Posterior(NamedTuple):
    """A model, and its parameters in the order of the reference draws.

    ``model`` takes the data, and whether to use minibatches or all rows.
    """

    parameters: list[str]
    model: Callable[[Data, bool], pm.Model]


def batch_size(n_rows: int) -> int:
    """Return a tenth of the rows, or more up to a half if that is fewer than fifty."""
    return min(max(n_rows // 10, FEW_ROWS), n_rows // 2)


def observe(design: np.ndarray, outcome: np.ndarray, minibatch: bool) -> tuple[Any, Callable]:
    """Return the rows of a design, and a function that observes their outcome."""
    (x, y), size = rows(minibatch, design, outcome, batch_size=batch_size(len(outcome)))
    return x, lambda mean, sigma: pm.Normal("y", mean, sigma, observed=y, **size)


def columns(data: Data, *names: str) -> list[np.ndarray]:
    """Read columns as floating point numbers."""
    return [np.asarray(data[name], dtype=float) for name in names]


def regression(
    read: Callable[[Data], tuple[list[np.ndarray], np.ndarray]],
    sigma: Callable[[str], Any],
    data: Data,
    minibatch: bool,
) -> pm.Model:
    """Regress on covariates and an intercept, all coefficients without a prior."""
    covariates, outcome = read(data)
    design = np.column_stack([np.ones(len(outcome)), *covariates])
    with pm.Model() as model:
        x, likelihood = observe(design, outcome, minibatch)
        beta = pm.Flat("beta", shape=design.shape[1])
        likelihood(x @ beta, sigma(SIGMA))
    return model


def half_cauchy(name: str) -> Any:
    """Write the prior of the deviation in the first models of children's scores."""
    return pm.HalfCauchy(name, 2.5)


def linear(
    read: Callable[[Data], tuple[list[np.ndarray], np.ndarray]],
    sigma: Callable[[str], Any] = pm.HalfFlat,
) -> Posterior:
    """Declare a regression without priors of its coefficients."""
    return Posterior(["beta", SIGMA], partial(regression, read, sigma))


def earnings(
    *extra: str, transform: Callable = np.log, standardized: bool = False
) -> Callable[[Data], tuple[list[np.ndarray], np.ndarray]]:
    """Return a reader of earnings by height, and by sex and both together if asked for."""

    def read(data: Data) -> tuple[list[np.ndarray], np.ndarray]:
        earn, height, male = columns(data, "earn", "height", "male")
        if standardized:
            height = (height - height.mean()) / height.std(ddof=1)
        more = {"male": male, "interaction": height * male}
        return [height, *(more[name] for name in extra)], transform(earn)

    return read


def scores(*names: str) -> Callable[[Data], tuple[list[np.ndarray], np.ndarray]]:
    """Return a reader of children's scores by their mothers' schooling and test."""

    def read(data: Data) -> tuple[list[np.ndarray], np.ndarray]:
        score, school, test = columns(data, "kid_score", "mom_hs", "mom_iq")
        every = {"mom_hs": school, "mom_iq": test, "interaction": school * test}
        return [every[name] for name in names], score

    return read


def scaled_scores(scale: float | None) -> Callable[[Data], tuple[list[np.ndarray], np.ndarray]]:
    """Return a reader of centred covariates, divided by so many deviations if asked for."""

    def read(data: Data) -> tuple[list[np.ndarray], np.ndarray]:
        score, *covariates = columns(data, "kid_score", "mom_hs", "mom_iq")
        school, test = [
            (x - x.mean()) / (1.0 if scale is None else scale * x.std(ddof=1)) for x in covariates
        ]
        return [school, test, school * test], score

    return read


def scores_by_work(data: Data) -> tuple[list[np.ndarray], np.ndarray]:
    """Read children's scores by how their mothers worked."""
    score, work = columns(data, "kid_score", "mom_work")
    return indicators(work), score


def indicators(category: np.ndarray) -> list[np.ndarray]:
    """Return zeros and ones for the second to fourth category."""
    return [(category == k).astype(float) for k in (2, 3, 4)]


MESQUITE = ["diam1", "diam2", "canopy_height", "total_height", "density", "group"]


def mesquite(data: Data) -> tuple[list[np.ndarray], np.ndarray]:
    """Read the weight of bushes by their measures."""
    *covariates, weight = columns(data, *MESQUITE, "weight")
    return covariates, weight


def log_mesquite(*names: str) -> Callable[[Data], tuple[list[np.ndarray], np.ndarray]]:
    """Return a reader of the logarithmic weight of bushes by logarithms of what is named."""

    def read(data: Data) -> tuple[list[np.ndarray], np.ndarray]:
        *covariates, weight = columns(data, *MESQUITE, "weight")
        every = {name: np.log(x) for name, x in zip(MESQUITE[:-1], covariates[:-1], strict=True)}
        every["group"] = covariates[-1]
        every["area"] = every["diam1"] + every["diam2"]
        every["volume"] = every["area"] + every["canopy_height"]
        every["shape"] = every["diam1"] - every["diam2"]
        return [every[name] for name in names], np.log(weight)

    return read


def election(data: Data) -> tuple[list[np.ndarray], np.ndarray]:
    """Read the party of voters by ideology, origin, age and others."""
    party, ideology, race, *rest = columns(
        data, "partyid7", "real_ideo", "race_adj", "educ1", "gender", "income"
    )
    return [ideology, race, *indicators(np.asarray(data["age_discrete"])), *rest], party


def kilpisjarvi(data: Data, minibatch: bool) -> pm.Model:
    """Temperatures of summers by year, which is not centred."""
    year, temperature = columns(data, "x", "y")
    with pm.Model() as model:
        x, likelihood = observe(year, temperature, minibatch)
        alpha = pm.Normal("alpha", data["pmualpha"], data["psalpha"])
        beta = pm.Normal("beta", data["pmubeta"], data["psbeta"])
        likelihood(alpha + beta * x, pm.HalfFlat(SIGMA))
    return model


def diamonds(data: Data, minibatch: bool) -> pm.Model:
    """Logarithmic prices by 24 centred covariates, some of them almost equal."""
    design, price = columns(data, "X", "Y")
    design = design[:, 1:] - design[:, 1:].mean(axis=0)
    with pm.Model() as model:
        x, likelihood = observe(design, price, minibatch)
        b = pm.Normal("b", shape=design.shape[1])
        intercept = pm.StudentT("Intercept", 3, 8.0, sigma=10.0)
        likelihood(intercept + x @ b, pm.HalfStudentT(SIGMA, 3, sigma=10.0))
    return model


def simulated(data: Data, minibatch: bool) -> pm.Model:
    """Five coefficients of a simulated regression."""
    design, outcome = columns(data, "X", "y")
    with pm.Model() as model:
        x, likelihood = observe(design, outcome, minibatch)
        beta = pm.Normal("beta", 0.0, 10.0, shape=design.shape[1])
        likelihood(x @ beta, pm.HalfNormal(SIGMA, 10.0))
    return model


POSTERIORS = {
    "diamonds-diamonds": Posterior(["b", "Intercept", SIGMA], diamonds),
    "earnings-earn_height": linear(earnings(transform=np.positive)),
    "earnings-log10earn_height": linear(earnings(transform=np.log10)),
    "earnings-logearn_height": linear(earnings()),
    "earnings-logearn_height_male": linear(earnings("male")),
    "earnings-logearn_interaction": linear(earnings("male", "interaction")),
    "earnings-logearn_interaction_z": linear(earnings("male", "interaction", standardized=True)),
    "kidiq-kidscore_interaction": linear(scores("mom_hs", "mom_iq", "interaction"), half_cauchy),
    "kidiq-kidscore_momhs": linear(scores("mom_hs"), half_cauchy),
    "kidiq-kidscore_momhsiq": linear(scores("mom_hs", "mom_iq"), half_cauchy),
    "kidiq-kidscore_momiq": linear(scores("mom_iq"), half_cauchy),
    "kidiq_with_mom_work-kidscore_interaction_c": linear(scaled_scores(None)),
    "kidiq_with_mom_work-kidscore_interaction_z": linear(scaled_scores(2.0)),
    "kidiq_with_mom_work-kidscore_mom_work": linear(scores_by_work),
    "kilpisjarvi_mod-kilpisjarvi": Posterior(["alpha", "beta", SIGMA], kilpisjarvi),
    "mesquite-logmesquite": linear(log_mesquite(*MESQUITE)),
    "mesquite-logmesquite_logva": linear(log_mesquite("volume", "area", "group")),
    "mesquite-logmesquite_logvash": linear(
        log_mesquite("volume", "area", "shape", "total_height", "group")
    ),
    "mesquite-logmesquite_logvolume": linear(log_mesquite("volume")),
    "mesquite-mesquite": linear(mesquite),
    **{f"nes{year}-nes": linear(election) for year in (1972, 1976, 1980, 1984, 1988, 1996, 2000)},
    "sblrc-blr": Posterior(["beta", SIGMA], simulated),
    "sblri-blr": Posterior(["beta", SIGMA], simulated),
}
