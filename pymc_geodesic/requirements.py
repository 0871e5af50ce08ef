#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A clear error when the installed PyMC is too old, raised before anything else fails."""

from importlib.metadata import version

__all__ = ["require_pymc"]

OLDEST = (6, 4)


def require_pymc(installed: str) -> None:
    """Raise an error if a version of PyMC is older than the package requires.

    Parameters
    ----------
    installed : str
        The version, such as ``"6.4.0"``.

    Raises
    ------
    ImportError
        If it is older than 6.4.
    """
    if tuple(int(part) for part in installed.split(".")[:2]) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise ImportError(
            f"`pymc_geodesic` expected PyMC {oldest} or newer, got {installed}. Install it with "
            f'`pip install "pymc>={oldest}"`.'
        )


require_pymc(version("pymc"))
