#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Documents of any length as the rows of data: each is a number, beside the corpus of all."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytensor.tensor as pt

from pytensor.compile.builders import OpFromGraph
from pytensor.configdefaults import config
from pytensor.gradient import disconnected_type
from pytensor.graph.traversal import ancestors
from pytensor.tensor import TensorVariable

from pymc_geodesic.validation import UNIT_NORM_TOLERANCE

__all__ = [
    "Corpus",
    "Packed",
    "PackedDocuments",
    "corpus_of",
    "corpus_size",
    "is_packed",
    "pack",
    "require_counts",
    "require_unit_vectors",
    "rows_of_corpus",
    "take_rows",
    "tokens_of",
    "unpack",
]


class Packed(OpFromGraph):
    """All rows of what has another length in each row; only the rows of a batch are ever built."""

    @abstractmethod
    def take(self, inputs: Sequence[TensorVariable], rows: TensorVariable) -> TensorVariable:
        """Build some rows from the inputs of this op."""


class Corpus(NamedTuple):
    """The words of all documents, one document after the other.

    Attributes
    ----------
    starts : TensorVariable of int, shape (D + 1,)
        Start of each document in the other two arrays, and the end of the last document.
    words, weights : TensorVariable, shape (n,)
        Word numbers and weights.
    """

    starts: TensorVariable
    words: TensorVariable
    weights: TensorVariable

    @property
    def width(self) -> int:
        """Number of distinct words of the longest document."""
        return int(np.diff(self.starts.get_value(borrow=True)).max())


class PackedDocuments(Packed):
    """Numbers of documents, ``(S, 1)``; the first three inputs are their :class:`Corpus`.

    So documents are rows of data that take eight bytes each, of which a minibatch can be drawn.
    Distributions of documents find their words with :func:`corpus_of`.
    """

    def take(self, inputs: Sequence[TensorVariable], rows: TensorVariable) -> TensorVariable:
        """Return the numbers of some documents of the same corpus."""
        *corpus, _ = inputs
        return _numbered(Corpus(*corpus), rows)

    def pullback(self, inputs, outputs, cotangents):
        """Mark all inputs as data, without a gradient."""
        return [disconnected_type() for _ in inputs]

    def connection_pattern(self, node):
        """Mark all inputs as data, without a gradient."""
        return [[False] for _ in node.inputs]


def pack(starts: TensorVariable, words: TensorVariable, weights: TensorVariable) -> TensorVariable:
    """Return the numbers of all documents of a :class:`Corpus`.

    Returns
    -------
    TensorVariable, shape (D, 1)
    """
    [length] = starts.type.shape
    rows = pt.specify_shape(pt.arange(length - 1), (length - 1,))
    return _numbered(Corpus(starts, words, weights), rows)


def _numbered(corpus: Corpus, rows: TensorVariable) -> TensorVariable:
    inputs = [x.type() for x in (*corpus, rows)]
    # PyMC refuses minibatches of whole numbers as observed values.
    return PackedDocuments(inputs, [inputs[-1][:, None].astype(config.floatX)])(*corpus, rows)


def take_rows(array: TensorVariable, rows: TensorVariable) -> TensorVariable:
    """Take rows of any data; of packed data, build only these rows."""
    if array.owner is None or not isinstance(array.owner.op, Packed):
        return array[rows]
    return array.owner.op.take(array.owner.inputs, rows)


def corpus_of(data: TensorVariable) -> Corpus:
    """Return the corpus behind the numbers of some documents.

    Raises
    ------
    ValueError
        If the data do not come from packed documents.
    """
    for variable in ancestors([data]):
        if variable.owner is not None and isinstance(variable.owner.op, PackedDocuments):
            return Corpus(*variable.owner.inputs[:3])
    raise ValueError(f"`data` expected rows of a `pmg.BagOfWords`, got {data}.")


def is_packed(data: TensorVariable) -> bool:
    """Return whether data comes from packed documents, all of them or a minibatch."""
    nodes = (variable.owner for variable in ancestors([data]))
    return any(node is not None and isinstance(node.op, PackedDocuments) for node in nodes)


def unpack(
    numbers: TensorVariable, corpus: Corpus, *, width: int
) -> tuple[TensorVariable, TensorVariable]:
    """Return word numbers and weights of documents, both of shape ``(S, width)``, filled with 0."""
    rows = numbers[:, 0].astype("int64")
    first, length = corpus.starts[rows], corpus.starts[rows + 1] - corpus.starts[rows]
    columns = pt.arange(width)
    inside = columns[None, :] < length[:, None]
    entries = pt.switch(inside, first[:, None] + columns[None, :], 0)
    return corpus.words[entries], pt.switch(inside, corpus.weights[entries], 0)


def rows_of_corpus(
    numbers: np.ndarray, starts: np.ndarray, words: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the corpus of some documents, given their numbers ``(S, 1)`` and that of all."""
    rows = numbers[:, 0].astype("int64")
    lengths = starts[rows + 1] - starts[rows]
    ends = np.cumsum(lengths)
    entries = np.arange(ends[-1]) + np.repeat(starts[rows] - (ends - lengths), lengths)
    return np.concatenate([[0], ends]), words[entries], weights[entries]


def tokens_of(data: TensorVariable) -> TensorVariable:
    """Return the sum of the weights of each document, of shape (S,)."""
    starts, _, weights = (array.get_value(borrow=True) for array in corpus_of(data))
    totals = np.add.reduceat(weights, starts[:-1], dtype="float64").astype("int64")
    return pt.constant(totals)[data[:, 0].astype("int64")]


def require_unit_vectors(data: TensorVariable) -> None:
    """Raise a ValueError if packed documents are not unit vectors."""
    starts, _, weights = (array.get_value(borrow=True) for array in corpus_of(data))
    norms = np.sqrt(np.add.reduceat(weights**2, starts[:-1]))
    if np.any(np.abs(norms - 1) > UNIT_NORM_TOLERANCE):
        raise ValueError(
            "A spherical model expected documents as unit vectors, got norms in "
            f"[{norms.min():.6g}, {norms.max():.6g}]. Use `corpus.unit_vectors()` or "
            "`corpus.tf_idf()`."
        )


def require_counts(data: TensorVariable) -> None:
    """Raise a ValueError if the weights of packed documents are not counts."""
    weights = corpus_of(data).weights.get_value(borrow=True)
    if np.any(weights < 0) or np.any(weights != np.round(weights)):
        raise ValueError(
            "A model of word counts expected whole numbers as weights, got other numbers in "
            f"[{weights.min():.6g}, {weights.max():.6g}]. Create the `BagOfWords` from the counts "
            "themselves."
        )


def corpus_size(data: TensorVariable) -> tuple[int, float]:
    """Return the number of documents and the sum of weights of the corpus behind some data.

    Raises
    ------
    ValueError
        If the data do not come from packed documents.
    """
    starts, _, weights = (array.get_value(borrow=True) for array in corpus_of(data))
    return len(starts) - 1, float(weights.sum(dtype="float64"))
