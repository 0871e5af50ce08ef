#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Code shared by the examples: location of their data, and the command line."""

from __future__ import annotations

import argparse
import logging
import os
import sys

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import xarray as xr

from matplotlib.figure import Figure

__all__ = ["data_file", "main", "package_file", "say", "single_precision", "without_box"]


def say(text: str) -> None:
    """Write a line to the terminal."""
    sys.stdout.write(f"{text}\n")


def data_file(*parts: str, path: str | Path | None = None) -> Path | None:
    """Find a file of data that is not shipped; print a message and return None if there is none.

    Parameters
    ----------
    *parts : str
        Where it is in the folder that the environment variable ``PYMC_GEODESIC_DATA`` names.
    path : str or Path, optional
        The file itself, which goes before the folder.

    Raises
    ------
    FileNotFoundError
        If `path` is given and there is no such file.
    """
    if path is not None:
        if not Path(path).is_file():
            raise FileNotFoundError(f"`path` expected a file with the data, got {str(path)!r}.")
        return Path(path)
    folder = os.environ.get("PYMC_GEODESIC_DATA")
    if folder and Path(folder, *parts).is_file():
        return Path(folder, *parts)
    say(f"No {'/'.join(parts)} in $PYMC_GEODESIC_DATA: using a small substitute.")
    return None


def package_file(package: str, name: str) -> Path | None:
    """Find a file of data that a package brings; print a message and return None without it.

    Parameters
    ----------
    package : str
        Name of the distribution. It is not imported.
    name : str
        End of the path of the file.
    """
    try:
        found = [file.locate() for file in files(package) or () if str(file).endswith(name)]
    except PackageNotFoundError:
        found = []
    if found:
        return Path(str(found[0]))
    say(f"The package {package}, which brings {name}, is not installed: using a substitute.")
    return None


@contextmanager
def single_precision() -> Iterator[None]:
    """Write and sample models in single precision."""
    with ExitStack() as settings:
        import jax

        # If it is first imported in single precision, it turns double precision off for good.
        import pytensor.link.jax.dispatch

        settings.enter_context(jax.enable_x64(False))
        settings.enter_context(pytensor.config.change_flags(floatX="float32"))
        yield


def without_box(*axes) -> None:
    """Remove the upper and right edges."""
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)


def main(
    description: str,
    *,
    run: Callable[..., xr.DataTree],
    plot: Callable[..., Figure],
    report: Callable[..., str],
    takes_path: bool = False,
) -> None:
    """Run an example from the command line: sample, print the results, draw the plot.

    Parameters
    ----------
    description : str
        The docstring of the example.
    run : callable
        ``run(quick=False)`` gives the draws.
    plot, report : callable
        The picture of the draws, and what was found in words.
    takes_path : bool
        Whether all three take the path of a file with data as ``path``.
    """
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few draws, to see that it runs")
    picture = Path(sys.argv[0]).with_suffix(".png").name
    parser.add_argument("--picture", type=Path, default=Path(picture), help="where to draw it")
    if takes_path:
        parser.add_argument("--data", type=Path, help="the file with the data")
    arguments = parser.parse_args()
    options = {"path": arguments.data} if takes_path else {}
    logging.getLogger("pymc").setLevel(logging.ERROR)
    idata = run(quick=arguments.quick, **options)
    say(report(idata, **options))
    plot(idata, **options).savefig(arguments.picture, dpi=150, bbox_inches="tight")
    say(f"picture: {arguments.picture}")
