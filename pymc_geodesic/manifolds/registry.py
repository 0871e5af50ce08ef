#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The manifold of each random variable."""

from __future__ import annotations

from functools import singledispatch

from pymc.distributions.continuous import CircularContinuous
from pymc.distributions.multivariate import SimplexContinuous
from pymc.variational.minibatch_rv import MinibatchRandomVariable
from pytensor.graph.op import Op
from pytensor.tensor import TensorVariable

from pymc_geodesic.manifolds.base import Manifold
from pymc_geodesic.manifolds.circle import Circle
from pymc_geodesic.manifolds.euclidean import Euclidean
from pymc_geodesic.manifolds.projective_sphere import ProjectiveSphere
from pymc_geodesic.manifolds.simplex import Simplex
from pymc_geodesic.manifolds.sphere import Sphere

__all__ = ["manifold_named", "manifold_of", "register_manifold"]

# Includes manifolds whose distributions are not yet imported when a run is read from a file.
_by_name: dict[str, Manifold] = {m.name: m for m in (Euclidean(), Sphere(), ProjectiveSphere())}


@singledispatch
def _manifold_of_op(op: Op) -> Manifold:
    return Euclidean()


def manifold_of(rv: TensorVariable) -> Manifold:
    """Return the manifold of a random variable.

    Parameters
    ----------
    rv : TensorVariable
        A random variable of a model, or the result of a distribution's ``dist``.

    Returns
    -------
    Manifold
        ``Sphere`` for distributions of unit vectors, ``Simplex`` for distributions of probability
        vectors, ``Circle`` for distributions of angles, ``Euclidean`` for every other variable.

    Raises
    ------
    TypeError
        If ``rv`` is not the output of a distribution.

    Examples
    --------
    >>> import pymc as pm
    >>> import pymc_geodesic as pmg
    >>> pmg.manifold_of(pm.Dirichlet.dist([1.0, 1.0, 1.0]))
    Simplex()
    """
    node = getattr(rv, "owner", None)
    if node is None:
        raise TypeError(f"`manifold_of` expected a random variable, got {rv!r}.")
    if isinstance(node.op, MinibatchRandomVariable):
        return manifold_of(node.inputs[0])
    return _manifold_of_op(node.op)


def register_manifold(distribution: type, manifold: Manifold) -> None:
    """Declare that every variable of ``distribution`` lives on ``manifold``.

    Parameters
    ----------
    distribution : type
        A PyMC distribution class, or the class of its random variable operation.
    manifold : Manifold
        The manifold of its values.

    Raises
    ------
    TypeError
        If ``distribution`` is not a class or ``manifold`` is not a :class:`Manifold`.
    """
    if not isinstance(distribution, type):
        raise TypeError(
            f"`distribution` expected a class such as `pm.HalfNormal`, got {distribution!r}."
        )
    if not isinstance(manifold, Manifold):
        raise TypeError(
            f"`manifold` expected a `pmg.Manifold`, such as `pmg.Sphere()`; got {manifold!r}."
        )
    _manifold_of_op.register(distribution, lambda op: manifold)
    _by_name[manifold.name] = manifold


def manifold_named(name: str) -> Manifold | None:
    """Return the manifold with a name that a run has recorded, or None if it is not registered.

    Parameters
    ----------
    name : str
        The ``name`` of a :class:`Manifold`.
    """
    return _by_name.get(name)


# PyMC's own distributions; ours register their manifolds in their own files.
register_manifold(SimplexContinuous, Simplex())
register_manifold(CircularContinuous, Circle())
