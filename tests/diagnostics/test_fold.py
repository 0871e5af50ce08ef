#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Signs and labels of components, chosen alike in all draws, where the model leaves them open."""

import arviz as az
import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

N_CHAINS, N_DRAWS, K = 2, 30, 3
LOADINGS = np.array([[1.0, 0.0, 2.0, 0.3], [0.0, 1.5, -0.5, 0.2], [-1.0, 0.4, 0.1, 2.0]])
WEIGHTS = np.array([0.5, 0.3, 0.2])


def factors(*, positive_prior=False):
    rng = np.random.default_rng(1)
    y = rng.normal(size=(10, 4))
    with pm.Model() as model:
        loadings = pm.Normal("loadings", 0.5 if positive_prior else 0.0, 1.0, shape=(K, 4))
        scores = pm.Normal("scores", shape=(10, K))
        pm.Normal("y", scores @ loadings, 1.0, observed=y)
    return model


def draws(seed=2):
    """Draws around one mode, with their signs and order, and what was done to them."""
    rng = np.random.default_rng(seed)
    shape = (N_CHAINS, N_DRAWS)
    loadings = LOADINGS + 0.1 * rng.normal(size=(*shape, K, 4))
    scores = rng.normal(size=(*shape, 10, K))
    signs = rng.choice([-1.0, 1.0], size=(*shape, K))
    orders = rng.permuted(np.broadcast_to(np.arange(K), (*shape, K)), axis=-1)
    return loadings, scores, signs, orders


def tree(**values):
    return az.from_dict({"posterior": values})


def test_signs():
    loadings, scores, signs, _ = draws()
    idata = tree(loadings=loadings * signs[..., None], scores=scores * signs[..., None, :])
    axes = {"loadings": 0, "scores": -1}
    folded = pmg.fold_components(idata, axes, signs=list(axes), model=factors())
    found = folded.posterior["loadings"].values
    # The representative is that of the last draw, up to which all agree.
    common = np.sign((found[0, 0] * loadings[0, 0]).sum(-1))
    np.testing.assert_allclose(found, loadings * common[:, None])
    np.testing.assert_allclose(folded.posterior["scores"].values, scores * common)
    assert np.abs(idata.posterior["loadings"].values - found).max() > 1


def test_signs_and_order():
    loadings, scores, signs, orders = draws()
    moved = np.take_along_axis(loadings * signs[..., None], orders[..., None], axis=2)
    with_scores = np.take_along_axis(scores * signs[..., None, :], orders[..., None, :], axis=3)
    idata = tree(loadings=moved, scores=with_scores)
    axes = {"loadings": 0, "scores": 1}
    folded = pmg.fold_components(idata, axes, signs=list(axes), permute=True, model=factors())
    found = folded.posterior["loadings"].values
    assert found.std((0, 1)).max() < 0.2
    # Products of both are what the data see.
    np.testing.assert_allclose(folded.posterior["scores"].values @ found, scores @ loadings)


def test_order_of_a_mixture():
    rng = np.random.default_rng(1)
    with pm.Model() as model:
        weights = pm.Dirichlet("weights", np.ones(K))
        means = pm.Normal("means", 0.0, 5.0, shape=K)
        pm.NormalMixture("y", weights, means, sigma=1.0, observed=rng.normal(size=20))
    shape = (N_CHAINS, N_DRAWS)
    _, _, _, orders = draws()
    values = np.array([10.0, 12.0, 14.0]) + 0.1 * rng.normal(size=(*shape, K))
    shares = np.broadcast_to(WEIGHTS, (*shape, K))
    idata = tree(
        weights=np.take_along_axis(shares, orders, axis=2),
        means=np.take_along_axis(values, orders, axis=2),
    )
    folded = pmg.fold_components(idata, {"means": 0, "weights": 0}, permute=True, model=model)
    assert folded.posterior["means"].std(("chain", "draw")).max() < 0.2
    assert folded.posterior["weights"].std(("chain", "draw")).max() < 1e-12


def test_a_model_that_tells_signs_apart_is_refused():
    loadings, scores, _, _ = draws()
    idata, axes = tree(loadings=loadings, scores=scores), {"loadings": 0, "scores": 1}
    with pytest.raises(ValueError, match="does not depend on signs and labels"):
        pmg.fold_components(idata, axes, signs=list(axes), model=factors(positive_prior=True))
    with pytest.raises(ValueError, match="does not depend on signs and labels"):
        pmg.fold_components(idata, axes, signs=["loadings"], model=factors())


def test_arguments():
    loadings, scores, _, _ = draws()
    idata, model = tree(loadings=loadings, scores=scores), factors()
    with pytest.raises(ValueError, match="expected `signs` or `permute=True`"):
        pmg.fold_components(idata, {"loadings": 0}, model=model)
    with pytest.raises(ValueError, match=r"none for \['w'\]"):
        pmg.fold_components(idata, {"w": 0}, permute=True, model=model)
    with pytest.raises(ValueError, match="begin with a variable of `signs`, got 'loadings'"):
        pmg.fold_components(idata, {"loadings": 0, "scores": 1}, signs=["scores"], model=model)
    with pytest.raises(ValueError, match=r"one number of components, got \[3, 10\]"):
        pmg.fold_components(idata, {"loadings": 0, "scores": 0}, permute=True, model=model)
