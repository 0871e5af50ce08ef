#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A Bayesian neural network that reads digits.

The network has one hidden layer of 100 sigmoid units and a softmax layer, standard normal priors on
all of its 79,510 weights, and batches of 20 images. Stochastic gradients of so few images are
noisy. The noise is unknown and changes during the run; the thermostat of SGNHT absorbs it. Digits
are classified by the average of the networks drawn, and the spread between the networks shows which
digits are doubtful. This is the experiment of Ding et al. (2014), section 5.2.

The images are those of MNIST, from the given path or from ``mnist/mnist.npz`` in the folder named
by the environment variable PYMC_GEODESIC_DATA. Without them the example uses the 1,797 small digits
that come with scikit-learn.

Conclusion: the average of the networks is wrong less often than a single one, and it is uncertain
where the digits are ambiguous.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import xarray as xr

from matplotlib.figure import Figure
from pymc.pytensorf import intX
from scipy.special import expit, softmax
from shared import data_file, main, single_precision, without_box

import pymc_geodesic as pmg

HIDDEN, CLASSES, BATCH_SIZE = 100, 10, 20
# The thermostat's settings of the paper: a learning rate of 2e-7 for 60,000 images, and injected
# noise.
LEARNING_RATE, INJECTED = 2e-7 * 60_000, 0.01
DRAWS, TUNE, N_STEPS = 400, 100, 100


class Digits(NamedTuple):
    """Images as rows of bytes, and the digits they show."""

    images: np.ndarray
    labels: np.ndarray
    test_images: np.ndarray
    test_labels: np.ndarray


def load_digits(path: str | Path | None = None) -> Digits:
    """Load MNIST; without it, 1,500 small digits for training and 297 for testing."""
    file = data_file("mnist", "mnist.npz", path=path)
    if file is None:
        # Only the substitute data needs scikit-learn, which is no dependency of the package.
        from sklearn.datasets import load_digits as small_digits

        images, labels = small_digits(return_X_y=True)
        images, labels = (images * (255 / 16)).astype(np.uint8), labels
        return Digits(images[:1500], labels[:1500], images[1500:], labels[1500:])
    with np.load(file) as z:
        images, test = (z[name].reshape(len(z[name]), -1) for name in ("x_train", "x_test"))
        return Digits(images, z["y_train"], test, z["y_test"])


def build_model(digits: Digits, *, prior_sd: float = 1.0, seed: int = 1) -> pm.Model:
    """Write the network; `seed` determines the initial weights."""
    rng, pixels = np.random.default_rng(seed), digits.images.shape[1]

    def weights(name: str, *shape: int):
        start = 0.1 * rng.standard_normal(shape).astype(pytensor.config.floatX)
        return pm.Normal(name, 0, prior_sd, shape=shape, initval=start)

    with pm.Model() as model:
        x, y = pm.Minibatch(digits.images, intX(digits.labels), batch_size=BATCH_SIZE)
        x = x.astype(pytensor.config.floatX) / 255
        hidden = pt.sigmoid(x @ weights("w1", pixels, HIDDEN) + weights("b1", HIDDEN))
        logit = hidden @ weights("w2", HIDDEN, CLASSES) + weights("b2", CLASSES)
        pm.Categorical("digit", logit_p=logit, observed=y, total_size=len(digits.labels))
    return model


def run(quick: bool = False, path: str | Path | None = None) -> xr.DataTree:
    """Sample the networks; `quick` makes a short run for tests."""
    draws, tune = (20, 10) if quick else (DRAWS, TUNE)
    digits = load_digits(path)
    # Half the memory and half the time: the sampler's noise far exceeds rounding errors.
    with single_precision(), build_model(digits):
        step = pmg.SGNHT.from_learning_rate(
            LEARNING_RATE / len(digits.labels), INJECTED, n_steps=N_STEPS
        )
        return pm.sample(
            draws,
            tune=tune,
            chains=1,
            step=step,
            random_seed=20261121,
            progressbar=False,
            compute_convergence_checks=False,
        )


def averages(idata: xr.DataTree, images: np.ndarray, every: int = 1) -> Iterator[np.ndarray]:
    """Average the probabilities of the digits over increasingly many networks.

    Parameters
    ----------
    idata : DataTree
        Draws of the weights.
    images : ndarray of uint8, shape (n_images, n_pixels)
        What to read.
    every : int
        Use one draw in so many.

    Yields
    ------
    ndarray of shape (n_images, 10)
        The average over the first network, the first two, and so on.
    """
    posterior = idata.posterior.to_dataset().stack(sample=("chain", "draw"))
    x, total = images.astype(np.float32) / 255, 0.0
    for n, i in enumerate(range(0, posterior.sizes["sample"], every), start=1):
        w1, b1, w2, b2 = (posterior[name][..., i].values for name in ("w1", "b1", "w2", "b2"))
        total = total + softmax(expit(x @ w1 + b1) @ w2 + b2, axis=1)
        yield total / n


def error(probabilities: np.ndarray, labels: np.ndarray) -> float:
    """Compute the share of the digits whose most probable class is wrong."""
    return float(np.mean(probabilities.argmax(axis=1) != labels))


def plot(idata: xr.DataTree, path: str | Path | None = None) -> Figure:
    """Plot the error over the number of networks, and the eight most doubtful test digits."""
    digits = load_digits(path)
    readings = list(
        averages(idata, digits.test_images, every=max(1, idata.posterior.sizes["draw"] // 50))
    )
    figure = plt.figure(figsize=(9, 4), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=[1, 1.1])
    ax = left.subplots()
    errors = [100 * error(average, digits.test_labels) for average in readings]
    ax.plot(np.arange(1, len(errors) + 1), errors, color="#0072B2", linewidth=2)
    ax.set(xlabel="networks averaged", ylabel="wrong test digits, per cent", ylim=(0, None))
    without_box(ax)
    doubtful = np.argsort(readings[-1].max(axis=1))[:8]
    side = round(digits.test_images.shape[1] ** 0.5)
    for ax, i in zip(right.subplots(2, 4).ravel(), doubtful, strict=True):
        ax.imshow(digits.test_images[i].reshape(side, side), cmap="gray_r")
        first, second = np.argsort(-readings[-1][i])[:2]
        p = readings[-1][i]
        ax.set_title(f"{first}: {p[first]:.0%}\n{second}: {p[second]:.0%}", fontsize=11)
        ax.set_axis_off()
    return figure


def report(idata: xr.DataTree, path: str | Path | None = None) -> str:
    """Print how many test digits are wrong."""
    digits = load_digits(path)
    *_, average = averages(idata, digits.test_images, every=2)
    return (
        f"{error(average, digits.test_labels):.2%} of {len(average):,} test digits wrong; "
        f"kinetic temperature {idata.sample_stats['kinetic_temperature'].mean().item():.3f} "
        "(expected 1)"
    )


if __name__ == "__main__":
    main(__doc__, run=run, plot=plot, report=report, takes_path=True)
