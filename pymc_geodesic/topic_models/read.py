#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Conversion of users' draws of topics and documents to arrays."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import xarray as xr

from numpy.typing import ArrayLike

from pymc_geodesic.topic_models.bag_of_words import BagOfWords

__all__ = [
    "Documents",
    "Draws",
    "posterior_variable",
    "read_chains",
    "read_documents",
    "read_topics",
]

type Draws = xr.DataTree | ArrayLike
"""Draws of topics as functions accept them."""

type Documents = BagOfWords | sp.sparray | sp.spmatrix | ArrayLike
"""Documents as functions accept them."""


def posterior_variable(idata: xr.DataTree, var_name: str) -> xr.DataArray:
    """Return a matrix from the posterior, with the dimensions (chain, draw, topics, words).

    Raises
    ------
    ValueError
        If the variable does not exist, or its draws are not matrices.
    """
    found = idata["posterior"].data_vars
    if var_name not in found:
        raise ValueError(
            f"`var_name` expected the topics, a variable among {sorted(map(str, found))}, got "
            f"{var_name!r}. Pass its name."
        )
    topics = found[var_name].transpose("chain", "draw", ...)
    if topics.ndim != 4:
        raise ValueError(
            f"`var_name` expected a variable whose draws are matrices (topics, words), got "
            f"{var_name!r} with draws of shape {topics.shape[2:]}."
        )
    return topics


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


def read_documents(documents: Documents, n_words: int) -> sp.csr_array:
    """Return documents as a new CSR array without stored zeros.

    Raises
    ------
    ValueError
        If they are not a matrix with ``n_words`` columns.
    """
    matrix = documents.matrix if isinstance(documents, BagOfWords) else documents
    found = sp.csr_array(matrix, copy=True)
    if found.ndim != 2 or found.shape[1] != n_words:
        raise ValueError(
            f"`documents` expected a matrix (documents, words) with {n_words} columns, the number "
            f"of words in `topics`, got shape {found.shape}."
        )
    found.sum_duplicates()
    found.eliminate_zeros()
    return found
