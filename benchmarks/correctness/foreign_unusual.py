#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Published models whose rows depend on each other, and others with operations of their own."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pymc as pm
import pytensor
import pytensor.tensor as pt
import xarray as xr

from pytensor.graph.basic import Apply
from pytensor.graph.op import Op

from benchmarks.correctness.foreign_registry import foreign, frame

__all__: list[str] = []

CASE = "pymc-examples: case_studies/"


class LogLike(Op):
    """A log density of all data that only NumPy knows."""

    itypes = (pt.dvector, pt.dvector, pt.dscalar)

    def make_node(self, *inputs):
        return Apply(self, [pt.as_tensor(x) for x in inputs], [pt.dvector()])

    def perform(self, node, inputs, outputs):
        data, x, slope = inputs
        outputs[0][0] = -0.5 * (data - slope * x) ** 2

    def pullback(self, inputs, outputs, cotangents):
        data, x, slope = inputs
        [g] = cotangents
        return [pt.zeros_like(data), pt.zeros_like(x), ((data - slope * x) * x * g).sum()]


@foreign("pymc-examples: howto/blackbox_external_likelihood_numpy", refused="LogLike")
def black_box(n):
    d = frame(n)
    loglike = LogLike()
    with pm.Model() as model:
        m = pm.Uniform("m", lower=-10.0, upper=10.0)
        x = d["x"].to_numpy()
        pm.CustomDist(
            "likelihood", m, observed=d["y"], logp=lambda v, m: loglike(v, pt.as_tensor(x), m)
        )
    return model


@foreign(CASE + "reinforcement_learning", refused="depend|[Ss]can")
def q_learning(n):
    rng = np.random.default_rng(1)
    actions, rewards = rng.integers(0, 2, n), rng.integers(0, 2, n)

    def update(action, reward, Qs, alpha):
        return pt.set_subtensor(Qs[action], Qs[action] + alpha * (reward - Qs[action]))

    with pm.Model() as model:
        alpha, beta = pm.Beta("alpha", 1, 1), pm.HalfNormal("beta", 10)
        Qs = pytensor.scan(
            update,
            sequences=[pt.as_tensor(actions), pt.as_tensor(rewards)],
            outputs_info=[pt.ones((2,), dtype="float64") * 0.5],
            non_sequences=[alpha],
            return_updates=False,
        )
        scaled = Qs[:-1] * beta
        log_prob = scaled - pt.logsumexp(scaled, axis=1, keepdims=True)
        p = pt.exp(log_prob[:, 1])
        pm.Bernoulli("like", p=p, observed=actions[1:])
    return model


@foreign(CASE + "conditional_autoregressive_priors")
def areas(n):
    """Areas on a ring: the prior of their effects is of all of them, and so is a transition."""
    d = frame(n)
    i = np.arange(min(n, 1_000))
    W = np.zeros((len(i), len(i)))
    W[i, (i + 1) % len(i)] = W[(i + 1) % len(i), i] = 1
    with pm.Model(coords={"area_idx": i}) as model:
        beta0, beta1 = pm.Normal("beta0", 0, 1), pm.Normal("beta1", 0, 1)
        sigma, alpha = pm.HalfNormal("sigma", 1), pm.Beta("alpha", 1, 1)
        phi = pm.CAR("phi", mu=np.zeros(len(i)), W=W, alpha=alpha, tau=1.0, dims="area_idx")
        mu = pt.exp(beta0 + beta1 * d["x"].to_numpy()[i] + sigma * phi)
        pm.Poisson("y_i", mu, observed=d["count"][i])
    return model


@foreign("pymc-examples: time_series/Euler-Maruyama_and_SDEs")
def euler_maruyama(n):
    d = frame(n)
    with pm.Model() as model:
        lam = pm.HalfCauchy("l", 1.0)
        xh = pm.EulerMaruyama(
            "xh",
            dt=0.1,
            sde_fn=lambda x, lam: (-lam * x, np.sqrt(5e-3)),
            sde_pars=(lam,),
            steps=n - 1,
            init_dist=pm.Normal.dist(0, 1),
            initval=np.zeros(n),
        )
        pm.Normal("zh", mu=xh, sigma=5e-3, observed=d["y"])
    return model


@foreign("pymc-marketing: mmm/multidimensional.py", refused="depend|Sum|Conv|rows")
def media_mix(n):
    from pymc_marketing.mmm import GeometricAdstock, LogisticSaturation
    from pymc_marketing.mmm.multidimensional import MMM

    d = frame(n)
    X = pd.DataFrame(
        {"date": pd.date_range("1900-01-01", periods=n), "tv": d["time"], "web": d["prop"]}
    )
    model = MMM(
        date_column="date",
        channel_columns=["tv", "web"],
        target_column="y",
        adstock=GeometricAdstock(l_max=8),
        saturation=LogisticSaturation(),
    )
    model.build_model(X, pd.Series(1 + d["time"].to_numpy(), name="y"))
    return model


@foreign("pymc-marketing: customer_choice/mnl_logit.py")
def multinomial_choice(n):
    from pymc_marketing.customer_choice.mnl_logit import MNLogit

    rng = np.random.default_rng(2)
    d = pd.DataFrame({f"{k}_{a}": rng.gamma(4, 0.25, n) for k in ("cost", "time") for a in "abc"})
    d["chosen"], d["income"] = rng.choice(list("abc"), n), rng.standard_normal(n)
    equations = [f"{a} ~ cost_{a} + time_{a} | income" for a in "abc"]
    model = MNLogit(
        choice_df=d, utility_equations=equations, depvar="chosen", covariates=["cost", "time"]
    )
    model.build_model()
    return model


@foreign("pymc-marketing: bass/model.py")
def bass_diffusion(n):
    from pymc_marketing.bass import BassModel

    sold = np.random.default_rng(3).poisson(100, n)
    model = BassModel()
    model.build_model(xr.Dataset({"observed": ("T", sold)}, coords={"T": np.linspace(0, 50, n)}))
    return model


@foreign(CASE + "occupancy")
def birds(n):
    """Sites at which a species lives or not, summed out by PyMC-Extras."""
    import pymc_extras as pmx

    d = frame(n)
    X, y = np.stack([np.ones(n), d["x"], d["z"]], axis=1), d[["bin"]].to_numpy() * np.ones(3, int)
    with pm.Model(coords={"quadrats": range(n), "surveys": range(3), "effects": range(3)}) as model:
        beta = pm.Normal("beta", 0, 2, dims="effects")
        occurs = pm.math.invlogit(pm.math.dot(X, beta))
        alpha = pm.Normal("alpha", 0, 2)
        z = pm.Bernoulli("z", occurs, dims="quadrats")
        detected = z[:, None] * pm.math.invlogit(alpha) * np.ones((1, 3))
        pm.Bernoulli("y", detected, dims=["quadrats", "surveys"], observed=y)
    return pmx.marginalize(model, ["z"])


@foreign(CASE + "GEV")
def extremes(n):
    import pymc_extras.distributions as pmd

    with pm.Model() as model:
        mu, sigma = pm.Normal("μ", mu=3.8, sigma=0.2), pm.HalfNormal("σ", sigma=0.3)
        xi = pm.TruncatedNormal("ξ", mu=0, sigma=0.2, lower=-0.6, upper=0.6)
        y = 3.8 + 0.1 * np.random.default_rng(4).gumbel(size=n)
        pmd.GenExtreme("gev", mu=mu, sigma=sigma, xi=xi, observed=y)
    return model
