#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The public names are there, and importing the package leaves PyMC alone."""

import subprocess
import sys

import pytest

import pymc_geodesic as pmg

CONTRACT = [
    "GMC",
    "SGGMC",
    "SGHMC",
    "SGLD",
    "SGNHT",
    "ConstantSchedule",
    "Euclidean",
    "Manifold",
    "PolynomialSchedule",
    "Simplex",
    "Sphere",
    "SphericalUniform",
    "VonMisesFisher",
    "check_minibatch",
    "full_data",
    "gSGNHT",
    "manifold_of",
    "plot_simplex",
    "plot_sphere",
    "plot_thermostat",
    "plot_topics",
    "register_manifold",
    "summary",
    "transforms",
]


@pytest.mark.parametrize("name", CONTRACT)
def test_public_name(name):
    assert name in pmg.__all__
    assert getattr(pmg, name).__doc__


def test_all_names_exist():
    assert all(hasattr(pmg, name) for name in pmg.__all__)
    assert pmg.__version__


def test_steps_are_registered_once():
    from pymc.step_methods import STEP_METHODS

    steps = [method for method in STEP_METHODS if method.__module__.startswith("pymc_geodesic")]
    assert len(steps) == len(set(steps))
    names = {method.__name__ for method in steps}
    assert {"SGGMC", "gSGNHT", "SGNHT", "SGHMC", "SGLD", "SGRLD", "GMC"} <= names


def test_an_old_pymc_gets_a_sentence():
    code = (
        "import importlib.metadata as m; old = m.version; "
        "m.version = lambda name: '5.25.1' if name == 'pymc' else old(name); "
        "import sys; sys.modules['pymc'] = None; import pymc_geodesic"
    )
    run = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    last = run.stderr.splitlines()[-1]
    assert last == (
        "ImportError: `pymc_geodesic` expected PyMC 6.4 or newer, got 5.25.1. Install it with "
        '`pip install "pymc>=6.4"`.'
    )


@pytest.mark.parametrize("version", ["6.4.0", "6.10.0rc1", "7.0"])
def test_newer_versions_of_pymc_pass(version):
    pmg.requirements.require_pymc(version)


def test_import_needs_no_optional_package():
    code = (
        "import sys; import pymc_geodesic; "
        "assert not {'jax', 'blackjax', 'nutpie', 'sklearn'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
