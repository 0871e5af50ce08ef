#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Exact gradients at some draws tell whether these are where the posterior is, and as wide."""

import numpy as np
import pytest

from pymc_geodesic.runs.widths import compared_widths


def correlated(d):
    """A Gaussian posterior whose scales differ by a factor of 100, in any direction."""
    rng = np.random.default_rng(d)
    axes, _ = np.linalg.qr(rng.normal(size=(d, d)))
    return (axes * np.logspace(-1, 1, d)) @ axes.T


def normal(rng, shape, d):
    root = correlated(d)
    x = rng.normal(size=(*shape, d)) @ root
    return x, x @ np.linalg.inv(root @ root)


def student(rng, shape, d):
    x = rng.standard_t(4, (*shape, d))
    return x, 5 * x / (4 + x**2)


def logs_of_gammas(rng, shape, d):
    x = np.log(rng.gamma(2.0, size=(*shape, d)))
    return x, np.exp(x) - 2


def names(d):
    return [f"x[{i}]" for i in range(d)]


@pytest.mark.parametrize("posterior", [normal, student, logs_of_gammas])
@pytest.mark.parametrize("d", [1, 10, 30])
def test_draws_of_the_posterior_raise_no_alarm(posterior, d):
    rng = np.random.default_rng(1)
    found = [compared_widths(names(d), *posterior(rng, (4, 150), d)) for _ in range(60)]
    assert sum(bool(one.wrong) for one in found) <= 1


@pytest.mark.parametrize("d", [1, 10])
def test_draws_of_the_posterior_are_cleared(d):
    rng = np.random.default_rng(1)
    found = [compared_widths(names(d), *normal(rng, (4, 200), d)) for _ in range(20)]
    assert all(one.are_right for one in found)


@pytest.mark.parametrize(("factor", "what"), [(1.5, "wide"), (0.6, "narrow")])
def test_a_direction_of_wrong_width_is_named(factor, what):
    x = np.random.default_rng(1).normal(size=(4, 100, 20))
    x[..., 7] *= factor
    gradient = x.copy()
    # One entry in twenty: the temperature of all is 1.06 or .97.
    found = compared_widths(names(20), x, gradient)
    assert found.wrong.startswith(f"`x[7]` is too {what}: the temperature of its positions is ")
    assert not found.are_right


def test_errors_that_average_out_are_found():
    x = np.random.default_rng(1).normal(size=(4, 100, 2)) * np.sqrt([1.7, 0.3])
    assert compared_widths(["a", "b"], x, x).wrong


def test_a_shift_is_named():
    x = np.random.default_rng(1).normal(size=(4, 100, 3)) + np.array([0.0, 0.0, 0.9])
    found = compared_widths(["a", "b", "c"], x, x)
    assert found.wrong.startswith("the mean of `c` is off by about 0.")


def test_draws_without_a_gradient_are_counted():
    x = np.random.default_rng(1).normal(size=(2, 50, 2))
    gradient = x.copy()
    gradient[0, :3, 1] = np.inf
    found = compared_widths(["a", "b"], x, gradient)
    assert found.wrong == "3 of them have no finite gradient"


def test_few_draws_do_not_clear():
    """Forty draws cannot show a width to a quarter."""
    x = np.random.default_rng(2).normal(size=(4, 10, 1))
    found = compared_widths(["a"], x, x)
    assert not found.wrong
    assert not found.are_right
