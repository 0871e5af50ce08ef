#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Angles of the backbones of proteins."""

from importlib import resources

import numpy as np

__all__ = ["load_protein_angles"]


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
