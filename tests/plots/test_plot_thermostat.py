#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
import arviz as az
import matplotlib.pyplot as plt
import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.plots import temperature_band
from pymc_geodesic.plots.thermostat import _averaging, _degrees_of_freedom

RNG = np.random.default_rng(1)
SHAPE = (2, 50)
X = RNG.normal(size=(*SHAPE, 3))
MU = X / np.linalg.norm(X, axis=-1, keepdims=True)


def idata(posterior=None, **stats):
    groups = {"sample_stats": {k: np.broadcast_to(v, SHAPE).copy() for k, v in stats.items()}}
    return az.from_dict(groups | ({} if posterior is None else {"posterior": posterior}))


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def panels(axes):
    return [ax.get_ylabel().replace("\n", " ") for ax in axes]


def band(ax):
    [patch] = ax.patches
    return patch.get_y(), patch.get_y() + patch.get_height()


SEVERAL = {
    "kinetic_temperature_mu": 1.1,
    "kinetic_temperature": 1.05,
    "kinetic_temperature_x": 1.0,
    "thermostat_mu": 9.0,
    "thermostat": 10.0,
    "thermostat_x": 11.0,
    "step_size": 0.01,
}


def test_panels_and_chains():
    axes = pmg.plot_thermostat(idata({"mu": MU, "x": X}, **SEVERAL))
    assert panels(axes) == [
        "kinetic temperature",
        "temperature mu",
        "temperature x",
        "thermostat mu",
        "thermostat x",
        "step size",
    ]
    chains = [line for line in axes[3].lines if len(line.get_xdata()) == 50]
    assert len(chains) == 2
    np.testing.assert_array_equal(chains[1].get_ydata(), 9.0)
    assert [t.get_text() for t in axes[0].get_legend().get_texts()] == ["chain 0", "chain 1"]
    axes[0].figure.canvas.draw()


def test_variables_can_be_chosen():
    draws = idata({"mu": MU, "x": X}, **SEVERAL)
    assert panels(pmg.plot_thermostat(draws, var_names="mu")) == [
        "kinetic temperature",
        "temperature mu",
        "thermostat mu",
        "step size",
    ]
    assert panels(pmg.plot_thermostat(draws, var_names=[])) == [
        "kinetic temperature",
        "thermostat",
        "step size",
    ]
    with pytest.raises(ValueError, match=r"temperature_beta.*got \['kinetic_temperature_mu"):
        pmg.plot_thermostat(draws, var_names=["beta"])


def test_bands_follow_from_the_degrees_of_freedom():
    axes = pmg.plot_thermostat(idata({"mu": MU, "x": X, "twice": 2 * X}, **SEVERAL), prob=0.8)
    for ax, dim in zip(axes[:3], (5, 2, 3), strict=True):
        np.testing.assert_allclose(band(ax), temperature_band(dim, 0.8))


def test_degrees_of_freedom_can_be_given_or_recorded():
    stats = {"kinetic_temperature": 1.0, "step_size": 0.01}
    [ax, _] = pmg.plot_thermostat(idata({"mu": MU, "x": X}, **stats))
    assert not ax.patches  # which of the two was sampled is not known
    [ax, _] = pmg.plot_thermostat(idata({"mu": MU, "x": X}, **stats), dims={"x": 3})
    np.testing.assert_allclose(band(ax), temperature_band(3, 0.9))
    [ax, _] = pmg.plot_thermostat(idata(degrees_of_freedom=7, **stats))
    np.testing.assert_allclose(band(ax), temperature_band(7, 0.9))


def test_bands_are_narrower_for_draws_of_many_transitions():
    stats = {"kinetic_temperature": 1.0, "step_size": 0.01, "friction": 5.0, "n_steps": 200}
    [ax, *_] = pmg.plot_thermostat(idata({"x": X}, **stats))
    expected = temperature_band(3, 0.9, n_steps=200, step_size=0.01, friction=5.0)
    np.testing.assert_allclose(band(ax), expected)
    assert np.ptp(expected) < 0.5 * np.ptp(temperature_band(3, 0.9))


def test_limits_of_the_band():
    single = temperature_band(4, 0.9)
    np.testing.assert_allclose(temperature_band(4, 0.9, n_steps=9, step_size=1, friction=0), single)
    many = temperature_band(4, 0.9, n_steps=9, step_size=1, friction=100)
    np.testing.assert_allclose(many, temperature_band(36, 0.9))


def test_band_holds_the_mean_of_a_free_particle():
    """Its velocities follow an Ornstein-Uhlenbeck process, for which the variance is exact."""
    friction, step_size, n_steps, dim = 2.0, 0.05, 40, 3
    decay = np.exp(-friction * step_size)
    rng = np.random.default_rng(2)
    v = rng.normal(size=(20_000, dim))
    total = np.zeros(len(v))
    for _ in range(n_steps):
        v = decay * v + np.sqrt(1 - decay**2) * rng.normal(size=v.shape)
        total += (v**2).mean(axis=1)
    options = {"n_steps": n_steps, "step_size": step_size, "friction": friction}
    low, high = temperature_band(dim, 0.9, **options)
    inside = np.mean((total / n_steps > low) & (total / n_steps < high))
    assert inside == pytest.approx(0.9, abs=0.02)


@pytest.fixture(scope="module")
def sampled():
    rng = np.random.default_rng(1)
    with pm.Model():
        mu = pmg.SphericalUniform("mu", shape=3)
        theta = pm.Normal("theta", shape=4)
        batch = pm.Minibatch(rng.normal(size=(200, 4)), batch_size=20)
        pm.Normal("y", theta + mu[0], observed=batch, total_size=200)
        step = pmg.gSGNHT(step_size=0.01, diffusion=20.0, n_steps=10)
        return pm.sample(
            300,
            tune=300,
            chains=2,
            cores=1,
            step=step,
            random_seed=1,
            progressbar=False,
            quiet=True,
            compute_convergence_checks=False,
            discard_tuned_samples=False,
        )


def test_draws_of_a_step_lie_in_their_bands(sampled):
    stats = sampled.sample_stats.to_dataset()
    freedom = _degrees_of_freedom(sampled, stats, {})
    assert freedom == {
        "kinetic_temperature_mu": 2,
        "kinetic_temperature_theta": 4,
        "kinetic_temperature": 6,
    }
    for name, dim in freedom.items():
        averaging = _averaging(stats, name)
        assert averaging["n_steps"] == 10
        low, high = temperature_band(dim, 0.9, **averaging)
        inside = ((stats[name] > low) & (stats[name] < high)).mean()
        assert inside == pytest.approx(0.9, abs=0.07)
    axes = pmg.plot_thermostat(sampled)
    assert len(axes) == 5
    assert len(pmg.plot_thermostat(sampled, group="warmup_sample_stats")) == 5


def test_draws_of_other_samplers_are_refused():
    with pytest.raises(ValueError, match=r"expected `kinetic_temperature`.*got \['lp'\]"):
        pmg.plot_thermostat(idata(lp=0.0))


def test_draws_into_given_axes():
    _, axes = plt.subplots(3, 1)
    draws = idata({"x": X}, kinetic_temperature=1.0, friction=2.0, step_size=0.1)
    assert list(pmg.plot_thermostat(draws, axes=axes)) == list(axes)
    with pytest.raises(ValueError, match="`axes` expected 3, one per panel, got 2"):
        pmg.plot_thermostat(draws, axes=axes[:2])
