#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The public names are there, and importing the package leaves PyMC alone."""

import ast
import subprocess
import sys

from pathlib import Path

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


def test_public_names():
    assert set(CONTRACT) <= set(pmg.__all__)
    assert not [name for name in CONTRACT if not getattr(pmg, name).__doc__]


def test_all_names_exist():
    assert all(hasattr(pmg, name) for name in pmg.__all__)
    assert pmg.__version__


def test_steps_are_registered_once():
    from pymc.step_methods import STEP_METHODS

    assert pmg.SGGMC in STEP_METHODS
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


def modules_after(code):
    """Names of the modules that code loads, besides those of `import pymc`."""
    program = (
        f"import sys, pymc; before = set(sys.modules); {code}; print(*set(sys.modules) - before)"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    return set(run.stdout.split())


def test_importing_the_package_loads_next_to_nothing():
    found = modules_after("import pymc_geodesic")
    assert found == {
        "pymc_geodesic",
        "pymc_geodesic.requirements",
        "pymc_geodesic.minibatch_guard",
    }


def test_a_step_loads_what_it_needs():
    found = modules_after("import pymc_geodesic as pmg; pmg.SGNHT; pmg.sample")
    # Those of other packages: SciPy's optimisation alone would be a hundred more.
    assert len([name for name in found if not name.startswith("pymc_geodesic")]) < 250
    for room in ("plots", "topic_models", "diagnostics"):
        assert f"pymc_geodesic.{room}" not in found
    for package in (
        *("numba", "jax", "matplotlib", "scipy.stats", "scipy.optimize", "sklearn"),
        *("dask", "distributed"),
    ):
        assert package not in found


def test_rooms_are_attributes():
    code = "import pymc_geodesic as pmg; pmg.plots.plot_sphere; pmg.topics.top_words; pmg.mass"
    assert "pymc_geodesic.topic_models" in modules_after(code)
    assert {"sample", "topics", "GMC"} <= set(dir(pmg))
    for name in ("nothing", "_nothing"):
        with pytest.raises(AttributeError, match=f"no attribute '{name}'"):
            getattr(pmg, name)


def test_type_checkers_see_the_names_that_there_are():
    tree = ast.parse(Path(pmg.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    seen = {alias.asname: node.module for node in imports for alias in node.names}
    # With another name, or none, a stub would keep the import to itself.
    assert all(alias.asname == alias.name for node in imports for alias in node.names)
    assert {*seen} - {"topic_models"} | {"topics"} == {*pmg.__all__}
    homes = {name: f"pymc_geodesic.{home}" for name, home in pmg._HOME_OF.items()}
    assert homes == {name: seen[name] for name in homes}


def test_a_minibatch_model_warns_before_any_step_is_loaded():
    code = """
import sys, warnings, numpy as np, pymc as pm, pymc_geodesic
from pymc.sampling.mcmc import assign_step_methods
with pm.Model() as model:
    x = pm.Normal("x")
    full = pm.Normal("full", x, observed=np.zeros(40))
    assign_step_methods(model)
    assert "pymc_geodesic.step_methods" not in sys.modules
    pm.Normal("y", x, observed=pm.Minibatch(np.zeros(40), batch_size=4), total_size=40)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assign_step_methods(model)
assert len(caught) == 1 and "pm.Minibatch" in str(caught[0].message), caught
"""
    subprocess.run([sys.executable, "-c", code], check=True)
