#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Perplexities of probabilities averaged over draws, for every number of draws."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["Perplexity", "RunningAverage"]


class Perplexity(NamedTuple):
    """A measure of how well draws of topics predict documents; smaller is better.

    Attributes
    ----------
    value : float
        Perplexity with probabilities averaged over all draws.
    cumulative : ndarray
        Entry m - 1 averages over the first m draws; the last is ``value``.
    single : ndarray
        Perplexity of each single draw.
    """

    value: float
    cumulative: np.ndarray
    single: np.ndarray


class RunningAverage:
    r"""Average of probabilities over draws, stored as logarithms.

    With probabilities :math:`p_i^{(m)}` of items with weights :math:`n_i`, the log perplexity
    after M draws is

    .. math::

        -\frac{1}{\sum_i n_i} \sum_i n_i \log \frac1M \sum_{m \le M} p_i^{(m)} .

    Parameters
    ----------
    weights : ndarray
        n, of shape (I,).
    """

    def __init__(self, weights: np.ndarray) -> None:
        self.shares = weights / weights.sum()
        self.log_sum = np.full(len(weights), -np.inf)
        self.single: list[float] = []
        self.cumulative: list[float] = []

    def add(self, log_probabilities: np.ndarray) -> None:
        """Add the items' log probabilities under one more draw."""
        np.logaddexp(self.log_sum, log_probabilities, out=self.log_sum)
        self.single.append(-float(self.shares @ log_probabilities))
        n_draws = len(self.single)
        self.cumulative.append(float(np.log(n_draws) - self.shares @ self.log_sum))

    def perplexity(self, *, exponential: bool) -> Perplexity:
        """Return log perplexities, or their exponentials."""
        single, cumulative = np.array(self.single), np.array(self.cumulative)
        if exponential:
            single, cumulative = np.exp(single), np.exp(cumulative)
        return Perplexity(float(cumulative[-1]), cumulative, single)
