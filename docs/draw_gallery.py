#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of the gallery: ``python docs/draw_gallery.py [--quick] [NAME ...]``.

The examples take minutes each, so that their pictures are stored in ``docs/_static/gallery``, with
a thumbnail of the first panel; the documentation is built without running them.
"""

from __future__ import annotations

import argparse
import importlib
import json
import logging
import os
import sys
import time

from collections.abc import Sequence
from datetime import date
from itertools import pairwise
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd

from gallery import EXAMPLES, FOLDER, FOUND, PICTURES
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text
from matplotlib.transforms import Bbox

# In pixels: the width of a picture, of a thumbnail where it is shown, and of its smallest text.
WIDTH, SHOWN_WIDTH, SMALLEST_TEXT = 1350, 300, 10
ASPECT = 0.75
# Drawn from substitute data: MovieLens does not permit redistribution.
STAND_INS = {"matrix_factorization"}


def first_panel(figure: Figure) -> Bbox:
    """Box around the first panel with what is written around it, widened to the form of a card."""
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    box = figure.axes[0].get_tightbbox(renderer).transformed(figure.dpi_scale_trans.inverted())
    box = box.padded(0.08)
    missing = box.width * ASPECT - box.height
    wider, higher = max(0.0, -missing / ASPECT), max(0.0, missing)
    return Bbox.from_extents(
        box.x0 - wider / 2, box.y0 - higher / 2, box.x1 + wider / 2, box.y1 + higher / 2
    )


def enlarge_text(figure: Figure) -> None:
    """Make what is written on the first panel legible where a thumbnail is shown."""
    ax = figure.axes[0]
    legends = ax.findobj(Legend)
    for legend in legends:
        legend.set_visible(False)
    smallest = SMALLEST_TEXT * 72 * first_panel(figure).width / SHOWN_WIDTH
    for text in ax.findobj(Text):
        text.set_fontsize(max(text.get_fontsize(), smallest))
    for legend in legends:
        legend.set_visible(True)
    figure.canvas.draw()
    for axis in (ax.xaxis, ax.yaxis):
        if overlap(axis.get_ticklabels()):
            axis.set_tick_params(labelbottom=False, labelleft=False)
    for legend in legends:
        others = [text for text in ax.findobj(Text) if text not in legend.findobj(Text)]
        box = legend.get_window_extent()
        inside = np.all(ax.bbox.min <= box.min) and np.all(box.max <= ax.bbox.max)
        legend.set_visible(inside and not any(overlap([legend, text]) for text in others))


def overlap(artists: Sequence[Artist]) -> bool:
    """Whether neighbours among some artists lie over each other."""
    boxes = [artist.get_window_extent() for artist in artists]
    boxes = [box for box in boxes if box.width * box.height > 0]
    return any(one.overlaps(other) for one, other in pairwise(boxes))


def save(figure: Figure, name: str, folder: Path) -> None:
    """Save the picture and its thumbnail."""
    folder.mkdir(parents=True, exist_ok=True)
    dpi = WIDTH / figure.get_size_inches()[0]
    figure.savefig(folder / f"{name}.png", dpi=dpi, bbox_inches="tight")
    for artist in (*figure.axes[1:], *figure.legends):
        artist.set_visible(False)
    enlarge_text(figure)
    box = first_panel(figure)
    thumbnail = folder / f"{name}_thumbnail.png"
    figure.savefig(thumbnail, dpi=2 * SHOWN_WIDTH / box.width, bbox_inches=box)


def record(name: str, found: dict[str, str | int], path: Path) -> None:
    """Store what an example says, how long it took and when, for its page."""
    stored = json.loads(path.read_text()) if path.exists() else {}
    stored[name] = found
    path.write_text(json.dumps(dict(sorted(stored.items())), indent=1) + "\n")


def main() -> None:
    """Run the examples asked for, and save their pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few draws, to see that it runs")
    parser.add_argument("--folder", type=Path, default=PICTURES, help="where to put the pictures")
    parser.add_argument("names", nargs="*", default=list(EXAMPLES), help="all examples by default")
    arguments = parser.parse_args()
    matplotlib.use("Agg")
    sys.path.insert(0, str(FOLDER))
    logging.getLogger("pymc").setLevel(logging.ERROR)
    # Tables of summaries, which would be cut otherwise.
    pd.set_option("display.width", 110, "display.max_columns", 20)
    for name in sorted(arguments.names, key=STAND_INS.__contains__):
        if name in STAND_INS:
            os.environ.pop("PYMC_GEODESIC_DATA", None)
        example = importlib.import_module(name)
        start = time.process_time()
        idata = example.run(quick=arguments.quick)
        seconds = round(time.process_time() - start)
        report = example.report(idata)
        sys.stdout.write(f"{name}: {report}\n")
        sys.stdout.flush()
        save(example.plot(idata), name, arguments.folder)
        found = {"report": report, "seconds": seconds, "date": date.today().isoformat()}
        record(name, found, arguments.folder / FOUND.name)


if __name__ == "__main__":
    main()
