#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Many topics in one picture: a line of words for each."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np

from matplotlib.axes import Axes

from pymc_geodesic.plots.style import color_of

__all__ = ["draw_list"]

# Inches: a line, a column of words, and the bars of sizes with their labels.
_LINE, _COLUMN, _BARS = 0.19, 0.92, 1.0
# And a letter of a word, beyond which a column is wider.
_LETTER = 0.075
# Words are as dark as they are probable relative to the first word of the topic, but never
# invisible.
_PALEST = 0.35


def draw_list(
    mean: np.ndarray,
    words: np.ndarray,
    *,
    n_words: int,
    labels: Sequence[str],
    sizes: np.ndarray | None,
    ax: Axes | None,
) -> Axes:
    """Write the top words of each topic in a line, with more probable words darker.

    Parameters
    ----------
    mean : ndarray, shape (K, V)
        Posterior means, in the order of the lines.
    words : ndarray, shape (V,)
        The words.
    n_words : int
        Number of words per topic.
    labels : sequence of str
        Names of the topics.
    sizes : ndarray, shape (K,), optional
        Shares of the topics, drawn as bars.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    """
    n_topics = len(mean)
    best = np.argsort(-mean, axis=1, kind="stable")[:, :n_words]
    if ax is None:
        longest = max(len(str(words[i])) for i in best.ravel())
        size = (n_words * max(_COLUMN, _LETTER * (longest + 1)) + _BARS, n_topics * _LINE + 0.4)
        _, ax = plt.subplots(figsize=size, layout="constrained")
    for line, row in enumerate(best):
        strength = mean[line, row] / mean[line, row[0]]
        for column, (number, share) in enumerate(zip(row, strength, strict=True)):
            ax.text(
                *(column + 0.05, line),
                str(words[number]),
                alpha=float(np.clip(share, _PALEST, 1)),
                fontsize=8,
                va="center",
            )
    if sizes is not None:
        lengths = 0.85 * sizes / sizes.max()
        ax.barh(np.arange(n_topics), -lengths, height=0.7, color=color_of(1), alpha=0.45)
    ax.set_xlim(-1.0 if sizes is not None else 0.0, n_words)
    ax.set_ylim(n_topics - 0.4, -0.6)
    ax.set_yticks(np.arange(n_topics), labels, fontsize=8)
    ax.tick_params(axis="y", length=0)
    ax.set_xticks([])
    ax.spines[:].set_visible(False)
    return ax
