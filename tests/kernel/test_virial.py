#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The fields of transitions are those of the diagnostics, at the same points."""

import numpy as np
import pytest

from pymc_geodesic.diagnostics.fields import Field
from pymc_geodesic.kernel.loop import Virial, reference_shapes
from pymc_geodesic.manifolds import Euclidean, LogSimplex, Manifold, Product, Simplex, Sphere
from pymc_geodesic.manifolds.fields import log_ratio_work
from pymc_geodesic.manifolds.sphere import LEAST_DIVERGENCE

RNG = np.random.default_rng(1)
DRAWS = 200


def points(manifold, shape):
    x = RNG.normal([0.5, 1.0, 1.5, 2.0], 0.4, (DRAWS, *shape))
    if isinstance(manifold, Euclidean):
        return x
    x = np.abs(x) if isinstance(manifold, Simplex) else x
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def evaluated(manifold, x, gradient, draws):
    """Temperatures at the points, with the mean of the moments at the draws as reference."""
    product = Product([manifold], shapes=[x.shape[1:]])
    moments = [manifold.field_moments(y) for y in draws]
    virial = Virial(product, reference=[np.mean(m, axis=0) for m in zip(*moments, strict=True)])
    visits = [((y,), ((y,), (g,))) for y, g in zip(x, gradient, strict=True)]
    return np.concatenate([virial.temperatures(*visit) for visit in visits])


@pytest.mark.parametrize("manifold", [Euclidean(), Sphere(), Simplex()], ids=repr)
@pytest.mark.parametrize("shape", [(4,), (2, 4)])
def test_fields_are_those_of_the_diagnostics(manifold, shape):
    draws, x = points(manifold, shape), points(manifold, shape)[:20]
    gradient = RNG.normal(size=x.shape)
    actual = evaluated(manifold, x, gradient, draws)
    field = Field(manifold, shape, dtype="float64")
    work, divergence = field.work_and_divergence(x, gradient, reference=draws)
    expected = divergence[0]
    if isinstance(manifold, Sphere) and not isinstance(manifold, Simplex):
        expected = field.work_and_divergence(draws, 0 * draws, reference=draws)[1].mean()
    np.testing.assert_allclose(actual, 1 + (work - divergence) / expected, rtol=1e-10)


def test_log_probabilities_are_square_roots_in_other_coordinates():
    p, q = RNG.dirichlet(np.ones(4), size=(2, 3))
    # dU / dlog p of some density, and the gradient in x = sqrt(p) with the volume term.
    h = RNG.normal(size=p.shape)
    x = np.sqrt(p)
    flat = evaluated(Simplex(), x[None], ((2 * h - 1) / x)[None], np.sqrt(q)[None])
    log = log_ratio_work(p, np.log(p) - np.log(q), h - 1) / 9
    np.testing.assert_allclose(flat, log)


def test_nearly_uniform_directions_have_no_temperature_to_speak_of():
    draws = RNG.normal(size=(20_000, 3))
    draws /= np.linalg.norm(draws, axis=1, keepdims=True)
    found = evaluated(Sphere(), draws[:500], np.zeros((500, 3)), draws[500:1000])
    assert np.abs(found - 1).max() < 3
    assert LEAST_DIVERGENCE < 1


def test_long_unit_vectors_have_a_linear_field():
    assert reference_shapes(Product([Sphere()], shapes=[(2, 50)])) == [(2, 50), (2, 50, 50)]
    assert reference_shapes(Product([Sphere()], shapes=[(2, 51)])) == [(2, 51)]
    assert reference_shapes(Product([LogSimplex()], shapes=[(2, 51)])) == [(2, 51)]


def test_manifolds_without_a_field_have_no_temperature():
    class Line(Manifold):
        def dim(self, core_shape):
            return core_shape[0]

        def to_tangent(self, x, u):
            return u

        def geodesic(self, x, v, t):
            return x + t * v, v

        def project(self, x):
            return x

    product = Product([Line(), Euclidean()], shapes=[(2,), (3,)])
    virial = Virial(product, reference=[np.zeros(3)])
    assert reference_shapes(product) == [(3,)]
    point = np.ones(2), np.ones(3)
    line, flat = virial.temperatures(point, (point, point))
    assert np.isnan(line)
    assert np.isfinite(flat)
