#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Small models for ``calibration.py``, each written once for its prior and for its posterior."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pymc as pm
import pytensor.tensor as pt

import pymc_geodesic as pmg

__all__ = ["CASES", "Case"]

N_GROUPS, N_IN_GROUP = 200, 4


class Case(NamedTuple):
    """A model of a fixed design.

    ``write`` takes the covariates, and how the outcome ``y`` is given: its ``shape``, to draw from
    the prior, or ``observed`` and ``total_size``.
    """

    shape: tuple[int, ...]
    batch_size: int
    write: Callable[..., None]
    covariates: tuple[np.ndarray, ...] = ()

    def prior(self) -> pm.Model:
        """Write the joint distribution of parameters and outcome."""
        with pm.Model() as model:
            self.write(*self.covariates, shape=self.shape)
        return model

    def posterior(self, y: np.ndarray) -> pm.Model:
        """Write the posterior of minibatches of an outcome."""
        if y.dtype.kind == "i":
            # PyMC casts others, and then takes them for no data.
            y = y.astype("int32")
        with pm.Model() as model:
            batch = pm.Minibatch(*self.covariates, y, batch_size=self.batch_size)
            *covariates, outcome = batch if self.covariates else [batch]
            self.write(*covariates, observed=outcome, total_size=len(y))
        return model


def scale(**y: Any) -> None:
    """Write a mean and a deviation."""
    pm.Normal("y", pm.Normal("mu"), pm.Gamma("sigma", 4, 4), **y)


def linear(x: Any, **y: Any) -> None:
    """Write a linear regression."""
    pm.Normal("y", x @ pm.Normal("beta", shape=4), pm.Gamma("sigma", 4, 4), **y)


def logistic(x: Any, **y: Any) -> None:
    """Write a logistic regression."""
    pm.Bernoulli("y", logit_p=x @ pm.Normal("beta", shape=4), **y)


def poisson(x: Any, **y: Any) -> None:
    """Write a regression of counts."""
    pm.Poisson("y", pt.exp(x @ pm.Normal("beta", 0, 0.5, shape=3)), **y)


def student(**y: Any) -> None:
    """Write a mean and a scale with heavy tails."""
    pm.StudentT("y", 4, pm.Normal("mu"), sigma=pm.Gamma("sigma", 4, 4), **y)


def few_rows(x: Any, **y: Any) -> None:
    """Write a logistic regression whose posterior is far from normal."""
    pm.Bernoulli("y", logit_p=x @ pm.Normal("beta", 0, 1.5, shape=2), **y)


def not_centered(group: Any, **y: Any) -> None:
    """Write effects of groups as multiples of their deviation."""
    mu, tau, sigma = pm.Normal("mu"), pm.Gamma("tau", 4, 4), pm.Gamma("sigma", 4, 4)
    pm.Normal("y", mu + tau * pm.Normal("z", shape=8)[group], sigma, **y)


def centered(group: Any, **y: Any) -> None:
    """Write effects of groups on a probability."""
    effect = pm.Normal("effect", pm.Normal("mu"), pm.Gamma("tau", 4, 4), shape=20)
    pm.Bernoulli("y", logit_p=effect[group], **y)


def sphere(**y: Any) -> None:
    """Write a mean direction."""
    pmg.VonMisesFisher("y", pmg.SphericalUniform("mu", shape=3), 5.0, **y)


def directions(**y: Any) -> None:
    """Write a mean direction and a concentration."""
    pmg.VonMisesFisher("y", pmg.SphericalUniform("mu", shape=3), pm.Gamma("kappa", 8, 1), **y)


def simplex(**y: Any) -> None:
    """Write probabilities of five outcomes."""
    pm.Multinomial("y", 5, pm.Dirichlet("p", np.full(5, 2.0)), **y)


def sparse_simplex(**y: Any) -> None:
    """Write probabilities most of which are near zero."""
    pm.Multinomial("y", 5, pm.Dirichlet("p", np.full(5, 0.2)), **y)


def mixed(x: Any, z: Any, **y: Any) -> None:
    """Write a direction, probabilities and a deviation in one regression."""
    mu, p = pmg.SphericalUniform("mu", shape=3), pm.Dirichlet("p", np.full(3, 2.0))
    pm.Normal("y", x @ mu + z @ p, pm.Gamma("sigma", 4, 4), **y)


def local(x: Any, mask: Any, **y: Any) -> None:
    """Write an effect of every row, which is integrated out."""
    mu, slope, tau = pm.Normal("mu"), pm.Normal("slope"), pm.Gamma("tau", 4, 4)
    if "shape" in y:
        effect = pm.Normal("effect", 0, tau, shape=len(x))
        pm.Bernoulli("y", logit_p=mu + slope * x + effect[:, None], **y)
        return
    effect = pm.Normal.dist(0, tau, shape=x.shape[0])
    each = pm.Bernoulli.dist(logit_p=mu + slope * x + effect[:, None])
    pmg.MarginalLikelihood("y", each, effect, mask, **y)


def topics(shares: Any, **y: Any) -> None:
    """Write two topics of six words, in documents whose shares of topics are known."""
    prior = np.array([[3.0, 3.0, 2.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 2.0, 3.0, 3.0]])
    pm.Multinomial("y", 20, shares @ pm.Dirichlet("topics", prior), **y)


def _cases() -> dict[str, Case]:
    rng = np.random.default_rng(0)

    def design(*shape: int) -> tuple[np.ndarray]:
        return (np.column_stack([np.ones(shape[0]), rng.standard_normal(shape)]),)

    shares = rng.dirichlet([1.0, 1.0], 300)
    in_groups = rng.standard_normal((N_GROUPS, N_IN_GROUP))
    return {
        "scale": Case((400,), 50, scale),
        "linear": Case((500,), 50, linear, design(500, 3)),
        "logistic": Case((500,), 50, logistic, design(500, 3)),
        "poisson": Case((500,), 50, poisson, design(500, 2)),
        "student": Case((400,), 50, student),
        "few_rows": Case((40,), 10, few_rows, design(40, 1)),
        "not_centered": Case((400,), 50, not_centered, (np.arange(400) % 8,)),
        "centered": Case((1_000,), 100, centered, (np.arange(1_000) % 20,)),
        "sphere": Case((300, 3), 30, sphere),
        "directions": Case((300, 3), 30, directions),
        "simplex": Case((300, 5), 30, simplex),
        "sparse_simplex": Case((300, 5), 30, sparse_simplex),
        "mixed": Case(
            (500,), 50, mixed, (rng.standard_normal((500, 3)), rng.standard_normal((500, 3)))
        ),
        "local": Case(
            in_groups.shape, 40, local, (in_groups, np.ones(in_groups.shape, dtype=bool))
        ),
        "topics": Case((300, 6), 30, topics, (shares,)),
    }


CASES = _cases()
