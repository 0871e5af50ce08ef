#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""XLA writes loops for the sums of a few rows, where its version knows how to be told so."""

from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pymc_geodesic.kernel.jax import options as module
from pymc_geodesic.kernel.jax.options import OPTIONS, compiler_options

X = np.random.default_rng(1).normal(size=(50, 3))


@pytest.fixture(autouse=True)
def anew(monkeypatch):
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    module._for_few_rows.cache_clear()
    yield
    module._for_few_rows.cache_clear()


def shares(x):
    return (jnp.exp(x) / jnp.exp(x).sum(1, keepdims=True)).sum(0)


def test_sums_are_not_left_to_a_library():
    plain = jax.jit(shares).lower(X).compile()
    given = compiler_options([X])
    compiled = jax.jit(shares, compiler_options=given).lower(X).compile()
    if given:
        assert "ynn" not in compiled.as_text()
    np.testing.assert_allclose(compiled(X), plain(X), rtol=1e-12)


def test_large_variables_keep_the_library():
    assert compiler_options([X, np.broadcast_to(0.0, (1_000, 2_000))]) == {}


def test_a_version_of_xla_that_does_not_know_them(monkeypatch):
    monkeypatch.setattr(module, "OPTIONS", {"xla_cpu_that_does_not_exist": "1"})
    assert compiler_options([X]) == {}


def test_a_choice_of_the_user_is_respected(monkeypatch):
    [name] = OPTIONS
    monkeypatch.setenv("XLA_FLAGS", f"--{name}=")
    assert compiler_options([X]) == {}


def test_an_accelerator_has_none(monkeypatch):
    monkeypatch.setattr(module, "default_device", lambda: SimpleNamespace(platform="gpu"))
    assert compiler_options([X]) == {}
