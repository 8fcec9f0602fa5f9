"""Calls inside of kernels: NumPy's functions, methods of arrays, builtins, other kernels."""

import ast
import inspect
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..builder.building import Builder
from ..builder.creation import NewArrays, bounds_of, dtype_name, numpy_type
from ..builder.given import append_given
from ..builder.lists import Grown
from ..builder.parts import PartsOfArrays
from ..builder.reductions import Reductions
from ..builder.things import Complex, Lazy, Static, Thing, described, is_array
from ..builder.universal import stored, universal
from ..builder.views import is_contiguous
from ..ssa.ir import Type, Value
from ..ssa.refusal import AdjointError, Refusal
from .closures import Closure
from .growing import CHANGES
from .library import NAMED, SCALAR_FUNCTIONS, loops_of, scalars_of, standing_for, unknown


class Calls(NewArrays, PartsOfArrays, Reductions):
    """Reads calls."""

    b: Builder
    _array_attribute: Callable[..., Thing]
    value: Callable[..., Thing]
    number: Callable[..., Value]
    product: Callable[[list[Value]], Value]
    inlined: Callable[..., Thing]
    computed: Callable[[Thing], Thing]
    arithmetic: Callable[..., Value]
    complex_call: Callable[..., Thing]
    complex_method: Callable[..., Thing]
    lists: Any
    list_method: Callable[..., Thing]
    unary: Callable[..., Value]
    current: Any  # the statement that is read
    as_arrays: Callable[..., list[Thing]]
    stencilled: Callable[..., Thing]

    def call(self, node: ast.Call) -> Thing:
        """Evaluate a call."""
        if (counted := self._length_of_range(node)) is not None:
            return counted
        if any(isinstance(arg, ast.Starred) for arg in node.args):
            args = self._spread(node.args)
        else:
            args = [self._settled(arg, node) for arg in node.args]
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
        """Return the number of steps of ``len(range(...))``; None for other calls."""
        match node:
            case ast.Call(ast.Name("len"), [ast.Call(ast.Name("range"), args, [])], []):
                start, stop, step = bounds_of(self.b, [self.number(arg) for arg in args])
                return self.b.scalar("extent", start, stop, step)
        return None

    def _settled(self, arg: ast.expr, node: ast.Call) -> Thing:
        """Evaluate an argument, at once where a call in another argument may write into its arrays.
        """
        thing = self.value(arg)
        others = [other for other in node.args if other is not arg]
        if any(isinstance(part, ast.Call) for other in others for part in ast.walk(other)):
            return self.computed(thing)
        return thing

    def _spread(self, nodes: list[ast.expr]) -> list[Thing]:
        found: list[Thing] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                found.extend(self.value(node.value))
            else:
                found.append(self.value(node))
        return found

    def _apply(
        self, node: ast.Call, function: Any, args: list[Thing], keywords: dict[str, Thing]
    ) -> Thing:
        function = standing_for(numpy_type(function))
        is_complex = _has_complex(args) and not self._is_read(function)
        if is_complex or function in (complex, np.complex128, np.complex64):
            return self.complex_call(node, function, args, keywords)
        if not self._is_read(function):
            args = self.as_arrays(function, args)
        if loops := loops_of(function, args, keywords):
            return self.inlined(node, loops, [self.computed(arg) for arg in args], keywords)
        is_universal = isinstance(function, np.ufunc)
        if is_universal and (written := self._written(node, function, args, keywords)):
            return written
        known = _hashed(SCALAR_FUNCTIONS, function)
        if known and not keywords and function not in _ALSO_REDUCE:
            called, spelled = known
            return self._scalar_call(called, spelled, args, function)
        if (scalars := scalars_of(function)) is not None:
            made = self._over_elements(node, scalars, args, keywords)
            return self.computed(stored(self.b, function, made, args) if is_universal else made)
        name = _hashed(NAMED, function)
        if name:
            return _fitting(getattr(self, f"_call_{name}"), f"np.{name}", args, keywords)
        if isinstance(function, type) and issubclass(function, tuple):
            return self._named(function, args, keywords)
        if isinstance(function, type) and issubclass(function, (np.integer, np.bool_)):
            return self._whole(function, args)
        if function in (np.finfo, np.iinfo):
            return Static(function(np.dtype(dtype_name(args[0]))))
        is_closure = isinstance(function, Closure)
        if is_closure or isinstance(function, types.FunctionType) or hasattr(function, "py_func"):
            return self._inlined(node, function, args, keywords)
        if type(function).__name__ == "StencilFunc" and not keywords:
            return self.stencilled(node, function, [self.computed(arg) for arg in args])
        raise unknown(node, function)

    def _inlined(
        self, node: ast.Call, function: Any, args: list[Thing], keywords: dict[str, Thing]
    ) -> Thing:
        """Read a function in the place of its call; of NumPy's functions, only some can be read."""
        try:
            return self.inlined(node, function, args, keywords)
        except AdjointError:
            if self._is_read(function):
                raise
            raise unknown(node, function) from None

    def _written(
        self, node: ast.Call, function: np.ufunc, args: list[Thing], keywords: dict[str, Thing]
    ) -> Value | None:
        """Write the result of a universal function to its argument ``out``, and return that; None
        where it has no such argument."""
        target = keywords.get("out") or (args[function.nin] if len(args) > function.nin else None)
        if not isinstance(target, Value) or not target.type.is_array or len(keywords) > 1:
            return None
        self.b.assign(target, self._apply(node, function, args[: function.nin], {}))
        return target

    def _over_elements(
        self, node: ast.Call, function: Any, args: list[Thing], keywords: dict[str, Thing]
    ) -> Thing:
        """Apply a function of numbers, which is read from its source, to numbers or elements."""
        words = list(keywords.values())
        if not any(map(is_array, [*args, *words])):
            return self.inlined(node, function, args, keywords)

        def each(*numbers: Value) -> Value:
            given = dict(zip(keywords, numbers[len(args) :], strict=True))
            return self.b.number(self.inlined(node, function, list(numbers[: len(args)]), given))

        return self.b.elementwise(each, [*args, *words])

    def _is_read(self, function: Any) -> bool:
        """Whether a function is read from its source; others are known by name."""
        is_closure = isinstance(function, Closure)
        return is_closure or hasattr(function, "py_func") or _is_users(function)

    def _scalar_call(
        self, name: str, spelled: str, args: list[Thing], function: Any = None
    ) -> Thing:
        if name == "slope":
            value, linear = map(self.b.number, args)
            return self.b.scalar(name, value, linear, type=value.type)
        if name == "pow":
            return universal(self.b, function, lambda x, y: self.arithmetic("pow", x, y), args)
        if name == "invert":
            return universal(self.b, function, lambda x: self.unary("invert", x), args)
        if name in ("and", "or", "not"):
            args = [arg if self._dtype(arg) == "bool" else self._holds(arg) for arg in args]
        if name == "select" and len(args) != 3:
            raise Refusal("np.where takes one argument or three")
        compute: Callable[..., Value] = lambda *xs: self.b.scalar(name, *xs, spelled=spelled)  # noqa: E731
        return universal(self.b, function, compute, args)

    def _holds(self, thing: Thing) -> Thing:
        """Return whether numbers are not 0."""
        zero = self.b.constant(0)
        return self.b.elementwise(lambda x: self.b.scalar("ne", x, zero), (thing,))

    def _dtype(self, thing: Thing) -> str:
        return thing.type.dtype if isinstance(thing, (Value, Lazy)) else ""

    def _named(self, kind: Any, args: list[Thing], keywords: dict[str, Thing]) -> tuple:
        """Return the named tuple that a call makes; a tuple of a tuple is that tuple."""
        if kind is tuple and len(args) == 1 and isinstance(args[0], tuple):
            return tuple(args[0])
        if not hasattr(kind, "_fields"):
            raise Refusal("a tuple is made of a tuple")
        try:
            return kind(*map(self.computed, args), **keywords)
        except TypeError as error:
            raise Refusal(str(error)) from None

    def _call_given(self, function: Static, *args: Thing) -> Thing:
        return append_given(self.b, function.value, [self.computed(arg) for arg in args])

    def _call_argsort(self, thing: Thing, kind: Thing = None) -> Thing:
        args = [self.b.array(thing), *([kind] if kind is not None else [])]
        return append_given(self.b, np.argsort, args)

    def _call_argpartition(self, thing: Thing, kth: Thing) -> Thing:
        return append_given(self.b, np.argpartition, [self.b.array(thing), self.b.number(kth)])

    # Builtins

    def _call_len(self, thing: Thing) -> Thing:
        if isinstance(thing, Grown):
            return self.lists.count(thing)
        if isinstance(thing, tuple):
            return self.b.constant(len(thing))
        return thing.shape[0] if isinstance(thing, Lazy) else self.b.extent(self.b.array(thing), 0)

    def _call_round(self, thing: Thing, digits: Thing = None) -> Thing:
        if digits is not None:
            args = [self.b.number(thing), self.b.number(digits)]
            return self.b.scalar("rounded", *args, spelled="round")
        return self.b.scalar("floor_int", self.b.number(thing), spelled="round")

    def _call_around(self, thing: Thing, decimals: Thing = None) -> Thing:
        if decimals is None:
            return self._scalar_call("rint", "np.rint", [thing])
        return self._scalar_call("rounded", "np.round", [thing, self.b.number(decimals)])

    def _call_result_type(self, *things: Thing) -> Static:
        return Static(np.result_type(*[np.dtype(self._dtype(thing)) for thing in things]))

    def _call_shape(self, thing: Thing) -> Thing:
        return self._array_attribute(thing, "shape")

    def _call_size(self, thing: Thing) -> Thing:
        return self._array_attribute(thing, "size")

    def _call_real(self, thing: Thing) -> Thing:
        return thing

    def _call_conj(self, thing: Thing) -> Thing:
        return self.b.computed(self.b.lazy(thing)) if is_array(thing) else self.b.number(thing)

    def _call_isreal(self, thing: Thing) -> Thing:
        return self.b.elementwise(lambda x: self.b.constant(True), (thing,))

    def _call_iscomplex(self, thing: Thing) -> Thing:
        return self.b.elementwise(lambda x: self.b.constant(False), (thing,))

    def _call_imag(self, thing: Thing) -> Thing:
        return self._call_zeros_like(thing) if is_array(thing) else self.b.constant(0.0)

    def _call_divmod(self, one: Thing, other: Thing) -> Thing:
        pair = one, other
        whole = self.b.elementwise(lambda x, y: self.b.scalar("floordiv", x, y), pair)
        return whole, self.b.elementwise(lambda x, y: self.b.scalar("mod", x, y), pair)

    # Methods

    def _method(
        self, owner: Thing, name: str, args: list[Thing], keywords: dict[str, Thing]
    ) -> Thing:
        if is_array(owner) and owner.type.is_list and name != "copy":
            rewrite = "make an array of the greatest length, and count what it holds"
            raise Refusal(f"the method `{name}` of lists is not understood: {rewrite}")
        if isinstance(owner, Grown):
            return self.list_method(owner, name, args, keywords)
        if isinstance(owner, Complex):
            return self.complex_method(owner, name, args, keywords)
        if name == "item" and isinstance(owner, Value) and not is_array(owner):
            return owner
        if not is_array(owner):
            is_list = isinstance(owner, tuple) and name in CHANGES
            way = ": begin with an empty list, and append its elements" if is_list else ""
            raise Refusal(f"the method `{name}` is not understood{way}")
        if name in _METHODS:
            return _fitting(getattr(self, f"_call_{name}"), name, [owner, *args], keywords)
        if name in _OF_NUMPY:
            return self._apply(self.current, getattr(np, name), [owner, *args], keywords)
        method = getattr(self, f"_method_{name}", None)
        if method is None:
            raise Refusal(f"the method `{name}` of arrays is not understood: write its loop")
        return _fitting(method, name, [owner, *args], keywords)

    def _method_reshape(self, owner: Thing, *shape: Thing) -> Thing:
        return self._reshaped(owner, shape[0] if isinstance(shape[0], tuple) else shape)

    def _call_reshape(self, thing: Thing, shape: Thing) -> Thing:
        return self._reshaped(thing, shape if isinstance(shape, tuple) else (shape,))

    def _call_ravel(self, thing: Thing) -> Thing:
        array = self.b.array(thing)
        if not is_contiguous(array):
            return self._method_flatten(array)
        if array.type.ndim == 1:
            return array
        return self._reshaped(array, (self.product(self.b.shape(array)),))

    def _reshaped(self, thing: Thing, shape: Sequence[Thing]) -> Value:
        """Return a view of another shape; Numba has such views of arrays in one piece only."""
        array, lengths = self.b.array(thing), [self.b.number(n) for n in shape]
        free = [n for n, length in enumerate(lengths) if length.constant == -1]
        if free:
            others = self.product([n for n in lengths if n.constant != -1])
            size = self.product(self.b.shape(array))
            lengths[free[0]] = size if others.constant == 1 else self.b.scalar("floordiv", size, others)  # noqa: E501
        kind = Type(array.type.dtype, len(lengths))
        return self.b.op("view", [array], kind, spec="reshape", extents=lengths).result

    def _method_fill(self, owner: Value, value: Thing) -> Thing:
        self.b.assign(owner, self.b.number(value))
        return Static(None)

    def _method_sort(self, owner: Value) -> Thing:
        self.b.assign(owner, self._apply(self.current, np.sort, [owner], {}))
        return Static(None)

    def _method_conj(self, owner: Value) -> Thing:
        return self.b.copy(owner)

    def _method_conjugate(self, owner: Value) -> Thing:
        return self.b.copy(owner)

    def _method_astype(self, owner: Thing, dtype: Thing) -> Thing:
        lazy, name = self.b.lazy(owner), dtype_name(dtype)
        if name.startswith("complex"):
            return Complex(self.b.computed(lazy, "float64"), self.b.alloc("float64", lazy.shape, "zeros"))  # noqa: E501
        if np.dtype(name).kind in "iu" and lazy.type.is_real:
            return self.b.computed(self._whole(getattr(np, name), [lazy]))
        if name == "bool" and lazy.type.is_real:
            raise Refusal("an array of floats as booleans: compare it, `x != 0.0`")
        return self.b.computed(lazy, name)

    def _whole(self, function: Any, args: list[Thing]) -> Thing:
        """Return numbers as integers of a dtype."""
        text, kind = f"np.{function.__name__}", Type(np.dtype(function).name)
        return self.b.elementwise(
            lambda x: self.b.scalar("intcast", x, spelled=text, type=kind), args
        )

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


_METHODS = frozenset({
    "sum", "mean", "prod", "max", "min", "copy", "dot", "any", "all", "argmax", "argmin", "var",
    "std", "cumsum", "ravel", "argsort", "transpose", "clip",
})  # fmt: skip
_OF_NUMPY = frozenset({"take", "repeat", "cumprod", "nonzero", "trace"})
_ALSO_REDUCE: frozenset[Any] = frozenset()

def _has_complex(args: list[Thing]) -> bool:
    """Whether complex numbers or arrays are among the arguments, or in a tuple of arrays."""
    parts = [part for arg in args if isinstance(arg, tuple) for part in arg]
    return any(isinstance(arg, Complex) for arg in args) or any(
        isinstance(part, Complex) and is_array(part.re) for part in parts
    )


def _fitting(
    method: Callable[..., Thing], name: str, args: list[Thing], words: dict[str, Thing]
) -> Thing:
    """Return the result of the reader of a function; refuse arguments that it does not take."""
    try:
        inspect.signature(method).bind(*args, **words)
    except TypeError as error:
        raise Refusal(f"{name} is not understood with these arguments: {error}") from None
    return method(*args, **words)


def _is_users(function: Any) -> bool:
    """Whether a function is written in Python by a user, not by NumPy."""
    module = str(getattr(function, "__module__", ""))
    return isinstance(function, types.FunctionType) and module.split(".")[0] != "numpy"


def _hashed(table: dict[Any, Any], key: Any) -> Any:
    try:
        return table.get(key)
    except TypeError:
        return None
