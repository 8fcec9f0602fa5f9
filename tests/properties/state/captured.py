"""Captured functions: arguments vary, and the names that the functions read are bound anew."""

from collections import namedtuple
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from types import CodeType, SimpleNamespace
from typing import Any

import numpy as np

import numgrad as ng

from .answers import Case
from .drawing import Axes, session

K: Any = 1.0
ARRAY: Any = np.ones(3)
TENSOR: Any = ng.tensor([1.0, 1.0, 1.0])
HELPER: Any = ng.sin
COUNT: Any = 2
NAME = "sum"
DTYPE: Any = "float64"
MASK = np.array([True, False, True])

Pair = namedtuple("Pair", "a b")
Couple = namedtuple("Couple", "a b")


@dataclass(frozen=True)
class Options:
    """Static options of a function."""

    factor: Any
    order: Any = 2


class Layer:
    """A callable with an attribute."""

    scale: Any = 1.0

    def __init__(self, weight):
        self.weight = weight

    def __call__(self, x):
        return x * self.weight * self.scale


LAYER = Layer(2.0)
SETTINGS: dict[str, Any] = {"rate": 1.0, "parts": [LAYER]}


def scaled(x, s):
    return x * s + K


def shifted(x):
    return x * ARRAY + TENSOR


def first(x, n):
    return x[:n].sum() * n


def element(x, n):
    return x[n] * 2 + n


def container(x):
    leaves = x.values() if isinstance(x, dict) else x
    return type(x).__name__, sum([(n + 1) * (7 if v is None else v) for n, v in enumerate(leaves)])


def chosen(x, flag):
    return x * (2 if flag else 3)


def helped(x):
    return HELPER(x)


def layered(x):
    return LAYER(x)


def configured(x):
    return x * SETTINGS["rate"] + SETTINGS["parts"][0].weight


def passed(layer, x):
    return x + layer.weight


def passing(x):
    return passed(LAYER, x)


def masked(x):
    return x[MASK].sum() * x


def cast(x):
    return x.astype(DTYPE).sum() * ng.ones(int(COUNT)).sum()


def named(x):
    return getattr(ng, NAME)(x, axis=0) * COUNT


@ng.jit
def inner(x):
    return ng.exp(x) * K + ARRAY


def nested(x):
    return inner(x) + ng.func.grad(lambda t: (inner(t) * t).sum())(x)


def mapped(x):
    return ng.func.vmap(lambda row: inner(row) * TENSOR)(ng.stack([x, x * 2]))


def scanned(x):
    return ng.scan(lambda carry, v: (carry * K + v, carry * v), x[0], x)


def repeated(x, n):
    return ng.fori_loop(0, n, lambda i, carry: carry * K + i, x)


def branched(x):
    return ng.cond(x.sum() > K, lambda x: x * ARRAY, lambda x: x / ARRAY, x)


def powers(x):
    return ng.func.grad(lambda x: (x**COUNT * TENSOR).sum() * K)(x)


def curved(x):
    return ng.func.hessian(lambda x: (ng.sin(x) * ARRAY * x).sum() * K)(x)


def written(x):
    z = x * 1
    z[COUNT] = K
    z[0] += COUNT
    return z


def signed(x, s):
    return ng.copysign(x, s) + ng.atan2(x * 0, s)


def optional(x, o):
    return x * (o.factor if isinstance(o, Options) else o[0] if isinstance(o, tuple) else o or 5)


def bound_to(value: Any) -> tuple[Callable[..., Any], Callable[[Any], None]]:
    """Return a function that reads a closed-over name, and one that binds the name anew."""

    def read(x):
        return x * value

    def bind(new):
        nonlocal value
        value = new

    return read, bind


closed, bind = bound_to(1.0)
FUNCTIONS = (
    scaled, shifted, first, element, container, chosen, helped, layered, masked, cast, named,
    configured, passing, nested, mapped, scanned, repeated, branched, powers, curved, written,
    signed, optional, closed,
)  # fmt: skip
STATIC = {optional: {"static_argnums": 1}}
CAPTURED = {f.__name__: ng.jit(f, **STATIC.get(f, {})) for f in FUNCTIONS}
CAPTURED["closed"] = ng.jit(closed)

NUMBERS = [
    1.0, 2.0, 0.0, -0.0, 0.5, 1, 2, True, False, np.float32(2), np.float64(2), np.int64(2), -1,
    float("nan"), float("inf"), np.array(2.0), np.array(2), 2 + 0j, complex(-2, -0.0),
    complex(-2, 0.0),
]  # fmt: skip
INTEGERS = [2, 1, 0, 3, -1, True, np.int64(1), np.int32(2), np.array(1)]
STATICS = [1, True, 1.0, (1, 2), (1.0, 2), (True, 2), -0.0, 0.0, None, Options(1), Options(1.0),
           Options(True), Options(1, 3), np.float32(1), np.int64(1), (0.0,), (-0.0,)]  # fmt: skip
HELPERS = [ng.sin, np.sin, ng.exp, lambda x: x * 2, lambda x: x * 2.0, lambda x: x + ARRAY,
           lambda x: x * K, Layer(2.0), Layer(3.0)]  # fmt: skip
ARRAYS = [
    lambda: np.ones(3),
    lambda: np.array([1.0, 2.0, 3.0]),
    lambda: np.array([1.0, 2.0, 3.0], np.float32),
    lambda: np.array([1, 2, 3]),
    lambda: np.array([1.0, 9.0, 2.0, 9.0, 3.0, 9.0])[::2],
    lambda: np.array(2.0),
    lambda: _filled(1.0),
    lambda: _filled(7.0),
]
SAME = np.ones(3)
"""An array that is written between calls."""

OPERANDS: list[Callable[[], np.ndarray]] = [
    lambda: np.array([0.5, 1.5, 2.5]),
    lambda: np.array([2.0, 0.25, -1.0]),
    lambda: np.array([0.5, 1.5, 2.5], np.float32),
    lambda: np.array([1, 2, 3]),
    lambda: np.repeat(np.array([0.5, 1.5, 2.5]), 2)[::2],
    lambda: np.array([2.5, 1.5, 0.5])[::-1],
    lambda: np.array([0.1, 0.2, 0.3, 0.4]),
    lambda: np.array([0.5, np.nan, -0.0]),
]
CONTAINERS: list[Callable[[Any, Any], Any]] = [
    lambda x, y: (x, y),
    lambda x, y: [x, y],
    lambda x, y: {"a": x, "b": y},
    lambda x, y: {"b": y, "a": x},
    lambda x, y: {"a": y, "b": x},
    lambda x, y: {1: x, 2: y},
    lambda x, y: {1.0: x, 2: y},
    lambda x, y: {True: x, 2: y},
    Pair,
    Couple,
    lambda x, _: (x, None),
    lambda x, _: (None, x),
    lambda x, _: (x, 1.0),
    lambda x, _: (x, 1),
    lambda x, _: (x, True),
    lambda x, _: (x, x),
]
ARGUMENTS = {
    "scaled": "number", "signed": "number", "first": "integer", "element": "integer",
    "repeated": "integer", "optional": "static", "chosen": "flag", "container": "container",
}  # fmt: skip
"""The axis of the second argument, or of the only one."""

AXES: Axes = {
    "x": range(len(OPERANDS)),
    "kind": ["array", "array", "tensor", "variable", "variable"],
    "call": [None, None, None, "gradient", "second", "vmap", "jvp", "func", "no_grad", "outer"],
    "k": NUMBERS,
    "number": range(len(NUMBERS)),
    "integer": range(len(INTEGERS)),
    "static": range(len(STATICS)),
    "flag": [True, False, 1, 0, None, 1.0, 2],
    "array": range(len(ARRAYS)),
    "tensor": [(1.0, False), (2.0, False), (1.0, True), (2.0, True)],
    "helper": range(len(HELPERS)),
    "container": range(len(CONTAINERS)),
    "count": [2, 1, 0, 2.0, True, -1],
    "name": ["sum", "max", "prod"],
    "dtype": ["float64", "float32", np.float32, float],
    "mask": [(1, 0, 1), (0, 1, 1), (1, 1, 1), (0, 0, 0)],
    "weight": [2.0, 3.0, 2, True],
}
READ = {
    "K": "k", "ARRAY": "array", "TENSOR": "tensor", "HELPER": "helper k array", "COUNT": "count",
    "NAME": "name", "DTYPE": "dtype", "MASK": "mask", "LAYER": "weight k", "SETTINGS": "k weight",
    "inner": "k array", "value": "k",
}  # fmt: skip
"""The axes that decide what a name is bound to."""


def draw(rng: Random, name: str | None = None, only: Sequence[str] = ()) -> list[Case]:
    """Return calls of one captured function, which differ on some axes."""
    name = name or rng.choice(sorted(CAPTURED))
    axes = {"x", "kind", "call", *ARGUMENTS.get(name, "").split()}
    for read in _names(CAPTURED[name].__wrapped__.__code__):
        axes.update(READ.get(read, "").split())
    return session(rng, name, {axis: AXES[axis] for axis in AXES if axis in axes}, only)


def _names(code: CodeType) -> Iterator[str]:
    """Give the names that a function reads, and those that functions inside of it read."""
    yield from (*code.co_names, *code.co_freevars)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _filled(value: float) -> np.ndarray:
    SAME[:] = value
    return SAME


def _bind_names(c: SimpleNamespace) -> None:
    """Bind what the functions read."""
    names = globals()
    names["K"], names["ARRAY"] = c.k, ARRAYS[c.array]()
    value, requires = c.tensor
    names["TENSOR"] = ng.tensor([value] * 3, requires_grad=requires)
    names["HELPER"], names["COUNT"] = HELPERS[c.helper], c.count
    names["NAME"], names["DTYPE"] = c.name, c.dtype
    MASK[:] = c.mask
    LAYER.weight, Layer.scale, SETTINGS["rate"] = c.weight, c.k, c.k
    bind(c.k)


def call(case: Case) -> Any:
    """Make a call of `draw`."""
    name, choices = case
    usual = {axis: choice[0] for axis, choice in AXES.items()}
    c = SimpleNamespace(**usual | dict(choices))
    _bind_names(c)
    x = _operand(c, c.x)
    return _called(c, CAPTURED[name], x, _arguments(c, ARGUMENTS.get(name), x))


def _arguments(c: SimpleNamespace, axis: str | None, x: Any) -> tuple[Any, ...]:
    if axis is None:
        return (x,)
    choice = getattr(c, axis)
    if axis == "container":
        return (CONTAINERS[choice](x, _operand(c, 1)),)
    values = {"number": NUMBERS, "integer": INTEGERS, "static": STATICS}
    return (x, values[axis][choice] if axis in values else choice)


def _operand(c: SimpleNamespace, number: int) -> Any:
    a = OPERANDS[number]()
    if c.kind == "array":
        return a
    return ng.asarray(a).requires_grad_(c.kind == "variable" and a.dtype.kind == "f")


def _called(c: SimpleNamespace, function: Callable[..., Any], x: Any, arguments: Any) -> Any:
    further, point = arguments[1:], ng.asarray(x)

    def of(t: Any) -> Any:
        return function(t, *further)

    if c.call == "no_grad":
        with ng.no_grad():
            return function(*arguments)
    if c.call == "outer":
        return ng.jit(lambda *given: function(*given))(*arguments)
    if c.call == "vmap":
        return ng.func.vmap(of)(ng.stack([point, point * 2]))
    if c.call == "jvp":
        return ng.func.jvp(of, (point,), (ng.ones_like(point),))
    if c.call == "func":
        return ng.func.grad(lambda t: _total(of(t)))(point)
    result = function(*arguments)
    return [result, _gradients(c, result, x)] if c.call else result


def _gradients(c: SimpleNamespace, result: Any, x: Any) -> Any:
    leaves = [t for t in (x, TENSOR) if isinstance(t, ng.Tensor) and t.requires_grad]
    total, is_second = _total(result), c.call == "second"
    if not isinstance(total, ng.Tensor) or not total.requires_grad:
        return None
    found = ng.grad(total, leaves, create_graph=is_second, allow_unused=True)
    again = _total([g for g in found if g is not None and g.requires_grad])
    if not is_second or not isinstance(again, ng.Tensor):
        return found
    return [found, ng.grad(again, leaves, allow_unused=True)]


def _total(result: Any) -> Any:
    parts = result if isinstance(result, tuple | list) else [result]
    tensors = [p for p in parts if isinstance(p, ng.Tensor) and p.dtype.kind in "fc"]
    return sum([(n + 1) * ng.real(t * t).sum() for n, t in enumerate(tensors)])
