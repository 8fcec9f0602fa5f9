"""Calls inside of kernels: NumPy's functions, methods of arrays, builtins, other kernels."""

import ast
import math
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .building import Builder, Lazy, Static, Thing, described, is_array, promoted
from .ir import INTEGER, Type, Value
from .refusal import Refusal

# NumPy's and math's names of the scalar functions, by the name of the operation.
_SPELLED = {
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh",
    "arccosh": "acosh", "arctanh": "atanh", "arctan2": "atan2",
}  # fmt: skip
_SAME_NAME = [
    "sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan",
    "sinh", "cosh", "tanh", "hypot", "copysign", "fmod", "degrees", "radians", "isnan", "isfinite",
    "isinf", "erf", "erfc", "sign", "rint", "reciprocal", *_SPELLED,
]  # fmt: skip


def _scalar_functions() -> dict[Any, tuple[str, str]]:
    found: dict[Any, tuple[str, str]] = {}
    for name in _SAME_NAME:
        for module, spelled in ((np, "np"), (math, "math")):
            other = _SPELLED.get(name, name) if module is math else name
            if function := getattr(module, other, None):
                found[function] = (name, f"{spelled}.{other}")
    more = {
        np.floor: ("floor", "np.floor"), np.ceil: ("ceil", "np.ceil"), np.trunc: ("trunc", "np.trunc"),
        math.floor: ("floor_int", "math.floor"), math.ceil: ("floor_int", "math.ceil"),
        math.trunc: ("floor_int", "math.trunc"), np.absolute: ("abs", "abs"), np.fabs: ("abs", "abs"),
        math.fabs: ("abs", "math.fabs"), abs: ("abs", "abs"), np.deg2rad: ("radians", "np.deg2rad"),
        np.rad2deg: ("degrees", "np.rad2deg"), np.square: ("square", "2"), math.pow: ("pow", ""),
        np.power: ("pow", ""), pow: ("pow", ""), np.negative: ("neg", ""), np.add: ("add", ""),
        np.subtract: ("sub", ""), np.multiply: ("mul", ""), np.divide: ("truediv", ""),
        np.maximum: ("max", "max"), np.minimum: ("min", "min"), np.floor_divide: ("floordiv", ""),
        np.remainder: ("mod", ""), np.float32: ("float32", "np.float32"), float: ("float", "float"),
        np.float64: ("float", "np.float64"), int: ("int", "int"), bool: ("bool", "bool"),
        np.logical_not: ("not", ""), np.logical_and: ("and", ""), np.logical_or: ("or", ""),
        np.less: ("lt", ""), np.greater: ("gt", ""), np.less_equal: ("le", ""),
        np.greater_equal: ("ge", ""), np.equal: ("eq", ""), np.not_equal: ("ne", ""),
        np.where: ("select", ""), np.positive: ("pos", ""),
    }  # fmt: skip
    return found | more


SCALAR_FUNCTIONS = _scalar_functions()


def bounds_of(b: Builder, args: list[Value]) -> tuple[Value, Value, Value]:
    """Return the start, the end and the step of ``range``."""
    zero, one = b.constant(0), b.constant(1)
    start, stop, step = [(zero, *args, one), (*args, one), tuple(args)][len(args) - 1]
    return start, stop, step


class Calls:
    """Reads calls."""

    b: Builder
    value: Callable[..., Thing]
    number: Callable[..., Value]
    matmul: Callable[[Thing, Thing], Thing]
    product: Callable[[list[Value]], Value]
    inlined: Callable[..., Thing]
    arithmetic: Callable[..., Value]

    def call(self, node: ast.Call) -> Thing:
        """Evaluate a call."""
        if (counted := self._length_of_range(node)) is not None:
            return counted
        if any(isinstance(arg, ast.Starred) for arg in node.args):
            args = self._starred(node.args)
        else:
            args = [self.value(arg) for arg in node.args]
        keywords = {word.arg: self.value(word.value) for word in node.keywords if word.arg}
        if isinstance(node.func, ast.Attribute):
            owner = self.value(node.func.value)
            if not isinstance(owner, Static):
                return self._method(owner, node.func.attr, args, keywords)
        function = self.value(node.func)
        if not isinstance(function, Static):
            raise Refusal(f"{described(function)} cannot be called")
        return self._apply(node, function.value, args, keywords)

    def _length_of_range(self, node: ast.Call) -> Value | None:
        """The number of steps of ``len(range(...))``; None for other calls."""
        match node:
            case ast.Call(ast.Name("len"), [ast.Call(ast.Name("range"), args, [])], []):
                start, stop, step = bounds_of(self.b, [self.number(arg) for arg in args])
                return self.b.scalar("extent", start, stop, step)
        return None

    def _starred(self, nodes: list[ast.expr]) -> list[Thing]:
        found: list[Thing] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                found.extend(self.value(node.value))
            else:
                found.append(self.value(node))
        return found

    def _apply(self, node: ast.Call, function: Any, args: list[Thing], keywords: dict[str, Thing]) -> Thing:
        known = _hashed(SCALAR_FUNCTIONS, function)
        if known and not keywords and function not in _ALSO_REDUCE:
            return self._scalar_call(*known, args)
        name = _hashed(NAMED, function)
        if name:
            return getattr(self, f"_call_{name}")(*args, **keywords)
        if isinstance(function, type) and issubclass(function, (np.integer, np.bool_)):
            text, kind = f"np.{function.__name__}", Type(np.dtype(function).name)
            return self.b.elementwise(lambda x: self.b.scalar("intcast", x, spelled=text, type=kind), args)
        if isinstance(function, types.FunctionType) or hasattr(function, "py_func"):
            return self.inlined(node, function, args, keywords)
        raise Refusal(f"the function `{ast.unparse(node.func)}` is not understood")

    def _scalar_call(self, name: str, spelled: str, args: list[Thing]) -> Thing:
        if name == "pow":
            return self.b.elementwise(lambda x, y: self.arithmetic("pow", x, y), args)
        if name in ("and", "or", "not") and any(self._dtype(arg) != "bool" for arg in args):
            raise Refusal("logical functions are understood of conditions")
        if name == "select" and len(args) != 3:
            raise Refusal("np.where with one argument is not understood: write the loop")
        return self.b.elementwise(lambda *xs: self.b.scalar(name, *xs, spelled=spelled), args)

    def _dtype(self, thing: Thing) -> str:
        return thing.type.dtype if isinstance(thing, (Value, Lazy)) else ""

    # Builtins

    def _call_len(self, thing: Thing) -> Thing:
        if isinstance(thing, tuple):
            return self.b.constant(len(thing))
        return thing.shape[0] if isinstance(thing, Lazy) else self.b.extent(self.b.array(thing), 0)

    def _call_max(self, *args: Thing, axis: Thing = None) -> Thing:
        return self._extreme("max", args, axis)

    def _call_min(self, *args: Thing, axis: Thing = None) -> Thing:
        return self._extreme("min", args, axis)

    def _extreme(self, name: str, args: Sequence[Thing], axis: Thing) -> Thing:
        if len(args) > 1 and not is_array(args[0]):
            return self._chained(name, args)
        if isinstance(args[0], tuple):
            return self._chained(name, args[0])
        return self._reduced(lambda lazy: self._extreme_of(name, lazy), args[0], axis)

    def _chained(self, name: str, args: Sequence[Thing]) -> Value:
        result = self.b.number(args[0])
        for arg in args[1:]:
            result = self.b.scalar(name, result, self.b.number(arg), spelled=name)
        return result

    def _extreme_of(self, name: str, lazy: Lazy) -> Value:
        first = lazy.at([self.b.constant(0)] * len(lazy.shape))
        update: Callable[..., list[Value]] = lambda index, best: [  # noqa: E731
            self.b.scalar(name, best, lazy.at(index), spelled=name)
        ]
        return self.b.fold(lazy.shape, [first], update)[0]

    def _call_round(self, thing: Thing, digits: Thing = None) -> Thing:
        if digits is not None:
            raise Refusal("round with digits is not understood")
        return self.b.scalar("floor_int", self.b.number(thing), spelled="round")

    def _call_divmod(self, one: Thing, other: Thing) -> Thing:
        x, y = self.b.number(one), self.b.number(other)
        return self.b.scalar("floordiv", x, y), self.b.scalar("mod", x, y)

    # New arrays

    def _shape_of(self, thing: Thing) -> list[Value]:
        parts = thing if isinstance(thing, tuple) else (thing,)
        return [self.b.number(part) for part in parts]

    def _new(self, fill: str, shape: Thing, dtype: Thing) -> Value:
        name = _dtype_name(dtype) if dtype is not None else "float64"
        return self.b.alloc(name, self._shape_of(shape), fill)

    def _call_zeros(self, shape: Thing, dtype: Thing = None) -> Thing:
        return self._new("zeros", shape, dtype)

    def _call_empty(self, shape: Thing, dtype: Thing = None) -> Thing:
        return self._new("empty", shape, dtype)

    def _call_ones(self, shape: Thing, dtype: Thing = None) -> Thing:
        return self._new("ones", shape, dtype)

    def _call_full(self, shape: Thing, value: Thing, dtype: Thing = None) -> Thing:
        number = self.b.number(value)
        made = self._new("empty", shape, dtype if dtype is not None else Static(np.dtype(number.type.dtype)))
        self.b.assign(made, number)
        return made

    def _like(self, fill: str, other: Thing, dtype: Thing) -> Value:
        lazy = self.b.lazy(other)
        name = _dtype_name(dtype) if dtype is not None else lazy.type.dtype
        return self.b.alloc(name, lazy.shape, fill)

    def _call_zeros_like(self, other: Thing, dtype: Thing = None) -> Thing:
        return self._like("zeros", other, dtype)

    def _call_empty_like(self, other: Thing, dtype: Thing = None) -> Thing:
        return self._like("empty", other, dtype)

    def _call_ones_like(self, other: Thing, dtype: Thing = None) -> Thing:
        return self._like("ones", other, dtype)

    def _call_full_like(self, other: Thing, value: Thing, dtype: Thing = None) -> Thing:
        made = self._like("empty", other, dtype)
        self.b.assign(made, value)
        return made

    def _call_copy(self, thing: Thing) -> Thing:
        return self.b.computed(self.b.lazy(thing))

    def _call_arange(self, *args: Thing) -> Thing:
        numbers = [self.b.number(arg) for arg in args]
        if any(n.type.is_real for n in numbers):
            raise Refusal("np.arange of floats is not understood: use np.linspace or a loop")
        start, stop, step = bounds_of(self.b, numbers)
        count = self.b.scalar("extent", start, stop, step)
        at: Callable[[list[Value]], Value] = lambda i: self.b.scalar(  # noqa: E731
            "add", start, self.b.scalar("mul", i[0], step)
        )
        return Lazy("int64", [count], at, [])

    def _call_linspace(self, start: Thing, stop: Thing, num: Thing = None) -> Thing:
        first, last = self.b.number(start), self.b.number(stop)
        count = self.b.number(num) if num is not None else self.b.constant(50)
        gaps = self.b.scalar("sub", count, self.b.constant(1))
        width = self.b.scalar("sub", last, first)

        def at(index: list[Value]) -> Value:
            share = self.b.scalar("truediv", self.b.scalar("mul", width, index[0]), gaps)
            return self.b.scalar("add", first, share)

        return Lazy("float64", [count], at, [])

    def _call_eye(self, n: Thing) -> Thing:
        made = self.b.alloc("float64", [self.b.number(n)] * 2, "zeros")
        one = self.b.constant(1.0)
        self.b.for_each([self.b.number(n)], lambda i: self.b.store(made, [i[0], i[0]], one))
        return made

    def _call_array(self, thing: Thing, dtype: Thing = None) -> Thing:
        name = _dtype_name(dtype) if dtype is not None else ""
        if is_array(thing):
            return self.b.computed(self.b.lazy(thing), name)
        return self.array_of(thing, name)

    def array_of(self, thing: Thing, dtype: str = "") -> Value:
        """Return a new array of the numbers of a tuple, which may be nested."""
        rows = thing if isinstance(thing[0], tuple) else (thing,)
        numbers = [[self.b.number(x) for x in row] for row in rows]
        dtype = dtype or promoted([x for row in numbers for x in row])
        shape = [self.b.constant(len(numbers[0]))]
        if rows is thing:
            shape.insert(0, self.b.constant(len(rows)))
        made = self.b.alloc(dtype, shape)
        for n, row in enumerate(numbers):
            for m, x in enumerate(row):
                index = [self.b.constant(m)] if rows is not thing else [self.b.constant(n), self.b.constant(m)]
                self.b.store(made, index, x)
        return made

    # Reductions

    def _reduced(self, reduce: Callable[[Lazy], Value], thing: Thing, axis: Thing) -> Thing:
        """Reduce all elements, or those along an axis."""
        if isinstance(thing, tuple):
            thing = self.array_of(thing)
        lazy = self.b.lazy(thing)
        if axis is None or (isinstance(axis, Static) and axis.value is None):
            return reduce(lazy)
        place = self.b.number(axis).constant
        if not isinstance(place, int):
            raise Refusal("an axis must be known when the kernel is compiled")
        place %= len(lazy.shape)
        if len(lazy.shape) == 1:
            return reduce(lazy)

        def at(index: list[Value]) -> Value:
            part: Callable[[list[Value]], Value] = lambda i: lazy.at(  # noqa: E731
                [*index[:place], i[0], *index[place:]]
            )
            return reduce(Lazy(lazy.type.dtype, [lazy.shape[place]], part, lazy.reads))

        shape = lazy.shape[:place] + lazy.shape[place + 1 :]
        kind = self.b.trial(lambda: at([self.b.constant(0)] * len(shape))).type
        return self.b.computed(Lazy(kind.dtype, shape, at, lazy.reads))

    def _sum_of(self, lazy: Lazy) -> Value:
        kind = lazy.type.dtype if lazy.type.is_real else "int64"
        start = self.b.constant(0.0 if lazy.type.is_real else 0)
        if kind == "float32":
            start = self.b.scalar("float32", start, spelled="np.float32")
        add: Callable[..., list[Value]] = lambda index, total: [  # noqa: E731
            self.b.scalar("add", total, lazy.at(index))
        ]
        return self.b.fold(lazy.shape, [start], add)[0]

    def _call_sum(self, thing: Thing, axis: Thing = None) -> Thing:
        return self._reduced(self._sum_of, thing, axis)

    def _mean_of(self, lazy: Lazy) -> Value:
        return self.b.scalar("truediv", self._sum_of(lazy), self.product(lazy.shape))

    def _call_mean(self, thing: Thing, axis: Thing = None) -> Thing:
        return self._reduced(self._mean_of, thing, axis)

    def _call_prod(self, thing: Thing, axis: Thing = None) -> Thing:
        def product_of(lazy: Lazy) -> Value:
            one = self.b.constant(1.0 if lazy.type.is_real else 1)
            times: Callable[..., list[Value]] = lambda i, p: [self.b.scalar("mul", p, lazy.at(i))]  # noqa: E731
            return self.b.fold(lazy.shape, [one], times)[0]

        return self._reduced(product_of, thing, axis)

    def _var_of(self, lazy: Lazy) -> Value:
        mean = self._mean_of(lazy)

        def square(index: list[Value]) -> Value:
            return self.b.scalar("square", self.b.scalar("sub", lazy.at(index), mean), spelled="2")

        return self._mean_of(Lazy("float64", lazy.shape, square, lazy.reads))

    def _call_var(self, thing: Thing) -> Thing:
        return self._var_of(self.b.lazy(thing))

    def _call_std(self, thing: Thing) -> Thing:
        return self.b.scalar("sqrt", self._var_of(self.b.lazy(thing)), spelled="np.sqrt")

    def _call_any(self, thing: Thing) -> Thing:
        return self._logical("or", False, thing)

    def _call_all(self, thing: Thing) -> Thing:
        return self._logical("and", True, thing)

    def _logical(self, name: str, start: bool, thing: Thing) -> Thing:
        lazy = self.b.lazy(thing)
        zero = self.b.constant(0)

        def update(index: list[Value], so_far: Value) -> list[Value]:
            element = lazy.at(index)
            if element.type.dtype != "bool":
                element = self.b.scalar("ne", element, zero)
            return [self.b.scalar(name, so_far, element)]

        return self.b.fold(lazy.shape, [self.b.constant(start)], update)[0]

    def _call_argmax(self, thing: Thing) -> Thing:
        return self._argextreme("gt", thing)

    def _call_argmin(self, thing: Thing) -> Thing:
        return self._argextreme("lt", thing)

    def _argextreme(self, name: str, thing: Thing) -> Thing:
        lazy = self.b.lazy(thing)
        if len(lazy.shape) != 1:
            raise Refusal("argmax and argmin are understood of arrays with one axis")

        def update(index: list[Value], best: Value, where: Value) -> list[Value]:
            element = lazy.at(index)
            better = self.b.scalar(name, element, best)
            both = self.b.scalar("select", better, element, best)
            return [both, self.b.scalar("select", better, index[0], where)]

        first = lazy.at([self.b.constant(0)])
        return self.b.fold(lazy.shape, [first, self.b.constant(0)], update)[1]

    def _call_cumsum(self, thing: Thing) -> Thing:
        lazy = self.b.lazy(thing)
        if len(lazy.shape) != 1:
            raise Refusal("np.cumsum is understood of arrays with one axis")
        made = self.b.alloc(lazy.type.dtype, lazy.shape)

        def update(index: list[Value], total: Value) -> list[Value]:
            total = self.b.scalar("add", total, lazy.at(index))
            self.b.store(made, index, total)
            return [total]

        self.b.fold(lazy.shape, [self.b.constant(0.0 if lazy.type.is_real else 0)], update)
        return made

    # Products

    def _call_dot(self, one: Thing, other: Thing) -> Thing:
        return self.matmul(one, other)

    def matmul(self, one: Thing, other: Thing) -> Thing:
        """Return a product of vectors or matrices, as loops."""
        if not is_array(one) or not is_array(other):
            return self.b.elementwise(lambda x, y: self.b.scalar("mul", x, y), (one, other))
        a, c = self._operand(one), self._operand(other)
        if not (a.type.is_real and c.type.is_real) or len(a.shape) > 2 or len(c.shape) > 2:
            raise Refusal("products are understood of vectors and matrices of floats")
        self.b.check_equal(a.shape[-1], c.shape[0], "the lengths in a product differ")
        if len(a.shape) == len(c.shape) == 1:
            return self._sum_of(self._products(a, c, [], []))
        return self._matrix_product(a, c)

    def _operand(self, thing: Thing) -> Lazy:
        return self.b.lazy(self.b.array(thing))

    def _products(self, a: Lazy, c: Lazy, row: list[Value], column: list[Value]) -> Lazy:
        def at(k: list[Value]) -> Value:
            return self.b.scalar("mul", a.at([*row, *k]), c.at([*k, *column]))

        return Lazy(np.promote_types(a.type.dtype, c.type.dtype).name, [c.shape[0]], at, a.reads + c.reads)

    def _matrix_product(self, a: Lazy, c: Lazy) -> Value:
        shape = [*a.shape[:-1], *c.shape[1:]]
        rows = len(a.shape) - 1

        def at(index: list[Value]) -> Value:
            return self._sum_of(self._products(a, c, index[:rows], index[rows:]))

        dtype = np.promote_types(a.type.dtype, c.type.dtype).name
        if len(c.shape) == 1:
            return self.b.computed(Lazy(dtype, shape, at, []))
        return self._outer_order(a, c, self.b.alloc(dtype, shape, "zeros"))

    def _outer_order(self, a: Lazy, c: Lazy, made: Value) -> Value:
        """A product whose innermost loop runs along the rows of the result, so that it vectorises."""
        rows = len(a.shape) - 1

        def step(index: list[Value]) -> None:
            *row, k, j = index
            term = self.b.scalar("mul", a.at([*row, k]), c.at([k, j]))
            self.b.store(made, [*row, j], term, "+")

        self.b.for_each([*a.shape[:rows], c.shape[0], c.shape[1]], step)
        return made

    def _call_outer(self, one: Thing, other: Thing) -> Thing:
        a, c = self.b.lazy(one), self.b.lazy(other)

        def at(index: list[Value]) -> Value:
            return self.b.scalar("mul", a.at(index[:1]), c.at(index[1:]))

        return Lazy(np.promote_types(a.type.dtype, c.type.dtype).name, [*a.shape, *c.shape], at, a.reads + c.reads)

    def _call_clip(self, thing: Thing, low: Thing, high: Thing) -> Thing:
        larger: Callable[..., Value] = lambda x, y: self.b.scalar("max", x, y, spelled="max")  # noqa: E731
        smaller: Callable[..., Value] = lambda x, y: self.b.scalar("min", x, y, spelled="min")  # noqa: E731
        return self.b.elementwise(smaller, (self.b.elementwise(larger, (thing, low)), high))

    def _call_searchsorted(self, array: Thing, value: Thing, side: Thing = None) -> Thing:
        """The place of a number in a sorted array, by bisection."""
        lazy, x = self.b.lazy(array), self.b.number(value)
        name = "le" if isinstance(side, Static) and side.value == "right" else "lt"

        def count(index: list[Value], total: Value) -> list[Value]:
            below = self.b.scalar(name, lazy.at(index), x)
            one, zero = self.b.constant(1), self.b.constant(0)
            return [self.b.scalar("add", total, self.b.scalar("select", below, one, zero))]

        return self.b.fold(lazy.shape, [self.b.constant(0)], count)[0]

    # Methods

    def _method(self, owner: Thing, name: str, args: list[Thing], keywords: dict[str, Thing]) -> Thing:
        if not is_array(owner):
            raise Refusal(f"the method `{name}` is not understood")
        if name in _METHODS:
            return getattr(self, f"_call_{name}")(owner, *args, **keywords)
        method = getattr(self, f"_method_{name}", None)
        if method is None:
            raise Refusal(f"the method `{name}` of arrays is not understood")
        return method(owner, *args, **keywords)

    def _method_fill(self, owner: Value, value: Thing) -> Thing:
        self.b.assign(owner, self.b.number(value))
        return Static(None)

    def _method_astype(self, owner: Thing, dtype: Thing) -> Thing:
        lazy, name = self.b.lazy(owner), _dtype_name(dtype)
        if np.dtype(name).kind not in "f" and lazy.type.is_real:
            raise Refusal("an array of floats as integers: write the loop")
        return self.b.computed(lazy, name)

    def _method_flatten(self, owner: Thing) -> Thing:
        lazy = self.b.lazy(owner)
        made = self.b.alloc(lazy.type.dtype, [self.product(lazy.shape)])

        def each(index: list[Value]) -> None:
            place = index[0]
            for i, n in zip(index[1:], lazy.shape[1:], strict=True):
                place = self.b.scalar("add", self.b.scalar("mul", place, n), i)
            self.b.store(made, [place], lazy.at(index))

        self.b.for_each(lazy.shape, each)
        return made

    def _method_item(self, owner: Value) -> Thing:
        return self.b.load(owner, [self.b.constant(0)] * (owner.type.ndim or 0))


_METHODS = frozenset(
    {"sum", "mean", "prod", "max", "min", "copy", "dot", "any", "all", "argmax", "argmin", "var", "std", "cumsum"}
)
_ALSO_REDUCE: frozenset[Any] = frozenset()
NAMED: dict[Any, str] = {
    getattr(np, name): name
    for name in (
        "zeros", "empty", "ones", "full", "zeros_like", "empty_like", "ones_like", "full_like",
        "copy", "arange", "linspace", "eye", "array", "sum", "mean", "prod", "max", "min", "var",
        "std", "any", "all", "argmax", "argmin", "cumsum", "dot", "outer", "clip", "searchsorted",
    )
} | {len: "len", max: "max", min: "min", round: "round", divmod: "divmod", np.amax: "max",
     np.amin: "min", np.asarray: "array", np.ascontiguousarray: "copy", np.vdot: "dot",
     np.matmul: "dot", sum: "sum"}  # fmt: skip


def _hashed(table: dict[Any, Any], key: Any) -> Any:
    try:
        return table.get(key)
    except TypeError:
        return None


def _dtype_name(thing: Thing) -> str:
    if not isinstance(thing, Static):
        raise Refusal("a dtype must be known when the kernel is compiled")
    try:
        return np.dtype(thing.value).name
    except TypeError:
        raise Refusal(f"{thing.value!r} is not understood as a dtype") from None


__all__ = ["INTEGER"]
