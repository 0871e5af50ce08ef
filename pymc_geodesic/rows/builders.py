#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The model that a user gives, or an object of Bambi or PyMC-Marketing that has built one."""

from __future__ import annotations

from typing import Any

import xarray as xr

from pymc.model import Model

from pymc_geodesic.rows.plain_tensors import plain
from pymc_geodesic.validation import pymc_model

__all__ = [
    "as_sampled",
    "completed",
    "computed_by",
    "given_model",
    "is_bambi",
    "model_inside",
]


def given_model(given: Any) -> Model:
    """Return the model that is given, or that of the context, with tensors for ``pymc.dims``.

    Raises
    ------
    TypeError
        If there is none.
    """
    return plain(pymc_model(model_inside(given)))


def model_inside(given: Any) -> Any:
    """Return the PyMC model that an object has built; anything else as it is.

    Parameters
    ----------
    given : object
        A ``bambi.Model``, which is built here if that has not been done; or an object with the
        method ``build_model`` and the attribute ``model``, as PyMC-Marketing's have them.
    """
    if is_bambi(given):
        if not given.built:
            given.build()
        return given.backend.model
    inside = getattr(given, "model", None)
    if isinstance(inside, Model) and callable(getattr(given, "build_model", None)):
        return inside
    return given


def computed_by(given: Any) -> list[str]:
    """Name Deterministics that an object computes itself when its user asks for them.

    Bambi's are the parameters of the likelihood, one for each row, which its own ``fit`` leaves
    out too.
    """
    if not is_bambi(given):
        return []
    computed = {x.name for x in given.backend.model.deterministics}
    return [name for name in given.family.likelihood.params if name in computed]


def completed(idata: xr.DataTree, given: Any) -> xr.DataTree:
    """Return a result as the ``fit`` of an object would, so that its other methods work with it.

    Bambi samples the intercept of centred predictors and standardised group effects: the former is
    replaced by the intercept of its formula, the latter are left out. Objects of PyMC-Marketing
    hold their result, the data and what they need to be saved.
    """
    if is_bambi(given):
        given.backend.fit = True
        return given.backend._clean_results(idata, omit_offsets=True, include_response_params=False)
    if model_inside(given) is not given and hasattr(given, "create_fit_data_group"):
        attrs = dict(idata.attrs)
        if (data := given.create_fit_data_group()) is not None:
            idata["fit_data"] = data
        given.idata = given.set_idata_attrs(idata)
        idata.attrs = attrs | idata.attrs
        given.is_fitted_ = True
    return idata


def as_sampled(idata: xr.DataTree, given: Any) -> xr.DataTree:
    """Return the draws of the variables of the PyMC model: the inverse of :func:`completed`."""
    if not is_bambi(given):
        return idata
    model_inside(given)  # builds it, as it may be in another process than its fit
    # ArviZ calls it too. It does not change the given result.
    idata = given._re_center_intercept(idata).copy()
    idata["posterior"].attrs.pop("modeling_interface", None)
    return idata


def is_bambi(given: Any) -> bool:
    """Return whether an object is a ``bambi.Model``."""
    return any(
        (cls.__module__.split(".")[0], cls.__name__) == ("bambi", "Model")
        for cls in type(given).__mro__
    )
