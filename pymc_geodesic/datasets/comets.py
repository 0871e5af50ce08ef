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
        Float64, of shape (3798, 3): one unit vector a comet, in ecliptic coordinates. The comet
        revolves counter-clockwise about it, so planets lie near the north pole (0, 0, 1).

    Notes
    -----
    The file that is shipped holds the inclination :math:`i` and the longitude of the ascending
    node :math:`\Omega`, in degrees with eight decimals. The normal is

    .. math:: x = (\sin i \sin\Omega,\; -\sin i \cos\Omega,\; \cos i),

    which differs from the normal at the published precision by less than 1e-9.

    The orbital elements come from the Small-Body Database of the Jet Propulsion Laboratory [1]_,
    as far as the year 2022, by way of the selection made for the R package sphunif (``comets``).
    As facts published by an agency of the United States they are in the public domain. Comets
    that broke up, and families that share an orbit, such as the sungrazers of Kreutz, enter
    with every fragment: the rows are not independent draws. Reference [2]_ tests an earlier
    selection for uniformity.

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
