#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr

import pymc_geodesic as pmg

ANGLES = np.deg2rad([3.0, 10.0])


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def draws_of(n_chains=3, n_draws=200, *, signs=False):
    """Frames of two columns, which turn out of their plane by angles of known deviations."""
    rng = np.random.default_rng(1)
    turns = rng.normal(size=(n_chains, n_draws, 2)) * ANGLES
    x = np.zeros((n_chains, n_draws, 4, 2))
    for k in range(2):
        x[..., k, k], x[..., k + 2, k] = np.cos(turns[..., k]), np.sin(turns[..., k])
    return x * rng.choice([-1.0, 1.0], size=(n_chains, n_draws, 1, 2)) if signs else x


def tree_of(x, **others):
    dims = ("chain", "draw", "row", "column")
    variables = {"x": xr.DataArray(x, dims=dims, coords={"row": list("abcd")})}
    variables |= {name: (("chain", "draw"), values) for name, values in others.items()}
    return xr.DataTree.from_dict({"posterior": xr.Dataset(variables)})


def medians(ax):
    [line] = [line for line in ax.lines if line.get_color() == "white"]
    return line.get_ydata()


def test_mean_and_angles():
    matrix, angles = pmg.plot_frames(tree_of(draws_of(), other=np.zeros((3, 200))))
    np.testing.assert_allclose(matrix.images[0].get_array(), np.eye(4, 2), atol=0.05)
    assert [label.get_text() for label in matrix.get_yticklabels()] == list("abcd")
    # Half of normal numbers are within .6745 deviations; 600 draws know this within a twentieth.
    np.testing.assert_allclose(medians(angles), 0.6745 * np.degrees(ANGLES), rtol=0.2)
    chains = np.array([line.get_ydata() for line in angles.lines if line.get_color() != "white"])
    assert chains.shape == (3, 2)
    assert np.all(chains < 0.3 * np.degrees(ANGLES))


def test_a_chain_elsewhere_is_far_from_the_mean():
    x = draws_of()
    x[0] = x[0] @ np.array([[0.8, -0.6], [0.6, 0.8]])
    _, angles = pmg.plot_frames(tree_of(x))
    chains = np.array([line.get_ydata() for line in angles.lines if line.get_color() != "white"])
    assert np.all(chains[0] > 20)


def test_signs_are_aligned_on_request():
    idata = tree_of(draws_of(signs=True))
    _, angles = pmg.plot_frames(idata, symmetry="signs")
    np.testing.assert_allclose(medians(angles), 0.6745 * np.degrees(ANGLES), rtol=0.2)
    with pytest.raises(ValueError, match="`symmetry` expected"):
        pmg.plot_frames(idata, symmetry="mirrors")


def test_axes_are_used_and_draws_may_be_equal():
    given = plt.subplots(1, 2)[1]
    x = np.broadcast_to(np.eye(4, 2), (2, 10, 4, 2))
    found = pmg.plot_frames(tree_of(x), axes=given)
    assert list(found) == list(given)
    given[0].figure.canvas.draw()


def test_what_is_not_one_frame_is_refused():
    with pytest.raises(ValueError, match="`var_names` expected one frame"):
        pmg.plot_frames(tree_of(draws_of(), other=np.zeros((3, 200))), var_names="other")
    several = np.stack([draws_of(), draws_of()], axis=2)
    dims = ("chain", "draw", "which", "row", "column")
    idata = xr.DataTree.from_dict({"posterior": xr.Dataset({"x": (dims, several)})})
    with pytest.raises(ValueError, match="Select one frame with `coords`"):
        pmg.plot_frames(idata)
    assert len(pmg.plot_frames(idata, coords={"which": 1})) == 2
