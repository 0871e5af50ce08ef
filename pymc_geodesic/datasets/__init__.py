#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Data sets shipped with the package: orbits of comets, angles of the backbones of proteins."""

from importlib import resources

import numpy as np

__all__ = ["load_comets", "load_protein_angles"]


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


def load_protein_angles() -> np.ndarray:
    r"""Load the angles :math:`\phi` and :math:`\psi` of 10,891 residues of proteins.

    A protein is a chain of residues. At each of them the backbone turns about two bonds, by the
    angle :math:`\phi` about the first and :math:`\psi` about the second: a point on the torus. A
    picture of them is a Ramachandran plot.

    Returns
    -------
    numpy.ndarray
        Float64, of shape (10891, 2): :math:`\phi` and :math:`\psi` in radians, in
        :math:`(-\pi, \pi]`. Rounded to whole degrees, which is finer than the structures.

    Notes
    -----
    The residues are those of ten entries of the Protein Data Bank [1]_, whose files are in the
    public domain (CC0 1.0): chain A of the crystals 1AKE, 1EJG, 1UBI, 3ENL, 3HSY, 3MHT, 1PWC, 6FLR
    and 3O21, and all proteins of the ribosome 6ZU5 (electron microscopy at 2.9 angstrom), which
    are the last 8,737 rows. Glycine, proline and the residues before a proline are left out, since
    their angles are distributed differently, and so are the ends of chains, which have one angle
    only. Biopython's ``PPBuilder`` computed the angles. Neighbours on a chain depend on each other.

    References
    ----------
    .. [1] H. Berman, K. Henrick and H. Nakamura (2003). Announcing the worldwide Protein Data Bank.
       Nature Structural Biology 10, 980. https://doi.org/10.1038/nsb1203-980

    Examples
    --------
    >>> from pymc_geodesic.datasets import load_protein_angles
    >>> load_protein_angles().shape
    (10891, 2)
    """
    source = resources.files("pymc_geodesic.datasets") / "protein_angles.csv"
    with source.open(encoding="ascii") as file:
        return np.deg2rad(np.loadtxt(file, delimiter=",", skiprows=1))
