#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Record the draws of all cases, or of those whose names contain one of the arguments."""

import logging
import sys

from pathlib import Path

import numpy as np

from cases import CASES, draws_of

FOLDER = Path(__file__).parent / "draws"


def main() -> None:
    logging.getLogger("pymc").setLevel(logging.ERROR)
    chosen = [name for name in CASES if not sys.argv[1:] or any(a in name for a in sys.argv[1:])]
    FOLDER.mkdir(exist_ok=True)
    for name in chosen:
        np.savez_compressed(FOLDER / f"{name}.npz", **draws_of(name))
        print(name, flush=True)


if __name__ == "__main__":
    main()
