#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Verdicts on draws of other samplers, of other data, of a stream, and on draws that are NaN."""

import arviz as az
import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

N = 2_000


def regression(shift=0.0, batch_size=50):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(N, 2))
    y = x @ [1.0, -1.0] + shift * x[:, 1] + rng.normal(size=N)
    precision = x.T @ x + np.eye(2)
    with pm.Model() as model:
        x_batch, y_batch = pm.Minibatch(x, y, batch_size=batch_size)
        beta = pm.Normal("beta", shape=2)
        pm.Normal("y", x_batch @ beta, 1.0, observed=y_batch, total_size=N)
    return model, np.linalg.solve(precision, x.T @ y), np.linalg.inv(precision)


def run(draws, **stats):
    found = {"step_size": 0.3, "diverging": False} | stats
    shaped = {name: np.broadcast_to(value, draws.shape[:2]) for name, value in found.items()}
    return az.from_dict({"posterior": {"beta": draws}, "sample_stats": shaped})


def draws_of(mean, covariance, seed=2):
    return np.random.default_rng(seed).multivariate_normal(mean, covariance, (4, 250))


@pytest.mark.parametrize("with_model", [False, True])
def test_a_run_of_nuts_is_not_judged_by_the_rules_of_these_steps(with_model, capsys):
    with pm.Model() as model:
        pm.Normal("beta", shape=2)
    draws = np.random.default_rng(1).normal(size=(4, 250, 2))
    idata = run(draws, step_size=1.3, tree_depth=2, energy=1.0, acceptance_rate=0.2)
    found = pmg.diagnose(idata, model=model if with_model else None)
    assert found.ok
    assert "Not checked: the step, which is not of this package." in capsys.readouterr().out
    wide = run(2 * draws, step_size=1.3, tree_depth=2, diverging=np.arange(250) == 3)
    found = pmg.diagnose(wide, model=model if with_model else None)
    names = {"divergences", "contradicted_by_gradients"} if with_model else {"divergences"}
    assert set(found.names) == names
    assert "step_size" not in "".join(
        finding.advice for finding in found.findings if not with_model
    )


def test_draws_that_are_no_numbers_are_counted():
    draws = np.random.default_rng(1).normal(size=(4, 250, 2))
    draws[1, :7, 0] = np.nan
    draws[2, 3] = np.inf
    [finding] = pmg.diagnose(run(draws, friction=1.0)).findings
    assert finding.name == "draws_not_finite"
    assert "8 of 1000 draws of `beta`" in finding.sentence
    assert finding.evidence == {"beta": 8}


def test_draws_of_other_data_are_contradicted():
    _, mean, covariance = regression()
    other, *_ = regression(shift=0.3)
    idata = run(draws_of(mean, covariance), friction=1.0)
    assert pmg.diagnose(idata, model=regression()[0]).ok
    [finding] = pmg.diagnose(idata, model=other).findings
    assert finding.name == "contradicted_by_gradients"
    assert "the mean of `beta[1]` is off by about" in finding.sentence
    assert "the data of the run" in finding.advice


def test_one_direction_in_many_is_found():
    """Twenty soft directions and a stiff one that is 1.3 times too wide: the average is 1.03."""
    with pm.Model() as model:
        pm.Normal("beta", 0.0, np.append(np.ones(20), 0.05), shape=21)
    draws = np.random.default_rng(1).normal(size=(4, 250, 21)) * np.append(np.ones(20), 0.065)
    [finding] = pmg.diagnose(run(draws, tree_depth=1), model=model).findings
    assert "`beta[20]` is too wide" in finding.sentence


def test_divergences_are_cleared_by_all_rows():
    model, mean, covariance = regression()
    idata = run(draws_of(mean, covariance), friction=1.0, diverging=np.arange(250) == 3)
    assert [f.severity for f in pmg.diagnose(idata).findings] == ["error"]
    [finding] = pmg.diagnose(idata, model=model).findings
    assert finding.severity == "warning"
    assert "nevertheless right" in finding.sentence
    wide = mean + 1.18 * (draws_of(mean, covariance) - mean)
    found = pmg.diagnose(run(wide, friction=1.0, diverging=np.arange(250) == 3), model=model)
    assert "These draws do not follow the posterior" in found.findings[0].sentence


def stream():
    """A regression whose rows come from a loader; the model has zeros in their place."""
    with pm.Model() as model:
        batch = pm.Data("batch", np.zeros((50, 3)))
        beta = pm.Normal("beta", shape=2)
        pm.Normal("y", batch[:, :2] @ beta, 1.0, observed=batch[:, 2], total_size=N)
    return model


def test_rows_of_a_stream_are_not_taken_for_zeros(capsys):
    _, mean, covariance = regression()
    idata = run(draws_of(mean, covariance), friction=1.0)
    assert pmg.diagnose(idata, model=stream()).ok
    assert "holds 50 of the 2,000 rows of `y`" in capsys.readouterr().out
    for check in (
        pmg.stein_check,
        pmg.kernel_stein_discrepancy,
        pmg.configurational_temperature,
    ):
        with pytest.raises(ValueError, match="`model` expected all rows"):
            check(idata, model=stream())
