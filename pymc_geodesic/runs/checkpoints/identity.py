#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The identity of a run, of digests of values and graphs that are the same in every process."""

from __future__ import annotations

import hashlib
import re

from collections.abc import Collection, Iterable, Mapping, Sequence
from importlib.metadata import version
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from pymc.model import Model
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.traversal import toposort

from pymc_geodesic.run_record import NOT_SETTINGS
from pymc_geodesic.runs.starts import InitialValues
from pymc_geodesic.step_methods.step import Step

__all__ = [
    "Digest",
    "Identity",
    "digest",
    "graph_digests",
    "identity_of",
    "identity_of_model",
    "require_same",
]


PLAIN = (bool, int, float, complex, str, bytes, type(None), range, slice, type(...))
ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def digest(value: Any) -> str:
    """Return a text that is the same for equal values."""
    found = Digest()
    found.add(value)
    return found.text


class Digest:
    """A hash of the content of values: all bytes of arrays, and the pickled state of objects."""

    def __init__(self) -> None:
        self._hash = hashlib.blake2b(digest_size=12)
        self._seen: dict[int, int] = {}
        # Kept alive, because the address identifies an object only as long as it exists.
        self._held: list[Any] = []

    @property
    def text(self) -> str:
        """The hash of all added values."""
        return self._hash.hexdigest()

    def add(self, value: Any) -> None:
        """Add a value."""
        if isinstance(value, PLAIN):
            self._write(type(value).__name__, repr(value))
        elif isinstance(value, np.ndarray | np.generic) and value.dtype != object:
            self._write("array", value.dtype.str, repr(value.shape))
            self._hash.update(np.ascontiguousarray(value).data)
        elif isinstance(value, type | BuiltinFunctionType | ModuleType):
            self._write(getattr(value, "__module__", ""), value.__name__)
        elif id(value) in self._seen:
            self._write("seen", str(self._seen[id(value)]))
        else:
            self._seen[id(value)] = len(self._seen)
            self._held.append(value)
            self._write(type(value).__qualname__)
            for part in _parts(value):
                self.add(part)

    def _write(self, *texts: str) -> None:
        for text in texts:
            data = text.encode()
            self._hash.update(b"%d:" % len(data) + data)


def _parts(value: Any) -> Iterable[Any]:
    """Return the parts of a value."""
    if isinstance(value, Mapping):
        return [part for item in value.items() for part in item]
    if isinstance(value, np.ndarray):
        return [value.shape, *value.ravel()]
    if isinstance(value, list | tuple):
        return value
    if isinstance(value, set | frozenset):
        return sorted(map(repr, value))
    if isinstance(value, FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        return [value.__qualname__, value.__code__, value.__defaults__, value.__kwdefaults__, cells]
    if isinstance(value, CodeType):
        return [value.co_code, value.co_names, value.co_consts]
    try:
        reduced = value.__reduce_ex__(4)
    except Exception:
        # Objects that cannot be pickled, such as locks and files, are identified by their type.
        return []
    if isinstance(reduced, str):
        return [reduced]
    # Iterators over the items of lists and dictionaries are read.
    return [list(x) if hasattr(x, "__next__") else x for x in reduced]


def graph_digests(outputs: Sequence[Variable]) -> tuple[str, str]:
    """Return digests of the computation of a graph, and of the arrays in it.

    Numbers are part of the computation. The states of random generators are not included.
    """
    structure, arrays = Digest(), Digest()
    _add_graph(outputs, (), structure, arrays)
    return structure.text, arrays.text


def _add_graph(
    outputs: Sequence[Variable], inputs: Sequence[Variable], structure: Digest, arrays: Digest
) -> None:
    numbers: dict[Variable, int] = {variable: i for i, variable in enumerate(inputs)}

    def number_of(variable: Variable) -> int:
        if variable not in numbers:
            numbers[variable] = len(numbers)
            _add_root(variable, structure, arrays)
        return numbers[variable]

    for node in toposort(outputs, blockers=inputs):
        structure.add([number_of(variable) for variable in node.inputs])
        _add_operation(node, structure, arrays)
        numbers |= {variable: len(numbers) + i for i, variable in enumerate(node.outputs)}
    structure.add([number_of(variable) for variable in outputs])


def _add_root(variable: Variable, structure: Digest, arrays: Digest) -> None:
    structure.add(type(variable).__qualname__)
    if not hasattr(variable.type, "shape"):
        return
    structure.add([variable.name, variable.type.dtype, variable.type.ndim])
    if isinstance(variable, SharedVariable):
        arrays.add(variable.get_value(borrow=True))
    elif isinstance(variable, Constant):
        (arrays if variable.type.ndim else structure).add(variable.data)


def _add_operation(node: Apply, structure: Digest, arrays: Digest) -> None:
    op = node.op
    structure.add(type(op))
    structure.add([str(variable.type) for variable in node.outputs])
    for name in getattr(op, "__props__", None) or ():
        structure.add(ADDRESS.sub("", str(getattr(op, name))))
    if (inner := getattr(op, "fgraph", None)) is not None:
        _add_graph(inner.outputs, inner.inputs, structure, arrays)


type Identity = dict[str, Any]
"""What is compared, by the name under which a difference is told. It can be written as JSON."""

PACKAGES = ("pymc_geodesic", "pymc", "pytensor", "numpy", "jax", "jaxlib")


def identity_of(
    model: Model,
    step: Step,
    *,
    chain_seeds: Sequence[np.random.SeedSequence],
    initvals: InitialValues,
    arguments: Mapping[str, Any],
) -> Identity:
    """Describe a run.

    Parameters
    ----------
    model : Model
        The model: its densities, Deterministics, coordinates and data.
    step : Step
        The step: its class, its options, and the first batch of its stream.
    chain_seeds : sequence of SeedSequence
        Seeds of the chains.
    initvals : mapping or sequence of mapping, optional
        Starts of the chains.
    arguments : mapping
        Other arguments of the run, which can be written as JSON.
    """
    return {
        **identity_of_model(model),
        "the class of the step": type(step).__name__,
        **_options(step),
        "the seeds": [_seed(seed) for seed in chain_seeds],
        "`initvals`": digest(initvals),
        **{f"`{name}`": value for name, value in arguments.items()},
    }


def identity_of_model(model: Model) -> Identity:
    """Describe a model, and what evaluates it."""
    formulas = [*model.logp(sum=False), *model.replace_rvs_by_values(model.deterministics)]
    graph, arrays = graph_digests(formulas)
    labels = digest([dict(model.coords), dict(model.named_vars_to_dims)])
    return {
        "the model": f"{graph}-{labels}",
        "the data, or arrays of the priors": arrays,
        **{f"the version of {package}": version(package) for package in PACKAGES},
    }


def _options(step: Step) -> Identity:
    """Describe the keywords of a step."""
    _, settings = step.__getnewargs_ex__()
    found: Identity = {
        f"the step's `{name}`": _shown(value)
        for name, value in settings.items()
        if name not in {*NOT_SETTINGS, "data"} and value is not None
    }
    calls = getattr(step.sampler, "calls", None)
    if calls is not None and calls.reader is not None:
        # Reading all of the stream would take as long as a pass of the run.
        found["the first batch of the stream"] = digest(calls.reader.first_batch)
    return found


def _shown(value: Any) -> Any:
    """Show values that a person can compare, and digests of other values."""
    if isinstance(value, bool | int | float | str):
        return value
    return digest(value)


def _seed(seed: np.random.SeedSequence) -> str:
    return f"{seed.entropy}/{'.'.join(map(str, seed.spawn_key))}"


def require_same(
    found: Identity, expected: Identity, *, path: str, free: Collection[str] = ()
) -> None:
    """Raise an error if the run differs from that of the checkpoint.

    Parameters
    ----------
    found, expected : dict
        Identities of the call, and of the run on disk.
    path : str
        Directory of the run.
    free : collection of str
        Names that are not compared.

    Raises
    ------
    ValueError
        If they differ; the error names the difference.
    """
    compared = [name for name in {**expected, **found} if name not in free]
    names = [name for name in compared if found.get(name) != expected.get(name)]
    if not names:
        return
    differences = "; ".join(f"{n}: {expected.get(n)} there, {found.get(n)} here" for n in names)
    raise ValueError(
        f"The checkpoint {path!r} expected the run that it holds, got a run that differs in "
        f"{differences}. Make the same call, or pass another `checkpoint`."
    )
