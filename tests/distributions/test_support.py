#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Log densities off the spheres and simplexes: minus infinity, at no cost to the samplers."""

from __future__ import annotations

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest

from pytensor.graph.traversal import ancestors
from pytensor.tensor.elemwise import Elemwise

import pymc_geodesic as pmg

from pymc_geodesic.distributions.base import SupportTest
from pymc_geodesic.potential import Potential

MU = np.array([0.6, 0.0, 0.8])
GOOD_DIRECTIONS = np.array([[0.0, 0.6, 0.8], [1.0, 0.0, 0.0]])
GOOD_SHARES = np.array([[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]])

ON_SPHERES = {
    "von_mises_fisher": lambda: pmg.VonMisesFisher.dist(MU, 5.0),
    "spherical_uniform": lambda: pmg.SphericalUniform.dist(shape=(2, 3)),
    "spherical_admixture": lambda: pmg.SphericalAdmixture.dist(
        np.full((2, 2), 0.5), GOOD_DIRECTIONS, 5.0
    ),
}
ON_SIMPLEXES = {
    "symmetric_dirichlet": lambda: pmg.SymmetricDirichlet.dist(0.7, shape=(2, 3)),
    "logistic_normal": lambda: pmg.LogisticNormal.dist(np.zeros(2), cov=np.eye(2)),
}
CASES = [
    *((make, GOOD_DIRECTIONS) for make in ON_SPHERES.values()),
    *((make, GOOD_SHARES) for make in ON_SIMPLEXES.values()),
]
NAMES = [*ON_SPHERES, *ON_SIMPLEXES]

FORMS = {
    "array": lambda value: value,
    "constant": pt.as_tensor,
    "shared": lambda value: pytensor.shared(value, shape=value.shape),
    "rows": lambda value: pytensor.shared(value, shape=value.shape)[np.array([0, 1])],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("make", "good"), CASES, ids=NAMES)
def test_rows_off_the_support_have_no_density(make, good, form):
    """One row is scaled by five; the other one, which is right, keeps its density."""
    bad = good * np.array([[5.0], [1.0]])
    expected = pm.logp(make(), FORMS[form](good)).eval(mode="FAST_COMPILE")
    found = pm.logp(make(), FORMS[form](bad)).eval(mode="FAST_COMPILE")
    assert np.all(np.isfinite(expected))
    assert np.isneginf(found[0])
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-14)


def test_one_vector_off_the_sphere():
    rv = pmg.VonMisesFisher.dist([0, 0, 1], 10.0)
    assert pm.logp(rv, [0, 0, 5]).eval(mode="FAST_COMPILE") == -np.inf
    assert np.isfinite(pm.logp(rv, [0, 0, 1]).eval(mode="FAST_COMPILE"))


def test_topics_off_their_spheres():
    rv = pmg.CollapsedMeanTopics.dist(MU, 5.0, n_topics=2, mean_concentration=1.0)
    assert np.isfinite(pm.logp(rv, GOOD_DIRECTIONS).eval(mode="FAST_COMPILE"))
    assert pm.logp(rv, GOOD_DIRECTIONS * [[1.0], [2.0]]).eval(mode="FAST_COMPILE") == -np.inf


def test_unit_vectors_in_single_precision_are_on_the_sphere():
    """Rounding of 10,000 entries is far below the tolerance; a scale of 1.00001 is above it."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(20, 10_000))
    x = (x / np.linalg.norm(x, axis=1, keepdims=True)).astype("float32")
    rv = pmg.VonMisesFisher.dist(x[0], 5.0)
    assert np.all(np.isfinite(pm.logp(rv, pytensor.shared(x)).eval(mode="FAST_COMPILE")))
    longer = pm.logp(rv, pytensor.shared(np.float32(1.00001) * x)).eval(mode="FAST_COMPILE")
    assert np.all(np.isneginf(longer))


def _has_support_test(outputs) -> bool:
    return any(
        isinstance(node.op, Elemwise) and isinstance(node.op.scalar_op, SupportTest)
        for node in (x.owner for x in ancestors(outputs) if x.owner is not None)
    )


def test_samplers_do_not_pay_for_the_test():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(100, 3))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    with pm.Model() as model:
        mu = pmg.SphericalUniform("mu", shape=3)
        batch = pm.Minibatch(x, batch_size=10)
        pmg.VonMisesFisher("x", mu, 5.0, observed=batch, total_size=len(x))
    assert _has_support_test([model.logp()])
    potential = Potential(model, model.value_vars, initial_point=model.initial_point())
    width = pt.scalar("width")
    graphs = [
        potential.energy(potential.positions, potential.indices),
        *potential.gradient(potential.positions, potential.indices, width=width),
    ]
    assert not _has_support_test(graphs)
