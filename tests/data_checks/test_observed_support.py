#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Rows that the distribution of the observed variable forbids do not go through a batch."""

from functools import partial

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest

from pymc.exceptions import SamplingError
from scipy.stats import norm

import pymc_geodesic as pmg

from pymc_geodesic.data_checks import DataChecks
from pymc_geodesic.kernel.reader import StreamCursor, checked_batches
from pymc_geodesic.potential.minibatch import find_batch_sources
from pymc_geodesic.potential.stream import find_streams

N, BATCH = 400, 20
RNG = np.random.default_rng(1)
NORMAL = RNG.normal(size=N)
POSITIVE = np.abs(NORMAL) + 0.1
COUNTS = RNG.poisson(3.0, size=N).astype("int32")
LABELS = RNG.integers(0, 3, size=N).astype("int32")
SHARES = RNG.uniform(0.1, 0.9, size=N)
SIMPLEX = RNG.dirichlet(np.ones(3), size=N)
MULTINOMIAL = RNG.multinomial(5, [0.2, 0.3, 0.5], size=N).astype("int32")
DIRECTIONS = RNG.normal(size=(N, 3))
DIRECTIONS /= np.linalg.norm(DIRECTIONS, axis=1, keepdims=True)


def model_of(observe, data, *, in_stream=False):
    with pm.Model() as model:
        if in_stream:
            batch = pm.Data("batch", data[:BATCH])
        else:
            batch = pm.Minibatch(data, batch_size=BATCH)
        observe(pm.Normal("x"), batch, {"observed": batch, "total_size": len(data)})
    return model


def step_of(observe, data, *, loader=None):
    model = model_of(observe, data, in_stream=loader is not None)
    streams = {} if loader is None else {"data": {"batch": loader}}
    return pmg.SGNHT(step_size=1e-4, diffusion=100.0, model=model, **streams)


def accept(observe, data, *, loader=None):
    """Do what a step does with data before it compiles anything."""
    model = model_of(observe, data, in_stream=loader is not None)
    streams = find_streams(model, None if loader is None else {"batch": loader})
    sources = find_batch_sources(model) or streams
    checks = DataChecks(model, sources, point=model.initial_point(), batches=True)
    if loader is not None:
        assert len(list(checked_batches(checks.sources[0]))) == N // BATCH


def poisson(x, batch, observed):
    pm.Poisson("y", pm.math.exp(x), **observed)


def binomial(x, batch, observed):
    pm.Binomial("y", n=20, logit_p=x, **observed)


def negative_binomial(x, batch, observed):
    pm.NegativeBinomial("y", mu=pm.math.exp(x), alpha=2.0, **observed)


def categorical(x, batch, observed):
    pm.Categorical("y", logit_p=pm.math.stack([0.0, x, 1.0]), **observed)


def multinomial(x, batch, observed):
    pm.Multinomial("y", 5, pm.math.softmax(pm.math.stack([0.0, x, 1.0])), **observed)


def exponential(x, batch, observed):
    pm.Exponential("y", pm.math.exp(x), **observed)


def gamma(x, batch, observed):
    pm.Gamma("y", mu=pm.math.exp(x), sigma=1.0, **observed)


def half_normal(x, batch, observed):
    pm.HalfNormal("y", pm.math.exp(x), **observed)


def log_normal(x, batch, observed):
    pm.LogNormal("y", x, **observed)


def beta(x, batch, observed):
    pm.Beta("y", mu=pm.math.sigmoid(x), nu=3.0, **observed)


def censored(x, batch, observed):
    pm.Censored("y", pm.Normal.dist(x, 1.0), None, 1.0, **observed)


def truncated(x, batch, observed):
    pm.Truncated("y", pm.Normal.dist(x, 1.0), 0.0, None, **observed)


def zero_inflated(x, batch, observed):
    pm.ZeroInflatedPoisson("y", psi=pm.math.sigmoid(x), mu=3.0, **observed)


def dirichlet(x, batch, observed):
    pm.Dirichlet("y", pm.math.exp(x) * np.ones(3), **observed)


def von_mises_fisher(x, batch, observed):
    pmg.VonMisesFisher("y", [0.0, 0.6, 0.8], pm.math.exp(x), **observed)


def mixture_of_directions(x, batch, observed):
    parts = [pmg.VonMisesFisher.dist(mu, pm.math.exp(x)) for mu in np.eye(3)]
    pm.Mixture("y", w=[0.2, 0.3, 0.5], comp_dists=parts, **observed)


def with_row(data, row, value):
    changed = data.copy()
    changed[row] = value
    return changed


# A likelihood, data that it allows, and what is put into row 317, which no first batch holds.
CASES = [
    (poisson, COUNTS, -1),
    (binomial, COUNTS, 21),
    (negative_binomial, COUNTS, -3),
    (categorical, LABELS, 3),
    (multinomial, MULTINOMIAL, [2, 2, 2]),
    (exponential, POSITIVE, -0.5),
    (gamma, POSITIVE, -0.5),
    (half_normal, POSITIVE, -0.5),
    (log_normal, POSITIVE, -0.5),
    (beta, SHARES, 1.25),
    (censored, np.minimum(NORMAL, 1.0), 1.5),
    (truncated, POSITIVE, -0.5),
    (zero_inflated, COUNTS, -2),
]
IDS = [case[0].__name__ for case in CASES]
LONG = r"unit vectors.*norms in \[1, 3\]: row 317 with"
ON_MANIFOLDS = [
    (dirichlet, SIMPLEX, [0.3, 0.3, 0.3], r"sum to 1 in .*sums in \[0\.9, 1\]: row 317"),
    (von_mises_fisher, DIRECTIONS, [0.0, 0.0, 3.0], LONG),
    (mixture_of_directions, DIRECTIONS, [0.0, 0.0, 3.0], LONG),
]


@pytest.mark.parametrize(("observe", "data", "bad"), CASES, ids=IDS)
def test_one_forbidden_row_is_named(observe, data, bad):
    accept(observe, data)
    shown = "row 317 with " + str(bad).replace(",", "").replace("[", r"\[").replace("]", r"\]")
    with pytest.raises(ValueError, match="`y` expected rows that its distribution.*" + shown):
        step_of(observe, with_row(data, 317, bad))


@pytest.mark.parametrize(("observe", "data", "bad", "message"), ON_MANIFOLDS)
def test_rows_off_the_manifold(observe, data, bad, message):
    accept(observe, data)
    with pytest.raises(ValueError, match="`y` expected.*" + message):
        step_of(observe, with_row(data, 317, bad))


@pytest.mark.parametrize(
    ("observe", "data", "bad", "message"),
    [*[(*CASES[i], "distribution allows.*row 317") for i in (0, 5, 9)], *ON_MANIFOLDS],
)
def test_streams_are_checked_by_the_block(observe, data, bad, message):
    data, wrong = (np.asarray(x, "float64") for x in (data, with_row(data, 317, bad)))
    blocks = wrong.reshape(-1, BATCH, *data.shape[1:])
    accept(observe, data, loader=list(data.reshape(blocks.shape)))
    step = step_of(observe, data, loader=list(blocks))  # the first block is as it should be
    with pytest.raises(SamplingError, match="`batch` gave rows.*`y` expected.*" + message):
        step.sampler.calls.reader.take(StreamCursor(), np.random.default_rng(1), N // BATCH)


@pytest.mark.parametrize("length", [1, 7, BATCH, 150, N])
def test_blocks_of_any_length_are_checked_once(length):
    def blocks(data):
        return [data[start : start + length] for start in range(0, N, length)]

    wrong = with_row(POSITIVE, 317, -0.5)
    with pytest.raises(SamplingError, match=r"row 317 with -0\.5"):
        accept(exponential, POSITIVE, loader=blocks(wrong))
    model = model_of(exponential, POSITIVE, in_stream=True)
    loader = blocks(POSITIVE)
    sources = find_streams(model, {"batch": loader})
    checks = DataChecks(model, sources, point=model.initial_point(), batches=True)
    [source] = checks.sources
    for complete in (False, True):
        assert source.check.complete is complete
        read = np.concatenate(list(checked_batches(source)))
        np.testing.assert_array_equal(read, POSITIVE)


def test_numbers_with_decimals_are_no_counts():
    accept(poisson, COUNTS.astype("float64"))
    with pytest.raises(ValueError, match=r"`y` expected whole numbers.*row 317 with 2\.5"):
        step_of(poisson, with_row(COUNTS.astype("float64"), 317, 2.5))


@pytest.mark.parametrize("bad", [2.5, np.nan, 2**40])
def test_streams_are_not_rounded_to_the_type_of_their_data(bad):
    wrong = with_row(COUNTS.astype("float64"), 317, bad)
    model = model_of(poisson, COUNTS, in_stream=True)
    [source] = find_streams(model, {"batch": list(wrong.reshape(-1, BATCH))})
    with (
        np.errstate(invalid="ignore"),
        pytest.raises(SamplingError, match=r"`batch` expected whole numbers .* int32.*300 rows"),
    ):
        list(checked_batches(source))


def test_rows_of_a_log_density_that_is_summed():
    def summed(x, batch, observed):
        def logp(value, x):
            return (pm.math.log(value) - pm.math.exp(x) * value).sum()

        pm.CustomDist("y", x, logp=logp, **observed)

    accept(summed, POSITIVE)
    with pytest.raises(ValueError, match=r"row 317 with -0\.5"):
        step_of(summed, with_row(POSITIVE, 317, -0.5))


def test_data_set_before_the_step_is_checked():
    with pm.Model() as model:
        data = pm.Data("data", DIRECTIONS)
        batch = pm.Minibatch(data, batch_size=BATCH)
        mu = pmg.SphericalUniform("mu", shape=3)
        pmg.VonMisesFisher("y", mu, 2.0, observed=batch, total_size=N)
    pmg.gSGNHT(step_size=1e-3, model=model)
    pm.set_data({"data": 2 * DIRECTIONS}, model=model)
    with pytest.raises(ValueError, match=r"unit vectors.*norms in \[2, 2\]"):
        pmg.gSGNHT(step_size=1e-3, model=model)


@pytest.mark.parametrize(
    "method", [partial(pmg.SGNHT, diffusion=10.0), pmg.GMC], ids=["SGNHT", "GMC"]
)
def test_data_set_after_the_step_is_not_what_it_samples(method):
    with pm.Model() as model:
        data = pm.Data("data", NORMAL)
        batch = pm.Minibatch(data, batch_size=BATCH)
        pm.Normal("y", pm.Normal("x"), observed=batch, total_size=N)
    step = method(step_size=1e-3, model=model)

    def draw():
        step.setup_chain(np.random.default_rng(1), 0, 1)
        step.step(model.initial_point())

    draw()
    pm.set_data({"data": NORMAL + 1}, model=model)
    with pytest.raises(SamplingError, match=r"`data` expected the data with which.*Create"):
        draw()
    pm.set_data({"data": NORMAL}, model=model)
    draw()


def test_arrays_that_change_in_place_after_the_step_are_noticed():
    y = NORMAL.copy()
    with pm.Model() as model:
        batch = pm.Minibatch(y, batch_size=BATCH)
        pm.Normal("y", pm.Normal("x"), observed=batch, total_size=N)
    step = pmg.SGNHT(step_size=1e-3, model=model)
    y[:] = np.random.default_rng(1).permutation(y)
    step.setup_chain(np.random.default_rng(1), 0, 1)
    with pytest.raises(
        SamplingError, match=r"An array of shape \(400,\) expected the data with wh"
    ):
        step.step(model.initial_point())


def uniform(x, batch, observed):
    pm.Uniform("y", 0.0, pm.math.exp(x), **observed)


def test_a_start_that_forbids_rows_is_to_blame_itself():
    """The largest of the rows is 2.5 or so: exp(0) forbids it, exp(2) does not."""
    assert np.argmax(POSITIVE) >= BATCH
    step = step_of(uniform, POSITIVE)
    step.setup_chain(np.random.default_rng(1), 0, 1)
    with pytest.raises(SamplingError, match=r"start expected a finite log density.*`y`"):
        step.step({"x": np.array(0.0)})
    step.setup_chain(np.random.default_rng(1), 0, 1)
    step.step({"x": np.array(2.0)})


@pytest.mark.parametrize("in_stream", [False, True])
def test_infinite_bounds_of_rows_that_are_not_censored(in_stream):
    upper = np.where(np.arange(N) % 2, np.inf, 0.5)
    columns = np.column_stack([np.minimum(NORMAL, upper), upper])
    with pm.Model() as model:
        if in_stream:
            batch = pm.Data("batch", columns[:BATCH])
            y, bound = batch[:, 0], batch[:, 1]
        else:
            y, bound = pm.Minibatch(*columns.T.copy(), batch_size=BATCH)
        latent = pm.Normal.dist(pm.Normal("x"), 1.0)
        pm.Censored("y", latent, None, bound, observed=y, total_size=N)
    streams = {"data": {"batch": list(columns.reshape(-1, BATCH, 2))}} if in_stream else {}
    step = pmg.SGLD(step_size=1e-4, model=model, **streams)
    [at], [rows] = step.sampler.problem.potential.positions, step.sampler.problem.potential.indices
    first = columns[:BATCH] if in_stream else np.arange(BATCH)
    [gradient] = step.sampler.problem.potential.gradient((at,), (rows,), width=pt.as_tensor(0.0))
    y, bound = columns[:BATCH].T
    slopes = np.where(y < bound, y - 0.3, np.exp(norm.logpdf(0.2) - norm.logsf(0.2)))
    expected = 0.3 - N / BATCH * slopes.sum()
    assert gradient.eval({at: np.array(0.3), rows: first}) == pytest.approx(expected)
    step.setup_chain(np.random.default_rng(1), 0, 30)
    point = model.initial_point()
    for _ in range(30):
        point, [stats] = step.step(point)
        assert not stats["diverging"]
    assert point["x"] != 0


def test_an_infinite_covariate_is_still_refused():
    covariate = with_row(NORMAL, 317, np.inf)
    with pm.Model() as model:
        x, y = pm.Minibatch(covariate, NORMAL, batch_size=BATCH)
        pm.Normal("y", pm.Normal("x") * x, observed=y, total_size=N)
    with pytest.raises(ValueError, match=r"`y` expected rows that its distribution.*row 317"):
        pmg.SGNHT(step_size=1e-3, model=model)


def test_a_missing_bound_is_refused():
    with pm.Model() as model:
        bound, y = pm.Minibatch(np.full(N, np.nan), NORMAL, batch_size=BATCH)
        pm.Censored("y", pm.Normal.dist(pm.Normal("x")), None, bound, observed=y, total_size=N)
    with pytest.raises(ValueError, match="expected finite numbers, got 400 of 400 entries"):
        pmg.SGNHT(step_size=1e-3, model=model)


@pytest.mark.parametrize("as_data", [True, False])
def test_data_of_a_model_of_all_rows_have_their_names(as_data):
    """The batches are made by the package, so that users know no arguments of `pm.Minibatch`."""
    rng = np.random.default_rng(1)
    x, y, store = rng.normal(size=600), rng.normal(size=600), rng.integers(0, 3, 600)

    def message(x, y, store):
        with pm.Model() as model:
            if as_data:
                x, store = pm.Data("log_distance", x), pm.Data("store", store)
            mean = pm.Normal("effect", shape=3)[store] + pm.Normal("slope") * x
            pm.Normal("duration", mean, 1.0, observed=pm.Data("seconds", y) if as_data else y)
        with pytest.raises(ValueError, match="expected") as found:
            pmg.sample(model=model, random_seed=1, progressbar=False)
        return str(found.value)

    infinite = message(np.where(np.arange(600) == 3, -np.inf, x), y, store)
    assert f"; {'`log_distance`' if as_data else 'an array'} is infinite there" in infinite
    infinite = message(x, np.where(np.arange(600) == 3, np.inf, y), store)
    assert infinite.startswith(f"`{'seconds' if as_data else 'duration'}` expected finite numbers")
    unknown = message(x, y, np.where(np.arange(600) == 7, -1, store))
    assert ("got -1 in `store` (row 7)" in unknown) == as_data
