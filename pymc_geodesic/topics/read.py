#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Reading draws of topics and documents from what users hold them in."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import xarray as xr

from numpy.typing import ArrayLike

from pymc_geodesic.documents import BagOfWords

__all__ = ["Documents", "Draws", "read_documents", "read_topics"]

Draws = xr.DataTree | ArrayLike
"""What functions accept as draws of topics."""

Documents = BagOfWords | sp.sparray | sp.spmatrix | ArrayLike
"""What functions accept as documents."""


def read_topics(topics: Draws, var_name: str) -> np.ndarray:
    """Return draws of topics as an array (draws, topics, words), one chain after the other.

    Raises
    ------
    ValueError
        If the variable is not there, or is not a matrix in every draw.
    """
    if isinstance(topics, xr.DataTree):
        found = topics["posterior"].data_vars
        if var_name not in found:
            raise ValueError(
                f"Expected a variable {var_name!r} in the posterior, got {sorted(found)}. "
                "Name the one that holds the topics with `var_name`."
            )
        topics = found[var_name].transpose("chain", "draw", ...).to_numpy()
        if topics.ndim != 4:
            raise ValueError(
                f"Expected every draw of {var_name!r} to be a matrix (topics, words), got shape "
                f"{topics.shape[2:]}."
            )
    topics = np.asarray(topics)
    if topics.ndim < 2:
        raise ValueError(
            "Expected topics as an array (..., topics, words) or the result of `pm.sample`, got "
            f"shape {topics.shape}."
        )
    return topics.reshape(-1, *topics.shape[-2:])


def read_documents(documents: Documents, n_words: int) -> sp.csr_array:
    """Return documents as a CSR array of their own, without stored zeros.

    Raises
    ------
    ValueError
        If they are not a matrix with ``n_words`` columns.
    """
    matrix = documents.matrix if isinstance(documents, BagOfWords) else documents
    documents = sp.csr_array(matrix, copy=True)
    if documents.ndim != 2 or documents.shape[1] != n_words:
        raise ValueError(
            f"Expected documents as a matrix (documents, words) with {n_words} columns, the number "
            f"of words in `topics`, got shape {documents.shape}."
        )
    documents.sum_duplicates()
    documents.eliminate_zeros()
    return documents
