#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Step sizes of the trajectories of local variables: one for each row, found anew with each batch.

The step sizes that rows can accept differ by orders of magnitude if some rows have outlying data
or much more data. At a step size tuned to the mean over rows, the outlying rows reject every
trajectory and keep their start, which biases the gradient of the global variables.
"""

from __future__ import annotations

import math

import numpy as np

__all__ = ["RowStepSizes"]

# Robbins and Monro's rule: trajectory t changes a log step size by GAIN t**-DECAY times the
# excess of its acceptance probability. At a target of 0.8 the first rejections shorten the step by
# factors of 6, 3 and 2.6, so that ten trajectories reach steps three orders of magnitude away.
GAIN, DECAY = math.log(10.0), 0.6
# The step size of a trajectory is log-uniform between this share of the row's step size and all of
# it. So a row still moves if its step size is too long for its new position, and trajectories
# of half a period or a whole period do not repeat.
SHORTEST = 0.1


class RowStepSizes:
    r"""A step size :math:`\epsilon_i` for each row, adapted to the row's own acceptance.

    Trajectory t of row i has the step size :math:`\epsilon_i u` with u log-uniform on [0.1, 1],
    drawn independently of the state. While the row adapts,

    .. math::

        \log \epsilon_i \leftarrow \log \epsilon_i + g_t (\alpha_{it} - \alpha^*),
        \qquad g_t = \log(10) \, t^{-0.6},

    with the acceptance probability :math:`\alpha_{it}` and its target :math:`\alpha^*`.

    If each batch has fresh rows, they adapt in the first half of the burn-in trajectories. The
    second half has fixed step sizes: the adapted ones depend on the visited states, which the
    chain must forget before its draws count. For the same reason a row whose step size is
    near the initial one takes the initial one, see
    :class:`~pymc_geodesic.algorithms.trajectories.RowAdaptation`. The initial step size is the
    geometric mean of those found by the rows of earlier batches in the tuning phase.

    If rows are the same in all batches, or there are fewer than two burn-in trajectories, all
    trajectories of the tuning phase adapt, and none after it.

    Parameters
    ----------
    step_size : float
        Step size of all rows, or of the first batch if rows adapt.
    adapts : bool
        Whether rows adapt. Otherwise all trajectories have this step size.
    n_rows : int
        Rows of a batch.
    tune, draws : int
        Burn-in trajectories, and trajectories that count.
    fresh : bool
        Whether each batch has other rows, or its rows start anew.

    References
    ----------
    Robbins, H. and Monro, S. (1951). A stochastic approximation method. Annals of Mathematical
    Statistics 22, 400-407.

    Andrieu, C. and Thoms, J. (2008). A tutorial on adaptive MCMC. Statistics and Computing 18,
    343-373.
    """

    def __init__(
        self,
        step_size: float,
        *,
        adapts: bool,
        n_rows: int,
        tune: int,
        draws: int,
        fresh: bool,
    ) -> None:
        self._step_size, self._adapts, self._fresh = step_size, adapts, fresh
        self._n_rows, self._tune, self._n = n_rows, tune, tune + draws
        self.reset()

    def reset(self) -> None:
        """Forget the adaptation of another chain."""
        self.log_start = np.full(self._n_rows, math.log(self._step_size))
        self.n_batches = self.n_adapted = 0

    def gains(self, tune: bool) -> np.ndarray:
        r"""Return :math:`g_t` of each trajectory of the next batch, zero if nothing adapts."""
        gains = np.zeros(self._n)
        n_adapting = self._n_adapting(tune)
        before = 0 if self._fresh else self.n_adapted
        gains[:n_adapting] = GAIN * (before + 1.0 + np.arange(n_adapting)) ** -DECAY
        return gains

    def _n_adapting(self, tune: bool) -> int:
        if not self._adapts:
            return 0
        if self._fresh and self._tune > 1:
            return self._tune // 2
        return self._n if tune else 0

    def factors(self, rng: np.random.Generator) -> np.ndarray:
        """Draw u for each trajectory and row; it is one if rows do not adapt."""
        if not self._adapts:
            return np.ones((self._n, self._n_rows))
        # Faster than a power.
        return np.exp(math.log(SHORTEST) * rng.uniform(size=(self._n, self._n_rows)))

    def learn(self, log_ends: np.ndarray, tune: bool) -> None:
        """Choose the starts of the next batch; they are fixed after the tuning phase."""
        if not (tune and self._adapts):
            return
        self.n_batches += 1
        self.n_adapted += self._n
        if self._fresh:
            change = log_ends.mean() - self.log_start
            self.log_start = self.log_start + change * self.n_batches**-DECAY
        else:
            self.log_start = np.array(log_ends, dtype=np.float64)
