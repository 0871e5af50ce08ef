#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Products with an unknown Cholesky factor are found, and their coordinates keep the density."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest

from pymc_geodesic.kernel.host_functions import Change
from pymc_geodesic.potential import Potential
from pymc_geodesic.potential.centering import inside, outside
from pymc_geodesic.potential.matrix_products import matrix_products
from tests.potential.changed_variables import check_energy_and_gradient

N_GROUPS, GROUP = 4, np.array([0, 1, 1, 2, 3, 3, 3])
X = np.linspace(-1.0, 1.0, len(GROUP))
Y = np.array([0.3, -0.5, 1.2, 0.1, 0.8, -0.2, 0.4])


def written(product, *, transposed=False, more=lambda z: 0.0):
    """Write a model of groups with an intercept, a slope and a curvature, by a function of z."""
    with pm.Model() as model:
        sd = pm.HalfNormal.dist(1.0, shape=3)
        chol, *_ = pm.LKJCholeskyCov("chol", n=3, eta=2.0, sd_dist=sd)
        tau = pm.HalfNormal("tau", shape=3)
        z = pm.Normal("z", 0.0, 1.5, shape=(3, N_GROUPS) if transposed else (N_GROUPS, 3))
        effects = pm.Deterministic("effects", product(z, chol, tau))[GROUP]
        mean = effects[:, 0] + effects[:, 1] * X + effects[:, 2] * X**2
        pm.Normal("y", mean + more(z), 1.0, observed=Y)
    return model


def rows(z, chol, tau):
    return z @ chol.T


def of_a_dot(z, chol, tau):
    return pt.dot(z, chol.T)


def of_columns(z, chol, tau):
    return pm.math.dot(chol, z).T


def of_transposed_rows(z, chol, tau):
    return (chol @ z.T).T


def with_deviations(z, chol, tau):
    return z @ (pt.diag(tau) @ chol).T


def chosen_first(z, chol, tau):
    return z[np.arange(N_GROUPS)] @ chol.T


def chosen_columns_first(z, chol, tau):
    return (chol @ z[:, np.arange(N_GROUPS)]).T


def in_two_places(z, chol, tau):
    halves = [z[groups] @ chol.T for groups in (np.arange(2), np.arange(2, N_GROUPS))]
    return pt.concatenate(halves)


FOUND = {
    in_two_places: (False, 1),
    chosen_first: (False, 1),
    chosen_columns_first: (True, 0),
    rows: (False, 1),
    of_a_dot: (False, 1),
    of_columns: (True, 0),
    of_transposed_rows: (False, 1),
    with_deviations: (False, 1),
}


def random_point(model, seed=3):
    rng, point = np.random.default_rng(seed), model.initial_point()
    return {name: x + 0.5 * rng.standard_normal(np.shape(x)) for name, x in point.items()}


@pytest.mark.parametrize("product", FOUND, ids=lambda f: f.__name__)
def test_the_matrix_and_the_axis_of_vectors(product):
    transposed, axis = FOUND[product]
    model = written(product, transposed=transposed)
    [(name, found)] = matrix_products(model, model.continuous_value_vars).items()
    assert (name, found.axis) == ("z", axis)
    np.testing.assert_allclose(found.deviation, 1.5)
    point = random_point(model)
    inputs = [x for x in model.value_vars if x.name != "z"]
    z = point["z"] if axis == 1 else point["z"].T
    [effects] = model.replace_rvs_by_values([product(model["z"], *chol_and_tau(model))])
    evaluate = pytensor.function(model.value_vars, effects, on_unused_input="ignore")
    matrix = pytensor.function(inputs, found.matrix, on_unused_input="ignore")
    there = matrix(*(point[x.name] for x in inputs))
    np.testing.assert_allclose(evaluate(**by_name(model, point)), z @ there.T, rtol=1e-10)


def chol_and_tau(model):
    packed = model["chol"]
    return pm.math.expand_packed_triangular(3, packed), model["tau"]


def by_name(model, point):
    return {x.name: point[x.name] for x in model.value_vars}


OTHERS = {
    "upper triangular": lambda: written(lambda z, chol, tau: z @ chol),
    "another use": lambda: written(rows, more=lambda z: z.sum()),
    "known matrix": lambda: written(lambda z, chol, tau: z @ np.tril(np.ones((3, 3)))),
    "signs unknown": lambda: written(lambda z, chol, tau: z @ (chol - pt.eye(3)).T),
    "entries chosen": lambda: written(lambda z, chol, tau: z[:, np.array([2, 0, 1])] @ chol.T),
    "two matrices": lambda: written(lambda z, chol, tau: z @ chol.T + z @ (2 * chol).T),
    "factors of it": lambda: written(lambda z, chol, tau: pt.linalg.qr(z)[0]),
    "its own square": lambda: written(lambda z, chol, tau: (z @ z.T)[:, :3]),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_variables_are_left_as_they_are(name):
    model = OTHERS[name]()
    assert matrix_products(model, model.continuous_value_vars) == {}


def test_matrices_that_another_step_moves_are_left_out():
    model = written(rows)
    values = [x for x in model.continuous_value_vars if not x.name.startswith("chol")]
    assert matrix_products(model, values) == {}


def potential_of(model, shares):
    return Potential(
        model, model.value_vars, initial_point=model.initial_point(), centering={"z": shares}
    )


def shares_of(kind, transposed):
    shares = {
        "standard normal": np.zeros((N_GROUPS, 3)),
        "centred": np.ones((N_GROUPS, 3)),
        "between": np.random.default_rng(1).uniform(size=(N_GROUPS, 3)),
    }[kind]
    return shares.T.copy() if transposed else shares


@pytest.mark.parametrize(
    ("product", "kind"),
    [(rows, "standard normal"), (rows, "centred"), (rows, "between"), (of_columns, "between")],
)
def test_energy_and_gradient_are_those_of_the_changed_variable(product, kind):
    transposed, _ = FOUND[product]
    model = written(product, transposed=transposed)
    check_energy_and_gradient(model, {"z": shares_of(kind, transposed)})


@pytest.mark.parametrize("kind", ["centred", "between"])
@pytest.mark.parametrize("product", [rows, of_columns], ids=lambda f: f.__name__)
def test_values_inside_and_outside_are_inverse_to_each_other(product, kind):
    transposed, axis = FOUND[product]
    model = written(product, transposed=transposed)
    potential = potential_of(model, shares_of(kind, transposed))
    values = [variable.value for variable in potential.variables]
    outer = outside(potential.variables, values)
    inner = Change(values, inside(potential.variables, values))
    outer = Change(values, [outer[value] for value in values])
    rng = np.random.default_rng(2)
    position = [rng.standard_normal(shape) for shape in potential.manifold.shapes]
    there = inner(outer(position))
    for x, y in zip(position, there, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-12)
    if kind == "centred":
        i = [v.name for v in potential.variables].index("z")
        point = dict(zip([v.name for v in values], outer(position), strict=True))
        [effects] = model.replace_rvs_by_values([product(model["z"], *chol_and_tau(model))])
        evaluate = pytensor.function(model.value_vars, effects, on_unused_input="ignore")
        expected = position[i] if axis == 1 else position[i].T
        np.testing.assert_allclose(evaluate(**by_name(model, point)), expected, rtol=1e-9)


def test_single_precision_stays_single():
    with pytensor.config.change_flags(floatX="float32"):
        model = written(rows)
        potential = potential_of(model, np.ones((N_GROUPS, 3), "float32"))
        gradient = potential.gradient(potential.positions, [], width=0.0)
    assert {g.dtype for g in gradient} == {"float32"}
