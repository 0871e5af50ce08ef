#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Documents of any length as the rows of one matrix, which are built on demand."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
import pytensor.tensor as pt

from pytensor.compile.builders import OpFromGraph
from pytensor.gradient import disconnected_type
from pytensor.graph.traversal import ancestors
from pytensor.tensor import TensorVariable

from pymc_geodesic.validation import UNIT_NORM_TOLERANCE

__all__ = [
    "Packed",
    "PackedDocuments",
    "RowsOfDocuments",
    "corpus_size",
    "is_packed",
    "require_counts",
    "require_unit_vectors",
    "take_rows",
    "unpack",
]


class Packed(OpFromGraph):
    """All rows of what has another length in each row; only the rows of a batch are ever built."""

    @abstractmethod
    def take(
        self, inputs: Sequence[TensorVariable], rows: TensorVariable, *, static_shapes: bool
    ) -> TensorVariable:
        """Build some rows from the inputs of this op."""


class PackedDocuments(Packed):
    """All documents of a corpus, each as its word numbers followed by their weights.

    The inputs are three arrays: the starts of the documents, the words of all documents and their
    weights. The output has a row per document: L word numbers, then L weights, where L is the
    number of distinct words of the longest document. Shorter documents end with zero weights.
    Sampling from minibatches never needs the whole output: :func:`take_rows` builds the rows of a
    batch.
    """

    def take(
        self, inputs: Sequence[TensorVariable], rows: TensorVariable, *, static_shapes: bool
    ) -> TensorVariable:
        """Build the rows of some documents, no wider than these unless shapes must be static."""
        if static_shapes:
            return _rows(inputs, rows, self.output_types[0].shape[1] // 2)
        corpus, some = [x.type() for x in inputs], rows.type()
        make = RowsOfDocuments([*corpus, some], [_rows(corpus, some, None)])
        return make(*inputs, rows)


def pack(starts: TensorVariable, words: TensorVariable, weights: TensorVariable, *, width: int):
    """Build the rows of all documents, by an op that :func:`take_rows` recognises.

    Parameters
    ----------
    starts : TensorVariable of int, shape (D + 1,)
        Start of each document in the other two arrays, and the end of the last document.
    words, weights : TensorVariable, shape (n,)
        Word numbers and weights of all documents, one document after the other.
    width : int
        Number L of distinct words of the longest document.

    Returns
    -------
    TensorVariable, shape (D, 2 L)
    """
    inputs = [starts.type(), words.type(), weights.type()]
    output = _rows(inputs, pt.arange(inputs[0].shape[0] - 1), width)
    n = starts.type.shape[0]
    output = pt.specify_shape(output, (None if n is None else n - 1, 2 * width))
    return PackedDocuments(inputs, [output])(starts, words, weights)


def take_rows(
    array: TensorVariable, rows: TensorVariable, *, static_shapes: bool
) -> TensorVariable:
    """Take rows of any data; of packed data, build only these rows."""
    if array.owner is None or not isinstance(array.owner.op, Packed):
        return array[rows]
    return array.owner.op.take(array.owner.inputs, rows, static_shapes=static_shapes)


class RowsOfDocuments(OpFromGraph):
    """Packed rows of some documents, no wider than the longest of them."""

    def pullback(self, inputs, outputs, cotangents):
        """Mark all inputs as data, without a gradient."""
        return [disconnected_type() for _ in inputs]

    def connection_pattern(self, node):
        """Mark all inputs as data, without a gradient."""
        return [[False] for _ in node.inputs]


def _rows(
    corpus: Sequence[TensorVariable], rows: TensorVariable, width: int | None
) -> TensorVariable:
    starts, words, weights = corpus
    first, length = starts[rows], starts[rows + 1] - starts[rows]
    columns = pt.arange(length.max() if width is None else width)
    inside = columns[None, :] < length[:, None]
    entries = pt.switch(inside, first[:, None] + columns[None, :], 0)
    ids = words[entries].astype(weights.dtype)
    return pt.concatenate([ids, pt.switch(inside, weights[entries], 0)], axis=1)


def unpack(documents: TensorVariable) -> tuple[TensorVariable, TensorVariable]:
    """Split packed rows into word numbers and weights, both of shape ``(n_documents, L)``."""
    width = documents.shape[1] // 2
    if documents.type.shape[1] is not None:
        width = documents.type.shape[1] // 2
    return documents[:, :width].astype("int64"), documents[:, width:]


def is_packed(data: TensorVariable) -> bool:
    """Return whether data comes from packed documents, all of them or a minibatch."""
    return _corpus(data) is not None


def require_unit_vectors(data: TensorVariable) -> None:
    """Raise a ValueError if data comes from packed documents that are not unit vectors."""
    if (node := _corpus(data)) is None:
        return
    starts, _, weights = (array.get_value(borrow=True) for array in node.inputs)
    norms = np.sqrt(np.add.reduceat(weights**2, starts[:-1]))
    if np.any(np.abs(norms - 1) > UNIT_NORM_TOLERANCE):
        raise ValueError(
            "A spherical model expected documents as unit vectors, got norms in "
            f"[{norms.min():.6g}, {norms.max():.6g}]. Use `corpus.unit_vectors()` or "
            "`corpus.tf_idf()`."
        )


def require_counts(data: TensorVariable) -> None:
    """Raise a ValueError if data comes from packed documents whose weights are not counts."""
    if (node := _corpus(data)) is None:
        return
    weights = node.inputs[2].get_value(borrow=True)
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
    if (node := _corpus(data)) is None:
        raise ValueError(f"`data` expected rows of a `pmg.BagOfWords`, got {data}.")
    starts, _, weights = (array.get_value(borrow=True) for array in node.inputs)
    return len(starts) - 1, float(weights.sum(dtype="float64"))


def _corpus(data: TensorVariable):
    """Find the node that packs the documents behind some data."""
    nodes = [v.owner for v in ancestors([data]) if v.owner is not None]
    return next((node for node in nodes if isinstance(node.op, PackedDocuments)), None)
