#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Exact draws from one-dimensional densities with one mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from pytensor.tensor.variable import TensorVariable

from pymc_geodesic.distributions.quadrature import spaced

__all__ = ["draw_unimodal"]

# Edges of the steps of the envelope, in widths from the mode; the middle one is the mode.
_EDGES = spaced(129, 200.0)[0]
# Margin above the steps within three widths of the mode, which is known only to about a width:
# between two edges a density exceeds the higher one by less.
_SLACK = np.where(np.abs(_EDGES[1:] + _EDGES[:-1]) < 6.0, 0.01, 0.0)
# The envelope accepts more than nine of ten proposals, so that all 14 are rejected with probability
# below 1e-14.
_N_PROPOSALS = 14


def draw_unimodal(
    log_density: Callable[[TensorVariable], TensorVariable],
    *,
    mode: TensorVariable,
    width: TensorVariable,
    size: Any,
    rng: TensorVariable,
) -> tuple[TensorVariable, TensorVariable]:
    """Draw from a density on the line that rises to its mode and falls from there.

    Rejection from an envelope of 128 steps, each as high as the density at its higher end. The
    proposals of a draw lie along an axis of fixed length, which compiles on every backend.

    Parameters
    ----------
    log_density : callable
        Log density up to a constant, for points along a new last axis.
    mode, width : TensorVariable
        Its mode within about a width, and roughly its width; broadcastable to ``size``.
    size : sequence of int or TensorVariable
        Shape of the draws.
    rng : TensorVariable
        Random generator.

    Returns
    -------
    rng, draws : TensorVariable
        The generator's next state, and draws of shape ``size``.

    Notes
    -----
    Nothing is proposed beyond 200 widths, where densities of this package have mass below 1e-12.
    """
    dtype = width.dtype
    mode, width = mode[..., None], width[..., None]
    edges = mode + width * _EDGES.astype(dtype)
    heights = log_density(edges)
    peak = heights.max(axis=-1, keepdims=True)
    heights = heights - peak
    heights = pt.maximum(heights[..., 1:], heights[..., :-1]) + _SLACK.astype(dtype)
    steps = np.diff(_EDGES).astype(dtype)
    cumulative = pt.cumsum(pt.exp(heights) * steps, axis=-1)
    total = cumulative[..., -1:]

    shape = (*tuple(size), _N_PROPOSALS)
    options = {"size": shape, "return_next_rng": True}
    rng, area = pm.Uniform.dist(0.0, 1.0, rng=rng, **options)
    rng, place = pm.Uniform.dist(0.0, 1.0, rng=rng, **options)
    rng, level = pm.Uniform.dist(0.0, 1.0, rng=rng, **options)
    below = pt.ge((area * total)[..., None], cumulative[..., None, :-1])
    step = below.sum(axis=-1)
    left, wide = pt.as_tensor(_EDGES[:-1].astype(dtype))[step], pt.as_tensor(steps)[step]
    points = mode + width * (left + wide * place)
    top = pt.take_along_axis(pt.broadcast_to(heights, (*tuple(size), 128)), step, axis=-1)
    accepted = pt.le(pt.log(level), log_density(points) - peak - top)
    first = pt.argmax(accepted, axis=-1, keepdims=True)
    return rng, pt.take_along_axis(points, first, axis=-1)[..., 0]
