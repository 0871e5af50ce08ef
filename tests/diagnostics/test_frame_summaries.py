#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Frames in diagnostics: mean, alignment, summary, Stein checks, temperatures and `diagnose`."""

import arviz as az
import numpy as np
import pymc as pm
import pytest

from pytensor.compile.mode import Mode

import pymc_geodesic as pmg

from pymc_geodesic.diagnostics import align_frames, column_angles, mean_frame

F = np.array([[3.0, 0.0], [0.0, 1.5], [0.5, 0.0], [0.2, -1.0]])
G = np.array([[4.0, 1.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.5, -1.0]])
INTERPRETED = Mode(linker="py", optimizer=None)


def orthonormal(y):
    left, _, right = np.linalg.svd(y, full_matrices=False)
    return left @ right


def near(center, spread, size, seed=1):
    noise = np.random.default_rng(seed).normal(0, spread, (*size, *center.shape))
    return orthonormal(center + noise)


@pytest.fixture(scope="module")
def model():
    with pm.Model() as result:
        pmg.MatrixLangevin("x", F)
        pmg.MatrixFisher("r", G)
    return result


@pytest.fixture(scope="module")
def draws():
    """Independent draws at temperature one and at 1.5, which is F over 1.5."""

    def at(temperature):
        x = pm.draw(
            pmg.MatrixLangevin.dist(F / temperature, size=2000), random_seed=1, mode=INTERPRETED
        )
        r = pm.draw(
            pmg.MatrixFisher.dist(G / temperature, size=2000), random_seed=2, mode=INTERPRETED
        )
        groups = {"x": x.reshape(4, 500, 4, 2), "r": r.reshape(4, 500, 3, 3)}
        return az.from_dict({"posterior": groups})

    return {temperature: at(temperature) for temperature in (1.0, 1.5)}


def test_mean_frame_is_nearest_to_the_draws():
    center = orthonormal(np.random.default_rng(1).normal(size=(5, 2)))
    x = near(center, 0.2, (300,))
    mean = mean_frame(x)
    np.testing.assert_allclose(mean.T @ mean, np.eye(2), atol=1e-12)
    best = ((x - mean) ** 2).sum()
    others = near(mean, 0.01, (50,), seed=2)
    assert all(((x - other) ** 2).sum() > best for other in others)


def test_mean_rotation_is_a_rotation():
    x = pmg.quaternion_to_matrix(np.random.default_rng(3).normal(size=(20, 4)))
    assert np.linalg.det(mean_frame(orthonormal(x))) == pytest.approx(1)


def test_column_angles_of_a_turn():
    angle = 0.3
    turned = [[np.cos(angle), 0], [np.sin(angle), 0], [0, -1.0]]
    found = column_angles(turned, [[1, 0], [0, 0], [0, 1.0]])
    np.testing.assert_allclose(found, [angle, np.pi], atol=1e-12)


@pytest.mark.parametrize("symmetry", ["signs", "permutations", "rotations"])
def test_alignment_undoes_the_symmetry(symmetry):
    rng = np.random.default_rng(4)
    center = orthonormal(rng.normal(size=(6, 3)))
    x = near(center, 0.02, (2, 40))
    turns = orthonormal(rng.normal(size=(2, 40, 3, 3)))
    if symmetry != "rotations":
        order = [rng.permutation(3) if symmetry == "permutations" else range(3) for _ in range(80)]
        signs = rng.choice([-1.0, 1.0], (80, 1, 3))
        turns = np.array([np.eye(3)[list(o)] for o in order]) * signs
        turns = turns.reshape(2, 40, 3, 3)
    aligned = align_frames(x @ turns, symmetry=symmetry)
    assert np.ptp(aligned, axis=(0, 1)).max() < 0.2
    to_center = align_frames(x @ turns, center, symmetry=symmetry)
    assert np.abs(to_center - center).max() < 0.15
    np.testing.assert_allclose(aligned.mT @ aligned, (x @ turns).mT @ (x @ turns), atol=2)


def test_alignment_refuses_other_symmetries():
    with pytest.raises(ValueError, match="expected one of 'signs'"):
        align_frames(np.ones((2, 3, 1)), symmetry="any")
    with pytest.raises(ValueError, match="draws of matrices"):
        align_frames(np.ones((3, 1)))


def test_summary_of_frames():
    center = orthonormal(np.random.default_rng(5).normal(size=(5, 2)))
    idata = az.from_dict({"posterior": {"x": near(center, 0.1, (4, 250))}})
    found = pmg.summary(idata, round_to="none")
    mean = found["mean"].to_numpy(dtype=float).reshape(5, 2)
    np.testing.assert_allclose(mean.T @ mean, np.eye(2), atol=1e-12)
    error = found["mcse_mean"].to_numpy(dtype=float).reshape(5, 2)
    assert np.all(np.abs(mean - center) < 5 * error)
    assert found["angular_sd"].between(0.1, 0.3).all()
    assert found["r_hat"].nunique() == 1
    assert found["r_hat"].max() < 1.02


def test_summary_with_signs_aligned():
    center = orthonormal(np.random.default_rng(5).normal(size=(5, 2)))
    signs = np.array([[1, 1], [-1, 1], [1, -1], [1, 1.0]])[:, None, None, :]
    idata = az.from_dict({"posterior": {"x": near(center, 0.1, (4, 250)) * signs}})
    assert pmg.summary(idata)["r_hat"].max() > 1.5
    found = pmg.summary(idata, axial=True)
    assert found["r_hat"].max() < 1.02
    assert "axis_share" not in found


def test_draws_of_the_posterior_pass_and_hot_ones_fail(model, draws):
    check = pmg.stein_check(draws[1.0], model=model)
    assert check.passed, str(check)
    failed = pmg.stein_check(draws[1.5], model=model).failed.index
    assert {name[0] for name in failed} == {"x", "r"}


def test_kernel_stein_discrepancy(model, draws):
    for name in ("x", "r"):
        right, hot = (
            pmg.kernel_stein_discrepancy(
                draws[t], model=model, var_names=[name], max_draws=100, random_seed=1
            )
            for t in (1.0, 1.5)
        )
        assert right.p_value > 0.02
        assert hot.p_value < 0.01


def test_configurational_temperature(model, draws):
    for temperature in (1.0, 1.5):
        table = pmg.configurational_temperature(draws[temperature], model=model)
        for name in ("x", "r"):
            mean, mcse = table.loc[name, ["mean", "mcse"]]
            assert abs(mean - temperature) < 4 * mcse
            assert mcse < 0.1
