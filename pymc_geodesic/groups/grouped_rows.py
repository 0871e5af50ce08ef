#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A table as groups of rows, from which minibatches of groups are drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytensor
import pytensor.tensor as pt

from numpy.typing import ArrayLike
from pytensor.tensor import TensorVariable

from pymc_geodesic.potential.packed_groups import pack_column, pack_mask
from pymc_geodesic.validation import whole

__all__ = ["GroupedRows", "column_of", "grouping_of", "numbers"]


def column_of(table: Any, name: str, *, n_rows: int | None = None) -> np.ndarray | pd.Series:
    """Return a column of a DataFrame, or of a mapping of arrays.

    Raises
    ------
    ValueError
        If there is no such column, or it has another number of rows.
    """
    names = [str(known) for known in table]
    if name not in names:
        raise ValueError(f"`GroupedRows` expected one of the columns {names}, got {name!r}.")
    column = table[name]
    column = column if isinstance(column, pd.Series) else np.asarray(column)
    if np.ndim(column) == 0 or (n_rows is not None and len(column) != n_rows):
        raise ValueError(
            f"The column `{name}` expected an entry in each of the {n_rows} rows, got shape "
            f"{np.shape(column)}."
        )
    return column


def grouping_of(
    labels: np.ndarray | pd.Series, name: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return the labels of groups, their starts among sorted rows, and the order of the rows.

    There is no order if the rows are sorted.

    Raises
    ------
    ValueError
        If there are no rows, or some have no label.
    """
    if np.ndim(labels) != 1 or len(labels) == 0:
        raise ValueError(
            f"`by` expected a column with a label in each row, got `{name}` of shape "
            f"{np.shape(labels)}."
        )
    codes, known = pd.factorize(labels, sort=True)
    if len(missing := np.flatnonzero(codes < 0)):
        raise ValueError(
            f"`by` expected a label in every row of `{name}`, got {len(missing)} rows without, the "
            f"first at row {missing[0]}. Drop these rows, or give them a group."
        )
    starts = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=len(known)))])
    is_sorted = bool(np.all(codes[1:] >= codes[:-1]))
    order = None if is_sorted else np.argsort(codes, kind="stable")
    return np.asarray(known), starts.astype("int64"), order


def numbers(column: np.ndarray | pd.Series, name: str) -> np.ndarray:
    """Return a column as an array that a model computes with.

    Whole numbers and truth values become 32-bit integers, other numbers the floats of PyTensor.

    Raises
    ------
    ValueError
        If there are values missing, or the column does not hold numbers.
    """
    if isinstance(column, pd.Series):
        column = _values_of(column)
    kind = column.dtype.kind
    if kind not in "biuf":
        raise ValueError(
            f"The column `{name}` expected numbers, got {column.dtype}. For categories take their "
            f"codes, such as `table[{name!r}].astype('category').cat.codes`."
        )
    if kind == "f":
        if n_missing := int(np.isnan(column).sum()):
            first = int(np.argwhere(np.isnan(column))[0][0])
            raise ValueError(
                f"The column `{name}` expected a number in every row, got {n_missing} that are "
                f"NaN, the first at row {first}. Drop or impute these rows."
            )
        return column.astype(pytensor.config.floatX)
    least, most = np.iinfo("int32").min, np.iinfo("int32").max
    if kind != "b" and len(column) and not least <= column.min() <= column.max() <= most:
        raise ValueError(
            f"The column `{name}` expected whole numbers of 32 bits, got values from "
            f"{column.min()} to {column.max()}. Convert it: `table[{name!r}].astype(float)`."
        )
    return column.astype("int32")


def _values_of(column: pd.Series) -> np.ndarray:
    """Return the values of a pandas column, whose missing values need not be NaN."""
    if column.dtype.kind in "biuf" and not isinstance(column.dtype, np.dtype):
        if column.isna().any():
            return column.to_numpy(dtype="float64", na_value=np.nan)
        return column.to_numpy(dtype=column.dtype.numpy_dtype)
    return column.to_numpy()


class GroupedRows:
    r"""The rows of a table by group, for minibatches of groups.

    In a model with an effect for each of very many groups, a minibatch contains a few groups with
    all of their rows. Groups take the place of rows: ``total_size`` is the number of groups.

    Parameters
    ----------
    table : DataFrame or mapping of str to array_like
        Columns of n rows, in any order. A column of a mapping may have further axes.
    by : str
        The column with the group label of each row: numbers, strings or anything else that pandas
        can sort.

    Attributes
    ----------
    n_groups, n_rows : int
        G and n.
    labels : ndarray, shape (G,)
        Labels of the groups, sorted.
    sizes : ndarray of int, shape (G,)
        Rows of each group.
    width : int
        Rows L of the largest group.

    Raises
    ------
    ValueError
        If a label is missing, or a column does not exist.

    Notes
    -----
    ``rows["x"]`` is a column as a symbolic array of shape (G, L), from which ``pm.Minibatch`` takes
    the groups of a batch. In memory it takes one number per row of the table. The places after the
    last row of a group repeat that row, and ``rows.mask`` is False there. Observed columns go
    through :class:`GroupLikelihood` or :class:`MarginalLikelihood`, which ignore these places.

    Every batch is as wide as the largest group. If group sizes differ so much that most places
    would be empty, :meth:`by_size` divides the groups into classes. Each class then has an observed
    variable of its own.

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> table = {"user": ["b", "a", "b"], "x": [0.1, 0.2, 0.3], "y": [1, 0, 1]}
    >>> rows = pmg.GroupedRows(table, by="user")
    >>> rows
    GroupedRows(2 groups by user, 3 rows, 1 to 2 in a group)
    >>> rows["x"].eval()
    array([[0.2, 0.2],
           [0.1, 0.3]])
    >>> x, y, mask = pm.Minibatch(rows["x"], rows["y"], rows.mask, batch_size=2)
    """

    def __init__(self, table: pd.DataFrame | Mapping[str, ArrayLike], *, by: str) -> None:
        if not hasattr(table, "keys"):
            raise TypeError(
                "`GroupedRows` expected a DataFrame or a mapping of columns, got "
                f"{type(table).__name__}."
            )
        self.by = by
        self._table: Any = table
        self.labels, self._starts, self._order = grouping_of(column_of(table, by), by)
        self._packed: dict[str, TensorVariable] = {}
        self._shared_starts: TensorVariable | None = None

    @property
    def n_groups(self) -> int:
        """Number of groups G."""
        return len(self._starts) - 1

    @property
    def n_rows(self) -> int:
        """Number of rows n."""
        return int(self.sizes.sum())

    @property
    def sizes(self) -> np.ndarray:
        """Number of rows of each group, shape (G,)."""
        return np.diff(self._starts)

    @property
    def width(self) -> int:
        """Number of rows L of the largest group."""
        return int(self.sizes.max())

    def __len__(self) -> int:
        """Return the number of groups, which is the ``total_size`` of what they observe."""
        return self.n_groups

    def __getitem__(self, name: str) -> TensorVariable:
        """Return a column as a symbolic array of shape (G, L, ...)."""
        if name not in self._packed:
            column = numbers(column_of(self._table, name, n_rows=self._n_table), name)
            values = column if self._order is None else column[self._order]
            shared = pytensor.shared(values, name=name, shape=values.shape, borrow=True)
            self._packed[name] = pack_column(self._starts_tensor, shared, width=self.width)
        return self._packed[name]

    @property
    def mask(self) -> TensorVariable:
        """Whether each place of the columns holds a row: symbolic, of shape (G, L)."""
        return pack_mask(self._starts_tensor, width=self.width)

    def positions(self, labels: Sequence[Any] | np.ndarray) -> np.ndarray:
        """Return the places of groups among all groups, by their labels.

        Raises
        ------
        ValueError
            If there is no such group.
        """
        found = pd.Index(self.labels).get_indexer(np.atleast_1d(np.asarray(labels)))
        if len(unknown := np.atleast_1d(np.asarray(labels))[found < 0]):
            raise ValueError(
                f"`groups` expected labels of the column `{self.by}`, got {len(unknown)} that are "
                f"not there, such as '{unknown[0]}'."
            )
        return found

    def by_size(self, n_classes: int = 4) -> list[GroupedRows]:
        r"""Divide the groups into classes of similar size.

        The log likelihood is the sum over the classes. Each class needs its own ``pm.Minibatch``
        and its own observed variable, whose ``total_size`` is the number of groups in the class.
        The estimate is then unbiased.

        Parameters
        ----------
        n_classes : int, default 4
            The most classes. Their limits are powers of the size of the largest group,
            :math:`L^{k / n}`.

        Returns
        -------
        list of GroupedRows
            The classes with groups in them, those of small groups first.
        """
        n = whole("n_classes", n_classes)
        limits = np.ceil(self.width ** (np.arange(1, n + 1) / n) - 1e-9)
        classes = np.searchsorted(limits, self.sizes)
        return [self._part(np.flatnonzero(classes == k)) for k in np.unique(classes)]

    @property
    def _n_table(self) -> int:
        return len(column_of(self._table, self.by))

    @property
    def _starts_tensor(self) -> TensorVariable:
        if self._shared_starts is None:
            shape = self._starts.shape
            self._shared_starts = pytensor.shared(self._starts, name="group_starts", shape=shape)
        return self._shared_starts

    def _part(self, groups: np.ndarray) -> GroupedRows:
        """Return some of the groups, as a view of the same table."""
        part = object.__new__(GroupedRows)
        first, sizes = self._starts[:-1][groups], self.sizes[groups]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        places = np.arange(starts[-1]) + np.repeat(first - starts[:-1], sizes)
        part.by, part.labels, part._table = self.by, self.labels[groups], self._table
        part._starts = starts
        part._order = places if self._order is None else self._order[places]
        part._packed, part._shared_starts = {}, None
        return part

    def __repr__(self) -> str:
        """Show the numbers of groups and rows."""
        return (
            f"GroupedRows({self.n_groups:,} groups by {self.by}, {self.n_rows:,} rows, "
            f"{self.sizes.min():,} to {self.width:,} in a group)"
        )


@pt.basic._as_tensor_variable.register(GroupedRows)
def _grouped_rows_as_tensor(rows: GroupedRows, name=None, ndim=None, **kwargs) -> TensorVariable:
    raise NotImplementedError(
        "`pm.Minibatch` expected columns of the `GroupedRows`, got all of it. Name those that the "
        "model uses, and the mask: `x, y, mask = pm.Minibatch(rows['x'], rows['y'], rows.mask, "
        "batch_size=500)`."
    )
