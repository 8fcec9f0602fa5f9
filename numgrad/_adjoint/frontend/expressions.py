"""Expressions of a kernel: from syntax trees to things."""

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from ..builder.building import Builder
from ..builder.lists import Grown
from ..builder.things import Complex, Lazy, Poison, ReadLater, Static, Thing, is_array, tuple_like
from ..builder.universal import operated
from ..ssa.ir import Type, Value
from ..ssa.refusal import Refusal
from .elements import Elements

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


class Expressions(Elements):
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
    outside: Callable[[str], Thing]
    closure: Callable[[ast.Lambda], Any]
    computed: Callable[[Thing], Thing]
    iteration: Callable[..., Any]
    counted: Callable[..., Any]
    bind: Callable[..., None]
    local_names: frozenset[str]
    known_complex: Callable[..., Thing]
    complex_binary: Callable[..., Thing]
    complex_unary: Callable[..., Thing]
    complex_compared: Callable[..., Thing]
    complex_product: Callable[..., Thing]
    lists: Any
    collected: Callable[[ast.ListComp], Any]
    _spread: Callable[[list[ast.expr]], list[Thing]]

    def value(self, node: ast.expr) -> Thing:
        """Evaluate an expression.

        Raises
        ------
        Refusal
            If it is not understood.
        """
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            name = _NAMES.get(type(node), type(node).__name__)
            raise Refusal(f"{name} is not understood here{WAYS.get(name, '')}")
        return method(node)

    def number(self, node: ast.expr) -> Value:
        """Evaluate an expression that must be a number."""
        return self.b.number(self._counted(self.value(node)))

    def _counted(self, thing: Thing) -> Thing:
        """The length of a list that stands where a number does, as in `while queue`."""
        return self.lists.count(thing) if isinstance(thing, Grown) else thing

    def _constant(self, node: ast.Constant) -> Thing:
        if isinstance(node.value, complex):
            return self.known_complex(node.value, "")
        if isinstance(node.value, (bool, int, float)):
            return self.b.constant(node.value)
        return Static(node.value)

    def _name(self, node: ast.Name) -> Thing:
        if node.id in self.names:
            thing = self.names[node.id]
            if isinstance(thing, Poison):
                if key := getattr(thing.reason, "key", None):
                    raise ReadLater(key)
                raise Refusal(thing.reason)
            return thing
        if node.id in self.local_names:
            raise Refusal(f"`{node.id}` may have no value here")
        try:
            return self.outside(node.id)
        except KeyError:
            raise Refusal(f"`{node.id}` has no value here") from None

    def known(self, value: Any, name: str) -> Thing:
        """Return the thing for an object of the program around the kernel: a constant."""
        if isinstance(value, (complex, np.complexfloating, np.ndarray)) and np.iscomplexobj(value):
            return self.known_complex(value, name)
        if isinstance(value, (bool, int, float, np.number, np.bool_)):
            return self.b.constant(value)
        if isinstance(value, np.ndarray):
            return self._global_array(value, name)
        if isinstance(value, tuple):
            parts = [self.known(part, f"{name}_{n}") for n, part in enumerate(value)]
            return tuple_like(value, parts)
        return Static(value)

    def _global_array(self, value: np.ndarray, name: str) -> Value:
        return self.constants(("array", id(value)), value, name)

    def constants(self, key: Any, value: np.ndarray, name: str) -> Value:
        """Return an array that is known when the kernel is compiled, made once."""
        program = self.b.program
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
        return tuple(self.computed(thing) for thing in self._spread(node.elts))

    def _list(self, node: ast.List) -> Thing:
        return tuple(self._spread(node.elts))

    def _listcomp(self, node: ast.ListComp) -> Thing:
        """Read a list comprehension: an array with a number for each step, or a tuple where it runs
        over a tuple."""
        generator = node.generators[0]
        if len(node.generators) > 1 or generator.ifs:
            return self.collected(node)
        iterated = self.iteration(generator.iter)
        if isinstance(iterated, list):
            return tuple(self._bound(generator.target, part, node.elt) for part in iterated)
        start, stop, _, element = self.counted(iterated)
        at = lambda i: self._bound(generator.target, element(i), node.elt)  # noqa: E731
        first = self.b.trial(lambda: at(start))
        if is_array(first) or isinstance(first, tuple):
            return self.collected(node)
        kind, shape = self.b.number(first).type, [self._at_least_zero(stop)]
        made = self.b.alloc(kind.dtype, shape)
        self.b.for_each(shape, lambda i: self.b.store(made, i, self.b.number(at(i[0]))))
        return self.b.listed(made)

    def _bound(self, target: ast.expr, thing: Thing, node: ast.expr) -> Thing:
        """Evaluate an expression in which one more name has a value."""
        before = dict(self.names)
        self.bind(target, thing)
        found = self.computed(self.value(node))
        self.names = before
        return found

    # Operators

    def _binop(self, node: ast.BinOp) -> Thing:
        if isinstance(node.left, ast.List) and isinstance(node.op, ast.Mult):
            return self._repeated(node.left, self.number(node.right))
        left, right = self._operands(node.left, node.right)
        if isinstance(node.op, ast.MatMult):
            is_complex = isinstance(left, Complex) or isinstance(right, Complex)
            return (self.complex_product if is_complex else self.matmul)(left, right)
        if isinstance(left, tuple) and isinstance(right, tuple) and isinstance(node.op, ast.Add):
            return left + right
        return self.binary(node.op, left, right)

    def _repeated(self, node: ast.List, count: Value) -> Value:
        """Read ``[0.0] * n`` as an array."""
        if len(node.elts) != 1:
            raise Refusal("a list of one number can be repeated: make an array")
        number = self.number(node.elts[0])
        made = self.b.alloc(number.type.dtype, [self._at_least_zero(count)])
        self.b.assign(made, number)
        return self.b.listed(made)

    def matmul(self, one: Thing, other: Thing) -> Thing:
        """Return the matrix product of two things."""
        raise NotImplementedError

    def _operands(self, left: ast.expr, right: ast.expr) -> tuple[Thing, Thing]:
        """Evaluate two operands; the first one is computed before the second one may write into its
        arrays."""
        first = self.value(left)
        has_calls = any(isinstance(n, ast.Call) for n in ast.walk(right))
        if isinstance(first, (Lazy, Complex)) and has_calls:
            first = self.computed(first)
        return first, self.value(right)

    def binary(self, operator: ast.operator, left: Thing, right: Thing) -> Thing:
        """Apply an arithmetic operator to numbers or arrays."""
        if isinstance(left, Complex) or isinstance(right, Complex):
            return self.complex_binary(operator, left, right)
        name = BINARY[type(operator)]
        return operated(self.b, name, lambda x, y: self.arithmetic(name, x, y), (left, right))

    def arithmetic(self, name: str, x: Value, y: Value) -> Value:
        """Append an operation of two numbers."""
        is_whole = isinstance(y.constant, int) and y.constant in (2, 3)
        if name == "pow" and is_whole and x.type.dtype != "bool":
            power = "square" if y.constant == 2 else "cube"
            return self.b.scalar(power, x, spelled=str(y.constant))
        if name.startswith("bit") and x.type.dtype == y.type.dtype == "bool":
            return self.b.scalar(name, x, y, type=Type("bool"))
        return self.b.scalar(name, x, y)

    def _unaryop(self, node: ast.UnaryOp) -> Thing:
        operand = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            return self.b.scalar("not", self.b.number(self._counted(operand)))
        number = operand.constant if isinstance(operand, Value) else None
        if (
            isinstance(node.op, ast.USub)
            and isinstance(number, (int, float))
            and not isinstance(number, bool)
        ):
            return self.b.constant(-number)
        name = {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert"}[type(node.op)]
        if isinstance(operand, Complex):
            return self.complex_unary(name, operand)
        return operated(self.b, name, lambda x: self.unary(name, x), (operand,))

    def unary(self, name: str, x: Value) -> Value:
        """Append an operation of a number."""
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
        """Compare two things, at once if both are known when the kernel is compiled."""
        is_membership = isinstance(operator, (ast.In, ast.NotIn))
        if isinstance(left, tuple) and isinstance(right, tuple) and not is_membership:
            return self._compared_tuples(operator, left, right)
        if isinstance(left, Complex) or isinstance(right, Complex):
            return self.complex_compared(operator, left, right)
        if is_membership:
            found = self._found(left, right)
            return found if isinstance(operator, ast.In) else self.b.scalar("not", found)
        if (
            isinstance(operator, (ast.Is, ast.IsNot))
            or isinstance(left, Static)
            or isinstance(right, Static)
        ):
            return self.b.constant(_known_comparison(operator, left, right))
        name = COMPARISON[type(operator)]
        compare: Callable[..., Value] = lambda x, y: self.b.scalar(name, x, y)  # noqa: E731
        return self.b.elementwise(compare, (left, right), is_fused=True)

    def _compared_tuples(self, operator: ast.cmpop, left: tuple, right: tuple) -> Value:
        if not isinstance(operator, (ast.Eq, ast.NotEq)):
            return self._ordered_tuples(operator, left, right)
        same = self.b.constant(len(left) == len(right))
        for one, other in zip(left, right, strict=False):
            same = self._both(same, self.b.number(self.compared(ast.Eq(), one, other)))
        return same if isinstance(operator, ast.Eq) else self.b.scalar("not", same)

    def _ordered_tuples(self, operator: ast.cmpop, left: tuple, right: tuple) -> Value:
        """Compare tuples by the first parts that differ; a tuple comes before a longer one that
        begins like the tuple."""
        if not isinstance(operator, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
            raise Refusal("tuples are compared by ==, !=, <, <=, > and >= only")
        strict = ast.Lt() if isinstance(operator, (ast.Lt, ast.LtE)) else ast.Gt()
        lengths = self.b.constant(len(left)), self.b.constant(len(right))
        found = self.b.number(self.compared(operator, *lengths))
        for one, other in list(zip(left, right, strict=False))[::-1]:
            same = self.b.number(self.compared(ast.Eq(), one, other))
            first = self.b.number(self.compared(strict, one, other))
            found = self.b.scalar("or", first, self._both(same, found))
        return found

    def _found(self, thing: Thing, among: Thing) -> Value:
        """Whether a thing is one of several that stand in a tuple, or a text a part of another."""
        if isinstance(thing, Static) and isinstance(among, Static):
            return self.b.constant(thing.value in among.value)
        if not isinstance(among, tuple):
            raise Refusal("`in` is understood of tuples: write the loop")
        found = self.b.constant(False)
        for part in among:
            same = self.b.number(self.compared(ast.Eq(), thing, part))
            if same.constant is True:
                return same
            if same.constant is None:
                found = same if found.constant is False else self.b.scalar("or", found, same)
        return found

    def _both(self, one: Value, other: Value) -> Value:
        return other if one.constant is True else self.b.scalar("and", one, other)

    def _call(self, node: ast.Call) -> Thing:
        return self.call(node)

    def _lambda(self, node: ast.Lambda) -> Thing:
        return Static(self.closure(node))


def _known_comparison(operator: ast.cmpop, left: Thing, right: Thing) -> bool:
    def plain(thing: Thing) -> Any:
        if isinstance(thing, Static):
            return thing.value
        return thing.constant if isinstance(thing, Value) and thing.constant is not None else thing

    same = plain(left) is plain(right) or (
        isinstance(left, Static) and isinstance(right, Static) and plain(left) == plain(right)
    )
    if isinstance(operator, (ast.Is, ast.Eq)):
        return same
    if isinstance(operator, (ast.IsNot, ast.NotEq)):
        return not same
    raise Refusal("this comparison is not understood")


WAYS = {  # what to write in place of it
    "a dictionary": ": number the keys, and keep the values in an array",
    "a set": ": mark its elements in an array, `seen = np.zeros(n, np.bool_)`",
    "a generator": ": write a list, `sum([x * x for x in xs])`",
}
_NAMES: dict[type, str] = {
    ast.GeneratorExp: "a generator",
    ast.Dict: "a dictionary",
    ast.Set: "a set",
    ast.JoinedStr: "a formatted string",
    ast.Await: "`await`",
    ast.Yield: "`yield`",
    ast.YieldFrom: "`yield`",
    ast.NamedExpr: "`:=`",
}
