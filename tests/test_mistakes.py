#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A hundred likely mistakes: each is answered by a sentence of this package, before any draw."""

import traceback

from pathlib import Path

import numpy as np
import pandas as pd
import pymc as pm
import pytest
import scipy.sparse as sp
import xarray as xr

import pymc_geodesic as pmg

PACKAGE = str(Path(pmg.__file__).parent)
RNG = np.random.default_rng(1)
Y = RNG.normal(1.0, 1.0, 200)
UNIT = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.6, 0.8, 0.0]])
COUNTS = sp.csr_array(RNG.poisson(1.0, (20, 6)))
FOUND = xr.DataTree.from_dict(
    {
        "posterior": xr.Dataset(
            {
                "x": (("chain", "draw"), RNG.normal(size=(2, 50))),
                "u": (("chain", "draw", "i"), np.tile([1.0, 0.0, 0.0], (2, 50, 1))),
                "p": (("chain", "draw", "k"), RNG.dirichlet(np.ones(3), (2, 50))),
            },
            coords={"chain": [0, 1], "draw": np.arange(50)},
        )
    }
)


def model(batch_size=20, total_size=200, y=Y, scale=1.0, likelihood=pm.Normal):
    with pm.Model() as found:
        x = pm.Normal("x", 0.0, 10.0)
        batch = pm.Minibatch(y, batch_size=batch_size)
        likelihood("y", x, scale, observed=batch, total_size=total_size)
    return found


def exact():
    with pm.Model() as found:
        pm.Normal("x")
        pmg.SphericalUniform("u", shape=3)
    return found


def sample(made=None, **options):
    return pmg.sample(model=model() if made is None else made, **{"progressbar": False} | options)


def step(kind=pmg.SGNHT, made=None, **options):
    return kind(model=model() if made is None else made, **{} | options)


def stream(batches, **options):
    with pm.Model() as found:
        data = pm.Data("data", np.zeros(20))
        x = pm.Normal("x")
        pm.Normal("y", x, 1.0, observed=data, total_size=200)
    return pmg.sample(
        step=pmg.SGNHT(model=found, data={"data": batches}, **options),
        model=found,
        progressbar=False,
        draws=10,
        tune=10,
    )


def distribution(kind, *parameters, **options):
    with pm.Model():
        return kind("z", *parameters, **options)


MISTAKES = {
    # Arguments of pmg.sample
    "no draws": lambda: sample(draws=0),
    "half a draw": lambda: sample(draws=10.5),
    "draws as text": lambda: sample(draws="100"),
    "negative tune": lambda: sample(tune=-1),
    "no chains": lambda: sample(chains=0),
    "chains as a list": lambda: sample(chains=[4]),
    "thin of nothing": lambda: sample(thin=0),
    "thin beyond the draws": lambda: sample(draws=10, thin=20),
    "an unknown chain_method": lambda: sample(chain_method="parallel"),
    "a seed as text": lambda: sample(random_seed="one"),
    "a negative seed": lambda: sample(random_seed=-1),
    "a seed between two numbers": lambda: sample(random_seed=1.5),
    "var_names unknown": lambda: sample(var_names=["nu"]),
    "keep of an unknown variable": lambda: sample(keep={"nu": "mean"}),
    "keep of an unknown kind": lambda: sample(keep={"x": "median"}),
    "initvals of an unknown variable": lambda: sample(initvals={"nu": 1.0}),
    "initvals as text": lambda: sample(initvals="adapt_diag"),
    "initvals of a wrong shape": lambda: sample(initvals={"x": np.zeros(3)}),
    "initvals that are not finite": lambda: sample(initvals={"x": np.nan}),
    "a model by name": lambda: pmg.sample(model="m"),
    "no model": lambda: pmg.sample(),
    "a model without variables": lambda: pmg.sample(model=pm.Model()),
    "a step of another model": lambda: sample(step=step(made=exact(), kind=pmg.gSGNHT)),
    "a step by name": lambda: sample(step="SGNHT"),
    "a step of PyMC": lambda: sample(step=pm.NUTS),
    "a checkpoint in the cloud": lambda: sample(checkpoint="s3://bucket/run.zarr"),
    "a checkpoint every no time": lambda: sample(checkpoint="x.zarr", checkpoint_every=0),
    "progressbar as text": lambda: sample(progressbar="yes"),
    "a client that is none": lambda: sample(client="tcp://10.0.0.1:8786"),
    # Steps
    "a negative step": lambda: step(step_size=-0.1),
    "a step of nothing": lambda: step(step_size=0.0),
    "a step that is not a number": lambda: step(step_size=np.nan),
    "a step as text": lambda: step(step_size="auto"),
    "negative friction": lambda: step(pmg.SGHMC, step_size=0.1, friction=-1.0),
    "negative diffusion": lambda: step(step_size=0.1, diffusion=-1.0),
    "a negative accuracy": lambda: step(accuracy=-0.1),
    "an accuracy above one": lambda: step(accuracy=2.0),
    "half a transition": lambda: step(n_steps=1.5),
    "no transition": lambda: step(n_steps=0),
    "an unknown thermostat": lambda: step(thermostat="each"),
    "an unknown integrator": lambda: step(integrator="leapfrog"),
    "an unknown variance_reduction": lambda: step(variance_reduction="svrg"),
    "an unknown gradient_noise": lambda: step(pmg.SGGMC, gradient_noise="exact"),
    "a negative mass": lambda: step(mass=-1.0),
    "a mass of a wrong shape": lambda: step(mass={"x": np.ones(3)}),
    "a mass of an unknown variable": lambda: step(mass={"nu": 1.0}),
    "a mass as text": lambda: step(mass="diag"),
    "a variable of another model": lambda: step(vars=exact()["x"]),
    "a variable by a wrong name": lambda: step(vars=["nu"]),
    "a manifold of an unknown variable": lambda: step(pmg.gSGNHT, manifolds={"nu": pmg.Box()}),
    "a manifold by name": lambda: step(pmg.gSGNHT, manifolds={"x": "box"}),
    "a sphere for a number": lambda: step(pmg.gSGNHT, manifolds={"x": pmg.Sphere()}),
    "SGNHT on a sphere": lambda: step(made=exact()),
    "SGRLD without a simplex": lambda: step(pmg.SGRLD),
    "an unknown parameterization": lambda: step(pmg.SGRLD, parameterization="softmax"),
    "a center of a wrong shape": lambda: step(center={"x": np.zeros(3)}),
    "a center of an unknown variable": lambda: step(center={"nu": 0.0}),
    "target_accept": lambda: step(target_accept=0.9),
    # Models and data
    "a batch larger than the data": lambda: sample(model(batch_size=500)),
    "no total_size": lambda: sample(model(total_size=None)),
    "total_size of the batch": lambda: sample(model(total_size=20)),
    "total_size of other data": lambda: sample(model(total_size=2_000)),
    "data that are not finite": lambda: sample(model(y=np.where(Y > 2, np.nan, Y))),
    "an infinite value": lambda: sample(model(y=np.where(Y > 2, np.inf, Y))),
    "negative counts": lambda: sample(
        model(
            y=np.arange(-1, 199, dtype="int32"),
            likelihood=lambda name, x, scale, **data: pm.Poisson(name, 2.0, **data),
        )
    ),
    "rows that are no unit vectors": lambda: directions(RNG.normal(size=(200, 3))),
    "degrees as angles": lambda: angles(RNG.uniform(0, 360, 200)),
    "a discrete variable": lambda: sample(discrete()),
    # Streams
    "a stream that ends at once": lambda: stream([]),
    "a stream of wrong shapes": lambda: stream([np.zeros(20), np.zeros(3)] * 5),
    "a stream of text": lambda: stream([np.array(["a"] * 20)] * 10),
    "a stream of missing values": lambda: stream([np.full(20, np.nan)] * 10),
    "a stream of an unknown name": lambda: step(data={"nu": [np.zeros(20)]}),
    "a stream that is a number": lambda: stream(3.0),
    # Distributions
    "a mean that is no unit vector": lambda: pm.draw(
        distribution(pmg.VonMisesFisher, [1.0, 1.0, 0.0], 1.0)
    ),
    "a negative concentration": lambda: pm.draw(
        distribution(pmg.VonMisesFisher, [1.0, 0.0, 0.0], -1.0)
    ),
    "a sphere without a size": lambda: distribution(pmg.SphericalUniform),
    "frames wider than tall": lambda: distribution(pmg.UniformStiefel, 2, 3),
    "a negative eta": lambda: pm.draw(distribution(pmg.SymmetricDirichlet, -1.0, shape=3)),
    "a lower bound above the upper": lambda: pmg.Box(2.0, 1.0),
    "fit of no rows": lambda: pmg.fit_von_mises_fisher(np.zeros((0, 3))),
    "fit of rows of length two": lambda: pmg.fit_von_mises_fisher(2 * UNIT),
    "fit of missing values": lambda: pmg.fit_kent(np.full((10, 3), np.nan)),
    "fit of one row": lambda: pmg.fit_kent(UNIT[:1]),
    # Diagnostics and plots
    "summary of an unknown variable": lambda: pmg.summary(FOUND, "nu"),
    "summary of a path": lambda: pmg.summary("run.nc"),
    "summary of an unknown group": lambda: pmg.summary(FOUND, group="prior"),
    "diagnose of a path": lambda: pmg.diagnose("run.nc"),
    "diagnose of a data set": lambda: pmg.diagnose(FOUND["posterior"].to_dataset()),
    "stein_check without a model": lambda: pmg.stein_check(FOUND),
    "stein_check of another model": lambda: pmg.stein_check(FOUND, model=discrete()),
    "a test of degrees": lambda: pmg.diagnostics.watson_test(RNG.uniform(0, 360, 100)),
    "a rose of degrees": lambda: pmg.plot_rose(RNG.uniform(0, 360, 100)),
    "a sphere of an unknown variable": lambda: pmg.plot_sphere(FOUND, var_names="nu"),
    "a simplex of numbers": lambda: pmg.plot_simplex(FOUND, var_names="x"),
    "percentages on a simplex": lambda: pmg.plot_simplex(100 * RNG.dirichlet(np.ones(3), 50)),
    "latitudes beyond the pole": lambda: pmg.from_longitude_latitude(10.0, 120.0),
    "a rank test of vectors of length two": lambda: pmg.diagnostics.rayleigh_test(2 * UNIT),
    # Files and texts
    "a run that is not there": lambda: pmg.read("nothing.zarr"),
    "Parquet that is not there": lambda: pmg.ParquetRows("nothing.parquet", columns=["x"]),
    "one text as columns": lambda: pmg.ParquetRows("nothing.parquet", columns="x"),
    "negative counts of words": lambda: pmg.BagOfWords(-COUNTS),
    "counts of half words": lambda: words_of(pmg.BagOfWords(0.5 * COUNTS)),
    "a vocabulary too short": lambda: pmg.BagOfWords(COUNTS, vocabulary=["a", "b"]),
    "texts instead of counts": lambda: pmg.BagOfWords(["a text", "another"]),
    "topics without a corpus": lambda: words_of(COUNTS.toarray()),
    "groups by an unknown column": lambda: pmg.GroupedRows(
        pd.DataFrame({"g": [1, 2], "y": [0.0, 1.0]}), by="h"
    ),
}


def directions(x):
    with pm.Model() as found:
        mu = pmg.SphericalUniform("mu", shape=3)
        pmg.VonMisesFisher("x", mu, 2.0, observed=pm.Minibatch(x, batch_size=20), total_size=len(x))
    return sample(found)


def angles(x):
    with pm.Model() as found:
        mu = pm.VonMises("mu", 0.0, 0.1)
        pm.VonMises("x", mu, 2.0, observed=pm.Minibatch(x, batch_size=20), total_size=len(x))
    return sample(found)


def discrete():
    with pm.Model() as found:
        k = pm.Bernoulli("k", 0.5)
        pm.Normal("y", k, 1.0, observed=pm.Minibatch(Y, batch_size=20), total_size=200)
    return found


def words_of(corpus):
    with pm.Model() as found:
        topics = pmg.SymmetricDirichlet("topics", 0.1, shape=(2, 6))
        batch = pm.Minibatch(corpus, batch_size=5)
        pmg.LatentDirichletAllocation("w", topics, 0.5, observed=batch, total_size=20)
    return sample(found)


# PyMC warns before this package refuses.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_answered_by_a_sentence(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Exception, match=r"\S+ \S+ \S+ \S+ \S+") as caught:
        MISTAKES[name]()
    text = str(caught.value)
    # Python itself says which keyword a function does not have.
    if isinstance(caught.value, TypeError) and "unexpected keyword argument" in text:
        return
    where = traceback.extract_tb(caught.value.__traceback__)[-1].filename
    assert where.startswith(PACKAGE), f"{where}: {type(caught.value).__name__}: {text}"
    assert text.rstrip().endswith((".", "`")), text
    assert list(tmp_path.iterdir()) == []
