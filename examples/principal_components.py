#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Bayesian principal components: how well 1,797 digits determine five orthonormal loadings.

Probabilistic principal component analysis fits a normal distribution whose covariance has five long
axes. The axes are the columns of a matrix with orthonormal columns, a point of a Stiefel manifold.
No rotation has to be chosen, and no columns have to be normalised. The sampler moves the matrix
along geodesics. With so few images it reads all of them and applies a Metropolis test, so that the
draws are exact; ``build_model(batch_size=100)`` is the same model for minibatches. A mass gives
each pair of axes, and each axis, the width that its posterior has asymptotically. Axes are known up
to their signs and order, so draws are aligned before they are compared: without it R-hat means
nothing. The data are scikit-learn's digits of 8 x 8 pixels.

Conclusion: the last two axes are known within seven degrees and the first three only within twice
or three times as many, because their variances are similar, so that they rotate into each other.
Classical principal components hide that.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pymc as pm
import pytensor.tensor as pt
import xarray as xr

from arviz import rhat
from matplotlib.figure import Figure
from shared import main
from sklearn.datasets import load_digits

import pymc_geodesic as pmg

from pymc_geodesic.diagnostics import align_frames, column_angles, mean_frame

N_COMPONENTS, BATCH_SIZE = 5, 100
# Radians in which a rotation counts as free.
WIDEST = 0.25


def make_data() -> np.ndarray:
    """Return the images, one per row, minus their mean."""
    pixels = load_digits().data / 16
    return pixels - pixels.mean(axis=0)


def principal_axes(pictures: np.ndarray) -> np.ndarray:
    """Return the axes of classical principal component analysis, where the chains begin."""
    return np.linalg.svd(pictures, full_matrices=False)[2][:N_COMPONENTS].T


def log_density(row, loadings, scales, noise):
    """Log density of a normal distribution with variance noise^2, larger along the loadings."""
    variances = scales**2 + noise[..., None] ** 2
    along = row @ loadings
    across = (row**2).sum(axis=-1) - (along**2).sum(axis=-1)
    n_across = loadings.shape[-2] - loadings.shape[-1]
    inside = along**2 / variances + pt.log(2 * np.pi * variances)
    return -0.5 * (
        inside.sum(axis=-1) + across / noise**2 + n_across * pt.log(2 * np.pi * noise**2)
    )


def build_model(batch_size: int | None = BATCH_SIZE) -> pm.Model:
    """Write the model; without a batch size it uses all rows."""
    pictures = make_data()
    start = principal_axes(pictures)
    data, total_size = pictures, None
    with pm.Model() as model:
        if batch_size is not None:
            data, total_size = pm.Minibatch(pictures, batch_size=batch_size), len(pictures)
        loadings = pmg.UniformStiefel("loadings", *start.shape, initval=start)
        scales = pm.HalfNormal("scales", 1.0, shape=N_COMPONENTS)
        noise = pm.HalfNormal("noise", 1.0)
        pm.CustomDist(
            "pictures",
            loadings,
            scales,
            noise,
            logp=log_density,
            signature="(n,p),(p),()->(n)",
            observed=data,
            total_size=total_size,
        )
    return model


def masses() -> dict[str, object]:
    r"""Compute masses from the asymptotic widths of principal components.

    With the eigenvalues :math:`\lambda_i` of the covariance of n rows, and the noise's variance
    :math:`\sigma^2` as that of all other axes, the angle between two of them has the width
    :math:`\sqrt{\lambda_i \lambda_j / n} / |\lambda_i - \lambda_j|` and the logarithm of a scale
    :math:`1 / \sqrt{2 n}` per independent number. T. W. Anderson (1963), Asymptotic theory for
    principal component analysis, Annals of Mathematical Statistics 34.
    """
    pictures = make_data()
    n, size = pictures.shape
    values = np.linalg.svd(pictures, compute_uv=False) ** 2 / n
    found, noise = values[:N_COMPONENTS], values[N_COMPONENTS:].mean()
    products, differences = np.outer(found, found), np.abs(np.subtract.outer(found, found))
    np.fill_diagonal(differences, np.inf)
    turns = np.minimum(np.sqrt(products / n) / differences, WIDEST)
    np.fill_diagonal(turns, WIDEST)
    columns = np.sqrt(found * noise / n) / (found - noise)
    # The mass of the frame makes its widest part, and hence everything, this wide.
    of_scales = WIDEST**2 * 2 * n
    return {
        "loadings": pmg.FrameMass(columns, turns),
        "scales": of_scales,
        "noise": of_scales * (size - N_COMPONENTS),
    }


def run(quick: bool = False) -> xr.DataTree:
    """Sample; `quick` makes a short run for tests."""
    draws, tune, chains, n_leapfrog = (50, 100, 1, 10) if quick else (2000, 300, 4, 40)
    with build_model(batch_size=None):
        return pm.sample(
            draws,
            tune=tune,
            chains=chains,
            cores=1,
            step=pmg.GMC(n_leapfrog=n_leapfrog, mass=masses()),
            random_seed=20261122,
            progressbar=False,
        )


def aligned(idata: xr.DataTree) -> np.ndarray:
    """Put the columns of all draws in the order and with the signs of the classical axes."""
    draws = idata.posterior["loadings"].values
    draws = align_frames(draws, principal_axes(make_data()), symmetry="permutations")
    return draws.reshape(-1, *draws.shape[-2:])


def plot(idata: xr.DataTree) -> Figure:
    """Plot the mean loadings as images, and the angles of the draws to them."""
    flat = aligned(idata)
    mean = mean_frame(flat)
    angles = np.degrees(column_angles(flat, mean))
    figure = plt.figure(figsize=(7, 4.2), layout="constrained")
    pictures, spread = figure.subfigures(2, 1, height_ratios=[1, 1.3])
    for k, ax in enumerate(pictures.subplots(1, N_COMPONENTS)):
        limit = np.abs(mean).max()
        ax.imshow(mean[:, k].reshape(8, 8), cmap="RdBu_r", vmin=-limit, vmax=limit)
        ax.set(xticks=[], yticks=[], title=f"component {k + 1}")
    ax = spread.subplots()
    ax.violinplot(list(angles.T), showextrema=False, showmedians=True)
    ax.set(xlabel="component", ylabel="angle to the mean, degrees", ylim=(0, None))
    return figure


def report(idata: xr.DataTree) -> str:
    """Print how well the loadings are determined, and how near they are to the classical ones."""
    classical, flat = principal_axes(make_data()), aligned(idata)
    mean = mean_frame(flat)
    spread = np.degrees(np.sqrt((column_angles(flat, mean) ** 2).mean(axis=0)))
    away = np.degrees(column_angles(mean, classical))
    ordered = np.sort(idata.posterior["scales"].values)[..., ::-1]
    by_chain = flat.reshape(idata.posterior.sizes["chain"], -1, flat[0].size)
    worst = max(float(rhat(entry)) for entry in np.moveaxis(by_chain, -1, 0))
    return (
        f"angular spread of the loadings in degrees: {spread.round(2)}\n"
        f"their means to the classical ones: {away.round(2)}\n"
        f"noise {float(idata.posterior['noise'].mean()):.4f}, "
        f"scales in order {ordered.mean(axis=(0, 1)).round(3)}\n"
        f"largest R-hat of the aligned loadings {worst:.3f}"
    )


if __name__ == "__main__":
    main(__doc__, run=run, plot=plot, report=report)
