#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The reference names everything that is public, with its signature, parameters and examples."""

import importlib
import inspect
import re

from pathlib import Path

import pymc as pm
import pytest

import pymc_geodesic as pmg

API = Path(__file__).parents[1] / "docs" / "api"

# Their names are on the page of users; the other rooms are for extensions.
ROOMS = (
    *("datasets", "diagnostics", "directions", "distributions", "manifolds", "plots"),
    *("predictions", "rows", "runs"),
    *("sampling", "step_methods", "topic_models"),
)
FOR_EXTENSIONS = ("mass", "potential", "tuning")
# Modules, and types of keywords.
NOT_LISTED = {"datasets", "directions", "topics", "transforms", "ChainMethod"}

# Results of functions, which users do not make; their attributes are documented. `Manifold`,
# `Schedule` and `Product` are examples in the documentation for extensions.
MADE_FOR_USERS = {
    *("BinghamFit", "Chain", "ChainError", "ChainFailure", "CheckpointError", "Diagnosis"),
    "DependentRowsError",
    *("Finding", "KentFit", "KernelSteinDiscrepancy", "Manifold", "Perplexity", "Product"),
    *("Schedule", "Settings", "SteinCheck", "StepHalving", "TopicCounts", "UniformityTest"),
    *(
        "DirichletTopics",
        "TopicPriors",
        "TopicReport",
        "VariationalAdmixture",
        "VonMisesFisherFit",
        "WatsonFit",
    ),
}
# What PyMC's distributions have in common; PyMC documents it.
OF_ALL_DISTRIBUTIONS = {
    *("name", "shape", "rng", "dims", "initval", "observed", "total_size", "transform"),
    "default_transform",
}


def names_on(page):
    """Names in the tables of a page of the reference."""
    text = (API / f"{page}.md").read_text(encoding="utf-8")
    return re.findall(r"^   ([A-Za-z_][\w.]*)$", text, flags=re.MULTILINE)


def public(name):
    module, _, last = f"pymc_geodesic.{name}".rpartition(".")
    return getattr(importlib.import_module(module), last)


needs_pages = pytest.mark.skipif(not API.is_dir(), reason="not part of a source archive")
NAMES = names_on("index") if API.is_dir() else []
OBJECTS = {name: public(name) for name in NAMES if not inspect.ismodule(public(name))}


@needs_pages
def test_every_public_name_is_on_the_page():
    listed = {id(found) for found in OBJECTS.values()}
    rooms = [importlib.import_module(f"pymc_geodesic.{room}") for room in ROOMS]
    for module in (pmg, *rooms):
        names = set(module.__all__) - NOT_LISTED
        assert not {name for name in names if id(getattr(module, name)) not in listed}
    for_extensions = listed | {id(public(name)) for name in names_on("extensions")}
    for room in FOR_EXTENSIONS:
        module = importlib.import_module(f"pymc_geodesic.{room}")
        names = module.__all__
        assert not {name for name in names if id(getattr(module, name)) not in for_extensions}


@needs_pages
def test_a_name_is_on_one_page_once():
    names = [*NAMES, *names_on("extensions")]
    assert len({id(public(name)) for name in names}) == len(names)
    text = (API / "index.md").read_text(encoding="utf-8")
    assert all(
        f"`pmg.{name}`" in text for name in ("datasets", "directions", "topics", "transforms")
    )


def signature_of(name):
    try:
        return inspect.signature(OBJECTS[name])
    except ValueError:  # An exception without a constructor of its own.
        return inspect.Signature()


def is_one(name, kind):
    return isinstance(OBJECTS[name], type) and issubclass(OBJECTS[name], kind)


def hides_keywords(name):
    kinds = {p.kind for p in signature_of(name).parameters.values()}
    hides = inspect.Parameter.VAR_POSITIONAL in kinds and not is_one(name, Exception)
    return hides or inspect.Parameter.VAR_KEYWORD in kinds


def lacks_in_docstring(name, validate):
    """What users need that the docstring of a name does not have."""
    doc = validate.get_doc_object(OBJECTS[name])
    found = validate.Validator(doc)
    codes = {code for code, _ in validate.validate(doc)["errors"]}
    # No text; a summary without its full stop or over several lines; no description of a value.
    yield from codes & {"GL08", "SS03", "SS06", "PR07", "PR10", "RT01", "RT03", "YD01"}
    if name.rpartition(".")[2] not in MADE_FOR_USERS:
        yield from codes & {"EX01"}
    attributes = {entry.name for entry in doc["Attributes"]}
    taken = set(found.signature_parameters) - attributes
    if is_one(name, pm.Distribution):
        taken -= OF_ALL_DISTRIBUTIONS
    documented = {part.strip(" *") for key in found.doc_all_parameters for part in key.split(",")}
    if not is_one(name, Exception):
        known = {key.strip("*") for key in found.signature_parameters} | OF_ALL_DISTRIBUTIONS
        yield from {key.strip("*") for key in taken} - documented
        yield from documented - known


@needs_pages
def test_signatures_name_what_they_take():
    assert not [name for name in OBJECTS if hides_keywords(name)]


@needs_pages
def test_docstrings_have_what_users_need():
    validate = pytest.importorskip("numpydoc.validate")
    lacking = {name: sorted(lacks_in_docstring(name, validate)) for name in OBJECTS}
    assert not {name: what for name, what in lacking.items() if what}
