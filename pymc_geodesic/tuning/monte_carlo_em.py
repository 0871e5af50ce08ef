#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Monte Carlo EM: how a mass is learned from the momenta or positions of a chain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from pymc_geodesic.validation import one_of, positive, whole

__all__ = ["Kind", "MonteCarloEM"]

Kind = Literal["diag", "dense", "position", "dense_position"]

# An E step of fewer samples is too noisy; a dense mass needs more samples than dimensions.
FEWEST_SAMPLES, SAMPLES_PER_DIMENSION = 50, 2


@dataclass(frozen=True, kw_only=True)
class MonteCarloEM:
    r"""Learn the mass matrix while sampling, by Monte Carlo EM.

    The E step samples with the mass held fixed and stores the momentum p at the end of each draw.
    After S draws, the M step k moves the mass towards the maximum of their likelihood,

    .. math::

        \hat M_k = \frac{1}{S} \sum_{i=1}^{S} p_i p_i^\top, \qquad
        M_{k+1} = (1 - \kappa_k) M_k + \kappa_k \hat M_k, \qquad
        \kappa_k = (2 + N_k / S)^{-c},

    where :math:`N_k` samples have been used before. The weight decays with k while S is constant,
    and is stable while S grows, because growing E steps make the estimates good enough.

    Parameters
    ----------
    kind : {"diag", "dense", "position", "dense_position"}
        A diagonal or a dense mass from momenta; or, with the same interface, the usual adaptation
        of Hamiltonian Monte Carlo: the inverse of the variances, or of the covariance, of the
        positions.
    update_every : int, optional
        Draws in the first E step. By default 50, or twice the number of entries of a dense mass
        if that is more.
    growth : float, default 1.1
        Factor by which the E step grows after an M step whose change is within its own Monte Carlo
        error. For positions, whose covariance needs long windows, it grows after each M step.
    energy_error : float, optional
        For :class:`GMC` alone: the error of the leapfrog sets the length of the E step, in place of
        ``growth``. After each M step the length is multiplied by the mean of -log(acceptance rate)
        divided by ``energy_error``, but by at least 1 and at most 2. A trajectory with the energy
        error :math:`\Delta H` has -log(acceptance rate) equal to :math:`\max(0, \Delta H)`.
    decay : float, default 0.75
        c, above 1/2 and at most 1.
    regularization : float, default 0.05
        Share by which the off-diagonal entries of a dense estimate are reduced.
    normalize : bool, optional
        Whether the determinant is held at its initial value, which keeps the meaning of the step
        size. By default it is for masses from positions. From momenta it is not: with a fixed
        friction, as in :class:`SGHMC`, only a mass that grows cools velocities that the noise of
        the gradient heats.
    adapt_after_tune : bool, default False
        Continue after the tuning phase. The chain is then not a Markov chain, and its draws are
        approximate: their distribution tends to the target only as :math:`\kappa_k` tends to zero.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    One object can be the ``mass=`` of any number of steps, each of which learns separately. The
    mass is learned in the tuning phase and then held fixed. ``step.mass_history`` has its path, for
    masses of up to 10,000 entries and chains that ran in the same process. The statistics
    ``mass_log_determinant`` and ``mass_ratio`` (largest over smallest eigenvalue) summarise it in
    every case.

    What the M step can learn: momentum has the distribution N(0, M) whatever M is, so with exact
    dynamics the expectation of :math:`\hat M` is M itself. There is nothing to learn, and M
    performs a random walk that the decay stops. The M step learns from deviations: the approach to
    the posterior, the error of the integrator, and above all gradient noise. With noise of variance
    :math:`V_i` in coordinate i a thermostat gives it the temperature :math:`T_i = (A + \epsilon V_i
    / 2 M_i) / \xi`, which depends on i unless :math:`M_i \propto V_i`. This is the fixed point of
    EM, at which every coordinate has temperature one. With a fixed friction C the temperature is
    :math:`T_i = 1 + \epsilon V_i / 2 C M_i`, and all masses grow, ever more slowly: after 6,000
    draws a tenth is left of what was thirty-fold heat. A run whose velocities are too hot, or
    whose entries differ, says so.

    Noise widens positions by the same :math:`T_i`. Their variances are divided by the temperatures
    of their velocities, so that a mass from positions is that of the posterior, not of the noise.

    Why M is not replaced by the estimate: :math:`\log |M|` would drift to minus infinity, by
    :math:`\sum_{i=1}^{D} [\psi((S - i + 1)/2) - \log(S/2)]` per M step, and the mass would
    collapse.

    The published description is a poster and an abstract. The abstract says that the number of
    samples of the E step follows "sampling error estimates from the leapfrog dynamics", and neither
    states the rule. The average above, its decay, both rules for the growth of the E step and the
    regularisation were designed for this package.

    References
    ----------
    Roychowdhury, A. and Parthasarathy, S. (2017). Adaptive Bayesian sampling with Monte Carlo EM.
    NIPS.

    Examples
    --------
    >>> import pymc as pm, pymc_geodesic as pmg
    >>> with pm.Model():
    ...     x = pm.Normal("x", 0.0, [1.0, 10.0], shape=2)
    ...     step = pmg.SGNHT(mass=pmg.MonteCarloEM(kind="diag"))
    ...     idata = pmg.sample(1000, step=step, random_seed=1, progressbar=False)
    >>> bool((abs(idata.posterior["x"].std(("chain", "draw")) / [1.0, 10.0] - 1) < 0.15).all())
    True
    """

    kind: Kind = "diag"
    update_every: int | None = None
    growth: float = 1.1
    energy_error: float | None = None
    decay: float = 0.75
    regularization: float = 0.05
    normalize: bool | None = None
    adapt_after_tune: bool = False

    def __post_init__(self) -> None:
        """Check the arguments."""
        one_of("kind", self.kind, get_args(Kind))
        if self.update_every is not None:
            whole("update_every", self.update_every)
        if not self.growth >= 1:
            raise ValueError(f"`growth` expected a factor of at least 1, got {self.growth!r}.")
        if self.energy_error is not None:
            positive("energy_error", self.energy_error)
        if not 0.5 < self.decay <= 1:
            raise ValueError(
                "`decay` expected an exponent above 0.5, so that the mass settles, and at most 1, "
                f"so that it can still change; got {self.decay!r}."
            )
        if not 0 <= self.regularization < 1:
            raise ValueError(
                f"`regularization` expected a share from 0 to below 1, got {self.regularization!r}."
            )

    @property
    def is_dense(self) -> bool:
        """Whether the mass has off-diagonal entries."""
        return self.kind.startswith("dense")

    @property
    def from_positions(self) -> bool:
        """Whether the mass is learned from positions rather than momenta."""
        return self.kind.endswith("position")

    @property
    def keeps_determinant(self) -> bool:
        """Whether the determinant is held at its initial value."""
        return self.from_positions if self.normalize is None else self.normalize

    def first_samples(self, size: int) -> int:
        """Draws in the first E step for ``size`` entries."""
        if self.update_every is not None:
            return self.update_every
        return max(FEWEST_SAMPLES, SAMPLES_PER_DIMENSION * size if self.is_dense else 0)
