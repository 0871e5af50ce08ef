#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Plots of topics by their top words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr

from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from pymc_geodesic.manifolds.registry import recorded_manifolds
from pymc_geodesic.plots.selection import (
    Coordinates,
    dataset_of,
    most_probable,
    pick_variable,
    probability_or_default,
)
from pymc_geodesic.plots.style import color_of
from pymc_geodesic.topic_models.alignment import require_aligned
from pymc_geodesic.topic_models.read import Draws, dataset_in, posterior_variable, read_chains

__all__ = ["draw_list", "plot_topics"]

# Beyond it panels with bars fill more than a screen.
_MOST_PANELS = 20


def plot_topics(
    idata: Draws,
    var_names: str | Sequence[str] | None = None,
    *,
    vocabulary: Sequence[str] | None = None,
    n_words: int = 10,
    group: str = "posterior",
    coords: Coordinates | None = None,
    ci_prob: float | None = None,
    n_columns: int = 4,
    sizes: ArrayLike | None = None,
    labels: Sequence[str] | None = None,
    kind: Literal["bars", "list"] | None = None,
    axes: ArrayLike | None = None,
) -> np.ndarray:
    """Draw the words with the largest weights of each topic.

    A topic is a probability vector over words, or a unit vector, as in spherical admixture models.
    Its words are ordered by posterior mean. The bar shows the mean, the line the interval
    that holds `ci_prob` of the draws. More than 20 topics are drawn as a list: a line of words for
    each topic, with more probable words darker.

    Parameters
    ----------
    idata : DataTree or array_like of float
        Result of ``pm.sample``, or an array of shape (..., K, V) whose leading axes are draws, or
        chains and draws, as for :func:`pymc_geodesic.topic_models.top_words`.
    var_names : str, optional
        The variable with the topics, with K vectors of V entries. By default the only one of this
        form with unit vectors or probability vectors.
    vocabulary : sequence of str, optional
        The V words. By default the coordinates of the last dimension, or word numbers for an array.
    n_words : int
        Number of words per topic.
    group : str
        Group of the draws.
    coords : mapping, optional
        Part of the draws, such as some topics.
    ci_prob : float, optional
        Probability of the intervals, with equal tails; ``rcParams["stats.ci_prob"]`` by default.
    n_columns : int
        Number of topics in a row of the figure.
    sizes : array_like of float, shape (K,), optional
        Shares of the topics, as of :func:`pymc_geodesic.topic_models.topic_sizes`: the largest
        topic comes first.
    labels : sequence of str, optional
        Names of the topics, as of :func:`pymc_geodesic.topic_models.describe`; by default numbers.
    kind : {"bars", "list"}, optional
        How to draw; by default bars for up to 20 topics.
    axes : array_like of matplotlib.axes.Axes, optional
        One per topic, or a single one for a list; a new figure by default.

    Returns
    -------
    numpy.ndarray of matplotlib.axes.Axes
        The axes, one per topic, or a single one for a list.

    Raises
    ------
    ValueError
        If the variable does not have two axes, `vocabulary`, `sizes`, `labels` or `axes` have
        another length, or the order of topics differs between chains: see
        :func:`pymc_geodesic.topic_models.align`, or choose one chain by ``coords={"chain": [0]}``.

    Examples
    --------
    >>> import arviz as az, numpy as np, pymc_geodesic as pmg
    >>> topics = np.random.default_rng(1).dirichlet(np.ones(50), size=(2, 100, 3))
    >>> idata = az.from_dict({"posterior": {"topics": topics}})
    >>> axes = pmg.plot_topics(idata, vocabulary=[f"word {i}" for i in range(50)], n_words=5)
    """
    topics = _topics_of(idata, var_names, group, coords)
    require_aligned(topics.to_numpy(), "plot_topics")
    topic_dim, word_dim = topics.dims[2:]
    words = np.asarray(topics[word_dim] if vocabulary is None else vocabulary).astype(str)
    if len(words) != topics.sizes[word_dim]:
        raise ValueError(f"`vocabulary` expected {topics.sizes[word_dim]} words, got {len(words)}.")
    n_topics, n_words = topics.sizes[topic_dim], min(n_words, len(words))
    if kind not in (None, "bars", "list"):
        raise ValueError(f"`kind` expected 'bars' or 'list', got {kind!r}.")
    shares, order = _sizes(sizes, n_topics)
    if labels is None:
        labels = [f"{topic_dim} {number}" for number in topics[topic_dim].values]
    if len(labels) != n_topics:
        raise ValueError(f"`labels` expected {n_topics}, one per topic, got {len(labels)}.")
    labels = [list(labels)[i] for i in order]
    if shares is not None:
        labels = [
            f"{label} ({100 * shares[i]:.1f}%)" for label, i in zip(labels, order, strict=True)
        ]
    if kind == "list" or (kind is None and axes is None and n_topics > _MOST_PANELS):
        means = topics.mean(topics.dims[:2]).to_numpy()[order]
        given = None if axes is None else _axes(axes, 1, n_words, n_columns)[0]
        ordered = None if shares is None else shares[order]
        drawn = draw_list(means, words, n_words=n_words, labels=labels, sizes=ordered, ax=given)
        return np.array([drawn])
    axes = _axes(axes, n_topics, n_words, n_columns)
    ci_prob = probability_or_default(ci_prob)
    for ax, label, i in zip(axes, labels, order, strict=True):
        values = topics.isel({topic_dim: i}).values.reshape(-1, len(words))
        _draw_topic(ax, values, words, n_words, ci_prob)
        ax.set_title(label, fontsize=10, loc="left")
    return axes


def _topics_of(
    idata: Draws,
    var_names: str | Sequence[str] | None,
    group: str,
    coords: Coordinates | None,
) -> xr.DataArray:
    """Return the chosen topics, with the dimensions (chain, draw, topic, word).

    Raises
    ------
    ValueError
        If the variable does not have two axes.
    """
    if not isinstance(idata, xr.DataTree):
        values = read_chains(idata, "topics")
        return xr.DataArray(values, dims=("chain", "draw", "topic", "word")).sel(coords or {})
    if isinstance(var_names, str) and var_names not in dataset_in(idata, group):
        return posterior_variable(idata, var_names).sel(coords or {})
    dataset = dataset_of(idata, var_names=var_names, group=group, coords=coords)
    manifolds = recorded_manifolds(idata)
    topics = pick_variable(dataset, ("direction", "composition"), manifolds=manifolds)
    if topics.ndim != 4:
        raise ValueError(
            f"`{topics.name}` expected topics of shape (K, V), got {topics.shape[2:]}. Select "
            "another variable with `var_names`, or give all its other dimensions in `coords`."
        )
    return topics


def _sizes(sizes: ArrayLike | None, n_topics: int) -> tuple[np.ndarray | None, np.ndarray]:
    """Return the shares of the topics, and the order in which they are drawn."""
    if sizes is None:
        return None, np.arange(n_topics)
    shares = np.asarray(sizes, dtype=float)
    if shares.shape != (n_topics,):
        raise ValueError(f"`sizes` expected {n_topics}, one per topic; got {shares.shape}.")
    return shares, np.argsort(-shares, kind="stable")


def _axes(axes: ArrayLike | None, n_topics: int, n_words: int, n_columns: int) -> np.ndarray:
    if axes is not None:
        axes = np.ravel(axes)
        if len(axes) != n_topics:
            raise ValueError(f"`axes` expected {n_topics}, one per topic, got {len(axes)}.")
        return axes
    n_columns = min(n_columns, n_topics)
    n_rows = -(-n_topics // n_columns)
    size = 2.7 * n_columns, n_rows * (0.7 + 0.19 * n_words)
    _, grid = plt.subplots(
        n_rows, n_columns, figsize=size, sharex=True, squeeze=False, layout="constrained"
    )
    for ax in grid.ravel()[n_topics:]:
        ax.set_axis_off()
    return grid.ravel()[:n_topics]


def _draw_topic(
    ax: Axes, values: np.ndarray, words: np.ndarray, n_words: int, ci_prob: float
) -> None:
    mean, top, (low, high) = most_probable(values, n_words, ci_prob)
    at = np.arange(len(top))
    ax.barh(at, mean[top], color=color_of(1), alpha=0.45, height=0.75)
    ax.hlines(at, low, high, color=color_of(1), linewidth=2)
    ax.set_yticks(at, words[top], fontsize=9)
    ax.tick_params(axis="y", length=0)
    ax.tick_params(axis="x", labelsize=8, labelbottom=True)
    ax.invert_yaxis()
    ax.locator_params(axis="x", nbins=4)
    ax.spines[["top", "right"]].set_visible(False)


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
