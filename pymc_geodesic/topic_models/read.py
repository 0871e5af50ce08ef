#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Conversion of users' draws of topics and documents to arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec

import numpy as np
import scipy.sparse as sp
import xarray as xr

from numpy.typing import ArrayLike
from rich.console import Console
from rich.progress import track

from pymc_geodesic.topic_models.bag_of_words import BagOfWords

__all__ = [
    "GROUPS",
    "RUNNING",
    "Documents",
    "Draws",
    "dataset_in",
    "posterior_variable",
    "read_chains",
    "read_documents",
    "read_topics",
    "tracked",
    "words_of",
]


GROUPS = ("posterior", "running/draws", "running/mean")
"""Groups of a result that may hold topics, in the order in which they are looked for."""

RUNNING = ("running/draws", "running/mean", "running/sd")
"""Groups that ``pmg.sample(keep=...)`` makes."""

type Draws = xr.DataTree | ArrayLike
"""Draws of topics as functions accept them."""

type Documents = BagOfWords | sp.sparray | sp.spmatrix | ArrayLike
"""Documents as functions accept them."""


def posterior_variable(idata: xr.DataTree, var_name: str) -> xr.DataArray:
    """Return a matrix from the draws, with the dimensions (chain, draw, topics, words).

    If ``pmg.sample(keep=...)`` kept moments of a variable, the draws are those that were kept too,
    or else the mean is the only draw of each chain.

    Raises
    ------
    ValueError
        If the variable does not exist, or its draws are not matrices.
    """
    kept = {group: dataset_in(idata, group) for group in GROUPS}
    for found in kept.values():
        if var_name in found:
            values = found[var_name]
            break
    else:
        names = sorted({str(name) for found in kept.values() for name in found.data_vars})
        raise ValueError(
            f"`var_name` expected the topics, a variable among {names}, got {var_name!r}. Pass "
            "its name."
        )
    topics = values if "draw" in values.dims else values.expand_dims("draw")
    topics = topics.transpose("chain", "draw", ...)
    if topics.ndim != 4:
        raise ValueError(
            f"`var_name` expected a variable whose draws are matrices (topics, words), got "
            f"{var_name!r} with draws of shape {topics.shape[2:]}."
        )
    return topics


def dataset_in(idata: xr.DataTree, group: str) -> xr.Dataset:
    """Return the variables of a group; none if there is no such group."""
    return idata[group].to_dataset() if f"/{group}" in idata.groups else xr.Dataset()


def words_of(topics: Draws, var_name: str, vocabulary: Sequence[str] | None) -> np.ndarray:
    """Return the given words, or else the coordinates of the topics, or the numbers of columns.

    Raises
    ------
    ValueError
        If there are not as many words as columns.
    """
    if isinstance(topics, xr.DataTree):
        draws = posterior_variable(topics, var_name)
        found, n_words = draws[draws.dims[-1]].to_numpy(), draws.shape[-1]
    else:
        n_words = np.shape(topics)[-1]
        found = np.arange(n_words)
    words = np.asarray(found if vocabulary is None else vocabulary).astype(str)
    if len(words) != n_words:
        raise ValueError(
            f"`vocabulary` expected {n_words} words, as many as the topics, got {len(words)}."
        )
    return words


def read_chains(topics: Draws, var_name: str) -> np.ndarray:
    """Return draws of topics as an array (chains, draws, topics, words).

    The first of four or more axes numbers the chains; with fewer axes there is one chain.

    Raises
    ------
    ValueError
        If the variable does not exist, or its draws are not matrices.
    """
    if isinstance(topics, xr.DataTree):
        return posterior_variable(topics, var_name).to_numpy()
    topics = np.asarray(topics)
    if topics.ndim < 2 or 0 in topics.shape:
        raise ValueError(
            "`topics` expected an array (..., topics, words) or the result of `pm.sample`, got "
            f"shape {topics.shape}."
        )
    n_chains = topics.shape[0] if topics.ndim > 3 else 1
    return topics.reshape(n_chains, -1, *topics.shape[-2:])


def read_topics(topics: Draws, var_name: str) -> np.ndarray:
    """Return draws of topics as an array (draws, topics, words), one chain after the other.

    Raises
    ------
    ValueError
        See :func:`read_chains`.
    """
    found = read_chains(topics, var_name)
    return found.reshape(-1, *found.shape[-2:])


def read_documents(documents: Documents, n_words: int | None = None) -> sp.csr_array:
    """Return documents as a new CSR array without stored zeros.

    Raises
    ------
    ValueError
        If they are not a matrix, or do not have ``n_words`` columns if that is given.
    """
    matrix = documents.matrix if isinstance(documents, BagOfWords) else documents
    found = sp.csr_array(matrix, copy=True)
    if found.ndim != 2:
        raise ValueError(
            f"`documents` expected a matrix (documents, words), got shape {found.shape}."
        )
    if n_words is not None and found.shape[1] != n_words:
        raise ValueError(
            f"`documents` expected a matrix (documents, words) with {n_words} columns, the number "
            f"of words in `topics`, got shape {found.shape}."
        )
    found.sum_duplicates()
    found.eliminate_zeros()
    return found


def tracked[T](items: Iterable[T], what: str, *, visible: bool) -> Iterator[T]:
    """Go through items, and show how far; only in a terminal or a notebook that can show it.

    Parameters
    ----------
    items : iterable
        What to go through.
    what : str
        A few words for the bar.
    visible : bool
        Whether to show it.
    """
    console = Console(stderr=True)
    can_show = console.is_terminal or (console.is_jupyter and find_spec("ipywidgets") is not None)
    yield from track(
        items, what, console=console, transient=True, disable=not visible or not can_show
    )
