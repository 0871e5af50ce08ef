#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Orbit planes of comets."""

from importlib import resources

import numpy as np

__all__ = ["load_comets"]


def load_comets() -> np.ndarray:
    r"""Load the unit normals of the orbit planes of 3,798 comets.

    Returns
    -------
    numpy.ndarray
        Float64, of shape (3798, 3): one unit vector per comet, in ecliptic coordinates. The comet
        revolves counter-clockwise about it. The normals of the planets are close to (0, 0, 1).

    Notes
    -----
    The file holds the inclination :math:`i` and the longitude of the ascending
    node :math:`\Omega`, in degrees with eight decimals. The normal is

    .. math:: x = (\sin i \sin\Omega,\; -\sin i \cos\Omega,\; \cos i),

    within 1e-9 of the normal at the published precision.

    The orbital elements come from the Small-Body Database of the Jet Propulsion Laboratory [1]_,
    up to the year 2022, as selected for the R package sphunif (``comets``). They are facts
    published by an agency of the United States and therefore in the public domain. Every
    fragment of a comet that broke up has its own row, and so has every member of a family that
    shares an orbit, such as the Kreutz sungrazers. The rows are therefore not independent.
    Reference [2]_ tests an earlier selection for uniformity.

    References
    ----------
    .. [1] NASA Jet Propulsion Laboratory. Small-Body Database Query.
       https://ssd.jpl.nasa.gov/tools/sbdb_query.html
    .. [2] Cuesta-Albertos, J. A., Cuevas, A. and Fraiman, R. (2009). On projection-based tests
       for directional and compositional data. Statistics and Computing 19, 367-380.
       https://doi.org/10.1007/s11222-008-9098-3

    Examples
    --------
    >>> from pymc_geodesic.datasets import load_comets
    >>> load_comets().shape
    (3798, 3)
    """
    source = resources.files("pymc_geodesic.datasets") / "comets.csv"
    with source.open(encoding="ascii") as file:
        degrees = np.loadtxt(file, delimiter=",", skiprows=1)
    inclination, node = np.deg2rad(degrees).T
    return np.column_stack(
        [
            np.sin(inclination) * np.sin(node),
            -np.sin(inclination) * np.cos(node),
            np.cos(inclination),
        ]
    )
