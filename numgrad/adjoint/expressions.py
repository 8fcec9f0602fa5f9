"""Expressions of a kernel: from syntax trees to things."""

import ast
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from .building import Builder, Lazy, Poison, Static, Thing, described, is_array
from .ir import INTEGER, Type, Value
from .ranges import is_natural
from .refusal import Refusal

BINARY = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.BitAnd: "bitand",
    ast.BitOr: "bitor",
    ast.BitXor: "bitxor",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
}
COMPARISON = {
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Eq: "eq",
    ast.NotEq: "ne",
}


class Expressions:
    """Evaluates expressions in an environment.

    Attributes
    ----------
    b : Builder
    names : dict
        The things that names stand for.
    """

    b: Builder
    names: dict[str, Thing]
    call: Callable[[ast.Call], Thing]
    free: Callable[[str], Any]
    branches: Callable[..., Thing]
    local_names: frozenset[str]

    def value(self, node: ast.expr) -> Thing:
        """Evaluate an expression.

        Raises
        ------
        Refusal
            If it is not understood.
        """
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise Refusal(f"{_NAMES.get(type(node), type(node).__name__)} is not understood here")
        return method(node)

    def number(self, node: ast.expr) -> Value:
        """Evaluate an expression that must be a number."""
        return self.b.number(self.value(node))

    def _constant(self, node: ast.Constant) -> Thing:
        if isinstance(node.value, (bool, int, float, complex)):
            return self.b.constant(node.value)
        return Static(node.value)

    def _name(self, node: ast.Name) -> Thing:
        if node.id in self.names:
            thing = self.names[node.id]
            if isinstance(thing, Poison):
                raise Refusal(thing.reason)
            return thing
        if node.id in self.local_names:
            raise Refusal(f"`{node.id}` may have no value here")
        try:
            return self.known(self.free(node.id), node.id)
        except KeyError:
            raise Refusal(f"`{node.id}` has no value here") from None

    def known(self, value: Any, name: str) -> Thing:
        """Return the thing for an object of the program around the kernel: a constant."""
        if isinstance(value, (bool, int, float, complex, np.number, np.bool_)):
            return self.b.constant(value)
        if isinstance(value, np.ndarray):
            return self._global_array(value, name)
        if isinstance(value, tuple):
            return tuple(self.known(part, f"{name}_{n}") for n, part in enumerate(value))
        return Static(value)

    def _global_array(self, value: np.ndarray, name: str) -> Value:
        program = self.b.program
        key = ("array", id(value))
        arrays = program.namespace.setdefault("", {})
        if key not in arrays:
            while name in program.namespace:
                name += "_"
            program.namespace[name] = value
            made = Value(Type(value.dtype.name, value.ndim), program.body, None, name)
            arrays[key] = made
            program.global_arrays[made] = name
        return arrays[key]

    def _tuple(self, node: ast.Tuple) -> Thing:
        return tuple(self.value(element) for element in node.elts)

    def _list(self, node: ast.List) -> Thing:
        raise Refusal("a list is not understood: use a tuple, or an array of known length")

    # Operators

    def _binop(self, node: ast.BinOp) -> Thing:
        left, right = self._operands(node.left, node.right)
        if isinstance(node.op, ast.MatMult):
            return self.matmul(left, right)
        if isinstance(left, tuple) and isinstance(right, tuple) and isinstance(node.op, ast.Add):
            return left + right
        return self.binary(node.op, left, right)

    def matmul(self, left: Thing, right: Thing) -> Thing:
        """Return the matrix product of two things."""
        raise NotImplementedError

    def _operands(self, left: ast.expr, right: ast.expr) -> tuple[Thing, Thing]:
        """Evaluate two operands; what the first reads is computed before the second may write."""
        first = self.value(left)
        if isinstance(first, Lazy) and any(isinstance(n, ast.Call) for n in ast.walk(right)):
            first = self.b.computed(first)
        return first, self.value(right)

    def binary(self, operator: ast.operator, left: Thing, right: Thing) -> Thing:
        """Apply an arithmetic operator to numbers or arrays."""
        name = BINARY[type(operator)]
        return self.b.elementwise(lambda x, y: self.arithmetic(name, x, y), (left, right))

    def arithmetic(self, name: str, x: Value, y: Value) -> Value:
        """Append an operation of two numbers."""
        if name == "pow" and isinstance(y.constant, int) and y.constant in (2, 3):
            if np.dtype(x.type.dtype).kind != "b":
                return self.b.scalar("square" if y.constant == 2 else "cube", x, spelled=str(y.constant))
        if name.startswith("bit") and x.type.dtype == y.type.dtype == "bool":
            return self.b.scalar(name, x, y, type=Type("bool"))
        return self.b.scalar(name, x, y)

    def _unaryop(self, node: ast.UnaryOp) -> Thing:
        operand = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            return self.b.scalar("not", self.b.number(operand))
        if isinstance(operand, Value) and isinstance(operand.constant, (int, float)):
            if isinstance(node.op, ast.USub) and not isinstance(operand.constant, bool):
                return self.b.constant(-operand.constant)
        name = {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert"}[type(node.op)]
        return self.b.elementwise(lambda x: self._unary(name, x), (operand,))

    def _unary(self, name: str, x: Value) -> Value:
        if name == "invert" and x.type.dtype == "bool":
            return self.b.scalar("not", x)
        return self.b.scalar(name, x)

    def _compare(self, node: ast.Compare) -> Thing:
        sides = [self.value(side) for side in (node.left, *node.comparators)]
        found = [
            self.compared(op, left, right)
            for op, left, right in zip(node.ops, sides, sides[1:], strict=False)
        ]
        result = found[0]
        for other in found[1:]:
            result = self.b.elementwise(lambda x, y: self.b.scalar("and", x, y), (result, other))
        return result

    def compared(self, operator: ast.cmpop, left: Thing, right: Thing) -> Thing:
        """Compare two things; what is known when the kernel is compiled is compared at once."""
        if isinstance(operator, (ast.Is, ast.IsNot)) or isinstance(left, Static) or isinstance(right, Static):
            return self.b.constant(_known_comparison(operator, left, right))
        if type(operator) not in COMPARISON:
            raise Refusal("`in` is not understood: write the comparisons")
        name = COMPARISON[type(operator)]
        return self.b.elementwise(lambda x, y: self.b.scalar(name, x, y), (left, right))

    def _boolop(self, node: ast.BoolOp) -> Thing:
        """``and`` and ``or`` evaluate their second operand only where it decides."""
        first, *rest = node.values
        left = self.number(first)
        if not rest:
            return left
        others = ast.BoolOp(node.op, rest) if len(rest) > 1 else rest[0]
        ast.copy_location(others, node)
        is_and = isinstance(node.op, ast.And)
        if left.type.dtype != "bool":
            raise Refusal("`and` and `or` are understood of conditions: compare numbers with 0")
        if left.constant is not None:
            return self.value(others) if bool(left.constant) is is_and else left
        if self._is_simple(others):
            right = self.number(others)
            return self.b.scalar("and" if is_and else "or", left, right)
        yes: Callable[[], Thing] = lambda: self.value(others)  # noqa: E731
        no: Callable[[], Thing] = lambda: self.b.constant(not is_and)  # noqa: E731
        return self.branches(left, yes if is_and else no, no if is_and else yes)

    def _is_simple(self, node: ast.expr) -> bool:
        """Whether an expression can be evaluated where it need not be: it cannot fail."""
        allowed = (ast.Name, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Load)
        arithmetic = (ast.BinOp, ast.Add, ast.Sub, ast.Mult)
        more = (ast.boolop, ast.unaryop, ast.cmpop)
        return all(isinstance(n, (*allowed, *arithmetic, *more)) for n in ast.walk(node))

    def _ifexp(self, node: ast.IfExp) -> Thing:
        test = self.number(node.test)
        if test.constant is not None:
            return self.value(node.body if test.constant else node.orelse)
        if self._is_simple(node.body) and self._is_simple(node.orelse):
            yes, no = self.value(node.body), self.value(node.orelse)
            if isinstance(yes, Value) and isinstance(no, Value) and not is_array(yes) and not is_array(no):
                return self.b.scalar("select", self.condition(test), yes, no)
        return self.branches(test, lambda: self.value(node.body), lambda: self.value(node.orelse))

    def condition(self, test: Value) -> Value:
        """Return a number as a condition: whether it is not 0."""
        if test.type.dtype == "bool":
            return test
        return self.b.scalar("ne", test, self.b.constant(0))

    # Attributes and elements

    def _attribute(self, node: ast.Attribute) -> Thing:
        thing = self.value(node.value)
        if isinstance(thing, Static):
            try:
                return self.known(getattr(thing.value, node.attr), node.attr)
            except AttributeError:
                raise Refusal(f"`{node.attr}` is not an attribute of it") from None
        if isinstance(thing, Value) and not thing.type.is_array and node.attr in ("real", "imag"):
            return self.part(thing, node.attr)
        if not is_array(thing):
            raise Refusal(f"the attribute `{node.attr}` is not understood")
        return self._array_attribute(thing, node.attr)

    def part(self, thing: Value, name: str) -> Value:
        """Return the real or imaginary part of a number."""
        if thing.type.is_complex:
            raise Refusal("complex numbers are not understood yet")
        return thing if name == "real" else self.b.constant(0.0)

    def _array_attribute(self, thing: Thing, name: str) -> Thing:
        lazy = thing if isinstance(thing, Lazy) else None
        shape = lazy.shape if lazy else self.b.shape(thing)
        if name == "shape":
            return tuple(shape)
        if name == "ndim":
            return self.b.constant(len(shape))
        if name == "dtype":
            return Static(np.dtype(thing.type.dtype))
        if name == "size":
            return self.product(shape)
        if name == "T":
            return self.transposed(self.b.array(thing))
        raise Refusal(f"the attribute `{name}` of arrays is not understood")

    def product(self, numbers: list[Value]) -> Value:
        """Return the product of integers."""
        result = self.b.constant(1)
        for number in numbers:
            result = number if result.constant == 1 else self.b.scalar("mul", result, number)
        return result

    def transposed(self, array: Value) -> Value:
        """Return a view with the axes reversed."""
        if (array.type.ndim or 0) < 2:
            return array
        extents = self.b.shape(array)[::-1]
        return self.b.op("view", [array], array.type, spec="T", extents=extents).result

    def _subscript(self, node: ast.Subscript) -> Thing:
        thing = self.value(node.value)
        if isinstance(thing, tuple):
            return self._tuple_element(thing, node.slice)
        if isinstance(thing, Lazy):
            thing = self.b.computed(thing)
        if not isinstance(thing, Value) or not thing.type.is_array:
            raise Refusal(f"elements of {described(thing)} are not understood")
        return self.element(thing, self.indices(node.slice))

    def _tuple_element(self, thing: tuple, node: ast.expr) -> Thing:
        if isinstance(node, ast.Slice):
            parts = [None if p is None else self.number(p).constant for p in (node.lower, node.upper, node.step)]
            return thing[slice(*parts)]
        position = self.number(node)
        if position.constant is None:
            raise Refusal("an element of a tuple needs an index that is a constant: use an array")
        return thing[position.constant]

    def indices(self, node: ast.expr) -> list[Any]:
        """Evaluate what stands in brackets: numbers, slices, None, arrays."""
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        found: list[Any] = []
        for part in parts:
            if isinstance(part, ast.Slice):
                ends = (part.lower, part.upper, part.step)
                found.append(slice(*[None if end is None else self._end(end) for end in ends]))
                continue
            thing = self.value(part)
            if isinstance(thing, tuple):
                found.extend(thing)
            elif isinstance(thing, Static) and thing.value in (None, Ellipsis):
                found.append(thing.value)
            else:
                found.append(thing)
        return found

    def _end(self, node: ast.expr) -> Value | None:
        thing = self.value(node)
        return None if isinstance(thing, Static) and thing.value is None else self.b.number(thing)

    def element(self, array: Value, index: list[Any]) -> Thing:
        """Return an element or a part of an array."""
        if any(is_array(part) for part in index if isinstance(part, (Value, Lazy))):
            return self._gathered(array, index)
        if _is_element(array, index):
            return self.b.load(array, index)
        return self.view(array, index)

    def _gathered(self, array: Value, index: list[Any]) -> Lazy:
        if len(index) != 1 or index[0].type.dtype == "bool":
            raise Refusal("a part that a mask or several arrays choose is not understood: write the loop")
        chosen = self.b.lazy(index[0])
        count = len(chosen.shape)

        def at(position: list[Value]) -> Value:
            return self.b.load(array, [chosen.at(position[:count]), *position[count:]])

        shape = chosen.shape + self.b.shape(array)[1:]
        return Lazy(array.type.dtype, shape, at, [array, *chosen.reads])

    def view(self, array: Value, index: list[Any]) -> Value:
        """Return the view that indices and slices take of an array."""
        spec, args, extents = "", [], []
        lengths = iter(enumerate(self._padded(array, index)))
        for position, part in lengths:
            axis = position - spec.count("n")
            letter, values, extent = self._axis(array, axis, part)
            spec += letter
            args += values
            extents += extent
        kind = Type(array.type.dtype, len(extents))
        return self.b.op("view", [array, *args], kind, spec=spec, extents=extents).result

    def _padded(self, array: Value, index: list[Any]) -> list[Any]:
        taken = len([part for part in index if part is not None and part is not Ellipsis])
        missing = (array.type.ndim or 0) - taken
        if missing < 0:
            raise Refusal("there are more indices than axes")
        rest = [slice(None)] * missing
        if Ellipsis in [part for part in index if part is Ellipsis]:
            place = next(n for n, part in enumerate(index) if part is Ellipsis)
            return index[:place] + rest + index[place + 1 :]
        return index + rest

    def _axis(self, array: Value, axis: int, part: Any) -> tuple[str, list[Value], list[Value]]:
        """The letter, the values and the length of an axis of a view."""
        if part is None:
            return "n", [], [self.b.constant(1)]
        if not isinstance(part, slice):
            return "i", [self.b.number(part)], []
        length = self.b.extent(array, axis)
        if part == slice(None):
            return ":", [], [length]
        step = part.step if part.step is not None else self.b.constant(1)
        start, stop = part.start, part.stop
        if start is None and stop is None and step.constant == -1:
            return "r", [], [length]
        if not isinstance(step.constant, int) or step.constant < 1:
            raise Refusal("a slice whose step may be negative is not understood: write the loop")
        start = self.b.constant(0) if start is None else start
        if not is_natural(start):
            start = self._at_least_zero(self._wrapped(start, length))
        extent = self._sliced(length, start, stop)
        if step.constant == 1:
            return "+", [start], [extent]
        extent = self.b.scalar("extent", self.b.constant(0), extent, step)
        return "%", [start, step], [extent]

    def _sliced(self, length: Value, start: Value, stop: Value | None) -> Value:
        """The length of a slice from a natural start."""
        end = length
        if stop is not None and isinstance(stop.constant, int) and stop.constant < 0:
            end = self.b.scalar("add", length, stop)
        elif stop is not None:
            if not is_natural(stop):
                stop = self._wrapped(stop, length)
            end = self.b.scalar("min", stop, length, spelled="min", type=INTEGER)
        taken = end if start.constant == 0 else self._minus(end, start)
        return length if taken is length else self._at_least_zero(taken)

    def _at_least_zero(self, number: Value) -> Value:
        return self.b.scalar("max", number, self.b.constant(0), spelled="max", type=INTEGER)

    def _minus(self, end: Value, start: Value) -> Value:
        op = end.op
        if op is not None and op.name == "add" and op.args[1].constant is not None and start.constant is not None:
            return self.b.scalar("add", op.args[0], self.b.constant(op.args[1].constant - start.constant))
        if start.constant is not None:
            return self.b.scalar("add", end, self.b.constant(-start.constant))
        return self.b.scalar("sub", end, start)

    def _wrapped(self, stop: Value, length: Value) -> Value:
        """An end that may be negative, counted from the start."""
        negative = self.b.scalar("lt", stop, self.b.constant(0))
        return self.b.scalar("select", negative, self.b.scalar("add", stop, length), stop)

    def _call(self, node: ast.Call) -> Thing:
        return self.call(node)

    def _lambda(self, node: ast.Lambda) -> Thing:
        raise Refusal("a lambda inside of a kernel is not understood: define a function outside")


def _is_element(array: Value, index: list[Any]) -> bool:
    return len(index) == array.type.ndim and all(isinstance(part, Value) for part in index)


def _known_comparison(operator: ast.cmpop, left: Thing, right: Thing) -> bool:
    def plain(thing: Thing) -> Any:
        if isinstance(thing, Static):
            return thing.value
        return thing.constant if isinstance(thing, Value) and thing.constant is not None else thing

    same = plain(left) is plain(right) or (isinstance(left, Static) and isinstance(right, Static) and plain(left) == plain(right))
    if isinstance(operator, (ast.Is, ast.Eq)):
        return same
    if isinstance(operator, (ast.IsNot, ast.NotEq)):
        return not same
    raise Refusal("this comparison is not understood")


_NAMES: dict[type, str] = {
    ast.ListComp: "a list comprehension",
    ast.GeneratorExp: "a generator",
    ast.Dict: "a dictionary",
    ast.Set: "a set",
    ast.JoinedStr: "a formatted string",
    ast.Await: "`await`",
    ast.Yield: "`yield`",
    ast.YieldFrom: "`yield`",
    ast.NamedExpr: "`:=`",
}

__all__ = ["Expressions", "types"]
