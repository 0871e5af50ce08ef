#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The manifold of each random variable, and of each that a run has recorded."""

from __future__ import annotations

from functools import singledispatch

import xarray as xr

from pymc.distributions.continuous import CircularContinuous
from pymc.distributions.multivariate import LKJCorr, SimplexContinuous, _LKJCholeskyCovRV
from pymc.variational.minibatch_rv import MinibatchRandomVariable
from pytensor.graph.op import Op
from pytensor.tensor import TensorVariable

from pymc_geodesic.manifolds.base import Manifold
from pymc_geodesic.manifolds.cholesky import CholeskyCorr, CholeskyCov
from pymc_geodesic.manifolds.euclidean import Circle, Euclidean
from pymc_geodesic.manifolds.simplex import Simplex
from pymc_geodesic.manifolds.sphere import ProjectiveSphere, Sphere
from pymc_geodesic.run_record import read_records

__all__ = [
    "manifold_named",
    "manifold_of",
    "manifolds_for",
    "recorded_manifolds",
    "register_manifold",
]

# Includes manifolds whose distributions are not yet imported when a run is read from a file.
_by_name: dict[str, Manifold] = {m.name: m for m in (Euclidean(), Sphere(), ProjectiveSphere())}


@singledispatch
def _manifold_of_op(op: Op) -> Manifold:
    return Euclidean()


@singledispatch
def _offered(op: Op) -> tuple[Manifold, ...]:
    return ()


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


def register_manifold(distribution: type, manifold: Manifold, *, on_request: bool = False) -> None:
    """Declare that every variable of ``distribution`` lives on ``manifold``.

    Parameters
    ----------
    distribution : type
        A PyMC distribution class, or the class of its random variable operation.
    manifold : Manifold
        The manifold of its values.
    on_request : bool, default False
        Whether variables are moved on it only by steps that are asked to, as in
        ``pmg.SGGMC(manifolds={"name": manifold})``. Other steps leave them as they are.

    Raises
    ------
    TypeError
        If ``distribution`` is no class or ``manifold`` no :class:`Manifold`.

    Examples
    --------
    >>> import pymc as pm, pymc_geodesic as pmg
    >>> pmg.register_manifold(pm.MvNormal, pmg.Sphere())  # A normal density, seen on the sphere.
    >>> pmg.manifold_of(pm.MvNormal.dist([0.0, 0.0], [[1.0, 0.0], [0.0, 2.0]]))
    Sphere()
    >>> pmg.register_manifold(pm.MvNormal, pmg.Euclidean())
    """
    if not isinstance(distribution, type):
        raise TypeError(
            f"`distribution` expected a class such as `pm.HalfNormal`, got {distribution!r}."
        )
    if not isinstance(manifold, Manifold):
        raise TypeError(
            f"`manifold` expected a `pmg.Manifold`, such as `pmg.Sphere()`; got {manifold!r}."
        )
    if on_request:
        _offered.register(distribution, lambda op: (manifold,))
        return
    _manifold_of_op.register(distribution, lambda op: manifold)
    _by_name[manifold.name] = manifold


def manifolds_for(rv: TensorVariable) -> tuple[Manifold, ...]:
    """Return the manifolds that are registered for a random variable on request.

    Parameters
    ----------
    rv : TensorVariable
        A random variable of a model.

    Returns
    -------
    tuple of Manifold
        Those that ``manifolds={"name": manifold}`` of a step may name; empty if there are none.

    Examples
    --------
    >>> import pymc as pm, pymc_geodesic as pmg
    >>> pmg.manifolds.manifolds_for(pm.LKJCorr.dist(3, 1.0))
    (CholeskyCorr(),)
    """
    return _offered(rv.owner.op)


def manifold_named(name: str) -> Manifold | None:
    """Return the manifold with a name that a run has recorded, or None if it is not registered.

    Parameters
    ----------
    name : str
        The ``name`` of a :class:`Manifold`.

    Returns
    -------
    Manifold or None
        The manifold that registers this name.

    Examples
    --------
    >>> import pymc_geodesic as pmg
    >>> pmg.manifolds.manifold_named(pmg.manifold_of(pmg.SphericalUniform.dist(shape=3)).name)
    Sphere()
    """
    return _by_name.get(name)


# PyMC's own distributions; ours register their manifolds in their own files.
register_manifold(SimplexContinuous, Simplex())


register_manifold(CircularContinuous, Circle())


register_manifold(LKJCorr, CholeskyCorr(), on_request=True)


register_manifold(_LKJCholeskyCovRV, CholeskyCov(), on_request=True)


def recorded_manifolds(idata: xr.DataTree) -> dict[str, Manifold]:
    """Return the recorded manifolds of the variables of a run, Deterministics that are angles too.

    Parameters
    ----------
    idata : DataTree
        Result of ``pm.sample``, with any step; empty for steps of other packages.
    """
    records = read_records(idata)
    names = {key: name for record in records for key, name in record.manifolds.items()}
    names |= {key: Circle.name for record in records for key in record.angles}
    found = {key: manifold_named(name) for key, name in names.items()}
    return {key: manifold for key, manifold in found.items() if manifold is not None}
