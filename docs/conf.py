#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
import importlib.metadata
import os
import sys
import tomllib

from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import gallery
import public_names

project = "pymc_geodesic"
copyright = "2026, The pymc_geodesic developers"
release = version = importlib.metadata.version("pymc_geodesic")

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    # Brings MathJax along, so that the pages need no network either.
    "sphinx-mathjax-offline",
    "sphinx_design",
]
templates_path = ["_templates"]
# Notes for maintainers stay in the repository.
exclude_patterns = ["_build", "jupyter_execute", "developing"]

# Links into other projects need the network, so that only the published build has them.
if os.environ.get("PUBLISHED_DOCS"):
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        "arviz": ("https://python.arviz.org/en/latest/", None),
        "numpy": ("https://numpy.org/doc/stable/", None),
        "pymc": ("https://www.pymc.io/projects/docs/en/stable/", None),
        "pytensor": ("https://pytensor.readthedocs.io/en/latest/", None),
        "python": ("https://docs.python.org/3/", None),
    }

myst_enable_extensions = ["colon_fence", "dollarmath"]
nb_execution_mode = "off"
# What a run says of itself is part of its result: readers see it too.
nb_output_stderr = "show"
autosummary_generate = True
autosummary_ignore_module_all = False
autosummary_imported_members = True
numpydoc_show_class_members = False
# Longer signatures have a line for each parameter.
maximum_signature_line_length = 88

nitpicky = True
nitpick_ignore_regex = [
    # Other packages are linked in the published build. Annotations name some types without theirs.
    (r"py:.*", r"(numpy|np|pandas|pd|scipy|sp|xarray|xr)\..*"),
    (r"py:.*", r"(matplotlib|pymc|pytensor|collections|os)\..*"),
    (r"py:class", r"Array|ArrayLike|Client|Model|TensorVariable|Transform|dict\[str"),
    (r"py:class", r"Any|Callable|Literal|Mapping|Sequence|np|(.*\.)?(ELPDDataLOO|Spectrum)"),
    # Names for what keywords take in texts other than signatures, which spell them out.
    (
        r"py:class",
        r"(.*\.)?(AtPoints|Documents|Draws|GradientOptions|Number|Point|Severity|Spread)",
    ),
    (r"py:class", r"(.*\.)?(NewRowsArgument|StepOptions|Variables|Variance)"),
    # Types of fields that no one else reads.
    (r"py:class", r".*\.(Change|Compiled|Evaluated|TermsOfRows)|(Matrix|Scaled)Coordinate"),
    (r"py:class", r".*\.(Evaluation|FrameFactor|LocalState|Mode|Moves|News|Scaling)"),
]

html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["custom.css"]
# Of the modules a few have a page, and the reference lists them.
html_domain_indices = False
# The first page has all the room itself.
html_sidebars = {"index": []}
html_theme_options = {
    "header_links_before_dropdown": 5,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "show_toc_level": 2,
}
html_title = "pymc_geodesic"
if os.environ.get("PUBLISHED_DOCS"):
    described = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
    html_theme_options["github_url"] = described["project"]["urls"]["Repository"]


def setup(app):
    # It only copies files at the end, and would keep pages from being run side by side.
    app.extensions["sphinx-mathjax-offline"].parallel_read_safe = True
    app.connect("builder-inited", gallery.write)
    app.connect("autodoc-skip-member", public_names.skip_interface_of_pymc)
    app.connect("autodoc-process-signature", public_names.readable_signature)
    app.connect("missing-reference", public_names.find_by_identity)
