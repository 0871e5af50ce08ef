#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Inner products of packed documents with topics, and their gradients, on every backend."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.kernel.interpreted import Interpreted
from pymc_geodesic.potential.packed import take_rows
from pymc_geodesic.topic_models.projections import projections

RNG = np.random.default_rng(1)
COUNTS = RNG.poisson(0.4, (7, 11))
COUNTS[:, 2] += 1
COUNTS[3] += 1  # one document has all words
ROWS = np.array([6, 3, 3, 0])
TOPICS, COEFFICIENTS, DIRECTION = (RNG.normal(size=s) for s in ((3, 11), (4, 3), (3, 11)))


def graphs(*, static_shapes):
    corpus = pmg.BagOfWords(COUNTS).unit_vectors()
    rows = pt.constant(ROWS) if static_shapes else pt.lvector()
    documents = take_rows(pt.as_tensor(corpus), rows)
    topics = pt.dmatrix()
    products = projections(documents, topics)
    gradient = pytensor.grad((pt.sin(products) * COEFFICIENTS).sum(), topics)
    second = pytensor.grad((gradient * DIRECTION).sum(), topics)
    inputs = [topics] if static_shapes else [topics, rows]
    return inputs, [products, gradient, second]


def exact():
    dense = COUNTS / np.linalg.norm(COUNTS, axis=1, keepdims=True)
    dense = dense[ROWS]
    products = dense @ TOPICS.T
    moved = dense @ DIRECTION.T
    return [
        products,
        (np.cos(products) * COEFFICIENTS).T @ dense,
        -(np.sin(products) * COEFFICIENTS * moved).T @ dense,
    ]


@pytest.mark.parametrize("backend", ["interpreted", "NUMBA", "JAX"])
def test_products_and_gradients_are_those_of_dense_documents(backend):
    inputs, outputs = graphs(static_shapes=backend == "JAX")
    if backend == "interpreted":
        function = Interpreted(inputs, outputs)
    else:
        function = pytensor.function(inputs, outputs, mode=backend)
    arguments = [TOPICS, ROWS][: len(inputs)]
    for found, expected in zip(function(*arguments), exact(), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


def test_jax_takes_gradients_within_a_scan():
    corpus = pmg.BagOfWords(COUNTS).unit_vectors()
    rows = pt.lvector(shape=(4,))
    documents = take_rows(pt.as_tensor(corpus), rows)
    topics = pt.dmatrix(shape=(3, 11))

    def step(x, documents):
        return x + pytensor.grad((projections(documents, x) * COEFFICIENTS).sum(), x)

    traces = pytensor.scan(
        step, outputs_info=[topics], non_sequences=[documents], n_steps=2, return_updates=False
    )
    function = pytensor.function([topics, rows], traces[-1], mode="JAX")
    dense = (COUNTS / np.linalg.norm(COUNTS, axis=1, keepdims=True))[ROWS]
    expected = TOPICS + 2 * COEFFICIENTS.T @ dense
    np.testing.assert_allclose(function(TOPICS, ROWS), expected, rtol=1e-12)
