"""Functions of NumPy that kernels call as they are: their results have no derivative at the call,
and loops beside it compute the slopes."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..ssa.ir import INTEGER, Op, Type, Value
from ..ssa.refusal import Refusal
from .building import Builder
from .things import Static, Thing


def given(function: Any, *args: Any) -> Any:
    """Return what a function of NumPy makes of arrays, as constants for derivatives."""
    return function(*args)


def _floats(*axes: int) -> Callable[..., list[Type]]:
    return lambda a, *_: [Type(a.type.dtype, ndim) for ndim in axes]


def _least_squares(a: Value, b: Value) -> list[Type]:
    kind = a.type.dtype
    return [Type(kind, b.type.ndim), Type(kind, 1), INTEGER, Type(kind, 1)]


_RESULTS: dict[Any, tuple[str, Callable[..., list[Type]]]] = {
    np.argsort: ("np.argsort", lambda *_: [Type("int64", 1)]),
    np.argpartition: ("np.argpartition", lambda *_: [Type("int64", 1)]),
    np.histogram: (
        "np.histogram", lambda x, *_: [Type("int64", 1), Type("float64", 1)]
    ),
    np.linalg.eigh: ("np.linalg.eigh", _floats(1, 2)),
    np.linalg.svd: ("np.linalg.svd", _floats(2, 1, 2)),
    np.linalg.qr: ("np.linalg.qr", _floats(2, 2)),
    np.linalg.pinv: ("np.linalg.pinv", _floats(2)),
    np.linalg.inv: ("np.linalg.inv", _floats(2)),
    np.linalg.solve: ("np.linalg.solve", lambda a, b: [Type(a.type.dtype, b.type.ndim)]),
    np.linalg.lstsq: ("np.linalg.lstsq", _least_squares),
}


def append_given(b: Builder, function: Any, args: list[Thing]) -> Thing:
    """Append the call of a function of NumPy.

    Parameters
    ----------
    b : Builder
    function : callable
    args : list
        Arrays, numbers and tuples of numbers; words are constants.
    """
    name, kinds = _RESULTS[function]
    parts = [part for arg in args for part in (arg if isinstance(arg, tuple) else (arg,))]
    values = [part for part in parts if isinstance(part, Value)]
    are_places = function in (np.argsort, np.argpartition)
    if not are_places and values[0].type.dtype not in ("float64", "float32"):
        raise Refusal(f"{name} is understood of arrays of floats")
    texts = [_text(function, arg) for arg in args]
    made = Op("given", values, b.region, b.line, text=f"{name}({', '.join(texts)})")
    made.results = [Value(kind, b.region, made, b.hint) for kind in kinds(*values)]
    if are_places:
        made.info["extents"] = b.shape(values[0])
    b.region.ops.append(made)
    return tuple(made.results) if len(made.results) > 1 else made.results[0]


def _text(function: Any, arg: Thing) -> str:
    """Return an argument as text, with braces for each value."""
    if isinstance(arg, tuple):
        return f"({', '.join([_text(function, part) for part in arg])})"
    return "{}" if isinstance(arg, Value) else _word(function, arg)


def _word(function: Any, arg: Thing) -> str:
    """An argument that is known when the kernel is compiled, as text."""
    if not isinstance(arg, Static):
        raise Refusal("an argument must be an array, a number or a constant")
    name = "kind=" if function is np.argsort else ""  # NumPy has the axis before it
    return f"{name}{arg.value!r}"
