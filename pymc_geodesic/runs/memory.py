#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""How many bytes draws take, and how many there are."""

from __future__ import annotations

import math
import os
import shutil

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from pymc.model import Model
from pytensor.tensor import TensorVariable

from pymc_geodesic.kernel.interpreted import Interpreted

__all__ = ["available_bytes", "bytes_of_draw", "free_disk", "in_units"]

UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB")


def bytes_of_draw(model: Model, variables: Sequence[TensorVariable]) -> dict[str, int]:
    """Return the bytes of one draw of variables, by name.

    Parameters
    ----------
    model : Model
        The model.
    variables : sequence of TensorVariable
        Functions of its value variables.
    """
    shapes = {x.name: x.type.shape for x in variables}
    unknown = [x for x in variables if None in x.type.shape]
    if unknown:
        start = model.initial_point()
        values = [value for value in model.value_vars if value.name in start]
        function = Interpreted(values, [x.shape for x in unknown])
        found = function(*(start[value.name] for value in values))
        shapes |= {x.name: tuple(map(int, shape)) for x, shape in zip(unknown, found, strict=True)}
    return {x.name: math.prod(shapes[x.name]) * np.dtype(x.dtype).itemsize for x in variables}


def in_units(n_bytes: float) -> str:
    """Write a number of bytes as a person does.

    Examples
    --------
    >>> in_units(33_512_000_000), in_units(12)
    ('33.5 GB', '12 bytes')
    """
    power = min(int(math.log10(max(n_bytes, 1)) // 3), len(UNITS) - 1)
    return f"{n_bytes / 1000**power:.3g} {UNITS[power]}"


def available_bytes() -> int | None:
    """Return the memory that this process may still take; None if the system does not tell."""
    found = [_of_machine(), _of_container(), _of_process()]
    return min((n for n in found if n is not None), default=None)


def free_disk(path: Path) -> int:
    """Return the free bytes of the disk on which a path is or will be."""
    while not path.exists():
        path = path.parent
    return shutil.disk_usage(path).free


def _of_machine() -> int | None:
    """Return the memory without what other processes hold, or else all of it."""
    for line in _text("/proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            return 1024 * int(line.split()[1])
    names = getattr(os, "sysconf_names", {})
    if {"SC_PHYS_PAGES", "SC_PAGE_SIZE"} <= set(names):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def _of_container() -> int | None:
    """Return what the control group of a container leaves; pages of files can be taken back."""
    folder = "/sys/fs/cgroup"
    most, used = _text(f"{folder}/memory.max"), _text(f"{folder}/memory.current")
    if not (most.strip().isdigit() and used.strip().isdigit()):
        return None
    counts = dict(line.split() for line in _text(f"{folder}/memory.stat").splitlines())
    return int(most) - int(used) + int(counts.get("file", 0))


def _of_process() -> int | None:
    """Return what ``ulimit -v`` leaves."""
    if find_spec("resource") is None:
        return None
    resource = import_module("resource")
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    pages = _text("/proc/self/statm").split()
    if most == resource.RLIM_INFINITY or not pages:
        return None
    return most - int(pages[0]) * resource.getpagesize()


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii")
    except (OSError, ValueError):
        return ""
