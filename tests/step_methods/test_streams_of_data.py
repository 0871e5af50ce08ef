#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Data read batch by batch: the same posterior, reproducible, and loaders that are wrong."""

import numpy as np
import pymc as pm
import pytest

from chains import assert_mean, assert_widths, batch_averages
from normal_regression import (
    BATCH_SIZE,
    N_ROWS,
    draws_of,
    normal_model,
    normal_posterior,
    normal_table,
    standard_scores,
)
from pymc.exceptions import SamplingError

import pymc_geodesic as pmg


def table(n_blocks=1):
    return np.column_stack(normal_table(n_blocks))


class Loader:
    """Batches of an array in order, as any loader gives them."""

    def __init__(self, rows, batch_size=BATCH_SIZE):
        self.rows, self.batch_size = rows, batch_size

    def __iter__(self):
        for start in range(0, len(self.rows), self.batch_size):
            yield self.rows[start : start + self.batch_size]


def model_of(n_blocks=1, *, total_size=N_ROWS):
    n = 3 * n_blocks
    with pm.Model() as model:
        batch = pm.Data("batch", np.zeros((BATCH_SIZE, n + 1)))
        beta = pm.Normal("beta", 0.0, 10.0, shape=n)
        pm.Normal("y", batch[:, :n] @ beta, 1.0, observed=batch[:, n], total_size=total_size)
    return model


def test_stream_gives_the_posterior_of_all_rows():
    # Many coefficients say in one run how wide the draws are.
    rows, model = table(n_blocks=8), model_of(n_blocks=8)
    step = pmg.SGNHT(data={"batch": Loader(rows)}, model=model)
    draws = draws_of(step, model, tune=300, draws=2_000)["beta"]
    scores = standard_scores(draws, *normal_posterior(rows[:, :-1], rows[:, -1]))
    assert step.chain.tuning.controlled
    assert_widths(scores)
    for i in range(scores.shape[-1]):
        assert_mean(batch_averages(scores[..., i], n_batches=40), 0.0, errors=5.0)


def test_stream_gives_the_gradients_of_minibatches():
    rows = table()
    resident, *_ = normal_model()
    common = {"step_size": 5e-4, "friction": 50.0, "n_steps": 4}
    paths = []
    for model, options in ((resident, {}), (model_of(), {"data": {"batch": Loader(rows)}})):
        step = pmg.SGHMC(model=model, **common, **options)
        paths.append(draws_of(step, model, tune=0, draws=2_000)["beta"][500:])
    # Other batches, the same law: compare with the spread of batch means.
    a, b = (path.reshape(30, -1, 3).mean(axis=1) for path in paths)
    for i in range(3):
        assert_mean(a[:, i] - b[:, i], 0.0)


@pytest.mark.parametrize("block", [7, 150, 6_000])
def test_blocks_of_any_length_give_the_same_draws(block):
    rows, model = table(), model_of()
    paths = [
        draws_of(
            pmg.SGLD(
                step_size=1e-6,
                variance_reduction=None,
                n_steps=150,
                data={"batch": Loader(rows, batch_size=size)},
                model=model,
            ),
            model,
            tune=0,
            draws=3,
        )["beta"]
        for size in (BATCH_SIZE, block)
    ]
    np.testing.assert_array_equal(*paths)


def test_stream_is_reproducible_and_resumes():
    model = model_of()

    def build():
        loader = {"batch": Loader(table())}
        return pmg.SGLD(
            step_size=1e-6,
            variance_reduction=None,
            n_steps=30,
            data=loader,
            model=model,
        )

    step, other = build(), build()
    first, second = (draws_of(each, model, tune=0, draws=20)["beta"] for each in (step, other))
    np.testing.assert_array_equal(first, second)
    point = model.initial_point()
    other.sampling_state = step.sampling_state
    (ahead, _), (resumed, _) = step.step(point), other.step(point)
    np.testing.assert_array_equal(ahead["beta"], resumed["beta"])


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("context", ["fork", "forkserver"])
def test_a_step_that_has_read_a_stream_goes_on_in_processes(context):
    """A forked worker has none of the threads that read for its parent."""
    with model_of():
        loader = {"batch": Loader(table())}
        step = pmg.SGLD(step_size=1e-6, variance_reduction=None, n_steps=30, data=loader)
        options = {"draws": 5, "tune": 5, "chains": 2, "random_seed": 1, "step": step}
        quiet = {"progressbar": False, "quiet": True, "compute_convergence_checks": False}
        alone = pm.sample(cores=1, **options, **quiet)
        together = pm.sample(cores=2, mp_ctx=context, **options, **quiet)
    np.testing.assert_array_equal(together.posterior["beta"], alone.posterior["beta"])


def broken(rows):
    rows = rows.copy()
    rows[10_050, 0] = np.nan
    return rows


@pytest.mark.parametrize(
    ("loader", "message"),
    [
        (Loader(table()[:15_000]), "expected 20000 rows per pass"),
        (Loader(np.concatenate([table(), table()])), "expected 20000 rows per pass"),
        (Loader(broken(table())), "expected finite numbers, got NaN or infinity after 10000 rows"),
        (Loader(table()[:, :2]), r"expected blocks of rows of shape \(4,\)"),
        ([], "expected batches, got none"),
    ],
)
def test_loaders_that_are_wrong(loader, message):
    model = model_of()
    with pytest.raises(SamplingError, match=message):
        draws_of(
            pmg.SGLD(
                step_size=1e-6,
                variance_reduction=None,
                n_steps=100,
                data={"batch": loader},
                model=model,
            ),
            model,
            tune=0,
            draws=10,
        )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"other": Loader(table())}, "`data` expected names of `pm.Data`"),
        ({"batch": iter([])}, "`data` expected an iterable that can be iterated over repeatedly"),
        ({"batch": Loader(table()), "more": []}, "`data` expected one stream"),
    ],
)
def test_bad_data(data, message):
    with pytest.raises(ValueError, match=message):
        pmg.SGLD(data=data, model=model_of())


def test_batch_with_more_rows_than_the_stream():
    with pytest.raises(
        ValueError, match=r"`batch` expected a batch of 1 to 50 rows, the `total_si"
    ):
        pmg.SGLD(data={"batch": [table()[:50]]}, model=model_of(total_size=50))


def test_stream_without_total_size():
    with pytest.raises(ValueError, match="depends on the stream `batch` but has no `total_size`"):
        pmg.SGLD(data={"batch": Loader(table())}, model=model_of(total_size=None))
