#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A chain saved at any draw goes on bit for bit, in another step and in another process."""

import pickle
import subprocess
import sys

from functools import cache
from pathlib import Path

import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

TUNE, DRAWS = 60, 6
# The first draw measures; after shares of 0.2, 0.45 and 0.75 of the tuning phase comes more.
SAVED_AT = [0, 1, 12, 13, 20, 27, 36, 46, 59, 60, 61]
N_ROWS, BATCH = 600, 20


def directions():
    rng = np.random.default_rng(1)
    rows = rng.normal([1.0, 1.0, 0.0], 0.5, (N_ROWS, 3))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def table():
    rng = np.random.default_rng(1)
    design = rng.normal(size=(N_ROWS, 2)) * [1.0, 5.0]
    return np.column_stack([design, design @ [1.0, -1.0] + rng.normal(size=N_ROWS)])


def vector():
    with pm.Model() as model:
        x, y = pm.Minibatch(table()[:, :2], table()[:, 2], batch_size=BATCH)
        beta = pm.Normal("beta", 0.0, 10.0, shape=2)
        pm.Normal("y", x @ beta, 1.0, observed=y, total_size=N_ROWS)
    return model


def stream():
    with pm.Model() as model:
        rows = pm.Data("rows", np.zeros((BATCH, 3)))
        beta = pm.Normal("beta", 0.0, 10.0, shape=2)
        pm.Normal("y", rows[:, :2] @ beta, 1.0, observed=rows[:, 2], total_size=N_ROWS)
    return model


def sphere():
    with pm.Model() as model:
        mu = pmg.VonMisesFisher("mu", [0.6, 0.8, 0.0], 1.0)
        batch = pm.Minibatch(directions(), batch_size=BATCH)
        pmg.VonMisesFisher("x", mu, 4.0, observed=batch, total_size=N_ROWS)
    return model


def simplex():
    words = np.random.default_rng(1).choice(4, p=[0.4, 0.3, 0.2, 0.1], size=N_ROWS)
    with pm.Model() as model:
        weights = pm.Dirichlet("weights", np.full(4, 2.0))
        batch = pm.Minibatch(words.astype("int32"), batch_size=BATCH)
        pm.Categorical("x", weights, observed=batch, total_size=N_ROWS)
    return model


def mixed():
    with pm.Model() as model:
        mu = pmg.VonMisesFisher("mu", [0.6, 0.8, 0.0], 1.0)
        kappa = pm.HalfNormal("kappa", 5.0)
        weights = pm.Dirichlet("weights", np.full(3, 3.0))
        batch = pm.Minibatch(directions(), batch_size=BATCH)
        pmg.VonMisesFisher("x", mu, kappa * weights[0], observed=batch, total_size=N_ROWS)
    return model


def loader():
    return [table()[start : start + BATCH] for start in range(0, N_ROWS, BATCH)]


GIVEN = {"step_size": 0.01, "friction": 2.0}
CASES = {
    "SGNHT-vector": (pmg.SGNHT, vector, {}),
    "SGHMC-vector": (pmg.SGHMC, vector, {}),
    "SGLD-vector": (pmg.SGLD, vector, {}),
    "SGNPHMC-vector": (
        pmg.SGNPHMC,
        vector,
        {"step_size": 0.002, "thermal_mass": 4.0, "n_leapfrog": 3},
    ),
    "SGHMC-fisher": (pmg.SGHMC, vector, {"gradient_noise": "fisher"}),
    "SGHMC-learned-mass": (pmg.SGHMC, vector, GIVEN | {"mass": pmg.MonteCarloEM(update_every=9)}),
    "SGHMC-given": (pmg.SGHMC, vector, GIVEN | {"n_steps": 2, "steps_per_batch": 3}),
    "SGHMC-center": (pmg.SGHMC, vector, GIVEN | {"variance_reduction": "control_variates"}),
    "SGNHT-no-replacement": (pmg.SGNHT, vector, {"replacement": False}),
    "gSGNHT-sphere": (pmg.gSGNHT, sphere, {"thermostat": "per_point"}),
    "gSGNHT-simplex": (pmg.gSGNHT, simplex, {}),
    "gSGNHT-mixed": (pmg.gSGNHT, mixed, {"thermostat": "per_variable"}),
    "SGGMC-mixed": (pmg.SGGMC, mixed, {}),
    "SGRLD-simplex": (pmg.SGRLD, simplex, {}),
    "SGRLD-euler": (pmg.SGRLD, simplex, {"dynamics": "euler"}),
    "SGNHT-stream": (pmg.SGNHT, stream, {"data": {"rows": loader()}}),
    "SGLD-stream": (
        pmg.SGLD,
        stream,
        {
            "step_size": 1e-5,
            "variance_reduction": None,
            "n_steps": 1,
            "data": {"rows": loader()},
        },
    ),
    "GMC-mixed": (pmg.GMC, mixed, {"n_leapfrog": 3}),
}
NEEDED = {"SGNHT-vector", "gSGNHT-mixed", "SGNHT-stream", "SGRLD-simplex", "GMC-mixed"}
SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in CASES if name not in NEEDED]


def make(name):
    method, model, options = CASES[name]
    return method(model=model(), **options)


def draw(step, point, start, stop):
    """Continue a chain as PyMC does; the phase ends before draw ``TUNE``."""
    path = []
    for i in range(start, stop):
        if i == TUNE and step.tune:
            step.stop_tuning()
        point, [stats] = step.step(point)
        path.append((point, stats))
    return path


@cache
def whole(name):
    """Return a chain that was never stopped, and the point and saved state before each draw."""
    step = make(name)
    step.setup_chain(np.random.default_rng(3), TUNE, DRAWS)
    point, path, saved = step.model.initial_point(random_seed=2), [], []
    for i in range(TUNE + DRAWS):
        if i in SAVED_AT:
            saved.append((i, point, pickle.dumps(step.sampling_state)))
        if i == TUNE:
            step.stop_tuning()
            # And once more, now that the tuning phase is over.
            saved.append((i, point, pickle.dumps(step.sampling_state)))
        path += draw(step, point, i, i + 1)
        point = path[-1][0]
    return path, saved


def assert_same(actual, expected):
    assert len(actual) == len(expected)
    for (point, stats), (wanted, statistics) in zip(actual, expected, strict=True):
        for key, value in wanted.items():
            np.testing.assert_array_equal(point[key], value)
        for key in statistics.keys() - {"warning"}:
            np.testing.assert_array_equal(stats[key], statistics[key])


@pytest.mark.parametrize("name", [*sorted(NEEDED), *SLOW])
def test_a_saved_chain_goes_on_bit_for_bit(name):
    path, saved = whole(name)
    step = make(name)
    # The latest first: what a later state leaves behind must not help an earlier one.
    for i, point, state in reversed(saved):
        step.sampling_state = pickle.loads(state)
        assert_same(draw(step, point, i, TUNE + DRAWS), path[i:])


def test_the_tuning_phase_of_these_chains_has_all_its_stages():
    """The chains above would resume too if nothing were tuned after the first draw."""
    step = make("SGNHT-vector")
    step.setup_chain(np.random.default_rng(3), TUNE, DRAWS)
    found, point = [], step.model.initial_point(random_seed=2)
    for i in range(TUNE):
        [(point, _)] = draw(step, point, i, i + 1)
        if not found or step.chain.tuning.found is not found[-1][1]:
            found.append((i, step.chain.tuning.found))
    assert [i for i, _ in found] == [0, 12, 27]
    assert len(step.chain.tuning.window) == TUNE - 27


def test_a_state_does_not_change_with_the_chain_it_was_taken_from():
    step = make("SGNHT-vector")
    step.setup_chain(np.random.default_rng(3), TUNE, DRAWS)
    [*_, (point, _)] = draw(step, step.model.initial_point(random_seed=2), 0, 15)
    state = step.sampling_state
    before = pickle.dumps(state)
    draw(step, point, 15, 30)
    assert pickle.dumps(state) == before


@pytest.mark.slow
def test_conditioned_steps_resume():
    """A step that leaves a variable to another measures at its values, not at saved ones."""
    paths = []
    for resumed in (False, True):
        model = mixed()
        options = {"model": model, "n_steps": 3}
        steps = [pmg.gSGNHT(["mu"], **options), pmg.SGGMC(["kappa", "weights"], **options)]
        for step in steps:
            step.setup_chain(np.random.default_rng(3), TUNE, DRAWS)
        point = model.initial_point(random_seed=2)
        for i in range(TUNE):
            if resumed and i == 10:
                states = [step.sampling_state for step in steps]
                steps = [pmg.gSGNHT(["mu"], **options), pmg.SGGMC(["kappa", "weights"], **options)]
                for step, state in zip(steps, states, strict=True):
                    step.sampling_state = state
            for step in steps:
                point, _ = step.step(point)
        paths.append(point)
    for key, value in paths[0].items():
        np.testing.assert_array_equal(paths[1][key], value)


@pytest.mark.parametrize("saved_at", [20, 61])
def test_a_chain_goes_on_in_another_process(saved_at, tmp_path):
    name = "SGNHT-stream"
    path, saved = whole(name)
    [state] = [(point, state) for i, point, state in saved if i == saved_at]
    (tmp_path / "state").write_bytes(pickle.dumps(state))
    program = f"""
import pickle, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_resume import DRAWS, TUNE, draw, make
point, state = pickle.load(open({str(tmp_path / "state")!r}, "rb"))
step = make({name!r})
step.sampling_state = pickle.loads(state)
path = draw(step, point, {saved_at}, TUNE + DRAWS)
pickle.dump(path, open({str(tmp_path / "path")!r}, "wb"))
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
    assert_same(pickle.loads((tmp_path / "path").read_bytes()), path[saved_at:])
