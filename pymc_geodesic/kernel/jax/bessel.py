#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Scaled modified Bessel functions in JAX: the spectra of periodic Gaussian processes.

PyTensor has them for JAX only with a nightly build of TensorFlow Probability.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytensor.scalar.math import Ive

__all__ = ["register_bessel_with_jax"]


def register_bessel_with_jax() -> None:
    """Register the conversion of :math:`e^{-x} I_v(x)` with PyTensor; JAX is imported here."""
    from pytensor.link.jax.dispatch import jax_funcify

    if jax_funcify.registry[Ive] is not _in_jax:
        jax_funcify.register(Ive)(_in_jax)


# Terms of the asymptotic series, which is used where x > 30 and x > v^2.
ASYMPTOTIC_TERMS, LARGE = 25, 30.0


def _in_jax(op: Ive, **kwargs: Any) -> Callable[[Any, Any], Any]:
    return _scaled_bessel


def _scaled_bessel(order: Any, x: Any) -> Any:
    """Return :math:`e^{-x} I_v(x)` of positive x; NaN for others and for fractional v < -1."""
    import jax.numpy as jnp

    v, x = jnp.broadcast_arrays(order, jnp.asarray(x) * 1.0)
    v = v.astype(x.dtype)
    v = jnp.where(v == jnp.round(v), jnp.abs(v), v)
    is_large = x > jnp.maximum(LARGE, v**2)
    found = jnp.where(
        is_large,
        _asymptotic(v, jnp.where(is_large, x, LARGE + v**2)),
        _power_series(v, jnp.where(is_large, LARGE, x)),
    )
    return jnp.where((x >= 0) & (v > -1), found, jnp.nan)


def _power_series(v: Any, x: Any) -> Any:
    import jax
    import jax.numpy as jnp

    ratio = 2 * jnp.log(x / 2)
    end = jnp.log(jnp.finfo(x.dtype).eps)

    def is_left(carry: Any) -> Any:
        k, term, total = carry
        # Terms grow up to the middle, from which each is smaller than the last.
        return jnp.any((term - total > end) | (k * (v + k) < (x / 2) ** 2))

    def step(carry: Any) -> Any:
        k, term, total = carry
        term = term + ratio - jnp.log(k) - jnp.log(v + k)
        return k + 1, term, jnp.logaddexp(total, term)

    zero = jnp.zeros_like(x + v)
    _, _, total = jax.lax.while_loop(is_left, step, (jnp.ones((), x.dtype), zero, zero))
    first = jax.scipy.special.xlogy(v, x / 2) - jax.scipy.special.gammaln(v + 1)
    return jnp.exp(first + total - x)


def _asymptotic(v: Any, x: Any) -> Any:
    import jax.numpy as jnp

    term = total = jnp.ones_like(x)
    for k in range(1, ASYMPTOTIC_TERMS + 1):
        term = term * ((2 * k - 1) ** 2 - 4 * v**2) / (8 * k * x)
        total = total + term
    return total / jnp.sqrt(2 * jnp.pi * x)
