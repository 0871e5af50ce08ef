#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""How the shares of topics depend on what is known about documents."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from numpy.typing import ArrayLike

from pymc_geodesic.topic_models.documents import alpha_of, drawn_shares, some_draws
from pymc_geodesic.topic_models.read import Documents, Draws, read_documents, tracked
from pymc_geodesic.validation import whole

__all__ = ["prevalence"]


def prevalence(
    topics: Draws,
    *,
    documents: Documents,
    covariates: pd.Series | pd.DataFrame | ArrayLike,
    alpha: ArrayLike | None = None,
    n_draws: int = 20,
    n_repeats: int = 20,
    ci_prob: float = 0.89,
    rng: np.random.Generator | int | None = None,
    progressbar: bool = True,
    var_name: str = "topics",
) -> pd.DataFrame:
    r"""Estimate the shares of topics by group, or their regression on covariates.

    The method of composition, as by ``estimateEffect`` of the R package stm: for draws of the
    topics the proportions :math:`\theta_d` of each document are drawn from their posterior and
    regressed on the covariates, and coefficients are drawn from the normal distribution of least
    squares, with the robust covariance of White. The intervals thus contain the uncertainty of the
    topics, of the proportions and of the regression.

    Parameters
    ----------
    topics : DataTree or array_like of float
        Draws of the topics, as for :func:`top_words`.
    documents : BagOfWords, sparse matrix or array_like of int
        Counts of words, of shape (D, V).
    covariates : Series, DataFrame or array_like
        What is known of the D documents. A column of texts, categories or truth values gives the
        mean share of each group. Numbers, one or several columns, give coefficients beside an
        intercept; write a category as ``pd.get_dummies(column, drop_first=True)``.
    alpha : array_like of float, optional
        Dirichlet parameters of the proportions; by default those of :func:`sample`.
    n_draws : int, default 20
        Draws of the topics, spread over all chains.
    n_repeats : int, default 20
        Draws of the coefficients for each.
    ci_prob : float
        Probability of the equal-tailed intervals.
    rng : Generator or int, optional
        Source of the draws, or its seed.
    progressbar : bool
        Whether to show the progress, in a terminal or a notebook.
    var_name : str
        Name of the topics in the posterior.

    Returns
    -------
    pandas.DataFrame
        One row for each topic and term, with the columns ``topic``, ``term``, ``mean``, ``lower``
        and ``upper``. Terms are the groups, or ``intercept`` and the columns.

    Raises
    ------
    ValueError
        If there is not a row for each document, a value is missing, columns are not numbers or
        determine each other, or as for :func:`describe`.

    Notes
    -----
    The prior of the proportions does not know the covariates, so that differences between short
    documents are shrunk towards zero: a document of n tokens counts with a weight of about
    :math:`n / (n + \sum_k \alpha_k)`. In stm the covariates are a part of the prior.

    References
    ----------
    Roberts, M. E., Stewart, B. M. and Airoldi, E. M. (2016). A model of text for experimentation in
    the social sciences. JASA 111, 988-1003.

    Treier, S. and Jackman, S. (2008). Democracy as a latent variable. American Journal of Political
    Science 52, 201-217. The method of composition.

    Examples
    --------
    >>> import pymc_geodesic as pmg
    >>> texts = 20 * ["a goal in the last game", "the game has a goal", "parties vote", "a vote"]
    >>> corpus = pmg.BagOfWords.from_texts(texts)
    >>> idata = pmg.topics.sample(corpus, n_topics=2, rng=1)
    >>> section = 20 * ["sports", "sports", "politics", "politics"]
    >>> found = pmg.topics.prevalence(idata, documents=corpus, covariates=section, rng=1)
    >>> found.columns.to_list(), len(found)
    (['topic', 'term', 'mean', 'lower', 'upper'], 4)
    """
    draws = some_draws(topics, var_name, n_draws=n_draws, what="prevalence")
    counts = read_documents(documents, draws.shape[-1])
    design, terms = _design(covariates, counts.shape[0])
    alpha, rng = alpha_of(topics, alpha), np.random.default_rng(rng)
    projection, n_repeats = np.linalg.pinv(design), whole("n_repeats", n_repeats)
    values = np.empty((len(draws), n_repeats, draws.shape[1], len(terms)))
    for m, draw in enumerate(tracked(draws, "Sorting documents", visible=progressbar)):
        shares = drawn_shares(draw, counts, alpha=alpha, rng=rng)
        coefficients = projection @ shares
        residuals = shares - design @ coefficients
        for k, residual in enumerate(residuals.T):
            covariance = (projection * residual**2) @ projection.T
            values[m, :, k] = rng.multivariate_normal(
                coefficients[:, k], covariance, size=n_repeats
            )
    low, high = np.quantile(values, [(1 - ci_prob) / 2, (1 + ci_prob) / 2], axis=(0, 1))
    return pd.DataFrame(
        {
            "topic": np.repeat(np.arange(draws.shape[1]), len(terms)),
            "term": np.tile(terms, draws.shape[1]),
            "mean": values.mean(axis=(0, 1)).ravel(),
            "lower": low.ravel(),
            "upper": high.ravel(),
        }
    )


def _design(covariates: Any, n_documents: int) -> tuple[np.ndarray, list[str]]:
    """Return the design matrix and the names of its columns."""
    frame = covariates.to_frame() if isinstance(covariates, pd.Series) else covariates
    frame = pd.DataFrame(frame)
    if len(frame) != n_documents:
        raise ValueError(
            f"`covariates` expected {n_documents} rows, one for each document, got {len(frame)}. "
            "If documents without words were left out, take the rows `corpus.rows`."
        )
    if n_missing := int(frame.isna().to_numpy().sum()):
        raise ValueError(
            f"`covariates` expected no missing values, got {n_missing}. "
            "Leave out these documents, or make missing values a group."
        )
    are_numbers = [pd.api.types.is_numeric_dtype(x) for x in frame.dtypes]
    if len(frame.columns) == 1 and (
        not all(are_numbers) or pd.api.types.is_bool_dtype(frame.dtypes.iloc[0])
    ):
        groups = pd.get_dummies(frame.iloc[:, 0].astype(str))
        return groups.to_numpy(float), [str(name) for name in groups.columns]
    if not all(are_numbers):
        name = frame.columns[are_numbers.index(False)]
        raise ValueError(
            f"`covariates` expected a single column of groups, or numbers, got the column {name!r} "
            "beside others. Write it as `pd.get_dummies(column, drop_first=True)`."
        )
    design = np.column_stack([np.ones(len(frame)), frame.to_numpy(float)])
    if (rank := np.linalg.matrix_rank(design)) < design.shape[1]:
        raise ValueError(
            "`covariates` expected columns that do not determine each other and are not constant, "
            f"got {len(frame.columns)} columns of rank {rank - 1}. Leave some out."
        )
    return design, ["intercept", *(str(name) for name in frame.columns)]
