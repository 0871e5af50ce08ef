#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""JAX and processes: after a fork it cannot compute, so that a process of its own does.

A process that has computed with JAX has threads that its forked children lack. If the children
need them, mainly to compile, they wait forever or abort. Clearing JAX's backends in the children
does not help, because the thread pools of the compiler belong to the process: workers of a parent
that had compiled a kernel aborted in 12 of 12 rounds. A process that has only imported JAX can be
forked: this worked in 50 of 50 rounds, see ``benchmarks/scale/forked_jax.py``.

PyMC forks its workers by default, also from a process that has computed with JAX, in which JAX
hangs. Such a worker starts a new interpreter and asks there for each draw.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import traceback

from multiprocessing import Pipe
from multiprocessing.connection import Connection
from threading import Thread
from typing import Any

import cloudpickle

from pymc.exceptions import SamplingError

__all__ = ["FreshProcess", "has_computed", "is_dead", "require_alive", "serve", "start"]

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


# Not by `multiprocessing`: PyMC's workers may have no children of its kind, and it would run the
# user's script again. Its input ends with this process, whatever ends it.
PROGRAM = "import sys; from {module} import serve; serve(int(sys.argv[1]))"


class FreshProcess:
    """Call the methods of a copy of an object in a new process, which ends with this one.

    Parameters
    ----------
    original : object
        What is copied there, by cloudpickle.
    """

    def __init__(self, original: Any) -> None:
        self._pipe, theirs = Pipe()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM.format(module=__name__), str(theirs.fileno())],
                stdin=subprocess.PIPE,
                pass_fds=[theirs.fileno()],
                env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
            )
        self._pipe.send_bytes(cloudpickle.dumps(original))

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a method of the copy; return its result.

        Raises
        ------
        Exception
            The error of the method.
        SamplingError
            If the process has ended.
        """
        try:
            self._pipe.send_bytes(cloudpickle.dumps((name, arguments)))
            succeeded, found = cloudpickle.loads(self._pipe.recv_bytes())
        except (EOFError, OSError) as error:
            raise SamplingError(
                "The process that makes the draws of a chain has ended before its last draw, with "
                f"exit code {self._process.wait()}. It may have had too little memory. Pass fewer "
                "`cores`, or use `pmg.sample`."
            ) from error
        if not succeeded:
            raise found
        return found

    def close(self) -> None:
        """End the process, also if it computes."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        self._pipe.close()


def serve(descriptor: int) -> None:
    """Answer the calls of :class:`FreshProcess` in the new process, until the other end closes.

    Parameters
    ----------
    descriptor : int
        File descriptor of the pipe.
    """
    # The other process decides when to stop.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_input, daemon=True).start()
    with Connection(descriptor) as pipe:
        copy = cloudpickle.loads(pipe.recv_bytes())
        while True:
            try:
                name, arguments = cloudpickle.loads(pipe.recv_bytes())
            except EOFError:
                return
            pipe.send_bytes(_answer(copy, name, arguments))


def _answer(copy: Any, name: str, arguments: tuple[Any, ...]) -> bytes:
    try:
        return cloudpickle.dumps((True, getattr(copy, name)(*arguments)))
    except Exception as error:
        error.add_note("".join(traceback.format_exception(error)))
        return cloudpickle.dumps((False, error))


def _end_with_input() -> None:
    """End the process, which may compile for a minute, as soon as nobody waits for it."""
    # Not by `sys.stdin`, whose lock Python takes when it ends.
    os.read(0, 1)
    os._exit(0)
