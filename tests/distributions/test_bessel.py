#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

from bessel_reference import reference
from pytensor.gradient import grad

from pymc_geodesic.distributions.bessel import bessel_ratio, vmf_log_normalizer

DIMENSIONS = [2, 3, 4, 5, 10, 29, 30, 31, 100, 1000, 5000, 60_000]
KAPPAS = np.array([0, 1e-8, 1e-3, 0.1, 1, 3, 10, 30, 100, 1e3, 1e4, 1e5, 1e6])


def compile_all(mode=None, dtype="float64"):
    """Compile log c, its first two derivatives and A as functions of n and a vector of kappa."""
    n, kappa = pt.scalar("n", dtype=dtype), pt.vector("kappa", dtype=dtype)
    log_c = vmf_log_normalizer(n, kappa)
    first = grad(log_c.sum(), kappa)
    second = grad(first.sum(), kappa)
    return pytensor.function([n, kappa], [log_c, first, second, bessel_ratio(n, kappa)], mode=mode)


@pytest.fixture(scope="module")
def function():
    return compile_all()


@pytest.mark.parametrize("n", DIMENSIONS)
def test_accuracy(function, n):
    log_c, first, _, ratio = function(float(n), KAPPAS)
    expected_log_c, expected_ratio = np.transpose([reference(n, kappa) for kappa in KAPPAS])
    scale = np.maximum(1, np.abs(expected_log_c))
    np.testing.assert_array_less(np.abs(log_c - expected_log_c) / scale, 1e-10)
    np.testing.assert_allclose(ratio, expected_ratio, rtol=1e-10)
    np.testing.assert_allclose(first, -expected_ratio, rtol=1e-10)


@pytest.mark.parametrize("n", DIMENSIONS)
def test_second_derivative(function, n):
    kappa = KAPPAS[(KAPPAS > 1e-2) & (KAPPAS < 50)]
    _, _, second, a = function(float(n), kappa)
    # The right-hand side cancels: the error of A, 3e-11 for n = 2, is multiplied by kappa**2.
    np.testing.assert_allclose(second, -(1 - a**2 - (n - 1) * a / kappa), rtol=1e-6)
    np.testing.assert_allclose(function(float(n), np.zeros(1))[2], -1 / n, rtol=1e-10)


def test_closed_form_on_the_sphere_in_space(function):
    kappa = np.array([0.5, 2.0, 20.0])
    np.testing.assert_allclose(
        function(3.0, kappa)[0], np.log(kappa / (4 * np.pi * np.sinh(kappa))), rtol=1e-12
    )


@pytest.mark.parametrize("mode", ["CVM", "JAX"])
def test_backends_agree(function, mode):
    other = compile_all(mode)
    for n in (2.0, 3.0, 5000.0):
        for ours, theirs in zip(function(n, KAPPAS), other(n, KAPPAS), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-15)


def test_single_precision():
    function = compile_all(dtype="float32")
    for n in (2, 3, 100, 5000):
        log_c, first, second, _ = function(np.float32(n), KAPPAS.astype("float32"))
        expected_log_c, expected_ratio = np.transpose([reference(n, kappa) for kappa in KAPPAS])
        assert log_c.dtype == first.dtype == "float32"
        scale = np.maximum(1, np.abs(expected_log_c))
        np.testing.assert_array_less(np.abs(log_c - expected_log_c) / scale, 1e-5)
        np.testing.assert_allclose(-first, expected_ratio, rtol=3e-5)
        assert np.all(np.isfinite(second))


def test_any_shape_and_constant_dimension():
    kappa = np.array([[0.5, 2.0], [3.0, 0.0]])
    expected = [[reference(4, k)[0] for k in row] for row in kappa]
    np.testing.assert_allclose(vmf_log_normalizer(4, kappa).eval(), expected, rtol=1e-12)


def test_constant_is_folded():
    function = pytensor.function([], vmf_log_normalizer(3, 2.0))
    assert len(function.maker.fgraph.apply_nodes) <= 1


def test_dimension_too_small():
    with pytest.raises(ValueError, match="`n` expected a dimension of at least 2, got 1"):
        bessel_ratio(1, 2.0)
