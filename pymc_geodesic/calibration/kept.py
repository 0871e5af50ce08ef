#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Simulations that are kept in a folder, a file for each."""

from __future__ import annotations

import json
import os

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pymc.model import Model

from pymc_geodesic.calibration.simulations import Simulated
from pymc_geodesic.runs.checkpoints.digest import digest
from pymc_geodesic.runs.checkpoints.folder import folder_of
from pymc_geodesic.runs.checkpoints.identity import identity_of_model, require_same
from pymc_geodesic.validation import whole

__all__ = ["Kept"]

IDENTITY = "calibration.json"


class Kept:
    """A folder of simulations, which are those of one model, its arguments and a seed.

    Parameters
    ----------
    path : path, optional
        The folder; by default nothing is kept.
    model : Model
        The model.
    settings : mapping
        Arguments of :func:`sample`.
    random_seed : int, optional
        The seed; by default that of the folder, or a new one.

    Attributes
    ----------
    seed : int
        The seed.

    Raises
    ------
    ValueError
        If the folder holds other simulations, or something else.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        model: Model,
        settings: Mapping[str, Any],
        random_seed: int | None,
    ) -> None:
        self._folder = None if path is None else folder_of(path)
        self.seed = _seed(random_seed)
        if self._folder is None:
            return
        expected = identity_of_model(model) | {
            "`sample_kwargs`": digest(settings),
            "`random_seed`": self.seed,
        }
        there = self._folder / IDENTITY
        if there.is_file():
            found = json.loads(there.read_text())
            if random_seed is None:
                self.seed = expected["`random_seed`"] = found["`random_seed`"]
            require_same(expected, found, path=str(self._folder))
            return
        if self._folder.exists() and any(self._folder.iterdir()):
            raise ValueError(
                f"`checkpoint` expected a new folder, or one of a calibration, got "
                f"{str(self._folder)!r}, which holds something else. Pass another path."
            )
        self._folder.mkdir(parents=True, exist_ok=True)
        _write(there, expected)

    def read(self) -> dict[int, Simulated]:
        """Return the simulations that are there."""
        files = [] if self._folder is None else self._folder.glob("[0-9]*.json")
        return {int(file.stem): Simulated(**json.loads(file.read_text())) for file in files}

    def write(self, number: int, found: Simulated) -> None:
        """Keep a simulation."""
        if self._folder is not None:
            _write(self._folder / f"{number}.json", found._asdict())


def _seed(random_seed: int | None) -> int:
    if random_seed is None:
        # As many digits as other programs read from JSON.
        return int(np.random.SeedSequence().generate_state(1)[0])
    return whole("random_seed", random_seed, least=0)


def _write(file: Path, content: Mapping[str, Any]) -> None:
    """Write a file as a whole or not at all."""
    new = file.with_suffix(".new")
    new.write_text(json.dumps(content))
    new.replace(file)
