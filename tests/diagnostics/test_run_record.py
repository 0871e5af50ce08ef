#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What a run keeps of the step that made it."""

import numpy as np
import pymc as pm
import pytest
import xarray as xr

from pymc.distributions.transforms import SimplexTransform

import pymc_geodesic as pmg

from pymc_geodesic.potential.variables import geometry_names
from pymc_geodesic.run_record import STATISTIC, read_records

OPTIONS = {
    "draws": 25,
    "tune": 5,
    "random_seed": 1,
    "progressbar": False,
    "compute_convergence_checks": False,
}


def model_of_three():
    with pm.Model() as model:
        pmg.VonMisesFisher("mu", [0.6, 0.8], 2.0)
        pm.Dirichlet("p", np.ones(3))
        pm.HalfNormal("kappa", 5.0)
    return model


@pytest.mark.parametrize("cores", [1, 2])
def test_name_settings_and_manifolds_are_attributes(cores):
    with model_of_three():
        step = pmg.gSGNHT(step_size=0.02, diffusion=np.float64(2.0), n_steps=2)
        idata = pm.sample(chains=2, cores=cores, step=step, **OPTIONS)
    [record] = read_records(idata)
    assert record.step == "gSGNHT"
    assert record.settings == {"step_size": 0.02, "diffusion": 2.0, "n_steps": 2}
    assert record.manifolds == {"mu": "Sphere", "p": "Simplex", "kappa": "Euclidean"}
    assert STATISTIC not in idata["sample_stats"].data_vars


def test_simplexes_keep_their_name_whatever_coordinates_they_are_moved_in():
    with pm.Model():
        pm.Dirichlet("p", np.ones(3))
        schedule = pmg.PolynomialSchedule(1e-3, 100, 0.6)
        step = pmg.SGRLD(step_size=schedule, n_steps=1)
        idata = pm.sample(chains=1, cores=1, step=step, **OPTIONS)
    [record] = read_records(idata)
    assert record.manifolds == {"p": "Simplex"}
    assert "PolynomialSchedule" in record.settings["step_size"]


def test_a_simplex_with_a_transform_of_its_own_is_still_one():
    class OtherTransform(SimplexTransform):
        """One that the package does not know, so that it samples PyMC's values."""

    with pm.Model() as model:
        pm.Dirichlet("p", np.ones(3), transform=OtherTransform())
    assert geometry_names(model, model.value_vars) == {"p": "Simplex"}


def test_every_step_of_a_compound_has_a_record():
    with pm.Model():
        a, b, n = pm.Normal("a"), pm.Normal("b"), pm.Poisson("n", 3.0)
        steps = [
            pmg.SGHMC([a], step_size=0.1, friction=1.0),
            pmg.GMC([b]),
            pm.Metropolis([n]),
        ]
        idata = pm.sample(chains=1, cores=1, step=steps, **OPTIONS)
    assert [record.step for record in read_records(idata)] == ["SGHMC", "GMC"]
    assert [list(record.manifolds) for record in read_records(idata)] == [["a"], ["b"]]


def test_runs_of_other_steps_are_left_alone():
    with pm.Model():
        pm.Normal("a")
        idata = pm.sample(chains=1, cores=1, step=pm.Slice(), **OPTIONS)
    assert read_records(idata) == []
    assert not any("geodesic" in key for key in idata["sample_stats"].attrs)
    assert read_records(xr.DataTree()) == []


def test_a_record_survives_a_copy_to_dictionaries():
    """File formats keep attributes that are text."""
    with pm.Model():
        pm.Normal("a")
        idata = pm.sample(chains=1, cores=1, step=pmg.GMC(), **OPTIONS)
    [text] = [v for k, v in idata["sample_stats"].attrs.items() if "geodesic" in k]
    assert isinstance(text, str)
    again = xr.Dataset.from_dict(idata["sample_stats"].to_dataset().to_dict())
    assert read_records(xr.DataTree.from_dict({"sample_stats": again}))[0].step == "GMC"
