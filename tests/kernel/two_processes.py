#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Run a program in two processes, the second of which finds what the first has left on disk."""

import os
import subprocess
import sys


def outputs_of_two(program, folder):
    """What each of two processes prints; nothing is in the folder of compiled code before."""
    # Of two settings of a flag the last one counts.
    flags = f"{os.environ.get('PYTENSOR_FLAGS', '')},base_compiledir={folder}".lstrip(",")
    environment = os.environ | {"PYTENSOR_FLAGS": flags}
    command = [sys.executable, "-c", program]
    runs = [
        subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        for _ in range(2)
    ]
    return [run.stdout for run in runs]
