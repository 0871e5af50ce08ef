#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Topics of several chains are put in one order, and are not mixed before they are."""

import arviz as az
import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr

import pymc_geodesic as pmg

from pymc_geodesic.run_record import ATTRIBUTE, write_record

SEED = 5
RNG = np.random.default_rng(SEED)
N_CHAINS, N_DRAWS, K, V = 3, 40, 5, 30
TRUTH = RNG.dirichlet(np.full(V, 0.2), size=K)
ORDERS = [[0, 1, 2, 3, 4], [3, 0, 1, 4, 2], [4, 3, 2, 1, 0]]
WORDS = [f"word {i}" for i in range(V)]


@pytest.fixture(autouse=True)
def the_same_numbers_in_any_order(monkeypatch):
    """Tests share a generator, and the order in which they run is not fixed."""
    monkeypatch.setitem(globals(), "RNG", np.random.default_rng(SEED))


def in_order(orders=((0, 1, 2, 3, 4),) * N_CHAINS, *, power=1.0):
    """Draws of the topics of each chain in its order; of their directions with another power."""
    gammas = RNG.gamma(300 * TRUTH + 1e-3, size=(N_CHAINS, N_DRAWS, K, V))
    draws = gammas / gammas.sum(axis=-1, keepdims=True)
    draws = np.stack([chain[:, list(order)] for chain, order in zip(draws, orders, strict=True)])
    return draws**power


def idata_of(topics, **others):
    rows = {name: ["topic"] for name in others}
    return az.from_dict(
        {"posterior": {"topics": topics, **others}},
        coords={"word": WORDS},
        dims={"topics": ["topic", "word"], **rows},
    )


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize("is_recorded", [False, True])
@pytest.mark.parametrize(("power", "manifold"), [(1.0, "Simplex"), (0.5, "Sphere")])
def test_topics_get_the_numbers_of_the_first_chain(power, manifold, is_recorded):
    topics = in_order(ORDERS, power=power)
    weights = np.broadcast_to(np.array(ORDERS, float)[:, None], (N_CHAINS, N_DRAWS, K))
    idata = idata_of(topics, weights=weights.copy())
    if is_recorded:
        record = write_record("gSGNHT", {}, {"topics": manifold})
        idata["sample_stats"] = xr.DataTree(xr.Dataset(attrs={ATTRIBUTE: record}))
    found = pmg.topics.align(idata).posterior
    assert (found["weights"] == np.arange(K)).all()
    for chain in range(N_CHAINS):
        undone = topics[chain][:, np.argsort(ORDERS[chain])]
        np.testing.assert_array_equal(found["topics"][chain], undone)


def test_other_variables_can_be_named():
    topics, shares = in_order(ORDERS), np.array(ORDERS, float)[:, None].repeat(N_DRAWS, axis=1)
    idata = az.from_dict({"posterior": {"beta": topics, "shares": shares}})
    found = pmg.topics.align(idata, "beta", others={"shares": "shares_dim_0"})
    assert (found.posterior["shares"] == np.arange(K)).all()
    assert (pmg.topics.align(idata, "beta").posterior["shares"] == shares).all()
    # What was given is left as it was.
    assert (idata.posterior["shares"] == shares).all()


def test_topics_that_change_places_within_a_chain():
    topics = in_order()
    topics[1, 25:] = topics[1, 25:][:, [1, 0, 2, 3, 4]]
    once = pmg.topics.align(idata_of(topics)).posterior["topics"].to_numpy()
    each = pmg.topics.align(idata_of(topics), per_draw=True).posterior["topics"].to_numpy()
    assert np.abs(once - TRUTH).mean(axis=-1).max() > 0.02
    assert np.abs(each - TRUTH).mean(axis=-1).max() < 0.02


def uses():
    documents = RNG.multinomial(50, TRUTH[:2])
    return {
        "top_words": lambda topics: pmg.topics.top_words(topics, vocabulary=WORDS),
        "plot_topics": lambda topics: pmg.plot_topics(topics, vocabulary=WORDS),
        "proportions": lambda topics: pmg.topics.proportions(
            topics, documents=documents, alpha=0.1, sweeps=2
        ),
    }


@pytest.mark.parametrize("name", ["top_words", "plot_topics", "proportions"])
def test_chains_in_other_orders_are_not_mixed(name):
    use = uses()[name]
    mixed = in_order(ORDERS)
    for topics in (mixed, idata_of(mixed)):
        with pytest.raises(ValueError, match=rf"`{name}`.*topics\.align\(idata\)"):
            use(topics)
    use(mixed[:1])
    use(pmg.topics.align(idata_of(mixed)))
    use(in_order())


def test_two_swapped_topics_of_many_are_seen():
    with pytest.raises(ValueError, match="got 2 of 5 topics"):
        pmg.topics.top_words(in_order([[0, 1, 2, 3, 4]] * 2 + [[0, 2, 1, 3, 4]]), vocabulary=WORDS)


@pytest.mark.parametrize("seed", range(20))
def test_topics_that_are_alike_are_no_reason_to_refuse(seed):
    """The order of two topics with one distribution is a matter of chance."""
    rng = np.random.default_rng(seed)
    truth = TRUTH.copy()
    truth[1] = truth[0]
    topics = rng.gamma(300 * truth + 1e-3, size=(4, 10, K, V))
    pmg.topics.top_words(topics / topics.sum(axis=-1, keepdims=True), vocabulary=WORDS)


def test_words_of_aligned_chains_are_those_of_the_topics():
    found = pmg.topics.align(idata_of(in_order(ORDERS)))
    table = pmg.topics.top_words(found, vocabulary=WORDS, n=1)
    assert list(table["word"]) == [WORDS[w] for w in TRUTH.argmax(axis=1)]


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"nothing": "topic"}, "got 'nothing' with 'topic'"),
        ({"few": "few_dim_0"}, "expected dimensions with 5 entries.*got 'few' with 2"),
    ],
)
def test_bad_input(others, message):
    idata = az.from_dict(
        {"posterior": {"topics": in_order(), "few": np.ones((N_CHAINS, N_DRAWS, 2))}}
    )
    with pytest.raises(ValueError, match=message):
        pmg.topics.align(idata, others=others)
    with pytest.raises(ValueError, match=r"`var_name` expected the topics.*got 'beta'"):
        pmg.topics.align(idata, "beta")


def diagnosed(topics, **others):
    stats = {
        "step_size": np.full(topics.shape[:2], 1e-30),
        "diverging": np.zeros(topics.shape[:2], bool),
    }
    tree = az.from_dict({"posterior": {"topics": topics, **others}, "sample_stats": stats})
    return pmg.diagnose(tree), tree


@pytest.mark.parametrize("power", [1.0, 0.5], ids=["simplex", "sphere"])
def test_diagnose_names_the_order(power):
    weights = np.array(ORDERS, float)[:, None] + RNG.normal(0, 0.01, (N_CHAINS, N_DRAWS, K))
    verdict, tree = diagnosed(in_order(ORDERS, power=power), weights=weights)
    assert verdict.names == ("label_switching",)
    assert "pmg.topics.align(idata, 'topics')" in str(verdict)
    aligned = pmg.topics.align(tree, others={"weights": "weights_dim_0"})
    assert "label_switching" not in pmg.diagnose(aligned).names


def test_diagnose_does_not_take_other_modes_for_another_order():
    topics = in_order()
    topics[1] = in_order()[1][..., RNG.permutation(V)]
    verdict, _ = diagnosed(topics)
    assert "label_switching" not in verdict.names
    assert not verdict.ok


def test_diagnose_finds_nothing_in_one_order():
    assert "label_switching" not in diagnosed(in_order())[0].names


@pytest.mark.parametrize("second", [[[1, 0, 0], [1, 0, 0.1], [0, 0.8, 0.6]], -np.eye(3)])
def test_two_chains_in_two_modes_are_in_no_order(second):
    """Two components of the second chain share a cluster, or none is near one of the first."""
    draws = np.stack([np.eye(3), np.asarray(second, float)])[:, None]
    draws = draws + RNG.normal(0, 0.01, (2, N_DRAWS, 3, 3))
    verdict, _ = diagnosed(draws / np.linalg.norm(draws, axis=-1, keepdims=True))
    assert "label_switching" not in verdict.names
    assert not verdict.ok
