#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Components are put in another order only where the density allows it."""

import arviz as az
import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

CHAINS, DRAWS = 2, 100


def unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def idata_of(means, others=None, **options):
    """Unit vectors around those of each chain, ``(chain, component, entry)``."""
    rng = np.random.default_rng(1)
    shape = CHAINS, DRAWS, *means.shape[1:]
    z = unit(means[:, None] + 0.05 * rng.normal(size=shape))
    stats = {"step_size": np.full(shape[:2], 1e-6), "diverging": np.zeros(shape[:2], bool)}
    return az.from_dict({"posterior": {"z": z} | (others or {}), "sample_stats": stats}, **options)


def directions(k, n=3):
    return unit(np.random.default_rng(2).normal(size=(k, n)))


def test_nodes_that_a_rotation_moves_are_not_permuted():
    """Among sixty nodes each has a neighbour near the place to which it is rotated."""
    z = directions(60, n=2)
    turn = np.array([[np.cos(1.0), -np.sin(1.0)], [np.sin(1.0), np.cos(1.0)]])
    found = pmg.diagnose(idata_of(np.stack([z, z @ turn])))
    assert not found.ok
    assert "label_switching" not in found.names
    permuted = np.random.default_rng(3).permutation(60)
    # Nodes in another order are no rotation.
    assert "label_switching" in pmg.diagnose(idata_of(np.stack([z, z[permuted]]))).names


def test_components_with_names_are_not_permuted():
    z = directions(4, n=5)
    means = np.stack([z, z[[1, 0, 2, 3]]])
    assert "label_switching" in pmg.diagnose(idata_of(means)).names
    named = {"coords": {"node": ["ann", "bob", "eve", "tom"]}, "dims": {"z": ["node", "entry"]}}
    assert "label_switching" not in pmg.diagnose(idata_of(means, **named)).names


@pytest.mark.parametrize("kappa", [[50.0] * 4, [50.0, 60.0, 50.0, 50.0]])
def test_the_density_decides(kappa):
    """Mixtures are symmetric if all components have the same prior."""
    z = directions(4)
    rows = np.repeat(z, 20, axis=0)
    with pm.Model() as model:
        w = pm.Dirichlet("w", np.ones(4))
        direction = pmg.SphericalUniform("z", shape=(4, 3))
        terms = pm.math.log(w) + pm.math.dot(rows, direction.T) * np.array(kappa)
        pm.Potential("rows", pm.math.logsumexp(terms, axis=1).sum())
    weights = {"w": np.full((CHAINS, DRAWS, 4), 0.25)}
    idata = idata_of(np.stack([z, z[[1, 0, 2, 3]]]), weights)
    names = pmg.diagnose(idata, model=model).names
    assert ("label_switching" in names) is (len(set(kappa)) == 1)
