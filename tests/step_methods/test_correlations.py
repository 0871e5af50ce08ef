#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Correlation and covariance matrices on hemispheres, on request, against exact moments of LKJ.

A correlation r of n variables is distributed as 2 B - 1 with B ~ Beta(a, a), a = eta - 1 + n / 2,
and the square of the last diagonal entry of the factor as Beta(eta, (n - 1) / 2).
"""

import numpy as np
import pymc as pm
import pytest

from chains import assert_mean, run
from exact_moments import assert_moments, assert_moments_by_gmc, stochastic_step

import pymc_geodesic as pmg

pytestmark = pytest.mark.filterwarnings("ignore:PyTensor could not link to a BLAS:UserWarning")
CASES = [
    pytest.param(n, eta, marks=() if (n, eta) == (3, 2.0) else pytest.mark.slow)
    for n in (2, 3, 6)
    for eta in (1.0, 2.0, 5.0)
]
CORRELATIONS = {"factor": pmg.CholeskyCorr()}


def lkj(n, eta, n_points):
    with pm.Model() as model:
        factor = pm.LKJCorr("factor", n=n, eta=eta, shape=(n_points, n, n))
    [value] = model.value_vars
    # Compiled once: a moment is taken at every draw.
    backward = model.rvs_to_transforms[factor].backward(value, *factor.owner.inputs)
    to_factor = pm.compile([value], backward, mode="FAST_COMPILE")

    def correlations(point):
        rows = to_factor(point[value.name])
        return np.einsum("mij,mkj->mik", rows, rows)

    def squares(point):
        """Of all correlations, each of which has the same distribution."""
        return (correlations(point)[:, *np.tril_indices(n, -1)] ** 2).mean(-1)

    statistics = {
        "mean": lambda point: correlations(point)[:, -1, 0],
        "square": squares,
        "last": lambda point: to_factor(point[value.name])[:, -1, -1] ** 2,
    }
    a = eta - 1 + n / 2
    exact = {"mean": 0.0, "square": 1 / (2 * a + 1), "last": 2 * eta / (2 * eta + n - 1)}
    return model, statistics, exact


@pytest.mark.parametrize("method", [pmg.SGGMC, pmg.gSGNHT])
@pytest.mark.parametrize(("n", "eta"), CASES)
def test_exact_moments(n, eta, method):
    model, *exact = lkj(n, eta, 100)
    step_size = 0.1 / np.sqrt(2 * eta + n)
    step = stochastic_step(method, model, step_size=step_size, manifolds=CORRELATIONS, n_steps=40)
    assert_moments(step, *exact, discard=40)


@pytest.mark.parametrize(("n", "eta"), CASES)
def test_exact_moments_by_gmc(n, eta):
    model, *exact = lkj(n, eta, 4)
    step_size = 0.4 / np.sqrt(2 * eta + n)
    assert_moments_by_gmc(model, *exact, step_size=step_size, manifolds=CORRELATIONS)


def test_two_variables():
    """PyMC forgets the shape of their matrix."""
    model, *_ = lkj(2, 1.0, 5)
    step = pmg.SGGMC(model=model, manifolds=CORRELATIONS, step_size=0.1)
    [variable] = step.sampler.problem.variables
    assert variable.to_position(variable.value).type.shape == (5, 2, 2)


def covariances(eta=2.0):
    with pm.Model() as model:
        sd = pm.Gamma.dist(4.0, 2.0, shape=3)
        pm.LKJCholeskyCov("packed", n=3, eta=eta, sd_dist=sd, compute_corr=False)
    return model


def test_a_covariance_matrix():
    """Standard deviations and correlations are independent, each with its own moments."""
    with covariances() as model:
        step = pmg.GMC(manifolds={"packed": pmg.CholeskyCov()}, n_steps=5)
        idata = pm.sample(
            1_500, tune=300, chains=4, cores=1, step=step, random_seed=1, progressbar=False
        )
    packed = idata.posterior["packed"].values
    factors = np.zeros((*packed.shape[:2], 3, 3))
    factors[..., *np.tril_indices(3)] = packed
    sds = np.linalg.norm(factors, axis=-1)
    rows = factors / sds[..., None]
    correlations = np.einsum("cdij,cdkj->cdik", rows, rows)[..., *np.tril_indices(3, -1)]
    for values, expected in [(sds, 2.0), (sds**2, 5.0), (correlations**2, 1 / 6)]:
        # Batches of 50 draws: each draw is five trajectories.
        batches = values.mean(-1).reshape(-1, 50).mean(-1)
        assert_mean(batches, expected)
    assert not [f for f in pmg.diagnose(idata, model=model).findings if f.severity == "error"]


def largest_error(n_transitions):
    with covariances() as model:
        pm.LKJCorr("factor", n=4, eta=1.0)
    manifolds = {"packed": pmg.CholeskyCov()} | CORRELATIONS
    step = pmg.SGGMC(model=model, manifolds=manifolds, step_size=0.1, friction=0.5, n_steps=1000)
    worst = 0.0
    for _ in run(step, model.initial_point(), draws=n_transitions // 1000):
        points = dict(zip(step.sampler.problem.names, step.chain.state.position, strict=True))
        for name, x in points.items():
            rows = x[:, 1:] if name.startswith("packed") else x
            worst = max(worst, np.abs((rows**2).sum(-1) - 1).max(), np.abs(np.triu(rows, 1)).max())
    return worst


def test_rows_stay_unit_vectors():
    assert largest_error(10_000) < 1e-12


@pytest.mark.slow
def test_rows_stay_unit_vectors_for_a_million_transitions():
    assert largest_error(1_000_000) < 1e-12


def test_both_keep_their_transform_unless_asked():
    with covariances() as model:
        factor = pm.LKJCorr("factor", n=2, eta=1.0)
        assert isinstance(pmg.manifold_of(factor), pmg.Euclidean)
        step = pmg.SGNHT(step_size=0.1)
    assert all(variable.is_flat for variable in step.sampler.problem.variables)
    with model, pytest.raises(ValueError, match="a manifold of its distribution, got CholeskyCov"):
        pmg.SGGMC(step_size=0.1, manifolds={"factor": pmg.CholeskyCov()})
