#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""How XLA compiles kernels for a processor."""

from __future__ import annotations

import logging
import math
import os

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from pymc_geodesic.kernel.jax.devices import default_device, on_processor

__all__ = ["compiler_options"]

# XLA leaves products of matrices to a library, and sums with what is around them. For the sums of a
# batch of some hundred rows the library takes three times as long as loops that XLA writes itself.
OPTIONS = {"xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_DOT"}
# For sums over more numbers, in single precision, it takes two thirds of the time of such loops.
MANY = 2**20

log = logging.getLogger(__name__)


def compiler_options(arguments: Sequence[Any]) -> dict[str, str]:
    """Return options of :func:`jax.jit` for a kernel of these arguments, not counting its data.

    None for large variables, for accelerators, for a version of XLA that does not know them, and
    where the user has chosen in ``XLA_FLAGS``.
    """
    is_large = any(math.prod(x.shape) >= MANY for x in arguments)
    is_elsewhere = default_device().platform != "cpu"
    return {} if is_large or is_elsewhere else _for_few_rows()


@cache
def _for_few_rows() -> dict[str, str]:
    """Return the options, if this version of XLA accepts them."""
    import jax

    is_chosen = any(name in os.environ.get("XLA_FLAGS", "") for name in OPTIONS)
    if is_chosen:
        return {}
    try:
        with on_processor():
            jax.jit(lambda x: x, compiler_options=OPTIONS).lower(np.float32(0)).compile()
    except jax.errors.JaxRuntimeError as reason:
        log.debug("XLA compiles with its own options: %s", reason)
        return {}
    return OPTIONS
