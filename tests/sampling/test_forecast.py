#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What a chain says when its tuning phase ends."""

import time

import numpy as np
import pytest

from pymc_geodesic.mass import JointMass, LowRankMass, VariableMasses
from pymc_geodesic.sampling.forecast import Clock, News, forecast, gradients_by_nuts, noise_warning
from pymc_geodesic.sampling.news import as_news

UNIT = VariableMasses([np.ones(4)], dense=[False], shapes=[(4,)], dtype="float64")


def window(correlation, n=400):
    """Draws of a first-order process."""
    rng = np.random.default_rng(1)
    rows = [rng.standard_normal(4)]
    for _ in range(n - 1):
        noise = np.sqrt(1 - correlation**2) * rng.standard_normal(4)
        rows.append(correlation * rows[-1] + noise)
    return [[row] for row in rows]


def said(correlation, *, seconds=8.0, seconds_per_pass=np.nan, n_chains=1):
    used = time.process_time() - seconds
    return forecast(
        Clock(time.time() - seconds, 600, n_chains=n_chains, processor=used, began=used),
        window(correlation),
        n_drawn=1_000,
        mass=UNIT,
        seconds_per_pass=seconds_per_pass,
    )


def test_it_tells_the_time_and_the_effective_draws():
    text = said(0.5)
    assert "1,000 draws take about 20 s" in text
    # (1 - 0.5) / (1 + 0.5) for the slowest of four entries, from 400 draws.
    assert 200 < independent(text) < 400


def independent(text):
    """How many draws the text says that 1,000 are worth."""
    return float(text.split(" independent")[0].split("about ")[-1].replace(",", ""))


def test_chains_that_move_together_are_worth_more():
    text = said(0.5, n_chains=4)
    assert "of each of 4 chains take about 20 s" in text
    assert independent(text) == pytest.approx(4 * independent(said(0.5)), rel=0.05)


# An effective draw takes some 20 s / 300 here, and by NUTS ten compiled gradients of all rows.
@pytest.mark.parametrize(
    ("seconds_per_pass", "n_chains", "advises"),
    [(1e-4, 1, True), (0.02, 1, True), (0.02, 4, False), (0.5, 1, False)],
)
def test_it_advises_nuts_where_it_is_expected_to_be_faster(seconds_per_pass, n_chains, advises):
    text = said(0.5, seconds_per_pass=seconds_per_pass, n_chains=n_chains)
    assert ("NUTS" in text) is advises
    assert ("within a factor of 3" in text) is advises
    assert "NUTS" not in said(0.5)


def test_what_nuts_takes_stands_beside_all_that_this_step_takes():
    """It is said of 2.1 s that 5.1 s are faster only if tuning took the rest."""
    text = said(0.5, seconds_per_pass=0.02)
    nuts = text.split("should take about ")[1].split(" s")[0]
    own = text.split("this step takes about ")[1].split(" s")[0]
    assert float(nuts) < float(own)


def test_the_forecast_says_of_which_entries_it_is():
    """One in two hundred entries is slow: the others do not speak for it."""
    rng = np.random.default_rng(1)
    rows = [[row] for row in rng.standard_normal((400, 200))]
    mass = VariableMasses([np.ones(200)], dense=[False], shapes=[(200,)], dtype="float64")
    text = forecast(
        Clock.started(600, n_chains=1, began=0.0),
        rows,
        n_drawn=1_000,
        mass=mass,
        seconds_per_pass=np.nan,
    )
    assert "for nine in ten of their entries, and fewer for the slowest" in text
    assert "nine in ten" not in said(0.5)


def test_few_draws_say_nothing():
    options = {"n_drawn": 610, "mass": UNIT, "seconds_per_pass": 1.0}
    assert forecast(Clock(time.time() - 1, 600), window(0.0), **options) == ""
    assert forecast(None, window(0.0), **options) == ""


def test_long_and_short_directions_cost_nuts_gradients():
    directions = np.zeros((4, 2))
    directions[:2] = np.eye(2)
    low_rank = LowRankMass(
        [np.ones(4)],
        directions=directions,
        curvatures=np.array([1e-4, 4.0]),
        shapes=[(4,)],
        dtype="float64",
    )
    assert gradients_by_nuts(low_rank) == pytest.approx(400)
    # Scales are what a diagonal mass can see; correlations are not.
    scaled = JointMass(np.diag([1.0, 1e4]), shapes=[(2,)], dtype="float64")
    assert gradients_by_nuts(scaled) == gradients_by_nuts(UNIT)
    correlated = np.linalg.inv([[1.0, 0.9999], [0.9999, 1.0]])
    tight = JointMass(correlated, shapes=[(2,)], dtype="float64")
    assert gradients_by_nuts(tight) == pytest.approx(2 * np.sqrt(1.9999 / 0.0001), rel=1e-6)


def test_what_is_amiss_is_a_warning():
    assert as_news(News("all is well")).level == "info"
    assert as_news(News("steps are short", is_warning=True)).level == "warn"


def test_noise_that_thousands_of_entries_feel_is_named():
    assert "9%" in noise_warning(0.09, n_entries=4_000)
    assert noise_warning(0.01, n_entries=4_000) == ""
    assert noise_warning(0.09, n_entries=300) == ""
