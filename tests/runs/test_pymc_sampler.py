#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What PyMC will call is ready: see `docs/developing/upstream.md`."""

import inspect
import re

from pathlib import Path

import numpy as np
import pymc as pm
import pytest

NOTES = Path(__file__).parents[2] / "docs" / "developing" / "upstream.md"

pytestmark = pytest.mark.skipif(not NOTES.is_file(), reason="not part of a source archive")


@pytest.fixture(scope="module")
def kind():
    blocks = re.findall(
        r"^```python\n(.*?)^```$", NOTES.read_text(), flags=re.DOTALL | re.MULTILINE
    )
    scope = {}
    exec(next(block for block in blocks if "sample_from_init" in block), scope)
    return scope["MinibatchSampler"]


def test_pymc_does_not_take_samplers_yet():
    assert "sampler" not in inspect.signature(pm.sample).parameters


def test_settings_of_a_run_are_those_of_pymc(kind):
    taken = {*inspect.signature(kind.sample_from_init).parameters} - {"self"}
    assert taken <= set(inspect.signature(pm.sample).parameters)


# Short runs are not settled, and say so.
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_run_has_the_settings_of_both(kind):
    with pm.Model() as model:
        pm.Normal("y", pm.Normal("x"), 1.0, observed=np.zeros(5000))
    settings = {"draws": 60, "tune": 60, "chains": 2, "cores": 4, "quiet": True}
    idata = kind(batch_size=100, thin=2).sample_from_init(model=model, random_seed=1, **settings)
    assert idata.posterior["x"].shape == (2, 30)
    with pytest.raises(ValueError, match="Leave them out"):
        kind().sample_from_init(model=model, idata_kwargs={"log_likelihood": True})
