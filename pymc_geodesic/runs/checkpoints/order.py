#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The order of groups and variables in a Zarr hierarchy, which Zarr writes by their names."""

from __future__ import annotations

import json

from collections.abc import Sequence
from pathlib import Path

import xarray as xr

__all__ = ["in_order", "names_of", "names_on_disk"]

FILE = "zarr.json"


def names_of(tree: xr.DataTree) -> list[str]:
    """Return the names of groups and variables of a tree below the root, in their order."""
    found = []
    for node in tree.subtree:
        group = node.path.strip("/")
        found += [group, *(f"{group}/{name}" for name in node.to_dataset(inherit=False).variables)]
    return found


def names_on_disk(path: Path) -> list[str]:
    """Return the names in the metadata of a hierarchy, in their order."""
    root = json.loads((path / FILE).read_text(encoding="utf-8"))
    return list(root["consolidated_metadata"]["metadata"])


def in_order(path: Path, names: Sequence[str]) -> None:
    """Write the metadata of a hierarchy in the order of names; others come last.

    Readers return variables as they stand there, so that tables and plots of a result that is read
    are those of the result before.
    """
    place = {name: i for i, name in enumerate(names)}
    root = json.loads((path / FILE).read_text(encoding="utf-8"))
    found = root["consolidated_metadata"]["metadata"]
    by_place = sorted(found, key=lambda name: place.get(name, len(place)))
    root["consolidated_metadata"]["metadata"] = {name: found[name] for name in by_place}
    # A file that is replaced is there as a whole at any time.
    new = path / f"{FILE}.partial"
    new.write_text(json.dumps(root, indent=2), encoding="utf-8")
    new.replace(path / FILE)
