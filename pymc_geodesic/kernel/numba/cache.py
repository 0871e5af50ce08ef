#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Numba's cache on disk, which may be full or read-only.

An error on writing a compiled function to disk ends a Numba program, although the function exists.
"""

from __future__ import annotations

import functools
import warnings

from numba.core.caching import Cache
from pytensor.link.numba.cache import NumbaPyTensorCacheLocator

__all__ = ["save_if_possible"]


def _warn(folder: str, error: OSError) -> None:
    warnings.warn(
        f"The cache of compiled functions expected a writable folder, {folder}; got {error!r}. The "
        "functions stay in memory, so the next process has to compile them again. Free some space, "
        "or name another folder with `PYTENSOR_FLAGS=base_compiledir=FOLDER`.",
        UserWarning,
        stacklevel=2,
    )


def save_if_possible(save):
    """Turn errors on writing PyTensor's compiled functions into one warning per process."""
    warned = False

    @functools.wraps(save)
    def save_overload(self, sig, data):
        nonlocal warned
        try:
            save(self, sig, data)
        except OSError as error:
            if not isinstance(self._impl.locator, NumbaPyTensorCacheLocator):
                raise
            if not warned:
                warned = True
                _warn(self.cache_path, error)

    return save_overload


if not hasattr(Cache.save_overload, "__wrapped__"):
    Cache.save_overload = save_if_possible(Cache.save_overload)
