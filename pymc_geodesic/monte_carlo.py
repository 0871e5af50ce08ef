#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Monte Carlo errors: R-hat and effective sample sizes of all entries, errors of means.

ArviZ treats one entry at a time, in three milliseconds each: a model of 2,000 groups would wait as
long for its checks as for a third of its draws. Loading ArviZ's statistics takes another half of a
second. The values are ArviZ's, to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from scipy.special import chdtri, ndtri

__all__ = [
    "RankStatistics",
    "effective_draws",
    "effective_sizes",
    "halves",
    "largest_r_hats",
    "mcse",
    "mean_and_mcse",
    "r_hat",
    "rank_statistics",
    "z_score",
]

# Numbers that are treated at once, 8 MB: what is computed from them stays in the processor's cache.
BLOCK = 2**20
# Blom's offset of the ranks, of which normal scores are nearly unbiased.
BLOM = 3 / 8
# Probability that R-hat of any entry is called larger than by chance.
FALSE_ALARMS = 0.005
# With fewer draws in a chain a half has no variance.
FEWEST_DRAWS = 4


class RankStatistics(NamedTuple):
    """Statistics of every entry of a variable.

    Attributes
    ----------
    r_hat : ndarray
        The larger one of bulk and tail; NaN for an entry that never moves.
    effective_size : ndarray
        Of the bulk.
    """

    r_hat: np.ndarray
    effective_size: np.ndarray


def rank_statistics(values: np.ndarray) -> RankStatistics:
    r"""Compute rank-normalised R-hat and bulk effective sample sizes.

    Each chain is split into halves of :math:`n` draws, and draws are replaced by normal scores of
    their ranks among all draws of the entry. With the mean :math:`W` of the halves' variances and
    the variance :math:`B / n` of their means,

    .. math:: \hat R = \sqrt{(B / W + n - 1) / n}, \qquad
              n_\mathrm{eff} = \frac{2 m n}{\hat\tau}, \qquad
              \hat\tau = -1 + 2 \sum_{j < k} \min_{i \le j} (\rho_{2i} + \rho_{2i + 1})
              + \rho_{2k}^+

    for :math:`m` chains, where the autocorrelations :math:`\rho_t` count what the halves' means
    differ, and :math:`k` is the first pair whose sum is not positive.

    Parameters
    ----------
    values : ndarray, shape (chains, draws, ...)
        Of two chains or more.

    Returns
    -------
    RankStatistics
        Arrays of the shape of one draw; NaN for an entry with a NaN, and with fewer than four
        draws.

    References
    ----------
    Vehtari, Gelman, Simpson, Carpenter, Bürkner (2021), Rank-normalization, folding, and
    localization, Bayesian Analysis 16, equations 1 to 14.

    Examples
    --------
    >>> import numpy as np
    >>> from pymc_geodesic.monte_carlo import rank_statistics
    >>> draws = np.random.default_rng(0).normal(size=(4, 1_000, 3))
    >>> found = rank_statistics(draws)
    >>> found.r_hat.round(2), found.effective_size.shape
    (array([1., 1., 1.]), (3,))
    """
    return RankStatistics(*_by_blocks(_of_ranks, values, 2))


def effective_sizes(values: np.ndarray) -> np.ndarray:
    """Compute effective sample sizes of means, as above but of the draws and not of their ranks.

    Parameters
    ----------
    values : ndarray, shape (chains, draws, ...)
        Of one chain or more.

    Returns
    -------
    ndarray
        Of the shape of one draw; NaN for an entry with a NaN, and with fewer than four draws.
    """
    [found] = _by_blocks(lambda draws: _effective_size(draws)[None], values, 1)
    return found


def largest_r_hats(values: np.ndarray, *, n_entries: int) -> np.ndarray:
    r"""Return how large R-hat becomes by chance, for each entry of stationary chains.

    Means of :math:`m` halves of chains with :math:`n_h` effective draws each differ by chance, so
    that

    .. math:: \hat R^2 - 1 \approx \frac{\chi^2_{m - 1}}{(m - 1)\, n_h}.

    R-hat is the larger one of bulk and tail, and the largest of all entries is looked at.

    Parameters
    ----------
    values : ndarray, shape (chains, draws, ...)
        Of two chains or more: some or all of the entries.
    n_entries : int
        Number of all entries.

    Returns
    -------
    ndarray
        Of the shape of one draw; NaN for an entry with a NaN.
    """
    [effective] = _by_blocks(_effective_size_within, values, 1)
    m = 2 * len(values)
    quantile = chdtri(m - 1, FALSE_ALARMS / (2 * n_entries)) / (m - 1)
    return np.sqrt(1 + quantile * m / effective)


def _effective_size_within(draws: np.ndarray) -> np.ndarray:
    """Effective draws of all halves, whose means may differ."""
    scores = _normal_scores(draws)
    return _effective_size(scores - scores.mean(axis=2, keepdims=True))[None]


def _by_blocks(
    compute: Callable[[np.ndarray], np.ndarray], values: np.ndarray, n_statistics: int
) -> np.ndarray:
    """Compute statistics of ``(entry, half, draw)`` from ``(chain, draw, ...)``."""
    n_chains, n_draws, *shape = values.shape
    found = np.full((n_statistics, *shape), np.nan)
    if n_draws < FEWEST_DRAWS:
        return found
    entries, statistics = values.reshape(n_chains, n_draws, -1), found.reshape(n_statistics, -1)
    half, size = n_draws // 2, max(1, BLOCK // (n_chains * n_draws))
    for start in range(0, entries.shape[2], size):
        block = slice(start, start + size)
        # Entries first, so that all that is done to one is done in one piece of memory.
        columns = np.moveaxis(entries[:, :, block], 2, 0).astype(float, order="C")
        split = np.concatenate([columns[:, :, :half], columns[:, :, -half:]], axis=1)
        is_complete = ~np.isnan(columns).any(axis=(1, 2))
        statistics[:, block] = np.where(is_complete, compute(split), np.nan)
    return found


def _of_ranks(draws: np.ndarray) -> np.ndarray:
    median = np.median(draws, axis=(1, 2), keepdims=True)
    scores = _normal_scores(draws)
    # The tail's is unknown where all draws are equally far from the median.
    r_hat = np.fmax(_r_hat(scores), _r_hat(_normal_scores(np.abs(draws - median))))
    return np.stack([r_hat, _effective_size(scores)])


def _normal_scores(draws: np.ndarray) -> np.ndarray:
    """Replace the draws of each entry by normal scores of their ranks; equal ones share a rank."""
    flat = draws.reshape(len(draws), -1)
    n = flat.shape[1]
    order = np.argsort(flat, axis=1)
    ranked = np.take_along_axis(flat, order, axis=1)
    is_equal = ranked[:, 1:] == ranked[:, :-1]
    # Of every rank and of every middle between two.
    table = ndtri((np.arange(2, 2 * n + 1) / 2 - BLOM) / (n - 2 * BLOM + 1))
    places = np.arange(n)[None]
    doubled = 2 * places
    if is_equal.any():
        edge = np.ones((len(flat), 1), bool)
        first = np.where(np.hstack([edge, ~is_equal]), places, 0)
        last = np.where(np.hstack([~is_equal, edge]), places, n)[:, ::-1]
        doubled = np.maximum.accumulate(first, 1) + np.minimum.accumulate(last, 1)[:, ::-1]
    scores = np.empty_like(flat)
    np.put_along_axis(scores, order, table[doubled], axis=1)
    return scores.reshape(draws.shape)


def _r_hat(draws: np.ndarray) -> np.ndarray:
    n = draws.shape[2]
    between = n * draws.mean(axis=2).var(axis=1, ddof=1)
    within = draws.var(axis=2, ddof=1).mean(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.sqrt((between / within + n - 1) / n)


def _effective_size(draws: np.ndarray) -> np.ndarray:
    """Sum autocorrelations by pairs, which decrease and are positive for reversible chains."""
    n_entries, n_chains, n = draws.shape
    correlations = _autocorrelations(draws)
    # The last lags are of too few products.
    n_pairs = 1 + len(range(1, n - 3, 2))
    pairs = correlations[:, : 2 * n_pairs].reshape(n_entries, n_pairs, 2).sum(axis=2)
    is_last = pairs <= 0
    has_ended = is_last.any(axis=1)
    last = np.where(has_ended, is_last.argmax(axis=1), n_pairs - 1)
    is_before = np.arange(n_pairs) < last[:, None]
    decreasing = np.where(is_before, np.minimum.accumulate(pairs, axis=1), 0.0).sum(axis=1)
    remainder = np.take_along_axis(correlations, 2 * last[:, None], axis=1)[:, 0]
    size = n_chains * n
    time = -1 + 2 * decreasing + np.where(has_ended, np.maximum(remainder, 0.0), remainder)
    # Antithetic chains are worth more than independent draws, but not without limit.
    found = size / np.maximum(time, 1 / np.log10(size))
    # An entry that never moves has no autocorrelation.
    return np.where(draws.max(axis=(1, 2)) == draws.min(axis=(1, 2)), size, found)


def _autocorrelations(draws: np.ndarray) -> np.ndarray:
    """Return those of ``(entry, lag)``, in which what the means of chains differ counts too."""
    n = draws.shape[2]
    means = draws.mean(axis=2, keepdims=True)
    # Circles of twice the length: the ends do not meet. The mean over chains needs one way back.
    length = 2 ** int(np.ceil(np.log2(2 * n)))
    power = (np.abs(np.fft.rfft(draws - means, length)) ** 2).mean(axis=1)
    covariances = np.fft.irfft(power, length)[:, :n] / n
    within = covariances[:, :1] * (n / (n - 1))
    total = covariances[:, :1] + means[:, :, 0].var(axis=1, ddof=1)[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        correlations = 1 - (within - covariances) / total
    correlations[:, 0] = 1.0
    return correlations


def mcse(values: np.ndarray) -> np.ndarray:
    """Monte Carlo standard error of the mean of each entry of ``(chain, draw, ...)``."""
    return values.std(axis=(0, 1), ddof=1) / np.sqrt(effective_sizes(values))


def mean_and_mcse(values: np.ndarray) -> tuple[float, float]:
    """Mean over ``(chain, draw)`` and its Monte Carlo standard error."""
    if not np.isfinite(values).all():
        return float(values.mean()), np.inf
    return float(values.mean()), float(mcse(values)) if np.ptp(values) else 0.0


def z_score(distance: float, error: float) -> float:
    """Distance in standard errors; zero if the error is unknown."""
    return distance / error if np.isfinite(error) and error > 0 else 0.0


def r_hat(values: np.ndarray) -> float:
    """Rank-normalised R-hat of ``(chain, draw)``, with each chain split in two."""
    # It needs two chains. The halves of one chain, split again, are an equally good comparison.
    return float(rank_statistics(values if len(values) > 1 else halves(values)).r_hat)


def halves(values: np.ndarray) -> np.ndarray:
    """Split every chain of ``(chain, draw, ...)`` into two chains of equal length."""
    n = values.shape[1] // 2
    return np.concatenate([values[:, :n], values[:, values.shape[1] - n :]])


def effective_draws(values: np.ndarray) -> float:
    """Effective sample size for the mean of ``(chain, draw)``; zero if nothing moves."""
    return float(effective_sizes(values)) if np.ptp(values) > 0 else 0.0
