#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Rewritten graphs are kept for the next process, and give the same numbers."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest

from pytensor.configdefaults import config
from two_processes import outputs_of_two

from pymc_geodesic.kernel import interpreted_once as making
from pymc_geodesic.kernel import kept_graphs
from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.kernel.interpreted_once import interpreted_once
from pymc_geodesic.kernel.memo import Memo
from pymc_geodesic.kernel.ufuncs import ByUfunc
from pymc_geodesic.potential import Potential

RNG = np.random.default_rng(1)
POINT = RNG.uniform(0.2, 1.0, 10)

# It prints how many graphs were rewritten for NumPy, and the draws.
SAMPLE = """
import numpy as np, pymc as pm, pymc_geodesic as pmg
from pymc_geodesic.kernel import interpreted_once as making
write, made = making.rewrite_in_place, []
making.rewrite_in_place = lambda *graph: made.append(1) or write(*graph)
rng = np.random.default_rng(1)
with pm.Model():
    mu, kappa = pmg.SphericalUniform("mu", shape=3), pm.HalfNormal("kappa", 10.0)
    x = rng.normal([3.0, 0.0, 0.0], 1.0, (300, 3))
    x = pm.Minibatch(x / np.linalg.norm(x, axis=1, keepdims=True), batch_size=20)
    pmg.VonMisesFisher("x", mu=mu, kappa=kappa, observed=x, total_size=300)
    idata = pmg.sample(20, tune=20, chains=2, random_seed=1, progressbar=False)
print(len(made))
print(idata.posterior["kappa"].values.tobytes().hex())
"""


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Count what is rewritten, in a process that has made nothing."""
    anew(monkeypatch)
    found, write = [], making.rewrite_in_place
    monkeypatch.setattr(making, "rewrite_in_place", lambda *graph: found.append(1) or write(*graph))
    monkeypatch.setattr(kept_graphs, "_folder", lambda: tmp_path / "folder")
    return found


def anew(monkeypatch):
    """Forget what this process has made."""
    monkeypatch.setattr(making, "MEMO", Memo(200))


def test_a_graph_is_rewritten_once(made, monkeypatch):
    data = pytensor.shared(RNG.normal(size=(50, 3)))
    x, rows = pt.dvector("x"), pt.lvector("rows")
    graph = [pt.logsumexp(data[rows] @ x), pt.special.softmax(x), 1 / pt.sigmoid(x).sum()]
    arrays = RNG.normal(size=3), np.arange(7)
    found = []
    for _ in range(3):
        anew(monkeypatch)
        found.append(interpreted_once([x, rows], graph)(*arrays))
        # Other data of the same type.
        data.set_value(data.get_value())
    assert len(made) == 1
    for values in found[1:]:
        for value, expected in zip(values, found[0], strict=True):
            assert value.dtype == expected.dtype
            np.testing.assert_array_equal(value, expected)
    expected = pt.special.softmax(x).eval({x: arrays[0]})
    np.testing.assert_allclose(found[2][1], expected, rtol=1e-12)


def test_a_change_is_rewritten_anew(made, monkeypatch):
    x, y = pt.dvector("x"), pt.dvector("y")
    changes = [
        ([x, y], [2 * x], []),
        ([x, y], [3 * x], []),
        ([x, y], [2 * x], [x]),
        ([x, y], [2 * x], [x, y]),
        ([y, x], [2 * x], []),
        ([pt.fvector("x"), y], [2 * y], []),
    ]
    for i, (inputs, outputs, varying) in enumerate(changes):
        for _ in range(2):
            anew(monkeypatch)
            interpreted_once(inputs, outputs, varying=varying)
        assert len(made) == i + 1
    anew(monkeypatch)
    with config.change_flags(floatX="float32"):
        interpreted_once([x, y], [2 * x])
    assert len(made) == len(changes) + 1
    anew(monkeypatch)
    monkeypatch.setattr(kept_graphs, "versions", lambda packages: "edited")
    interpreted_once([x, y], [2 * x])
    assert len(made) == len(changes) + 2


def test_operations_of_a_user_are_not_kept(made, monkeypatch, tmp_path):
    @pytensor.wrap_py(itypes=[pt.dvector], otypes=[pt.dvector])
    def doubled(x):
        return 2 * x

    x = pt.dvector("x")
    for _ in range(2):
        anew(monkeypatch)
        [found] = interpreted_once([x], [doubled(x)])(np.ones(2))
        np.testing.assert_array_equal(found, [2.0, 2.0])
    assert len(made) == 2
    assert not list(tmp_path.rglob("*.pickle"))


def test_graphs_with_operations_of_a_rewrite_of_a_user_are_not_kept(made, monkeypatch, tmp_path):
    x = pt.dvector("x")
    monkeypatch.setattr(kept_graphs, "is_known", lambda op: op is not ByUfunc)
    interpreted_once([x], [pt.exp(x)])
    assert len(made) == 1
    assert not list(tmp_path.rglob("*.pickle"))


def test_a_damaged_file_is_written_anew(made, monkeypatch, tmp_path):
    x = pt.dvector("x")
    interpreted_once([x], [pt.exp(x)])
    [path] = tmp_path.rglob("*.pickle")
    path.write_bytes(path.read_bytes()[:-1])
    anew(monkeypatch)
    [found] = interpreted_once([x], [pt.exp(x)])(np.zeros(2))
    np.testing.assert_array_equal(found, [1.0, 1.0])
    assert len(made) == 2


def test_a_folder_that_cannot_be_written_is_no_error(made, monkeypatch, tmp_path):
    (tmp_path / "folder").write_text("")
    x = pt.dvector("x")
    [found] = interpreted_once([x], [pt.exp(x)])(np.zeros(2))
    np.testing.assert_array_equal(found, [1.0, 1.0])


def test_the_graph_that_was_given_stays_as_it_was(made):
    x = pt.dvector("x")
    y = pt.log(pt.exp(x)) + 0
    before = pytensor.dprint(y, file="str")
    interpreted_once([x], [y])
    interpreted_once([x], [y], varying=[x])
    assert pytensor.dprint(y, file="str") == before


def test_gradients_of_a_model_are_read(made, monkeypatch):
    data = RNG.normal(size=(300, 2))
    with pm.Model() as model:
        weight = pm.Dirichlet("weight", [2.0, 2.0])
        mean = pm.Normal("mean", shape=(2, 2))
        parts = [pm.MvNormal.dist(mean[i], np.eye(2)) for i in range(2)]
        batch = pm.Minibatch(data, batch_size=20)
        pm.Mixture("x", weight, parts, observed=batch, total_size=300)
    found, start = [], model.initial_point()
    for _ in range(2):
        anew(monkeypatch)
        gradient = HostGradient(Potential(model, model.continuous_value_vars, initial_point=start))
        point = [POINT[: int(np.prod(s))].reshape(s) for s in gradient.manifold.shapes]
        found.append((gradient.whole(gradient.project(*point)), len(made)))
    (first, n_first), (second, n_second) = found
    assert n_second == n_first > 0
    assert first.energy == second.energy
    for x, y in zip(first.gradient, second.gradient, strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.slow
def test_a_second_process_rewrites_nothing_and_draws_the_same(tmp_path):
    outputs = outputs_of_two(SAMPLE, tmp_path)
    (n_first, first), (n_second, second) = (output.split()[-2:] for output in outputs)
    assert int(n_first) > 3
    assert n_second == "0"
    assert first == second
