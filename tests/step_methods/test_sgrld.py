#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""SGRLD against exact Dirichlet laws, the paper's own update, sparse corners and bad input.

A variable of shape (M, K) is M chains in one kernel, so that the standard errors come from M
independent averages.
"""

import numpy as np
import pymc as pm
import pytensor
import pytest

from chains import assert_mean, chain_averages, run

import pymc_geodesic as pmg

from pymc_geodesic.algorithms.simplex_coordinates import COORDINATES

EVERY = [(name, metric) for name in COORDINATES for metric in ("fisher", "identity")]
# Student's t with 39 degrees of freedom exceeds it once in 80,000.
FIVE_ERRORS = 5.0


def probabilities(value):
    """Entries of PyMC's value on the simplex."""
    x = np.concatenate([value, -value.sum(axis=-1, keepdims=True)], axis=-1)
    x = np.exp(x - x.max(axis=-1, keepdims=True))
    return x / x.sum(axis=-1, keepdims=True)


def statistics(step):
    [name] = [value.name for value in step.vars]

    def entry(k, power=1):
        return lambda point: probabilities(point[name])[..., k] ** power

    return {"first": entry(0), "last": entry(-1), "square": entry(0, 2)}


def assert_dirichlet(averages, alpha, *, errors=4.0):
    alpha = np.asarray(alpha, dtype=float)
    total = alpha.sum()
    assert_mean(averages["first"], alpha[0] / total, errors=errors)
    assert_mean(averages["last"], alpha[-1] / total, errors=errors)
    second_moment = alpha[0] * (alpha[0] + 1) / (total * (total + 1))
    assert_mean(averages["square"], second_moment, errors=errors)


def dirichlet(alpha, *, n_chains):
    with pm.Model() as model:
        pm.Dirichlet("p", np.tile(alpha, (n_chains, 1)))
    return model


def counted(alpha, counts, *, n_chains):
    """Dirichlet prior and multinomial data, the same for every chain."""
    with pm.Model() as model:
        p = pm.Dirichlet("p", np.tile(np.asarray(alpha, float), (n_chains, 1)))
        pm.Multinomial("x", np.sum(counts), p, observed=np.tile(counts, (n_chains, 1)))
    return model


def single_rows(counts, *, n_chains, seed=1):
    """The data as rows of one count each, in an order of its own for every chain."""
    rows = np.repeat(np.eye(len(counts), dtype="int32"), counts, axis=0)
    rng = np.random.default_rng(seed)
    return np.stack([rng.permutation(rows) for _ in range(n_chains)], axis=1)


def minibatched(alpha, counts, *, n_chains, batch_size):
    rows = single_rows(counts, n_chains=n_chains)
    with pm.Model() as model:
        p = pm.Dirichlet("p", np.tile(np.asarray(alpha, float), (n_chains, 1)))
        batch = pm.Minibatch(rows, batch_size=batch_size)
        pm.Multinomial("x", 1, p, observed=batch, total_size=len(rows))
    return model


METROPOLIS = [
    pytest.param(
        name,
        metric,
        marks=() if (metric == "fisher") == name.endswith("mean") else pytest.mark.slow,
    )
    for name, metric in EVERY
]
# Acceptance around a half.
STEPS = {
    ("expanded_mean", "fisher"): 0.05,
    ("expanded_mean", "identity"): 0.3,
    ("expanded_natural", "fisher"): 0.1,
    ("expanded_natural", "identity"): 0.05,
    ("reduced_mean", "fisher"): 0.02,
    ("reduced_mean", "identity"): 0.003,
    ("reduced_natural", "fisher"): 0.02,
    ("reduced_natural", "identity"): 0.1,
}


@pytest.mark.parametrize(("name", "metric"), METROPOLIS)
def test_metropolis_is_exact(name, metric):
    """The test couples all points of a variable, hence chains one after another."""
    alpha, counts = np.array([1.5, 1.0, 2.0]), np.array([1, 3, 6])
    with pm.Model() as model:
        p = pm.Dirichlet("p", alpha)
        pm.Multinomial("x", counts.sum(), p, observed=counts)
    step = pmg.SGRLD(
        model=model,
        step_size=STEPS[name, metric],
        parameterization=name,
        metric=metric,
        metropolis=True,
        n_steps=400,
    )
    runs = [
        chain_averages(
            step, model.initial_point(), statistics(step), draws=30, discard=5, seed=seed
        )
        for seed in range(40)
    ]
    averages = {key: np.array([average[key] for average, _ in runs]) for key in runs[0][0]}
    assert_dirichlet(averages, alpha + counts, errors=FIVE_ERRORS)
    rates = [stats["acceptance_rate"] for _, stats in runs]
    assert 0.1 < min(rates) <= max(rates) < 0.99


# Imagined counts that a transition keeps, relative to those of the posterior.
@pytest.mark.parametrize("kept", [10.0, 0.6])
@pytest.mark.parametrize("alpha", [0.1, 1.0, 5.0])
def test_transitions_are_exact(alpha, kept):
    alphas, counts = alpha * np.array([1.0, 2.0, 1.0, 0.5]), np.array([0, 0, 7, 2])
    model = counted(alphas, counts, n_chains=400)
    step_size = 2 / (kept * (alphas + counts).sum())
    step = pmg.SGRLD(model=model, step_size=step_size, n_steps=5)
    averages, stats = chain_averages(
        step, model.initial_point(), statistics(step), draws=40, discard=int(3 * kept) + 1
    )
    assert_dirichlet(averages, alphas + counts)
    assert not stats["diverging"]


@pytest.mark.parametrize("alpha", [1.0, 5.0])
def test_hamiltonian_dynamics_are_exact_to_second_order(alpha):
    """With steps of a tenth of the time scale the bias is within the Monte Carlo error."""
    alphas, counts = alpha * np.array([1.0, 2.0, 1.0, 0.8]), np.array([0, 1, 7, 2])
    model = counted(alphas, counts, n_chains=400)
    step = pmg.SGRLD(model=model, step_size=0.1, dynamics="hamiltonian", n_steps=50)
    averages, stats = chain_averages(
        step, model.initial_point(), statistics(step), draws=40, discard=5
    )
    assert_dirichlet(averages, alphas + counts)
    assert not stats["diverging"]


def test_hamiltonian_dynamics_say_that_noise_heats_them():
    alphas, counts = np.array([1.0, 2.0, 1.0]), np.array([20, 60, 120])
    model = minibatched(alphas, counts, n_chains=50, batch_size=10)
    options = {"dynamics": "hamiltonian", "variance_reduction": None, "n_steps": 20}
    step = pmg.SGRLD(model=model, step_size=0.1, **options)
    _, stats = chain_averages(step, model.initial_point(), statistics(step), draws=40, discard=5)
    assert stats["configurational_temperature"] > 1.5


@pytest.mark.parametrize("batch_size", [10, 20])
def test_what_noise_of_counts_does(batch_size):
    r"""Means stay right, and the variance is too large by :math:`V \tanh (h / 2)`.

    Here V is the variance of the counts' noise over their concentration, and :math:`e^{-h}` the
    share of the distance from the mean that is left after a transition.
    """
    alphas, counts, h = np.array([2.0, 5.0, 5.0]), np.array([0, 60, 140]), 0.1
    n_chains, n_rows, shapes = 400, 200, alphas + counts
    model = minibatched(alphas, counts, n_chains=n_chains, batch_size=batch_size)
    options = {"variance_reduction": None, "n_steps": 5}
    step = pmg.SGRLD(model=model, step_size=2 * np.expm1(h) / shapes.sum(), **options)
    averages, _ = chain_averages(
        step, model.initial_point(), statistics(step), draws=60, discard=20
    )
    share = counts / n_rows
    noise = n_rows**2 / batch_size * share * (1 - share) / shapes
    mean = shapes / shapes.sum()
    variance = mean * (1 - mean) / (shapes.sum() + 1)
    for k, name in ((0, "first"), (2, "last")):
        assert_mean(averages[name], mean[k])
    [name] = [value.name for value in step.vars]
    squares, _ = chain_averages(
        step,
        model.initial_point(),
        {"square": lambda point: (probabilities(point[name])[..., 2] - mean[2]) ** 2},
        draws=60,
        discard=20,
    )
    expected = variance[2] * (1 + noise[2] / (1 - mean[2]) * np.tanh(h / 2))
    assert squares["square"].mean() == pytest.approx(expected, rel=0.15)


def euler_averages(alpha, step_size, *, n_chains, time, **options):
    """Averages of `time` relaxation times, after five of them."""
    model = dirichlet(alpha, n_chains=n_chains)
    n_steps = 50
    step = pmg.SGRLD(model=model, step_size=step_size, n_steps=n_steps, dynamics="euler", **options)
    draws = int(np.ceil(time * 2 / step_size / n_steps))
    discard = int(np.ceil(10 / step_size / n_steps))
    return chain_averages(
        step, model.initial_point(), statistics(step), draws=draws, discard=discard
    )[0]


def test_euler_at_a_small_step():
    alpha = np.array([5.0, 5.0, 8.0])
    averages = euler_averages(alpha, 2e-3, n_chains=200, time=5)
    assert_dirichlet(averages, alpha)


@pytest.mark.slow
def test_euler_is_of_first_order():
    """The bias of the smallest entry's mean, a few per cent, grows with the step size."""
    alpha = np.array([1.0, 2.0, 3.0])
    step_sizes = [0.1, 0.2, 0.4]
    biases = []
    for step_size in step_sizes:
        first = euler_averages(alpha, step_size, n_chains=4000, time=40)["first"]
        biases.append(first.mean() - alpha[0] / alpha.sum())
        assert biases[-1] > 6 * first.std() / np.sqrt(first.size)
    # The first bias is known to a tenth, so that the slope is known to 0.08.
    slope = np.polyfit(np.log(step_sizes), np.log(biases), 1)[0]
    assert slope == pytest.approx(1, abs=0.35)


@pytest.mark.parametrize("batch_size", [None, 4])
def test_euler_is_the_update_of_the_paper(batch_size):
    """One step with the same normals and rows; equation 7 in NumPy."""
    alpha, step_size = np.array([0.1, 0.3, 0.7, 1.1]), 0.02
    rows = np.random.default_rng(3).multinomial(20, [0.1, 0.2, 0.3, 0.4], size=12).astype("int32")
    with pm.Model() as model:
        p = pm.Dirichlet("p", alpha)
        data = rows if batch_size is None else pm.Minibatch(rows, batch_size=batch_size)
        pm.Multinomial("x", 20, p, observed=data, total_size=len(rows))
    options = {"variance_reduction": None, "n_steps": 1, "dynamics": "euler"}
    step = pmg.SGRLD(model=model, step_size=step_size, **options)
    [name] = [value.name for value in step.vars]
    start = {name: np.array([-0.4, 0.3, 0.5])}
    [(point, stats)] = run(step, start, draws=1, seed=7)

    rng = np.random.default_rng(7)
    total = rng.gamma(alpha.sum(), size=(1,))
    z = rng.standard_normal((1, 4))[0]
    batch = rows if batch_size is None else rows[rng.integers(0, len(rows), (1, batch_size))[0]]
    pi = probabilities(start[name])
    theta = total * pi
    counts = len(rows) / len(batch) * sum(row - pi * row.sum() for row in batch)
    drift = 0.5 * step_size * (alpha - theta + counts)
    new = np.abs(theta + drift + np.sqrt(step_size * theta) * z)
    np.testing.assert_allclose(probabilities(point[name]), new / new.sum(), rtol=1e-10)
    np.testing.assert_allclose(np.exp(step.chain.state.log_totals[0]), new.sum(), rtol=1e-10)
    assert stats["step_size"] == step_size


def test_prior_that_is_not_dirichlet():
    """On a posterior that is Dirichlet by a potential."""
    alpha = np.array([2.0, 3.0, 4.0])
    with pm.Model() as model:
        concentration = pm.Data("concentration", np.ones((200, 3)))
        p = pm.Dirichlet("p", concentration)
        pm.Potential("rest", ((alpha - 1) * pm.math.log(p)).sum())
    step = pmg.SGRLD(model=model, step_size=0.1, n_steps=5)
    averages, _ = chain_averages(step, model.initial_point(), statistics(step), draws=40, discard=5)
    assert_dirichlet(averages, alpha)


@pytest.mark.parametrize("dynamics", ["euler", "exact"])
def test_corners_stay_finite(dynamics):
    """A sparse prior of a thousand entries: no NaN, no negative entry, sums of one."""
    with pm.Model() as model:
        pm.Dirichlet("p", np.full(1000, 0.01))
        idata = pm.sample(
            draws=20,
            tune=0,
            chains=1,
            cores=1,
            step=pmg.SGRLD(
                step_size=0.1 if dynamics == "euler" else 0.03,
                dynamics=dynamics,
                n_steps=500 if dynamics == "euler" else 20,
                model=model,
            ),
            random_seed=1,
            progressbar=False,
            quiet=True,
            compute_convergence_checks=False,
        )
    p = idata["posterior"]["p"].values
    assert np.isfinite(p).all()
    assert (p >= 0).all()
    assert np.abs(p.sum(axis=-1) - 1).max() < 1e-12
    assert not idata["sample_stats"]["diverging"].values.any()
    # Most of the mass sits in a few entries.
    assert (p > 0.01).sum(axis=-1).mean() < 60


# Bad input.


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        (
            {"parameterization": "mean"},
            "`parameterization` expected one of 'expanded_mean', .*'mean'",
        ),
        ({"metric": "euclidean"}, "`metric` expected one of 'fisher', 'identity', got 'euclidean'"),
        (
            {"dynamics": "cir"},
            "`dynamics` expected one of 'exact', 'euler', 'hamiltonian', got 'cir'",
        ),
        (
            {"dynamics": "exact", "parameterization": "reduced_mean"},
            "`dynamics='exact'` expected the expanded-mean coordinates.*'reduced_mean'",
        ),
        ({"dynamics": "exact", "metric": "identity"}, "`dynamics='exact'` expected.*'identity'"),
        ({"dynamics": "hamiltonian", "metropolis": True}, "expected the expanded-mean coordinates"),
        ({"dynamics": "exact", "metropolis": True}, "`dynamics='exact'` expected.*metropolis=True"),
        ({"step_size": -0.1}, "`step_size` expected a positive, finite number, got -0.1"),
        ({"step_size": lambda t: 0.1 - 0.01 * t}, "`step_size` expected a positive"),
    ],
)
def test_options(keywords, message):
    with pytest.raises(ValueError, match=message):
        pmg.SGRLD(model=dirichlet([1.0, 2.0], n_chains=1), **keywords)


@pytest.mark.parametrize(
    ("name", "metropolis"),
    [("expanded_mean", False), ("expanded_mean", True), ("reduced_natural", False)],
)
def test_single_precision_is_kept(name, metropolis):
    with pytensor.config.change_flags(floatX="float32"), pm.Model() as model:
        pmg.SymmetricDirichlet("p", 0.5, shape=(2, 3))
        step = pmg.SGRLD(
            step_size=0.1,
            parameterization=name,
            metropolis=metropolis,
        )
        [(point, _)] = run(step, model.initial_point(), draws=1)
    assert {value.dtype for value in point.values()} == {np.dtype("float32")}
    assert {array.dtype for array in step.chain.state.position} == {np.dtype("float32")}


def test_variables_that_are_not_on_a_simplex():
    with pm.Model() as model:
        pm.Dirichlet("p", [1.0, 2.0])
        pm.Normal("y")
        pmg.VonMisesFisher("m", [1.0, 0.0], 2.0)
    with pytest.raises(ValueError, match=r"got `y` on a euclidean manifold.*`pmg.SGNHT`"):
        pmg.SGRLD(["p", "y"], model=model)
    with pytest.raises(ValueError, match=r"got `m` on a sphere manifold.*`pmg.gSGNHT`"):
        pmg.SGRLD(["m"], model=model)


def test_one_category():
    with pm.Model() as model:
        pm.Dirichlet("p", [1.0])
    with pytest.raises(ValueError, match="`p` expected at least two entries"):
        pmg.SGRLD(model=model)


def test_densities_that_are_not_linear():
    """Two terms that pull to the inside, and one below -1 in log(p), against quadrature."""
    with pm.Model() as model:
        p = pm.Dirichlet("p", np.full((400, 2), 2.0))
        pm.Potential("pull", (-20 * (p[:, 0] - 0.7) ** 2 - 3 * pm.math.log1p(p[:, 0])).sum())
    step = pmg.SGRLD(model=model, step_size=0.005, n_steps=5)
    averages, stats = chain_averages(
        step, model.initial_point(), statistics(step), draws=100, discard=40
    )
    x = np.linspace(0, 1, 10_001)[1:-1]
    density = x * (1 - x) * np.exp(-20 * (x - 0.7) ** 2 - 3 * np.log1p(x))
    mean = np.average(x, weights=density)
    sd = np.sqrt(np.average((x - mean) ** 2, weights=density))
    assert averages["first"].mean() == pytest.approx(mean, abs=0.05 * sd)
    found = np.sqrt(averages["square"].mean() - averages["first"].mean() ** 2)
    assert found == pytest.approx(sd, rel=0.05)
    assert not stats["diverging"]


@pytest.mark.parametrize(
    "method",
    [
        pmg.SGGMC,
        pytest.param(pmg.gSGNHT, marks=pytest.mark.slow),
        pytest.param(pmg.GMC, marks=pytest.mark.slow),
    ],
)
def test_geodesic_samplers_warn_of_poles(method):
    with pytest.warns(UserWarning, match=r"`p` has concentrations down to 0.3.*`pmg.SGRLD`"):
        method(model=dirichlet([0.3, 1.0, 2.0], n_chains=1))


def test_no_warning_of_poles(recwarn):
    pmg.SGRLD(model=dirichlet([0.3, 1.0, 2.0], n_chains=1))
    pmg.SGGMC(model=dirichlet([0.5, 1.0, 2.0], n_chains=1))
    assert not [w for w in recwarn if "concentrations" in str(w.message)]
