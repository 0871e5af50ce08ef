#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Ratings of films by Bayesian matrix factorisation.

A rating is the sum of a viewer's mean, a film's mean, and the product of ten latent tastes of the
viewer and ten latent traits of the film. Each viewer has rated only a few of the films. The spread
of all tastes is learned at the same time and regularises viewers with few ratings. Batches of 400
ratings involve a few hundred of 100,000 numbers, so their gradients are mostly noise. SGNHT's
thermostat absorbs this noise on average. Viewers with many ratings have noisier gradients
and are too hot. This widens their draws but hardly changes the means on which predictions depend.
This is the experiment of Ding et al. (2014), section 5.3.

The ratings are those of MovieLens 1M (Harper and Konstan, 2015), from the given path or from
``ml-1m/ml-1m.npz`` in the folder named by the environment variable PYMC_GEODESIC_DATA. Without
them, as in the gallery's plot, 20,000 ratings are generated from such a model. MovieLens does not
permit redistribution of its data.

Conclusion: an average over draws predicts better than a single draw. Trust the means; the widths of
often rated films are too large, as explained above.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pymc as pm
import pytensor
import xarray as xr

from matplotlib.figure import Figure
from shared import data_file, main, single_precision, without_box

import pymc_geodesic as pmg

N_FACTORS, BATCH_SIZE = 10, 400
# Spread of a rating around its mean, prior spread of viewers and films, and their start.
SIGMA, SCALE, START = 0.85, 0.5, 0.4
# The thermostat's settings of the paper: a learning rate of 8e-7 for 900,000 ratings, and injected
# noise.
LEARNING_RATE, INJECTED = 8e-7 * 900_000, 0.01
DRAWS, TUNE, N_STEPS = 400, 100, 200


class Ratings(NamedTuple):
    """Viewers, films and ratings in stars from 1 to 5."""

    user: np.ndarray
    item: np.ndarray
    stars: np.ndarray

    def part(self, chosen: np.ndarray) -> Ratings:
        """Keep some of the ratings."""
        return Ratings(*(array[chosen] for array in self))


def load_ratings(path: str | Path | None = None) -> tuple[Ratings, Ratings]:
    """Load training and test ratings, or generate them if MovieLens is not available."""
    file = data_file("ml-1m", "ml-1m.npz", path=path)
    if file is None:
        return generate_ratings()
    with np.load(file) as z:
        stars = z["rating"].astype(np.float32)
        ratings = Ratings(z["user"].astype(np.int32) - 1, z["item"].astype(np.int32), stars)
        # The split of Salakhutdinov and Mnih's own program: nine tenths for training.
        return ratings.part(z["bpmf_split"] == 0), ratings.part(z["bpmf_split"] == 1)


def generate_ratings(
    n_users: int = 400, n_items: int = 200, n_ratings: int = 20_000, seed: int = 1
) -> tuple[Ratings, Ratings]:
    """Draw ratings from two tastes and two traits, nine tenths of them for training."""
    rng = np.random.default_rng(seed)
    popularity = np.tile(1 / np.arange(10, n_items + 10), n_users)
    share = popularity / popularity.sum()
    pair = rng.choice(n_users * n_items, n_ratings, replace=False, p=share)
    user, item = pair // n_items, pair % n_items
    tastes, traits = rng.standard_normal((n_users, 2)), rng.standard_normal((n_items, 2))
    means = 0.4 * rng.standard_normal(n_users)[user] + 0.5 * rng.standard_normal(n_items)[item]
    stars = 3.5 + means + 0.6 * (tastes[user] * traits[item]).sum(axis=1)
    stars = np.clip(np.round(stars + 0.5 * rng.standard_normal(n_ratings)), 1, 5)
    ratings = Ratings(user.astype(np.int32), item.astype(np.int32), stars.astype(np.float32))
    is_test = np.arange(n_ratings) % 10 == 0
    return ratings.part(~is_test), ratings.part(is_test)


def build_model(ratings: Ratings, *, seed: int = 1) -> pm.Model:
    """Write the factorisation; `seed` determines the initial tastes and traits."""
    rng = np.random.default_rng(seed)
    n_users, n_items = ratings.user.max() + 1, ratings.item.max() + 1

    def spread(name: str, *shape: int):
        # A scale that does not fit the values whose spread it is would oscillate wildly.
        scale = pm.HalfNormal(f"{name}_scale", SCALE, initval=START)
        start = START * rng.standard_normal(shape).astype(pytensor.config.floatX)
        return pm.Normal(name, 0, scale, shape=shape, initval=start)

    with pm.Model() as model:
        user, item, stars = pm.Minibatch(*ratings, batch_size=BATCH_SIZE)
        mean = ratings.stars.mean() + spread("viewer", n_users)[user]
        mean = mean + spread("film", n_items)[item]
        tastes = spread("tastes", n_users, N_FACTORS)
        traits = spread("traits", n_items, N_FACTORS)
        mean = mean + (tastes[user] * traits[item]).sum(axis=1)
        pm.Normal("stars", mean, SIGMA, observed=stars, total_size=len(ratings.stars))
    return model


def run(quick: bool = False, path: str | Path | None = None) -> xr.DataTree:
    """Sample tastes and traits; `quick` makes a short run for tests."""
    draws, tune = (20, 20) if quick else (DRAWS, TUNE)
    ratings, _ = load_ratings(path)
    with single_precision(), build_model(ratings):
        step = pmg.SGNHT.from_learning_rate(
            LEARNING_RATE / len(ratings.stars), INJECTED, n_steps=N_STEPS
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


def averages(idata: xr.DataTree, pairs: Ratings, mean: float) -> Iterator[np.ndarray]:
    """Average the predictions of increasingly many draws, clipped to 1 to 5 stars.

    Parameters
    ----------
    idata : DataTree
        Draws of tastes and traits.
    pairs : Ratings
        Whose rating of what to predict.
    mean : float
        Mean of the ratings that were learned from.

    Yields
    ------
    ndarray of shape (n_pairs,)
        The average over the first draw, the first two, and so on.
    """
    posterior = idata.posterior.to_dataset().stack(sample=("chain", "draw"))
    names, total = ("viewer", "film", "tastes", "traits"), 0.0
    for n in range(posterior.sizes["sample"]):
        viewer, film, tastes, traits = (posterior[name][..., n].values for name in names)
        product = np.einsum("ij,ij->i", tastes[pairs.user], traits[pairs.item])
        total = total + np.clip(mean + viewer[pairs.user] + film[pairs.item] + product, 1, 5)
        yield total / (n + 1)


def rmse(predicted: np.ndarray, stars: np.ndarray) -> float:
    """Compute the root mean squared error in stars."""
    return float(np.sqrt(np.mean((predicted - stars) ** 2)))


def plot(idata: xr.DataTree, path: str | Path | None = None) -> Figure:
    """Plot the error over the number of draws, and the predictions for each number of stars."""
    ratings, test = load_ratings(path)
    predictions = list(averages(idata, test, ratings.stars.mean()))
    errors = [rmse(average, test.stars) for average in predictions]
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    left.plot(np.arange(1, len(errors) + 1), errors, color="#0072B2", linewidth=2)
    left.set(xlabel="draws averaged", ylabel="error of a test rating, stars", xscale="log")
    stars = range(1, 6)
    groups = [predictions[-1][test.stars == value] for value in stars]
    boxes = right.boxplot(groups, positions=stars, whis=(5, 95), showfliers=False, widths=0.6)
    plt.setp(boxes["medians"], color="#D55E00", linewidth=2)
    right.plot([1, 5], [1, 5], color="0.7", zorder=0)
    right.set(xlabel="stars given", ylabel="stars predicted", ylim=(0.8, 5.2))
    without_box(left, right)
    return figure


def report(idata: xr.DataTree, path: str | Path | None = None) -> str:
    """Print the error of the predictions for test ratings."""
    ratings, test = load_ratings(path)
    first, *_, last = averages(idata, test, ratings.stars.mean())
    constant = np.full(len(test.stars), ratings.stars.mean())
    return (
        f"error of {len(test.stars):,} test ratings in stars: {rmse(constant, test.stars):.4f} by "
        f"the mean, {rmse(first, test.stars):.4f} by one draw, {rmse(last, test.stars):.4f} by all"
    )


if __name__ == "__main__":
    main(__doc__, run=run, plot=plot, report=report, takes_path=True)
