#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Whether draws are as wide as the posterior, and where it is, by exact gradients at some of them.

Draws x of a posterior :math:`\exp(-U)` on flat space have

.. math::

    E[\nabla U] = 0, \qquad E[(x - E x)\, \nabla U^\top] = I.

The trace of the second identity is the configurational temperature. Errors of one direction vanish
in it, if the others are many or err in the other direction. So each direction is looked at: those
along which the posterior is widest and narrowest, and the ones between, by a linear regression of
gradients on draws. With too few draws for it each entry is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from scipy.special import stdtr

from pymc_geodesic.monte_carlo import mcse

__all__ = ["Widths", "compared_widths"]

# Draws for each entry with which a regression determines the directions. With fewer, directions are
# those in which the same draws err most by chance.
DRAWS_PER_ENTRY = 20
# Deviations of a temperature and of a mean, in standard deviations, that are accepted: steps of
# this package tune themselves to half of it.
ACCEPTED = 0.25
# Probability of a false alarm, for all directions together.
LEVEL = 0.01
# Deviations that are surely not exceeded where draws are said to be right: of a standard deviation,
# about a quarter. "Surely" means by so many standard errors.
RIGHT_WITHIN, SURELY = 0.5, 2.5
# The standard error is estimated too, from about half as many independent numbers as there are
# effective draws, but its correlations are estimated from short chains.
ERRORS_PER_DRAW, MOST_FREEDOM = 0.5, 30
# Larger values come from divergences, and overflow.
LARGEST = 1e100


class Widths(NamedTuple):
    """What exact gradients say of draws.

    Attributes
    ----------
    n_draws : int
        Draws that were looked at.
    wrong : str
        The direction that is furthest off, as part of a sentence; empty if none is.
    are_right : bool
        Whether all directions are surely about right.
    are_all : bool
        Whether these are the directions of all variables.
    """

    n_draws: int
    wrong: str
    are_right: bool
    are_all: bool = True


def compared_widths(
    names: Sequence[str],
    x: np.ndarray,
    gradient: np.ndarray,
    *,
    are_informative: Sequence[bool] | np.ndarray | None = None,
) -> Widths:
    """Compare the widths and the places of draws with those of the posterior.

    Parameters
    ----------
    names : sequence of str
        Names of the entries.
    x, gradient : ndarray, shape (chain, draw, entry)
        Draws, and the gradient of the potential energy of all rows there.
    are_informative : sequence of bool, optional
        Whether the temperature of each entry by itself means something, where draws are too few to
        find directions; by default it does. It means little on a ridge: a wide position times a
        force that depends on the narrow distance from the ridge.

    Examples
    --------
    >>> import numpy as np
    >>> from pymc_geodesic.runs.widths import compared_widths
    >>> x = np.random.default_rng(1).normal(size=(4, 100, 2))
    >>> compared_widths(["a", "b"], x, x)
    Widths(n_draws=400, wrong='', are_right=True, are_all=True)
    >>> compared_widths(["a", "b"], x * [1.0, 2.0], x * [1.0, 2.0]).wrong
    '`b` is too wide: the temperature of its positions is 4 instead of 1'
    """
    n = x.shape[0] * x.shape[1]
    is_finite = np.isfinite(gradient).all(axis=-1) & (
        np.abs(x).max(axis=-1).astype(float) < LARGEST
    )
    if not is_finite.all():
        bad = np.count_nonzero(~is_finite)
        return Widths(n, f"{bad} of them have no finite gradient", False)
    scale = x.std(axis=(0, 1))
    moves = scale > 0
    z, force = (x - x.mean(axis=(0, 1)))[..., moves] / scale[moves], (gradient * scale)[..., moves]
    names = [name for name, used in zip(names, moves, strict=True) if used]
    if not names:
        return Widths(n, "", False)
    # Newton's step to the posterior's mean, for each entry, in standard deviations.
    flat = z.reshape(n, -1)
    step = (force.reshape(n, -1) @ flat.T @ flat / n).reshape(force.shape)
    along, has_all = names, True
    if n >= DRAWS_PER_ENTRY * len(names):
        axes = _directions(z, force)
        along = [names[i] for i in np.abs(axes).argmax(axis=0)]
        z, force = z @ axes, force @ axes
    elif are_informative is not None:
        used = np.asarray(are_informative)[moves]
        along, has_all = (
            [name for name, used in zip(names, used, strict=True) if used],
            bool(used.all()),
        )
        z, force = z[..., used], force[..., used]
    excess = z * force - 1
    is_right = bool(has_all and _is_right(excess) and _is_right(step))
    return Widths(n, _widest(along, excess) or _farthest(names, step), is_right)


def _directions(z: np.ndarray, force: np.ndarray) -> np.ndarray:
    """Return the principal axes of the mean curvature, one in each column."""
    flat = z.reshape(-1, z.shape[-1])
    curvature, *_ = np.linalg.lstsq(flat, force.reshape(flat.shape), rcond=None)
    return np.linalg.eigh(curvature + curvature.T)[1]


def _widest(names: Sequence[str], excess: np.ndarray) -> str:
    """Describe the direction whose temperature deviates most significantly, if one does."""
    if not names:
        return ""
    p_value = _p_values(excess)
    i = int(p_value.argmin())
    if p_value[i] * len(names) >= LEVEL / 2:
        return ""
    temperature = 1 + excess[..., i].mean()
    what = "wide" if temperature > 1 else "narrow"
    return (
        f"`{names[i]}` is too {what}: the temperature of its positions is {temperature:.2g} "
        "instead of 1"
    )


def _farthest(names: Sequence[str], step: np.ndarray) -> str:
    """Describe the entry whose mean is off most significantly, if one is."""
    p_value = _p_values(step)
    i = int(p_value.argmin())
    if p_value[i] * len(names) >= LEVEL / 2:
        return ""
    shift = abs(step[..., i].mean())
    return f"the mean of `{names[i]}` is off by about {shift:.2g} standard deviations"


def _p_values(excess: np.ndarray) -> np.ndarray:
    """Test that the mean of each entry ``(chain, draw, entry)`` is within what is accepted."""
    mean, error = excess.mean(axis=(0, 1)), _error(excess)
    freedom = np.maximum(ERRORS_PER_DRAW * (excess.std(axis=(0, 1)) / error) ** 2, 2.0)
    beyond = np.maximum(np.abs(mean) - ACCEPTED, 0) / error
    return 2 * stdtr(np.minimum(freedom, MOST_FREEDOM), -beyond)


def _error(values: np.ndarray) -> np.ndarray:
    """Monte Carlo errors, and no less than those of independent draws."""
    independent = values.std(axis=(0, 1)) / np.sqrt(values.shape[0] * values.shape[1])
    least = np.finfo(float).tiny
    return np.fmax(np.fmax(mcse(values), independent), least)


def _is_right(excess: np.ndarray) -> bool:
    """Return whether the mean of each entry is surely small."""
    bound = np.abs(excess.mean(axis=(0, 1))) + SURELY * _error(excess)
    return bool(np.all(bound < RIGHT_WITHIN))
