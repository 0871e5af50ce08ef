#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Temperatures of single draws are noise: the bar shows a mean, once it says something."""

import numpy as np

from pymc_geodesic.step_methods.progress import Shown, progress_columns, progress_updates

SHOWN = [
    Shown("t", "Temperature", "temperature", averaged=True),
    Shown("s", "Step", "step", "0.2g"),
]


def shown(values):
    [update] = progress_updates(SHOWN)
    for t in values:
        found = update({"diverging": False, "t": t, "s": 0.5})
    return found


def test_the_mean_is_shown_once_it_is_known():
    noise = np.random.default_rng(1).normal(1, 2, 400)
    assert shown([np.nan] * 3)["temperature"] == "?"
    assert shown(noise[:10])["temperature"] == "?"
    assert shown(noise)["temperature"] == f"{noise.mean():.2f}"
    assert shown([1.04, np.nan, 1.0])["temperature"] == "1.02"
    assert shown(noise)["step"] == 0.5


def test_the_way_from_a_poor_start_is_forgotten():
    assert shown([1e308, -1e308, *[1e9] * 100, *[1.0] * 500])["temperature"] == "1.00"


def test_columns_take_what_is_shown():
    columns, start = progress_columns(SHOWN, 2)
    for fields in ({key: values[0] for key, values in start.items()}, shown([1.0, 1.0])):
        task = type("Task", (), {"fields": fields | {"divergences": 0}})
        assert all(column.text_format.format(task=task) for column in columns)
