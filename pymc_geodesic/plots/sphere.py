#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Equal-area maps of the sphere in three dimensions."""

from collections.abc import Callable, Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np

from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.legend import Legend
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from pymc_geodesic.plots.coordinates import from_longitude_latitude, to_longitude_latitude

__all__ = ["plot_sphere"]

# Okabe and Ito's colours, which people with the common colour deficiencies can tell apart.
PALETTE = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
SHADES = LinearSegmentedColormap.from_list("mass", ["#FBF3DC", "#F3DFA2", "#E3BD62"])
BORDER = "#A67C1A"
HALO = [withStroke(linewidth=2.5, foreground="white")]


def plot_sphere(
    data: ArrayLike | None = None,
    *,
    draws: ArrayLike | Mapping[str, ArrayLike] | None = None,
    log_density: Callable[[np.ndarray], np.ndarray] | None = None,
    mass: Sequence[float] = (0.5, 0.8, 0.95),
    center: tuple[float, float] = (0.0, 0.0),
    tilt: float = 0.0,
    max_draws: int = 2000,
    ax: Axes | None = None,
) -> Axes:
    r"""Draw an equal-area map of the sphere with data, directions and a density.

    Parameters
    ----------
    data : array_like, optional
        Unit vectors of shape (n, 3), shown as grey dots.
    draws : array_like or mapping of str to array_like, optional
        Draws of one direction, of shape (..., 3), or several such arrays by label. Each is shown
        as a cloud of dots with a ring about the mean direction; the legend gives the radius
        of the cap about it that holds 95% of the draws.
    log_density : callable, optional
        Takes unit vectors of shape (m, 3) and returns log densities of shape (m,) with respect to
        the surface measure, up to a constant.
    mass : sequence of float
        The regions of highest density with these probabilities are shaded.
    center : tuple of float
        Longitude and latitude, in degrees, of the middle of the map.
    tilt : float
        Degrees by which the map is turned clockwise about its middle. The map stretches what lies
        near its rim: choose `center` and `tilt` so that the parts that matter lie along
        its long axis.
    max_draws : int
        At most so many draws of each direction are shown, evenly thinned. The mean and the radius
        use all.
    ax : matplotlib.axes.Axes, optional
        Axes with ``projection="mollweide"``. A new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the map.

    Raises
    ------
    ValueError
        If `ax` has another projection, or `data` or `draws` are not directions in three dimensions.

    Notes
    -----
    The density is evaluated on a grid of one degree, so regions narrower than that are not
    resolved. Mollweide's projection keeps areas: equally crowded dots mean equal densities.

    Examples
    --------
    >>> import numpy as np
    >>> from pymc_geodesic.plots import plot_sphere
    >>> rng = np.random.default_rng(1)
    >>> x = rng.normal([2.0, 0.0, 0.0], size=(500, 3))
    >>> x /= np.linalg.norm(x, axis=1, keepdims=True)
    >>> ax = plot_sphere(x, log_density=lambda x: 2.0 * x[:, 0])
    """
    if ax is None:
        ax = plt.figure(figsize=(9, 5.1), layout="constrained").add_subplot(projection="mollweide")
    elif ax.name != "mollweide":
        raise ValueError(
            f'`ax` must have the projection "mollweide", got "{ax.name}". '
            'Make it with `plt.subplot(projection="mollweide")`.'
        )
    rotation = _rotation_to(center, tilt)
    if log_density is not None:
        _shade_regions(ax, log_density, mass, rotation)
    _draw_graticule(ax, rotation)
    if data is not None:
        points = _on_map(data, rotation)
        ax.plot(*points, ".", color="0.25", alpha=0.45, markersize=2.6, markeredgewidth=0, zorder=3)
    if draws is not None:
        named = draws if isinstance(draws, Mapping) else {None: draws}
        for i, (label, values) in enumerate(named.items()):
            _draw_cloud(ax, values, label, PALETTE[i % len(PALETTE)], max_draws, rotation)
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.04), ncols=2, frameon=False)
    return ax


def _rotation_to(center: tuple[float, float], tilt: float) -> np.ndarray:
    """Rotation matrix that brings `center` to the middle of the map, (1, 0, 0), and tilts it."""
    longitude, latitude = center
    to_meridian = Rotation.from_euler("z", -longitude, degrees=True)
    to_equator = Rotation.from_euler("y", latitude, degrees=True)
    return (Rotation.from_euler("x", -tilt, degrees=True) * to_equator * to_meridian).as_matrix()


def _on_map(x: ArrayLike, rotation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Radians that matplotlib's geographic axes want for the directions `x`."""
    longitude, latitude = to_longitude_latitude(x)
    x = from_longitude_latitude(longitude, latitude) @ rotation.T
    longitude, latitude = to_longitude_latitude(x)
    return np.deg2rad(longitude), np.deg2rad(latitude)


def _shade_regions(
    ax: Axes,
    log_density: Callable[[np.ndarray], np.ndarray],
    mass: Sequence[float],
    rotation: np.ndarray,
) -> None:
    """Shade the regions of highest density that hold the given probabilities."""
    longitude = np.linspace(-180, 180, 361)
    latitude = np.linspace(-89.5, 89.5, 180)
    x = from_longitude_latitude(longitude, latitude[:, None])
    values = np.asarray(log_density(x.reshape(-1, 3) @ rotation)).reshape(x.shape[:-1])
    levels, held = _levels(values, np.cos(np.deg2rad(latitude))[:, None], mass)
    if len(levels) == 0:
        return
    grid = np.deg2rad(longitude), np.deg2rad(latitude), values
    shades = SHADES(np.linspace(0, 1, len(levels)))
    ax.contourf(*grid, levels=[*levels, np.inf], colors=shades, zorder=0)
    ax.contour(*grid, levels=levels, colors=BORDER, linestyles="solid", linewidths=0.9, zorder=2)
    patches = [Patch(facecolor=shade, edgecolor=BORDER) for shade in shades]
    labels = [f"densest {share:.0%}" for share in held]
    # The corners outside the ellipse are empty. `ax.legend` would be replaced by the draws' legend.
    corner = {"loc": "lower right", "bbox_to_anchor": (1, -0.02), "frameon": False, "fontsize": 8}
    ax.add_artist(Legend(ax, patches[::-1], labels[::-1], **corner))


def _levels(
    values: np.ndarray, area: np.ndarray, mass: Sequence[float]
) -> tuple[np.ndarray, np.ndarray]:
    """Increasing log densities at the borders of the regions that hold `mass`, and those masses."""
    mass = np.sort(np.asarray(mass, dtype=float))[::-1]
    weight = (np.exp(values - values.max()) * area).ravel()
    order = np.argsort(values, axis=None)[::-1]
    held = np.cumsum(weight[order]) / weight.sum()
    index = np.minimum(np.searchsorted(held, mass), held.size - 1)
    levels = values.ravel()[order][index]
    # A flat density has no borders, and contours need levels that differ.
    keep = (
        (levels > values.min()) & (levels < values.max()) & (np.diff(levels, prepend=-np.inf) > 0)
    )
    return levels[keep], mass[keep]


def _draw_graticule(ax: Axes, rotation: np.ndarray) -> None:
    """Draw the lines of longitude and latitude, turned with the map, and name them."""
    ax.grid(False)
    ax.set_xticks([])
    ax.set_yticks([])
    along = np.linspace(-180, 180, 721)
    parallels = [from_longitude_latitude(along, latitude) for latitude in (-60, -30, 0, 30, 60)]
    upward = np.linspace(-90, 90, 361)
    meridians = [from_longitude_latitude(longitude, upward) for longitude in range(-180, 180, 60)]
    for line in (*parallels, *meridians):
        longitude, latitude = _on_map(line, rotation)
        # A line that leaves the map at one side comes back at the other: lift the pen there.
        longitude[1:][np.abs(np.diff(longitude)) > np.pi / 2] = np.nan
        ax.plot(longitude, latitude, color="0.72", linewidth=0.5, zorder=1)
    for degrees in (-60, -30, 30, 60):
        _name_line(ax, 0, degrees, f"{degrees}°", rotation)
    for degrees in (-120, -60, 0, 60, 120):
        _name_line(ax, degrees, 0, f"{degrees}°", rotation)


def _name_line(
    ax: Axes, longitude: float, latitude: float, text: str, rotation: np.ndarray
) -> None:
    """Write a small label beside a crossing of the graticule."""
    position = _on_map(from_longitude_latitude(longitude, latitude), rotation)
    ax.annotate(
        text.replace("-", "\N{MINUS SIGN}"),
        position,
        xytext=(3, 3),
        textcoords="offset points",
        color="0.45",
        fontsize=7,
        path_effects=HALO,
        zorder=4,
    )


def _draw_cloud(
    ax: Axes,
    values: ArrayLike,
    label: str | None,
    color: str,
    max_draws: int,
    rotation: np.ndarray,
) -> None:
    """Show draws of one direction and a ring about their mean direction."""
    values = from_longitude_latitude(*to_longitude_latitude(values)).reshape(-1, 3)
    mean = values.mean(axis=0)
    mean /= np.linalg.norm(mean)
    # The half chord keeps its digits at small angles, where the arc cosine loses them.
    angle = np.rad2deg(2 * np.arcsin(np.minimum(np.linalg.norm(values - mean, axis=1) / 2, 1)))
    longitude, latitude = to_longitude_latitude(mean)
    text = (
        f"{'' if label is None else label + ': '}{longitude:.1f}°, {latitude:.1f}°"
        f" (95% within {np.quantile(angle, 0.95):.1f}°)"
    ).replace("-", "\N{MINUS SIGN}")
    shown = values[:: -(-len(values) // max_draws)]
    ax.plot(
        *_on_map(shown, rotation),
        ".",
        color=color,
        alpha=0.5,
        markersize=3,
        markeredgewidth=0,
        zorder=5,
    )
    ax.plot(
        *_on_map(mean, rotation),
        "o",
        color=color,
        markerfacecolor="none",
        markersize=13,
        markeredgewidth=2,
        path_effects=[withStroke(linewidth=4, foreground="white")],
        label=text,
        zorder=6,
    )
