#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Measurements in processes of their own. Loads nothing that a measurement might time."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess

from typing import Any

from benchmarks.harness.declared import this_command

__all__ = ["in_a_process"]


def in_a_process(
    *arguments: str,
    cache: str,
    most_seconds: int | None = None,
    flags: str = "",
    **environment: str,
) -> Any | None:
    """Run the present script in a new process and return the last line that it prints, from JSON.

    Parameters
    ----------
    *arguments : str
        Of the command.
    cache : str
        Folder in which PyTensor and JAX keep what they compile; an empty one for a process
        that finds nothing.
    most_seconds : int, optional
        Limit on processor time. None is returned for a process that exceeds it, or a limit that it
        sets itself.
    flags : str
        More flags of PyTensor.
    **environment : str
        More variables of its environment.
    """
    paths = {"PYTENSOR_FLAGS": f"base_compiledir={cache}{flags}"}
    paths |= {"XDG_CACHE_HOME": cache, "NUMBA_CACHE_DIR": cache}

    def limit() -> None:
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (most_seconds or hard, hard))

    run = subprocess.run(
        this_command(*arguments),
        env=os.environ | paths | {"PYTHONWARNINGS": "ignore"} | environment,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=limit,
    )
    if run.returncode == -signal.SIGXCPU:
        return None
    run.check_returncode()
    return json.loads(run.stdout.splitlines()[-1])
