#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Names of graphs that are the same in every process.

Two graphs have the same name only if they compute the same. Where that cannot be told, for an
operation that a user has written or whose parameters are unknown here, a graph has no name.
"""

from __future__ import annotations

import hashlib

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import partial
from types import BuiltinFunctionType, FunctionType, NoneType
from typing import Any

import numpy as np

from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.op import HasInnerGraph, Op
from pytensor.graph.traversal import io_toposort
from pytensor.graph.type import Type
from pytensor.scalar.basic import ScalarOp
from pytensor.scan.op import Scan

__all__ = ["is_known", "name_of_graph", "name_of_value"]

# Packages whose version says what their operations compute.
KNOWN = frozenset({"builtins", "numpy", "pymc", "pymc_geodesic", "pytensor"})
PLAIN = (bool, int, float, complex, str, bytes, NoneType)
# What distinguishes two loops, beside their inner graphs.
OF_SCAN = ("info", "truncate_gradient", "name", "allow_gc")
OF_GRAPH = ("is_inline", "destroy_map", "core_ndim")
OF_SCALAR = ("output_types_preference", "bool")


def is_known(value: Any) -> bool:
    """Return whether a class or a function is of a package whose version says what it does."""
    return str(getattr(value, "__module__", None)).partition(".")[0] in KNOWN


class Nameless(Exception):
    """Something of which it cannot be told whether it is the same in another process."""


def name_of_graph(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> str | None:
    """Name a graph by its operations, their order, its constants, and the types of its inputs.

    Parameters
    ----------
    inputs, outputs : sequence of Variable
        The graph. One that depends on anything but inputs and constants has no name.

    Returns
    -------
    str or None
        None if an operation or one of its parameters is not known to be the same elsewhere.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> from pymc_geodesic.kernel.graph_names import name_of_graph
    >>> x, y = pt.vector("x"), pt.vector("y")
    >>> name_of_graph([x], [pt.exp(x)]) == name_of_graph([y], [pt.exp(y)])
    True
    >>> name_of_graph([x], [pt.exp(x)]) == name_of_graph([x], [pt.log(x)])
    False
    """
    try:
        text = "\n".join(_lines(inputs, outputs, {}))
    except Nameless:
        return None
    return hashlib.sha256(text.encode()).hexdigest()


def name_of_value(value: Any) -> str | None:
    """Name a setting of a kernel: arrays, functions, and objects by what is pickled of them.

    Parameters
    ----------
    value : any
        The setting.

    Returns
    -------
    str or None
        None if something of it is not known to be the same elsewhere.
    """
    try:
        return hashlib.sha256(_text(value, {}, any_object=True).encode()).hexdigest()
    except Nameless:
        return None


def _lines(
    inputs: Sequence[Variable], outputs: Sequence[Variable], known: dict[int, str]
) -> Iterator[str]:
    """Write a graph in words: its inputs, its nodes in their order, its outputs."""
    names = {x: f"i{i}" for i, x in enumerate(inputs)}
    yield from (_text(x.type, known) for x in inputs)
    for number, node in enumerate(io_toposort(inputs, outputs)):
        for x in node.inputs:
            if x not in names:
                names[x] = _constant(x, known)
        yield f"{_text(node.op, known)} {' '.join(names[x] for x in node.inputs)}"
        names |= {x: f"n{number}.{i}" for i, x in enumerate(node.outputs)}
    for x in outputs:
        if x not in names:
            names[x] = _constant(x, known)
    yield " ".join(names[x] for x in outputs)


def _constant(x: Variable, known: dict[int, str]) -> str:
    """Write a constant with its value."""
    if not isinstance(x, Constant):
        raise Nameless
    return f"{_text(x.type, known)}={_text(x.data, known)}"


def _text(value: Any, known: dict[int, str], *, any_object: bool = False) -> str:
    """Write an operation, a type or a parameter in words.

    Operations are looked up by identity: one stands in a graph hundreds of times.
    """
    text = partial(_text, known=known, any_object=any_object)
    if isinstance(value, Op):
        if id(value) not in known:
            known[id(value)] = f"{_class(value)}({_join(_parameters(value, known))})"
        return known[id(value)]
    if isinstance(value, PLAIN):
        return repr(value)
    if isinstance(value, np.ndarray | np.generic):
        array = np.ascontiguousarray(value)
        if array.dtype.hasobject:
            raise Nameless
        return f"{array.dtype.str}{array.shape}{hashlib.sha256(array.tobytes()).hexdigest()}"
    if isinstance(value, np.dtype):
        return value.str
    if isinstance(value, tuple | list):
        return f"{_class(value)}[{_join(text(x) for x in value)}]"
    if isinstance(value, Mapping):
        items = (f"{text(k)}:{text(x)}" for k, x in value.items())
        return f"{{{_join(sorted(items))}}}"
    if isinstance(value, slice):
        return f"slice[{_join(text(x) for x in (value.start, value.stop, value.step))}]"
    if isinstance(value, type | FunctionType | BuiltinFunctionType):
        return _global(value)
    if isinstance(value, Enum):
        return f"{_class(value)}.{value.name}"
    if is_dataclass(value):
        pairs = ((field.name, getattr(value, field.name)) for field in fields(value))
    elif isinstance(value, Type) or hasattr(value, "__props__"):
        pairs = ((prop, getattr(value, prop)) for prop in _props(value))
    elif isinstance(value, partial):
        return f"partial({text((value.func, value.args, value.keywords))})"
    elif any_object and is_known(type(value)):
        pairs = (pair for pair in _settings(value).items())
    else:
        raise Nameless
    return f"{_class(value)}({_join(f'{k}={text(x)}' for k, x in pairs)})"


def _settings(value: Any) -> Mapping[str, Any]:
    """Return what distinguishes an object from others of its class."""
    state = value.form if hasattr(value, "form") else value.__getstate__()
    if state is None:
        return {}
    if not isinstance(state, Mapping):
        raise Nameless
    return state


def _parameters(op: Op, known: dict[int, str]) -> Iterator[str]:
    """Write what distinguishes an operation from others of its class."""
    names = [*_props(op)] if hasattr(op, "__props__") else []
    if isinstance(op, Scan):
        names = [*OF_SCAN]
    elif isinstance(op, OpFromGraph):
        names += [name for name in OF_GRAPH if hasattr(op, name)]
    elif isinstance(op, HasInnerGraph):
        raise Nameless
    elif isinstance(op, ScalarOp):
        names += [name for name in OF_SCALAR if hasattr(op, name)]
    elif not hasattr(op, "__props__"):
        raise Nameless
    for name in dict.fromkeys(names):
        yield f"{name}={_text(getattr(op, name), known)}"
    if isinstance(op, HasInnerGraph):
        # Names of an inner graph must not depend on where it stands.
        yield "\n".join(_lines(op.fgraph.inputs, op.fgraph.outputs, known))


def _props(value: Any) -> tuple[str, ...]:
    props = getattr(value, "__props__", None)
    if props is None:
        raise Nameless
    return tuple(props)


def _class(value: Any) -> str:
    return _global(type(value))


def _global(value: Any) -> str:
    """Name a class or a function of a package that is known; those inside a function have none."""
    name = getattr(value, "__qualname__", "<")
    if "<" in name or not is_known(value):
        raise Nameless
    return f"{value.__module__}.{name}"


def _join(parts: Iterable[str]) -> str:
    return ", ".join(parts)
