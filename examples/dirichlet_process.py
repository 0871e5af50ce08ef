#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""How many directions? A Dirichlet process of von Mises-Fisher distributions, truncated.

Weights are broken sticks: of the stick that is left, component k takes the share v_k ~ Beta(1,
alpha), and the last component takes the rest (Sethuraman 1994; Ishwaran and James 2001). Of the
ten components the data need four; the others keep little weight. The sticks, not the weights, are
sampled: on the log-odds scale their density has no poles at the corners of the simplex.

Run it with ``python examples/dirichlet_process.py``.
"""

from __future__ import annotations

import numpy as np
import pymc as pm

from pytensor.tensor import TensorVariable

import pymc_geodesic as pmg

N_ROWS, N_COMPONENTS, BATCH_SIZE = 4000, 10, 200
CENTERS = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, -1, 0.3]]
WEIGHTS, KAPPAS = np.array([0.4, 0.3, 0.2, 0.1]), np.array([30.0, 20.0, 40.0, 25.0])
# A component with a smaller share of the rows explains nothing by itself.
LEAST_SHARE = 0.02


def make_data(n: int, seed: int) -> np.ndarray:
    """Draw unit vectors of four components."""
    rng = np.random.default_rng(seed)
    centers = np.array(CENTERS) / np.linalg.norm(CENTERS, axis=1, keepdims=True)
    labels = rng.choice(len(WEIGHTS), n, p=WEIGHTS)
    x = pmg.VonMisesFisher.dist(centers[labels], KAPPAS[labels])
    return pm.draw(x, random_seed=int(rng.integers(2**31)))


def broken_stick(shares: TensorVariable) -> TensorVariable:
    """Return one weight more than there are shares."""
    left = pm.math.concatenate([[1.0], pm.math.cumprod(1 - shares)])
    return left * pm.math.concatenate([shares, [1.0]])


def build_model(x: np.ndarray) -> pm.Model:
    """Write the mixture with minibatches of the rows."""
    with pm.Model() as model:
        alpha = pm.Gamma("alpha", 2.0, 2.0)
        shares = pm.Beta("shares", 1.0, alpha, shape=N_COMPONENTS - 1)
        w = pm.Deterministic("w", broken_stick(shares))
        mu = pmg.SphericalUniform("mu", shape=(N_COMPONENTS, 3))
        kappa = pm.Gamma("kappa", 2.0, 0.05, shape=N_COMPONENTS)
        batch = pm.Minibatch(x, batch_size=BATCH_SIZE)
        component = pmg.VonMisesFisher.dist(mu, kappa)
        pm.Mixture("x", w, component, observed=batch, total_size=len(x))
    return model


def n_used(w: np.ndarray) -> np.ndarray:
    """Count the components of each draw that have a share of the rows."""
    return (w > LEAST_SHARE).sum(axis=-1)


def main() -> None:
    x = make_data(N_ROWS, seed=1)
    with build_model(x):
        start = {"mu": pmg.initial_directions(x, N_COMPONENTS, random_seed=1)}
        idata = pmg.sample(tune=1000, step=pmg.gSGNHT, initvals=start, random_seed=1)
    w = idata.posterior["w"].values.reshape(-1, N_COMPONENTS)
    used, counts = np.unique(n_used(w), return_counts=True)
    for n, count in zip(used, counts, strict=True):
        print(f"{n} components above {LEAST_SHARE}: {count / len(w):.0%} of the draws")


if __name__ == "__main__":
    main()
