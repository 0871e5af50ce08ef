#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""JAX in forked processes: where it can compute, and an error where it would hang.

A process that has computed with JAX has threads that its forked children lack. If the children
need them, mainly to compile, they wait forever or abort. Clearing JAX's backends in the children
does not help, because the thread pools of the compiler belong to the process: workers of a parent
that had compiled a kernel aborted in 12 of 12 rounds. A process that has only imported JAX can be
forked: this worked in 50 of 50 rounds, see ``benchmarks/scale/forked_jax.py``.
"""

from __future__ import annotations

import os
import sys

from pymc.exceptions import SamplingError

__all__ = ["has_computed", "is_dead", "require_alive", "start"]

ADVICE = (
    "JAX expected a process that was not forked from one that has computed with JAX, got a forked "
    "one, in which it can hang. Begin processes of your own by "
    "`multiprocessing.get_context('forkserver')`, in a script below "
    "`if __name__ == '__main__':`."
)


class _Forks:
    """Whether this process was forked from one that had computed with JAX."""

    parent_has_computed = False
    jax_is_dead = False

    @classmethod
    def before(cls) -> None:
        cls.parent_has_computed = has_computed()

    @classmethod
    def after_in_child(cls) -> None:
        cls.jax_is_dead = cls.jax_is_dead or cls.parent_has_computed


def has_computed() -> bool:
    """Return whether JAX has computed in this process, or has begun to."""
    bridge = sys.modules.get("jax._src.xla_bridge")
    if bridge is None:
        return False
    # JAX has no public way to ask without starting its threads. In doubt a worker raises an error.
    asked = getattr(bridge, "backends_are_initialized", None)
    return True if asked is None else asked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_Forks.before, after_in_child=_Forks.after_in_child)


def start() -> None:
    """Let JAX start its threads, in a process that needs no forked ones."""
    import jax

    jax.devices()


def is_dead() -> bool:
    """Return whether this process was forked from one that has computed with JAX."""
    return _Forks.jax_is_dead


def require_alive() -> None:
    """Raise an error in a process in which JAX can hang.

    Raises
    ------
    SamplingError
        If it was forked from one that has computed with JAX.
    """
    if is_dead():
        raise SamplingError(ADVICE)
