#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The examples that take data which is not shipped run on their stand-ins."""

import numpy as np
import pytest

import pymc_geodesic as pmg

pytestmark = [
    # Short runs are not settled, and say so.
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]


def test_data_file_prefers_the_path_and_then_the_folder(
    load_example, tmp_path, monkeypatch, capsys
):
    shared = load_example("shared")
    file = tmp_path / "set" / "set.npz"
    assert shared.data_file("set", "set.npz") is None
    assert "substitute" in capsys.readouterr().out
    monkeypatch.setenv("PYMC_GEODESIC_DATA", str(tmp_path))
    assert shared.data_file("set", "set.npz") is None
    file.parent.mkdir()
    file.write_bytes(b"")
    assert shared.data_file("set", "set.npz") == file
    with pytest.raises(FileNotFoundError, match="expected a file"):
        shared.data_file("set", "set.npz", path=tmp_path / "other.npz")
    assert shared.data_file("other", "other.npz", path=file) == file


def test_package_file_is_found_without_an_import(load_example, capsys):
    shared = load_example("shared")
    assert shared.package_file("numpy", "numpy/__init__.py").is_file()
    assert shared.package_file("numpy", "no/such.csv") is None
    assert shared.package_file("no-such-package", "data.csv") is None
    assert "no-such-package" in capsys.readouterr().out


@pytest.fixture
def without_packages(load_example, monkeypatch):
    """Take the substitutes, whatever is installed."""

    def load(name):
        example = load_example(name)
        monkeypatch.setattr(example, "package_file", lambda package, name: None)
        return example

    return load


@pytest.mark.slow
def test_termite_mounds(without_packages, check_picture):
    example = without_packages("termite_mounds")
    idata = example.run(quick=True)
    axes = idata.posterior["of_site"]
    np.testing.assert_allclose(np.linalg.norm(axes, axis=-1), 1, atol=1e-10)
    # The substitute's sites are around -4 degrees, by 4.5; each is known within about 1.5.
    mounds = example.make_data()
    double = np.exp(2j * np.deg2rad(mounds["degrees"])).groupby(mounds["site"]).mean()
    of_rows = np.degrees(np.angle(double)) / 2
    of_draws = (
        np.degrees(np.angle(np.exp(2j * np.arctan2(*np.moveaxis(axes.values, -1, 0))).mean((0, 1))))
        / 2
    )
    assert np.abs(of_draws - of_rows).max() < 4
    check_picture(example, idata)


def test_magnetic_poles(without_packages, check_picture):
    example = without_packages("magnetic_poles")
    idata = example.run(quick=True)
    fit = pmg.fit_watson(example.make_data())
    axes = idata.posterior["axis"].values.reshape(-1, 3)
    # The axis is known within about two degrees in each direction.
    mean = (axes * np.sign(axes @ fit.mu)[:, None]).mean(axis=0)
    assert np.degrees(np.arccos(mean @ fit.mu / np.linalg.norm(mean))) < 1.0
    assert abs(idata.posterior["kappa"].values.mean() - fit.kappa) < 0.5
    check_picture(example, idata)


def test_neural_network(load_example, check_picture):
    pytest.importorskip("sklearn")
    example = load_example("neural_network")
    digits = example.load_digits()
    idata = example.run(quick=True)
    assert idata.posterior["w1"].dtype == np.float32
    *_, average = example.averages(idata, digits.test_images)
    np.testing.assert_allclose(average.sum(axis=1), 1, atol=1e-5)
    # Guessing is wrong nine times in ten.
    assert example.error(average, digits.test_labels) < 0.25
    check_picture(example, idata)


def test_principal_components(load_example, check_picture):
    pytest.importorskip("sklearn")
    example = load_example("principal_components")
    idata = example.run(quick=True)
    loadings = idata.posterior["loadings"].values
    overlap = loadings.mT @ loadings - np.eye(5)
    assert np.abs(overlap).max() < 1e-12
    classical = example.principal_axes(example.make_data())
    # The plane of the first axes is known to a few degrees, whatever the axes within it.
    shares = np.linalg.svd(classical[:, :3].T @ loadings, compute_uv=False)
    assert shares.min() > 0.9
    check_picture(example, idata)


def test_wine_components(load_example, check_picture):
    pytest.importorskip("sklearn")
    example = load_example("wine_components")
    idata = example.run(quick=True)
    frames = example.aligned(idata)
    np.testing.assert_allclose(
        frames.mT @ frames, np.broadcast_to(np.eye(3), (100, 3, 3)), atol=1e-10
    )
    target = example.classical(example.make_data()[0])
    # Draws are about 9, 13 and 15 degrees from their mean, and it is at the target.
    inner = (example.mean_frame(frames) * target).sum(axis=0)
    assert np.degrees(np.arccos(inner)).max() < 15
    assert set(idata.posterior["loadings"].dims) >= {"measurement", "component"}
    check_picture(example, idata)


def test_neural_network_reads_a_file(load_example, tmp_path):
    example = load_example("neural_network")
    rng = np.random.default_rng(1)
    images = rng.integers(0, 256, size=(7, 28, 28), dtype=np.uint8)
    path = tmp_path / "digits.npz"
    labels = np.arange(7, dtype=np.uint8)
    np.savez(path, x_train=images, y_train=labels, x_test=images[:3], y_test=labels[:3])
    digits = example.load_digits(path)
    assert digits.images.shape == (7, 784)
    assert digits.test_images.shape == (3, 784)


def test_matrix_factorization(load_example, check_picture):
    example = load_example("matrix_factorization")
    train, test = example.load_ratings()
    pairs = [set(zip(part.user, part.item, strict=True)) for part in (train, test)]
    assert not pairs[0] & pairs[1]
    idata = example.run(quick=True)
    *_, average = example.averages(idata, test, train.stars.mean())
    constant = np.full(len(test.stars), train.stars.mean())
    error = example.rmse(average, test.stars)
    assert error < 0.9 * example.rmse(constant, test.stars)
    # No prediction beats the noise of the ratings, and the rounding to whole stars.
    assert error > 0.5
    check_picture(example, idata)


def test_spherical_topics(load_example, check_picture):
    example = load_example("spherical_topics")
    idata = example.run(quick=True)
    topics = idata.posterior["topics"]
    np.testing.assert_allclose(np.linalg.norm(topics, axis=-1), 1, atol=1e-10)
    mean = topics.mean(("chain", "draw"))
    # Every subject has a topic most of whose top words are its own.
    top = mean["word"].values[np.argsort(-mean.values, axis=1)[:, :10]]
    subjects = {word.partition("-")[0] for word in mean["word"].values}
    for subject in subjects:
        assert max(np.char.startswith(words, subject).sum() for words in top) >= 8
    check_picture(example, idata)
