#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Summaries of unit vectors do not depend on the axes; all others are those of ArviZ."""

import arviz as az
import numpy as np
import pytest
import xarray as xr

from scipy.stats import ortho_group, vonmises_fisher

import pymc_geodesic as pmg

from pymc_geodesic.diagnostics import (
    angular_sd,
    mean_direction,
    mean_resultant_length,
    principal_axes,
)
from pymc_geodesic.run_record import ATTRIBUTE, write_record

CHAINS, DRAWS = 4, 250
RNG = np.random.default_rng(7)
X = vonmises_fisher([0.0, 0.6, 0.8], 20.0, seed=1).rvs(CHAINS * DRAWS).reshape(CHAINS, DRAWS, 3)
P = RNG.dirichlet([1.0, 2.0, 3.0], size=(CHAINS, DRAWS))
T = RNG.normal(size=(CHAINS, DRAWS, 2))


def draws(**posterior):
    return az.from_dict({"posterior": posterior})


def exact(idata, **options):
    return pmg.summary(idata, round_to="none", **options)


def test_directions_that_a_run_has_recorded_are_directions_whatever_their_entries():
    one_hot = np.eye(3)[RNG.choice(3, p=[0.8, 0.1, 0.1], size=(CHAINS, DRAWS))]
    idata = draws(x=one_hot)
    assert "resultant_length" not in exact(idata)
    record = write_record("gSGNHT", {}, {"x": "Sphere"})
    idata["sample_stats"] = xr.DataTree(xr.Dataset(attrs={ATTRIBUTE: record}))
    assert np.linalg.norm(exact(idata)["mean"]) == pytest.approx(1.0)


def test_other_variables_are_as_arviz_has_them():
    idata = draws(p=P, t=T)
    expected = az.summary(idata, round_to="none")
    found = exact(idata)
    assert list(found.index) == list(expected.index)
    assert list(found.columns) == list(expected.columns)
    np.testing.assert_array_equal(found.to_numpy(), expected.to_numpy())


def test_entries_have_their_labels_whatever_the_order_of_common_dims():
    """ArviZ labels the entries of a variable in its own order, and takes them in that of others."""
    values = RNG.normal(size=(CHAINS, DRAWS, 4, 2)) + np.arange(8.0).reshape(4, 2)
    towards, home = values[:, :, 0], X[:, :, None] * np.array([1.0, -1.0])[:, None]
    idata = az.from_dict(
        {"posterior": {"towards": towards, "pole": X, "plain": values, "home": home}},
        dims={"towards": ["b"], "pole": ["xyz"], "plain": ["a", "b"], "home": ["b", "xyz"]},
        coords={"a": list("pqrs"), "b": ["i", "j"], "xyz": list("xyz")},
    )
    together = exact(idata)
    for name in ("towards", "pole", "plain", "home"):
        alone = exact(idata, var_names=[name])
        rows = together.loc[list(alone.index), alone.columns]
        np.testing.assert_array_equal(rows.to_numpy(float), alone.to_numpy(float))
    np.testing.assert_allclose(together["mean"]["plain[r, j]"], 5.0, atol=0.2)
    np.testing.assert_allclose(together["mean"]["home[j, z]"], -together["mean"]["home[i, z]"])


def test_directions_have_their_statistics():
    found = exact(draws(x=X, t=T))
    flat = X.reshape(-1, 3)
    rows = ["x[0]", "x[1]", "x[2]"]
    np.testing.assert_allclose(found.loc[rows, "mean"], mean_direction(flat), rtol=1e-13)
    np.testing.assert_allclose(found.loc[rows, "resultant_length"], mean_resultant_length(flat))
    np.testing.assert_allclose(found.loc[rows, "angular_sd"], angular_sd(flat))
    assert found.loc["t[0]", ["resultant_length", "angular_sd"]].isna().all()
    assert list(found.columns[:6]) == [
        *("mean", "sd", "eti89_lb", "eti89_ub", "resultant_length", "angular_sd")
    ]


def test_every_point_has_its_own():
    both = np.stack([X, -X[:, ::-1]], axis=2)
    found = exact(draws(x=both))
    alone = exact(draws(x=X))
    rows = [f"x[0, {i}]" for i in range(3)]
    np.testing.assert_allclose(found.loc[rows].to_numpy(), alone.to_numpy(), rtol=1e-12)


@pytest.mark.parametrize("seed", [1, 2])
def test_convergence_does_not_depend_on_the_axes(seed):
    """Up to the choice of frame within the tangent plane, which is free."""
    rotation = ortho_group.rvs(3, random_state=seed)
    a, b = exact(draws(x=X)), exact(draws(x=X @ rotation.T))
    for column in ("resultant_length", "angular_sd"):
        np.testing.assert_allclose(a[column], b[column], rtol=1e-12)
    assert abs(a["r_hat"] - b["r_hat"].to_numpy()).max() < 0.01
    for column in ("ess_bulk", "ess_tail", "r_hat"):
        assert a[column].nunique() == 1


def test_chains_that_differ_in_spread_only_are_seen():
    # The coordinate along the mean direction is all that tells, and no coordinate of the axes is.
    wide = vonmises_fisher([0.0, 0.6, 0.8], 5.0, seed=2).rvs(DRAWS)
    x = X.copy()
    x[0] = wide
    assert exact(draws(x=X))["r_hat"].max() < 1.02
    assert exact(draws(x=x))["r_hat"].max() > 1.05


def test_the_seam_of_angles_does_no_harm():
    angle = np.pi + 0.1 * RNG.normal(size=(CHAINS, DRAWS))
    x = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    found = exact(draws(x=x))
    np.testing.assert_allclose(found["mean"], [-1, 0], atol=0.01)
    np.testing.assert_allclose(found["angular_sd"], 0.1, rtol=0.1)
    assert found["r_hat"].max() < 1.02


def test_standard_error_of_the_mean_direction():
    """Over many sets of draws it is the standard deviation of the mean direction."""
    law = vonmises_fisher([0.0, 0.6, 0.8], 3.0, seed=3)
    sets = law.rvs(200 * 400).reshape(200, 4, 100, 3)
    means = np.array([mean_direction(x.reshape(-1, 3)) for x in sets])
    expected = means.std(axis=0, ddof=1)
    found = np.mean([exact(draws(x=x), kind="diagnostics")["mcse_mean"] for x in sets[:20]], axis=0)
    # A standard deviation from 200 numbers has an error of 5 per cent.
    np.testing.assert_allclose(found, expected, rtol=0.2)


def test_parts_can_be_chosen():
    both = np.stack([X, -X], axis=2)
    idata = draws(x=both, t=T)
    found = exact(idata, var_names="x", coords={"x_dim_0": [1]})
    assert list(found.index) == ["x[1, 0]", "x[1, 1]", "x[1, 2]"]
    assert list(exact(idata, var_names="t").columns) == list(az.summary(idata).columns)
    found = exact(idata, kind="diagnostics")
    assert list(found.columns) == ["ess_bulk", "ess_tail", "r_hat", "mcse_mean", "mcse_sd"]
    found = exact(idata, kind="stats", ci_kind="hdi", ci_prob=0.5)
    assert list(found.columns[2:]) == ["hdi50_lb", "hdi50_ub", "resultant_length", "angular_sd"]


def test_what_is_a_direction_can_be_said():
    idata = draws(x=X)
    assert "angular_sd" not in exact(idata, directions=[])
    np.testing.assert_array_equal(exact(idata, directions=[]), az.summary(idata, round_to="none"))


def test_numbers_are_rounded():
    found = pmg.summary(draws(x=X), round_to=2)
    assert found["ess_bulk"].dtype.kind == "i"
    np.testing.assert_array_equal(found["mean"], found["mean"].round(2))


def test_narrow_posteriors_keep_their_digits():
    """Three of the standard deviation and two of its errors; rounding of a constant has none."""
    rng = np.random.default_rng(1)
    x = np.stack([0.4 + 0.00123 * rng.normal(size=(4, 500)), 4e6 + 1e4 * rng.normal(size=(4, 500))])
    noise = 1 + 1e-16 * rng.integers(0, 3, size=(4, 500))
    idata = draws(x=np.moveaxis([*x, noise, np.zeros((4, 500))], 0, -1))
    found, unrounded = pmg.summary(idata), exact(idata)
    narrow, wide, constant, zero = (found.loc[f"x[{i}]"] for i in range(4))
    for column, digits in {"sd": 3, "mcse_mean": 2, "mcse_sd": 2}.items():
        assert narrow[column] == float(f"{unrounded.loc['x[0]', column]:.{digits}g}")
    assert narrow["mean"] == round(unrounded.loc["x[0]", "mean"], 5)
    assert narrow["eti89_lb"] == round(unrounded.loc["x[0]", "eti89_lb"], 5)
    assert wide["mean"] == round(unrounded.loc["x[1]", "mean"])
    for one, mean in ((constant, 1.0), (zero, 0.0)):
        assert one["mean"] == mean
        assert one["sd"] == 0.0
    assert found["mean"].dtype.kind == "f"
    columns = ["mcse_mean", "mcse_sd"]
    narrow_errors = pmg.summary(idata, kind="diagnostics").loc["x[0]", columns]
    np.testing.assert_array_equal(narrow_errors, narrow[columns])


def antipodal(share, seed=1, n=3):
    rng = np.random.default_rng(seed)
    x = np.eye(n)[0] * 8 + rng.normal(size=(CHAINS, DRAWS, n))
    x *= np.where(rng.random((CHAINS, DRAWS, 1)) < share, 1, -1)
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def girdle(seed=1):
    x = np.random.default_rng(seed).normal(size=(CHAINS, DRAWS, 3)) * [1, 1, 0.05]
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("make", [lambda seed: antipodal(0.5, seed), girdle])
def test_draws_without_a_mean_direction_get_none(make, seed):
    with pytest.warns(UserWarning, match=r"`x` has no mean direction.*`axial=True`"):
        found = exact(draws(x=make(seed)))
    assert found[["mean", "angular_sd", "mcse_mean"]].isna().all(axis=None)
    assert found["resultant_length"].max() < 0.1
    # Whether chains agree is known all the same.
    assert found["r_hat"].max() < 1.05


def test_the_vector_without_a_mean_is_named():
    both = np.stack([X, girdle(), X, girdle(2)], axis=2)
    with pytest.warns(UserWarning, match=r"`x\[1\]` has no.*other vectors of the variable \(1\)"):
        found = exact(draws(x=both))
    assert found["mean"].isna().to_list() == [False] * 3 + [True] * 3 + [False] * 3 + [True] * 3


def test_two_ends_of_an_axis_are_named():
    with pytest.warns(UserWarning, match=r"`x` lies at both ends of an axis.*two modes"):
        found = exact(draws(x=antipodal(0.7)))
    assert found["mean"].notna().all()


@pytest.mark.parametrize("n", [2, 3, 10])
@pytest.mark.parametrize("kappa", [0.7, 3.0, 1e4])
@pytest.mark.parametrize("seed", range(5))
def test_wide_directions_with_a_mean_are_no_reason_to_warn(n, kappa, seed):
    """Of 1,000 draws as wide as these the mean has a standard error of a tenth of a radian."""
    mean = np.eye(n)[0]
    x = vonmises_fisher(mean, kappa * max(n / 3, 1), seed=seed).rvs(CHAINS * DRAWS)
    found = exact(draws(x=x.reshape(CHAINS, DRAWS, n)))
    assert found["mean"].to_numpy() @ mean > 0.9


@pytest.mark.parametrize("share", [0.5, 0.7, 1.0])
def test_axes_do_not_depend_on_signs(share):
    x = antipodal(share)
    found, one_sided = (
        exact(draws(x=x), axial=True),
        exact(draws(x=np.abs(x[..., :1]) / x[..., :1] * x)),
    )
    assert "resultant_length" not in found
    np.testing.assert_allclose(found["mean"], one_sided["mean"], atol=2e-3)
    np.testing.assert_allclose(found["mcse_mean"], one_sided["mcse_mean"], rtol=0.1, atol=1e-4)
    np.testing.assert_allclose(found["angular_sd"], one_sided["angular_sd"], rtol=0.02)
    np.testing.assert_allclose(found["axis_share"], np.mean(x[..., 0] ** 2), atol=1e-4)
    assert found["r_hat"].max() < 1.02


def test_chains_about_other_axes_are_seen():
    x = antipodal(0.5)
    x[0] = x[0] @ [[np.cos(0.2), np.sin(0.2), 0], [-np.sin(0.2), np.cos(0.2), 0], [0, 0, 1]]
    assert exact(draws(x=x), axial=True)["r_hat"].max() > 1.05


def test_standard_error_of_the_axis():
    """Over many sets of draws it is the standard deviation of the axis."""
    sets = [antipodal(0.5, seed)[:, :100] for seed in range(200)]
    axes = np.array([principal_axes(x.reshape(-1, 3))[1][0] for x in sets])
    expected = axes.std(axis=0, ddof=1)[1:]
    found = np.mean([exact(draws(x=x), axial=True)["mcse_mean"] for x in sets[:20]], axis=0)[1:]
    np.testing.assert_allclose(found, expected, rtol=0.2)


def test_a_girdle_has_a_normal_and_no_principal_axis():
    with pytest.warns(UserWarning, match=r"`x` has no principal axis.*principal_axes"):
        found = exact(draws(x=girdle()), axial=True)
    assert found["mean"].isna().all()
    shares, axes = principal_axes(girdle().reshape(-1, 3))
    np.testing.assert_allclose(np.abs(axes[-1]), [0, 0, 1], atol=0.01)
    np.testing.assert_allclose(shares, [0.5, 0.5, 0], atol=0.05)


@pytest.mark.parametrize(
    ("argument", "array", "message"),
    [
        ("directions", 2 * X, r"`directions` expected unit vectors, got 'x' with a length of 2"),
        ("directions", P, "Leave it out"),
        ("compositions", X, "`compositions` expected probability vectors, got 'x'"),
        ("directions", np.where(X > 0.99, np.nan, X), "length of nan"),
    ],
)
def test_what_is_said_of_a_variable_is_checked(argument, array, message):
    with pytest.raises(ValueError, match=message):
        pmg.summary(draws(x=array), **{argument: ["x"]})


def test_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="'all', 'stats', 'diagnostics', got 'median'"):
        pmg.summary(draws(x=X), kind="median")


def test_the_sign_of_an_axis_does_not_widen_its_entries():
    rng = np.random.default_rng(5)
    x = rng.normal([0.6, 0.8, 0.0], 0.05, (4, 250, 3))
    x /= np.linalg.norm(x, axis=-1, keepdims=True)
    one_side = exact(draws(x=x), axial=True)
    both = exact(draws(x=x * rng.choice([-1.0, 1.0], (4, 250, 1))), axial=True)
    assert both["sd"].max() < 0.06
    both[["mean", *both.filter(like="eti")]] *= np.sign(both["mean"].iloc[0])
    columns = ["mean", "sd", "angular_sd", "r_hat", "ess_bulk"]
    np.testing.assert_allclose(both[columns], one_side[columns], rtol=1e-6, atol=1e-9)
