#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The differences between PyTensor's backends, in one place."""

from __future__ import annotations

import warnings

from contextlib import nullcontext
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from pymc.pytensorf import compile as compile_pymc
from pymc.pytensorf import resolve_backend_compile_kwargs
from pytensor.compile.mode import Mode, get_mode
from pytensor.configdefaults import config
from pytensor.link.basic import JITLinker
from pytensor.link.jax.linker import JAXLinker
from pytensor.link.numba.linker import NumbaLinker

from pymc_geodesic.kernel.jax.function import JAXFunction
from pymc_geodesic.kernel.jax.resident import can_be_resident, resident
from pymc_geodesic.kernel.stack_traces import forget_lines_of_constants

__all__ = ["Backend"]


@dataclass(frozen=True)
class Backend:
    """How to compile a kernel.

    Parameters
    ----------
    compile_kwargs : dict
        Keyword arguments of :func:`pymc.compile`; ``mode`` names the backend.
    """

    compile_kwargs: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def resolve(cls, backend: str | None, compile_kwargs: dict[str, Any] | None) -> Backend:
        """Read ``backend=`` and ``compile_kwargs=`` as ``pm.sample`` does.

        Raises
        ------
        ValueError
            If ``backend`` is unknown, or both it and ``compile_kwargs["mode"]`` are given.
        ImportError
            If JAX is requested but not installed.
        """
        try:
            resolved = cls(resolve_backend_compile_kwargs(backend, compile_kwargs))
            get_mode(resolved.compile_kwargs.get("mode"))
        except ValueError as error:
            if backend is None or compile_kwargs:
                raise
            raise ValueError(
                f"`backend` expected 'jax' or 'numba', got {backend!r}. Leave it out for the "
                "default."
            ) from error
        if resolved.is_jax and find_spec("jax") is None:
            raise ImportError(
                "`backend='jax'` expected JAX, which is not installed. Install it with "
                '`pip install "pymc_geodesic[jax]"`, or leave out `backend` to use Numba.'
            )
        if resolved.is_jax:
            # Imported once for all workers. It starts no threads, unlike computing with JAX.
            import_module("pytensor.link.jax.dispatch")
        return resolved

    @property
    def is_jax(self) -> bool:
        """Whether shapes must be static when a graph is compiled."""
        return isinstance(self._mode.linker, JAXLinker)

    @property
    def counts_transitions(self) -> bool:
        """Whether one function of static shapes serves calls with fewer transitions."""
        return can_be_resident(self._mode)

    @property
    def name(self) -> str:
        """Name of the compiler, for messages."""
        linker = self._mode.linker
        names = {JAXLinker: "JAX", NumbaLinker: "Numba"}
        found = [name for kind, name in names.items() if isinstance(linker, kind)]
        return found[0] if found else type(linker).__name__

    @property
    def _mode(self) -> Mode:
        return get_mode(self.compile_kwargs.get("mode"))

    def compile(self, inputs, outputs):
        """Compile a function that trusts its inputs to have the right types.

        With JAX it is compiled by its first call, see ``kernel.jax.after_fork``.
        """
        if self.is_jax:
            # PyTensor's own mode has another address in another process.
            is_usual = self._mode is get_mode("JAX")
            mode = repr(self.compile_kwargs | ({"mode": "JAX"} if is_usual else {}))
            return JAXFunction(inputs, outputs, make=self._compile, mode=mode)
        return self._compile(inputs, outputs)

    def _compile(self, inputs, outputs):
        forget_lines_of_constants(outputs)
        precision = config.change_flags(floatX=_precision([*inputs, *outputs]))
        with precision, self._without_c(), warnings.catch_warnings():
            # A loop with too many arguments for C is compiled in two parts, which is harmless.
            warnings.filterwarnings("ignore", "Loop fusion failed", UserWarning)
            options = self.compile_kwargs | {"mode": _adapted(self._mode)}
            function = compile_pymc(inputs, outputs, on_unused_input="ignore", **options)
        function.trust_input = True
        return function

    def _without_c(self):
        """Keep PyTensor from compiling a C module for every constant that it folds.

        Numba and JAX do not use them, and on a cold cache they take longer than the kernel.
        """
        is_compiled_by_jit = isinstance(self._mode.linker, JITLinker)
        return config.change_flags(cxx="") if is_compiled_by_jit else nullcontext()


def _precision(variables) -> str:
    """Return the precision in which a graph was written, PyTensor's own if it has several.

    Quotients of integers have PyTensor's precision whenever a rewrite writes them anew, although a
    model that was written in single precision may be compiled when that is double again.
    """
    dtypes = {getattr(x, "dtype", "") for x in variables}
    found = dtypes & {"float32", "float64"}
    return found.pop() if len(found) == 1 else config.floatX


def _adapted(mode: Mode) -> Mode:
    """Return PyTensor's mode, adapted to this package."""
    if not isinstance(mode.linker, NumbaLinker):
        return resident(mode)
    # Numba takes most of a second to load.
    from pymc_geodesic.kernel.numba.lean import lean

    return lean(mode)
