#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Where the data of a model is held, how it is scaled, and what is refused."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.traversal import ancestors, apply_ancestors
from pytensor.tensor import TensorConstant
from pytensor.tensor.variable import TensorConstantSignature

import pymc_geodesic as pmg

from pymc_geodesic.kernel.jax.function import JAXFunction
from pymc_geodesic.potential import Potential
from pymc_geodesic.potential.minibatch import find_batch_sources, total_size
from pymc_geodesic.potential.total_size import row_variables

Y = np.random.default_rng(1).normal(size=200)


def model_of(data=Y, *, batch_size=10, **keywords):
    keywords = {"total_size": len(data)} | keywords
    with pm.Model() as model:
        theta = pm.Normal("theta")
        pm.Normal("y", theta, observed=pm.Minibatch(data, batch_size=batch_size), **keywords)
    return model


def potential_of(model, **options):
    return Potential(model, model.value_vars, initial_point=model.initial_point(), **options)


def leaves(potential, kind):
    energy = potential.energy(potential.positions, potential.indices)
    return [v for v in ancestors([energy]) if isinstance(v, kind)]


def test_large_constants_become_shared_variables():
    potential = potential_of(model_of())
    sizes = [leaf.get_value().size for leaf in leaves(potential, SharedVariable)]
    assert 200 in sizes
    assert all(leaf.data.size <= 64 for leaf in leaves(potential, TensorConstant))


@pytest.mark.parametrize("form", ["constant", "shared"])
def test_data_and_their_number_are_no_constants(form):
    with pm.Model() as model:
        y = pm.Data("Y", Y) if form == "shared" else Y
        theta = pm.Normal("theta")
        pm.Normal("y", theta, observed=pm.Minibatch(y, batch_size=10), total_size=200)
    potential = potential_of(model)
    # The rows, of any number, and `total_size`.
    assert [leaf.type.shape for leaf in leaves(potential, SharedVariable)] == [(None,), ()]
    assert all(leaf.data.size <= 64 for leaf in leaves(potential, TensorConstant))
    assert potential.indices[0].type.shape == (10,)


def test_pytensor_does_not_look_at_the_rows(monkeypatch):
    looked_at = []
    no_nan = TensorConstantSignature.no_nan.fget
    monkeypatch.setattr(
        TensorConstantSignature,
        "no_nan",
        property(lambda signature: looked_at.append(np.size(signature[1])) or no_nan(signature)),
    )
    with pm.Model() as model:
        theta = pm.Normal("theta", shape=10)
        batch = pm.Minibatch(Y, batch_size=10)
        pm.Normal("y", theta, observed=batch, total_size=200)
    potential = potential_of(model)
    potential.energy(potential.positions, potential.indices)
    row_variables(model, potential.variables)
    assert looked_at
    assert max(looked_at) < len(Y)


def test_shapes_and_masks_stay_constants():
    mask = Y > 0
    with pm.Model() as model:
        n = pytensor.shared(np.array(3))
        theta = pm.Normal("theta", shape=3)
        x = pm.Data("X", Y)
        pm.Normal("y", theta.sum() + pt.zeros(n).sum(), observed=x)
        pm.Normal("z", (theta[0] * x)[mask], observed=Y[mask])
    potential = potential_of(model)
    # The data and what is picked by the mask, but neither the number nor the mask.
    assert {leaf.type.shape for leaf in leaves(potential, SharedVariable)} <= {
        (200,),
        (mask.sum(),),
    }
    [energy] = JAXFunction(list(potential.positions), [potential.energy(potential.positions, [])])(
        np.zeros(3)
    )
    expected = -model.compile_logp(mode="FAST_COMPILE")(model.initial_point())
    np.testing.assert_allclose(energy, expected, rtol=1e-12)


def test_what_is_computed_from_large_data_alone_is_computed_once():
    ring = np.roll(np.eye(60), 1, axis=0)
    with pm.Model() as model:
        effects = pm.CAR("effects", np.zeros(60), ring + ring.T, 0.5, 1.0)
        rows, y = pm.Minibatch(np.arange(200), Y, batch_size=10)
        mean = effects[rows % 60] - pm.Data("x", Y).mean()
        pm.Normal("y", mean, observed=y, total_size=200)
    potential = potential_of(model)
    energy = potential.energy(potential.positions, potential.indices)
    assert not [x for x in leaves(potential, SharedVariable) if x.name == "x"]
    assert "Eigvalsh" not in str([node.op for node in apply_ancestors([energy])])


def test_data_is_that_of_the_moment_the_potential_was_built():
    with pm.Model() as model:
        y = pm.Data("Y", Y)
        pm.Normal("y", pm.Normal("theta"), observed=pm.Minibatch(y, batch_size=10), total_size=200)
    potential = potential_of(model)
    before = [leaf.get_value() for leaf in leaves(potential, SharedVariable)]
    with model:
        pm.set_data({"Y": np.zeros(200)})
    after = [leaf.get_value() for leaf in leaves(potential, SharedVariable)]
    for a, b in zip(before, after, strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_model_is_not_changed():
    model = model_of()
    before = [model.basic_RVs[:], dict(model.rvs_to_values), dict(model.rvs_to_transforms)]
    potential_of(model)
    potential_of(model, full_data=True)
    assert before == [model.basic_RVs, model.rvs_to_values, model.rvs_to_transforms]


def test_sources_know_their_sizes_and_tensors():
    [source] = find_batch_sources(model_of(batch_size=7))
    assert (source.n_rows, source.batch_size) == (200, 7)
    np.testing.assert_array_equal(source.tensors[0].eval(), Y)


def test_tensors_of_one_call_share_their_rows():
    with pm.Model() as model:
        x, y = pm.Minibatch(Y, 2 * Y, batch_size=10)
        pm.Normal("y", x * pm.Normal("theta"), observed=y, total_size=200)
    assert len(find_batch_sources(model)) == 1
    assert len(potential_of(model).indices) == 1


def test_calls_have_rows_of_their_own():
    with pm.Model() as model:
        theta = pm.Normal("theta")
        for name, rows in {"y": Y, "z": Y[:50]}.items():
            batch = pm.Minibatch(rows, batch_size=10)
            pm.Normal(name, theta, observed=batch, total_size=len(rows))
    assert {source.n_rows for source in find_batch_sources(model)} == {200, 50}
    assert len(potential_of(model).indices) == 2


@pytest.mark.parametrize("size", [200, 1000, (200,), [200, ...]], ids=str)
def test_likelihood_is_scaled_by_total_size(size):
    potential = potential_of(model_of(total_size=size))
    rows = np.arange(10)
    position = np.array(0.3)
    energy = potential.energy(potential.positions, potential.indices)
    actual = energy.eval({potential.positions[0]: position, potential.indices[0]: rows})
    n = size if isinstance(size, int) else size[0]
    normal = 0.5 * np.log(2 * np.pi)
    likelihood = -(0.5 * (Y[:10] - position) ** 2 + normal).sum()
    np.testing.assert_allclose(actual, -(n / 10 * likelihood) + 0.5 * position**2 + normal)


def test_total_size_of_a_model_is_that_of_its_largest_variable():
    assert total_size(model_of(total_size=5000)) == 5000
    with pm.Model() as model:
        theta = pm.Normal("theta")
        pm.Normal("a", theta, observed=np.zeros(7))
        pm.Normal("b", theta, observed=np.zeros(3))
    assert total_size(model) == 7
    with pm.Model() as prior:
        pm.Normal("theta")
    assert total_size(prior) == 1


def test_missing_total_size_is_refused():
    with pm.Model() as model, pytest.warns(UserWarning, match="total_size"):
        pm.Normal("y", pm.Normal("theta"), observed=pm.Minibatch(Y, batch_size=10))
    with pytest.raises(
        ValueError, match=r"`y` depends on `pm.Minibatch`.*`total_size=len\(data\)`"
    ):
        potential_of(model)


def test_missing_total_size_is_refused_where_only_the_parents_are_batches():
    with pm.Model() as model:
        x = pm.Minibatch(Y, batch_size=10)
        pm.Normal("y", x * pm.Normal("theta"), observed=Y[:10])
    with pytest.raises(ValueError, match="has no `total_size`"):
        potential_of(model)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_data_that_is_not_finite_is_refused(bad):
    data = Y.copy()
    data[[3, 5]] = bad
    with pytest.raises(ValueError, match="expected finite numbers, got 2 of 200 entries"):
        potential_of(model_of(data))


@pytest.mark.parametrize("form", ["arrays", "data", "set_data"])
def test_arrays_of_different_lengths_are_refused(form):
    with pm.Model() as model:
        x, y = (Y, Y[20:]) if form == "arrays" else (pm.Data("X", Y), pm.Data("Y", Y))
        xb, yb = pm.Minibatch(x, y, batch_size=10)
        pm.Normal("y", xb * pm.Normal("theta"), observed=yb, total_size=180)
        if form != "arrays":
            pm.set_data({"Y": Y[20:]})
    names = r"argument 1, 180 in argument 2" if form == "arrays" else "`X`, 180 in `Y`"
    message = f"expected arrays with one number of rows, got 200 in {names}"
    with pytest.raises(ValueError, match=message):
        potential_of(model)
    with pytest.raises(ValueError, match=message):
        pmg.full_data(model)


def test_complex_data_are_refused():
    with pm.Model() as model:
        x, y = pm.Minibatch(Y + 1j * Y, Y, batch_size=10)
        pm.Normal("y", x.real * pm.Normal("theta"), observed=y, total_size=200)
    with pytest.raises(ValueError, match="expected real numbers, got complex128"):
        potential_of(model)


def test_discrete_variables_are_refused():
    with pm.Model() as model:
        pm.Poisson("n", 3.0)
    with pytest.raises(ValueError, match=r"`n` is discrete \(dtype int64\).*pm.Metropolis"):
        potential_of(model)


@pytest.mark.parametrize("full_data", [False, True])
def test_potentials_of_batches_are_refused(full_data):
    with pm.Model() as model:
        theta = pm.Normal("theta")
        pm.Potential("pull", -(theta * pm.Minibatch(Y, batch_size=10)).sum())
    with pytest.raises(ValueError, match=r"`pull` depends on `pm.Minibatch`.*CustomDist\(\"pull"):
        potential_of(model, full_data=full_data)


def test_check_minibatch():
    with pytest.raises(ValueError, match=r"NUTS.*pm.sample\(step=pmg.gSGNHT\(\)\)"):
        pmg.check_minibatch(model_of())
    with pm.Model() as plain:
        pm.Normal("y", pm.Normal("theta"), observed=Y)
    assert pmg.check_minibatch(plain) is None


def observed_with_dims(n_coordinates):
    """A minibatch of ten rows, observed by a variable with a named dimension."""
    with pm.Model(coords={"row": range(n_coordinates)}) as model:
        batch = pm.Minibatch(np.linspace(-1, 1, 200), batch_size=10)
        mu = pm.Normal("mu")
        pm.Normal("y", mu, 1.0, observed=batch, total_size=200, dims="row")
    return model


def test_a_dimension_of_all_rows_cannot_be_that_of_a_batch():
    with pytest.raises(ValueError, match=r"`y` expected as many rows as a batch has.*length 200"):
        find_batch_sources(observed_with_dims(200))


def test_a_dimension_of_the_batch_can():
    assert len(find_batch_sources(observed_with_dims(10))) == 1
