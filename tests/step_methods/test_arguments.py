#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Every keyword is in the signature, and every bad argument is answered by a sentence."""

import inspect
import pydoc

import numpy as np
import pymc as pm
import pytest
import scipy.sparse as sp

from pymc.exceptions import SamplingError

import pymc_geodesic as pmg

from pymc_geodesic.algorithms.demands import Demands, GradientNoise
from pymc_geodesic.algorithms.tuning_rules import require_finite

RNG = np.random.default_rng(1)
X = RNG.normal([2.0, 0.0, 0.0], 1.0, (200, 3))
X /= np.linalg.norm(X, axis=1, keepdims=True)
STEPS = [
    pmg.GMC,
    pmg.GMCWithinGibbs,
    pmg.SGGMC,
    pmg.SGHMC,
    pmg.SGLD,
    pmg.SGNHT,
    pmg.SGNPHMC,
    pmg.SGRLD,
    pmg.gSGNHT,
]


class Loader:
    def __iter__(self):
        yield X


def sphere():
    with pm.Model() as model:
        mu = pmg.VonMisesFisher("mu", mu=[1, 0, 0], kappa=1.0)
        batch = pm.Minibatch(X, batch_size=20)
        pmg.VonMisesFisher("x", mu=mu, kappa=4.0, observed=batch, total_size=200)
    return model


def normal(y, batch_size=50):
    with pm.Model() as model:
        mu = pm.Normal("mu")
        batch = pm.Minibatch(y, batch_size=batch_size)
        pm.Normal("y", mu, 1.0, observed=batch, total_size=len(y))
    return model


@pytest.mark.parametrize("step", STEPS)
def test_signatures_are_complete_typed_and_keyword_only(step):
    first, *others = inspect.signature(step).parameters.values()
    assert first.name == "vars"
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in others)
    assert all(p.annotation is not p.empty for p in (first, *others))
    names = {parameter.name for parameter in others}
    assert {"step_size", "model", "rng", "backend", "blocked", "n_steps"} <= names
    assert not {"options", "parameters"} & names
    shown = pydoc.render_doc(step, renderer=pydoc.plaintext)
    assert all(name in shown.split(" |  Parameters")[0] for name in names)


@pytest.mark.parametrize("step", STEPS)
def test_every_keyword_of_a_signature_is_documented(step):
    text = step.__doc__.split("Parameters\n")[1].split("Raises\n")[0]
    known = set(text.replace(",", " ").replace(":", " ").split())
    assert set(inspect.signature(step).parameters) <= known


@pytest.mark.parametrize(
    ("step", "keyword"),
    [
        (pmg.GMC, "data"),
        (pmg.GMC, "accuracy"),
        (pmg.SGLD, "gradient_noise"),
        (pmg.SGGMC, "stepsize"),
    ],
)
def test_keywords_that_a_step_does_not_take(step, keyword):
    with pytest.raises(
        TypeError, match=f"`{step.__name__}` expected keywords among step_size, .*; got `{keyword}`"
    ):
        step(model=sphere(), **{keyword: 0.1})


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"replacement": "no"}, "`replacement` expected True or False, got 'no'"),
        ({"blocked": "no"}, "`blocked` expected True or False"),
        ({"trust_total_size": "no"}, "`trust_total_size` expected True or False"),
        ({"step_size": lambda t: np.ones(3)}, r"function that maps.*returned shape \(3,\)"),
        ({"step_size": lambda t: t.missing}, "function that maps.*raised AttributeError"),
        ({"step_size": lambda t: -1.0}, "`step_size` expected a positive, finite number, got -1.0"),
        ({"data": Loader()}, "`data` expected loaders by the name of their `pm.Data`"),
        ({"initial_point": {}}, "`initial_point` expected a value for each of .*none for"),
        ({"initial_point": [1]}, "`initial_point` expected values by name"),
        ({"local": "theta"}, "`local` expected a `pmg.LocalGMC`, such as"),
        ({"center": "mode"}, "`center` expected values by name"),
        ({"accuracy": 1e-12}, "`accuracy` expected a number between 0.0001 and 1, got 1e-12"),
        ({"accuracy": "high"}, "`accuracy` expected a number between 0.0001 and 1, got 'high'"),
        ({"rng": "seed"}, "`rng` expected a generator or a seed, got 'seed'"),
        ({"model": "m"}, "`model` expected a `pm.Model`, got 'm'"),
        ({"vars": 3}, "`vars` expected variables or their names, got 3"),
    ],
    # Names of objects differ between the processes that run the tests.
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_arguments_that_are_something_else(keywords, message):
    with pytest.raises((TypeError, ValueError), match=message):
        pmg.gSGNHT(**({"model": sphere()} | keywords))


def refused(**options):
    with pytest.raises(TypeError, match="`client` expected"):
        pmg.sample(client="none", **options)


@pytest.mark.parametrize("make", [pmg.gSGNHT, pmg.SGGMC, refused])
def test_a_backend_is_named_as_one_that_has_gone(make):
    """Once, at the line of the caller."""
    match = "`backend` expected no value, got 'numba'. JAX compiles every model"
    with sphere(), pytest.warns(FutureWarning, match=match) as caught:
        make(backend="numba")
    assert [one.filename for one in caught if one.category is FutureWarning] == [__file__]


def test_a_function_is_a_schedule():
    step = pmg.gSGNHT(model=sphere(), step_size=lambda t: 0.01)
    np.testing.assert_array_equal(step.sampler.settings.schedule(np.arange(3)), 0.01)
    step = pmg.gSGNHT(model=sphere(), step_size=lambda t: 0.1 / (1 + t))
    assert step.sampler.settings.schedule(np.array([4]))[0] == pytest.approx(0.02)


@pytest.mark.parametrize(("rows", "batch_size"), [(10, 50), (0, 5)])
def test_batches_larger_than_the_data(rows, batch_size):
    with pytest.raises(ValueError, match=f"`batch_size` from 1 to the number of rows, {rows}, got"):
        pmg.SGNHT(model=normal(np.ones(rows), batch_size))


def test_a_center_far_from_the_posterior():
    model = normal(RNG.normal(size=1000))
    step = pmg.SGNHT(model=model, center={"mu": 3e4})
    step.setup_chain(np.random.default_rng(1), 20, 20)
    with pytest.raises(
        SamplingError, match=r"`center` expected .* got one about 9.*e\+05 posterior"
    ):
        step.step(model.initial_point())
    step = pmg.SGNHT(model=model, center={"mu": 0.1})
    step.setup_chain(np.random.default_rng(1), 20, 20)
    step.step(model.initial_point())


def test_a_step_size_that_follows_from_no_number():
    demands = Demands(GradientNoise(np.nan, np.nan), 1.0, 0.05)
    with pytest.raises(SamplingError, match="expected a finite curvature and gradient noise"):
        require_finite(np.nan, {}, demands)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            lambda b, k: (b + np.array([2.0, 0, 0]), 2.0),
            r"`mu` of `x` expected unit vectors, got norms in \[2,",
        ),
        (lambda b, k: ([1.0, 0, 0], k - 3), "`kappa` of `x` expected 0 or more, got -3"),
        (
            lambda b, k: (b / pm.math.sqrt((b**2).sum()), 2.0),
            "vector of length zero has no direction",
        ),
    ],
)
def test_symbolic_parameters_that_are_impossible_are_named(parameters, message):
    with pm.Model() as model:
        mu, kappa = parameters(pm.Normal("b", shape=3), pm.Normal("k"))
        pmg.VonMisesFisher("x", mu=mu, kappa=kappa, observed=X)
    step = pmg.gSGNHT(model=model, step_size=0.01, diffusion=1.0)
    step.setup_chain(np.random.default_rng(1), 0, 1)
    with pytest.raises(SamplingError, match=message):
        step.step(model.initial_point())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mu": [1.0, 0.0], "kappa": 2.0}, "vectors of equal length, got 2 in `mu`, 3 in `shape`"),
        ({"mu": [1.0, 0, 0], "kappa": "2"}, "expected numbers as its parameters, got '2'"),
        ({"mu": np.eye(3), "kappa": np.ones(2)}, r"broadcast.*\(3,\) of `mu`, \(2,\) of `kappa`"),
    ],
)
def test_distributions_whose_parameters_do_not_fit(arguments, message):
    with pm.Model(), pytest.raises(ValueError, match=message):
        pmg.VonMisesFisher("x", **arguments, observed=X)


def test_a_shape_that_is_not_that_of_the_mean():
    with pytest.raises(ValueError, match="got 2 in `mu`, 3 in `shape`"):
        pmg.VonMisesFisher.dist([1.0, 0.0], 2.0, shape=(3,))


def test_documents():
    with pytest.raises(ValueError, match="weights of 0 or more, got values from -2"):
        pmg.BagOfWords(np.array([[1, -2], [0, 1]]))
    with pytest.raises(NotImplementedError, match=r"`pmg.BagOfWords\(matrix\)`"):
        pm.Minibatch(sp.csr_array(np.eye(5)), batch_size=2)


@pytest.mark.parametrize("function", [pmg.full_data, pmg.check_minibatch])
def test_functions_of_models(function):
    with pytest.raises(TypeError, match=r"`model` expected a `pm.Model`, got 'x'"):
        function("x")


def test_functions_of_draws():
    with pytest.raises(TypeError, match=r"`idata` expected the `DataTree`.*got str"):
        pmg.diagnose("x")


def test_manifolds():
    with pytest.raises(TypeError, match="`distribution` expected a class"):
        pmg.register_manifold(3, pmg.Sphere())
    with pytest.raises(TypeError, match=r"`manifold` expected a `pmg.Manifold`"):
        pmg.register_manifold(pm.Normal, "Sphere")


def test_a_scalar_is_no_point_of_a_manifold_of_vectors():
    class OwnRV(type(pm.Normal.rv_op)):
        pass

    class Own(pm.Normal):
        rv_op = OwnRV()

    pmg.register_manifold(OwnRV, pmg.Sphere())
    with pm.Model() as model:
        Own("x")
    with pytest.raises(ValueError, match=r"`x` expected points along its last axis.*got a scalar"):
        pmg.gSGNHT(model=model)
