#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Where the data are that the repository does not hold."""

from __future__ import annotations

import os
import sys

from pathlib import Path

__all__ = ["data_file"]


def data_file(*parts: str) -> Path:
    """Return the path of a file or folder of data, or end with a sentence that says where it is.

    Parameters
    ----------
    *parts : str
        Where it is in the folder that the environment variable ``PYMC_GEODESIC_DATA`` names.

    Raises
    ------
    SystemExit
        If it is not there. Examples run on substitutes instead; a measurement must not.
    """
    folder = os.environ.get("PYMC_GEODESIC_DATA", "data")
    file = Path(folder).joinpath(*parts)
    if not file.exists():
        name = "/".join(parts)
        sys.exit(
            f"Expected {name} in {folder}. Set PYMC_GEODESIC_DATA to the folder that holds it."
        )
    return file
