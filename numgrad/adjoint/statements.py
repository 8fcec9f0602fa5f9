"""Statements of a kernel: from syntax trees to structured SSA."""

import ast
from collections.abc import Callable
from typing import Any

from .building import Builder, Lazy, Poison, Static, Thing, is_array, promoted, unified
from .expressions import Expressions
from .functions import Calls
from .ir import BOOLEAN, INTEGER, Op, Region, Type, Value
from .jumps import RESULT
from .rebinding import Rebinding
from .refusal import AdjointError, Place, Refusal, located
from .source import Kernel

_MOST_CALLS = 200
_DEPTH = 20


class Statements(Calls, Rebinding, Expressions):
    """Reads the statements of one function into a program.

    Parameters
    ----------
    b : Builder
    kernel : Kernel
    names : dict
        What the parameters stand for.
    chain : tuple
        The calls that led here: for types of loops, and against recursion.
    """

    def __init__(self, b: Builder, kernel: Kernel, names: dict[str, Thing], chain: tuple = ()) -> None:
        self.b, self.kernel, self.names, self.chain = b, kernel, names, chain
        self.place: Place = kernel.place
        self.free = kernel.free
        self.local_names = frozenset(kernel.plain.__code__.co_varnames + kernel.plain.__code__.co_cellvars)

    def run(self) -> Thing:
        """Read all statements and return what the function returns."""
        for statement in self.kernel.statements:
            self.statement(statement)
        return self.names.get(RESULT, Static(None))

    def block(self, statements: list[ast.stmt]) -> bool:
        """Read statements; whether they surely end in an exception."""
        for statement in statements:
            if self.statement(statement):
                return True
        return False

    def statement(self, node: ast.stmt) -> bool:
        """Read a statement; whether it surely raises."""
        self._mark(node)
        method = getattr(self, f"_do_{type(node).__name__.lower()}", None)
        try:
            if method is None:
                raise Refusal(f"`{type(node).__name__.lower()}` is not understood inside of a kernel")
            return bool(method(node))
        except Refusal as refusal:
            raise located(str(refusal), node, self.place) from None

    def _mark(self, node: ast.stmt) -> None:
        """Remember the line, so that the derived source can name it."""
        line = node.lineno + self.place.first_line - 1
        self.b.line = line if not self.chain else self.b.line
        if not self.chain and not isinstance(node, (ast.If, ast.For, ast.While)):
            self.b.program.lines[line] = ast.unparse(node).splitlines()[0]

    # Simple statements

    def _do_pass(self, node: ast.Pass) -> None:
        """Nothing is to be done."""

    def _do_expr(self, node: ast.Expr) -> None:
        call = node.value
        if isinstance(call, ast.Constant):
            return
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "print":
            return
        self.value(call)

    def _do_assign(self, node: ast.Assign) -> None:
        hints = [t.id for t in node.targets if isinstance(t, ast.Name)]
        self.b.hint = hints[0] if hints and hints[0] != RESULT else ""
        thing = self.value(node.value)
        if isinstance(thing, Lazy) and not isinstance(node.targets[0], ast.Subscript):
            thing = self.b.computed(thing, hint=self.b.hint)
        self.b.hint = ""
        for target in node.targets:
            self._bind(target, thing)

    def _do_annassign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._bind(node.target, self.value(node.value))

    def _bind(self, target: ast.expr, thing: Thing) -> None:
        if isinstance(target, ast.Name):
            if isinstance(thing, Lazy):
                thing = self.b.computed(thing, hint=target.id)
            if isinstance(thing, Value) and not thing.hint and thing.op is not None:
                thing.hint = target.id
            self.names[target.id] = self._computed(thing)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target, thing)
        elif isinstance(target, ast.Subscript):
            self._write(target, thing)
        else:
            raise Refusal("only names, elements and slices can be assigned")

    def _computed(self, thing: Thing) -> Thing:
        if isinstance(thing, tuple):
            return tuple(self._computed(part) for part in thing)
        return self.b.computed(thing) if isinstance(thing, Lazy) else thing

    def _unpack(self, target: ast.Tuple | ast.List, thing: Thing) -> None:
        if isinstance(thing, Value) and thing.type.ndim == 1:
            count = range(len(target.elts))
            thing = tuple(self.b.load(thing, [self.b.constant(n)]) for n in count)
        if not isinstance(thing, tuple) or len(thing) != len(target.elts):
            raise Refusal("what is unpacked is not a tuple of that length")
        for part, value in zip(target.elts, self._computed(thing), strict=True):
            self._bind(part, value)

    def _write(self, target: ast.Subscript, thing: Thing, accumulate: str = "") -> None:
        array = self.value(target.value)
        if not isinstance(array, Value) or not array.type.is_array:
            raise Refusal("only elements of arrays can be assigned")
        if array in self.b.program.global_arrays:
            raise Refusal("a global array is a constant, and cannot be written")
        index = self.indices(target.slice)
        if any(is_array(part) for part in index if isinstance(part, (Value, Lazy))):
            self._write_chosen(array, index, thing, accumulate)
        elif len(index) == array.type.ndim and all(isinstance(part, Value) for part in index):
            if isinstance(thing, (tuple, Lazy)):
                raise Refusal("an element is a number")
            self.b.store(array, index, self.b.number(thing), accumulate)
        else:
            self.b.assign(self.view(array, index), self._stored(thing), accumulate)

    def _stored(self, thing: Thing) -> Thing:
        if isinstance(thing, tuple):
            return self.array_of(thing)
        return thing

    def _write_chosen(self, array: Value, index: list[Any], thing: Thing, accumulate: str) -> None:
        """Write the elements that a mask or an array of indices chooses."""
        if len(index) != 1 or not isinstance(index[0], (Value, Lazy)):
            raise Refusal("a store that several arrays choose is not understood: write the loop")
        chosen = self.b.lazy(index[0])
        if chosen.type.dtype == "bool":
            self._write_masked(array, chosen, thing, accumulate)
            return
        if accumulate:
            raise Refusal("`a[indices] += b` adds once where an index is repeated: write the loop")
        if len(chosen.shape) != 1 or array.type.ndim != 1:
            raise Refusal("only arrays with one axis are written by an array of indices")
        given = self.b.lazy(self.b.array(thing)) if is_array(thing) else self.b.number(thing)
        self.b.for_each(
            chosen.shape,
            lambda i: self.b.store(
                array, [chosen.at(i)], given if isinstance(given, Value) else given.at(i)
            ),
        )

    def _write_masked(self, array: Value, mask: Lazy, thing: Thing, accumulate: str) -> None:
        if is_array(thing):
            raise Refusal("a store of an array where a mask is true is not understood: use np.where")
        number = self.b.number(thing)
        settled = self.b.lazy(self.b.computed(mask))

        def each(index: list[Value]) -> None:
            self.branch(settled.at(index), lambda: self.b.store(array, index, number, accumulate))

        self.b.for_each(settled.shape, each)

    def branch(self, test: Value, body: Callable[[], Any]) -> None:
        """Append an ``if`` whose body only writes."""
        op = Op("if", [test], self.b.region, self.b.line)
        op.regions = [Region(op), Region(op)]
        with self.b.inside(op.regions[0]):
            body()
        self.b.region.ops.append(op)

    def _do_augassign(self, node: ast.AugAssign) -> None:
        signs = {ast.Add: "+", ast.Sub: "-"}
        target = node.target
        if isinstance(target, ast.Name):
            self._augment_name(node, target)
            return
        if not isinstance(target, ast.Subscript):
            raise Refusal("only names, elements and slices can be assigned")
        if type(node.op) in signs:
            self._write(target, self.value(node.value), signs[type(node.op)])
            return
        old = self.value(ast.Subscript(target.value, target.slice, ast.Load()))
        self._write(target, self._augmented(node, old, self.value(node.value)))

    def _augmented(self, node: ast.AugAssign, old: Thing, value: Thing) -> Thing:
        if isinstance(old, Value) and old.type.is_array and isinstance(value, Value) and value.type.is_array:
            if old is not value and self.b._overlaps(old, value):
                raise Refusal("the augmented slice may overlap its operand: write the loop")
        return self.binary(node.op, old, value)

    def _augment_name(self, node: ast.AugAssign, target: ast.Name) -> None:
        old = self._name(ast.Name(target.id, ast.Load()))
        self.b.hint = target.id
        value = self.value(node.value)
        self.b.hint = ""
        if isinstance(old, Value) and old.type.is_array:
            sign = {ast.Add: "+", ast.Sub: "-"}.get(type(node.op), "")
            self.b.assign(old, value if sign else self._augmented(node, old, value), sign)
            return
        self.b.hint = target.id
        self.names[target.id] = self.binary(node.op, old, value)
        self.b.hint = ""

    # Statements that raise

    def _do_raise(self, node: ast.Raise) -> bool:
        self.b.op("raise", [], text=self._raised(node))
        return True

    def _raised(self, node: ast.Raise) -> str:
        """The text of a raise whose message is known when the kernel is compiled."""
        error = node.exc
        if isinstance(error, ast.Name):
            return f"raise {self._error(error)}"
        if isinstance(error, ast.Call) and not error.keywords:
            words = [a.value for a in error.args if isinstance(a, ast.Constant)]
            if len(words) == len(error.args):
                return f"raise {self._error(error.func)}({', '.join(map(repr, words))})"
            return f"raise {self._error(error.func)}"
        raise Refusal("only `raise Error(message)` is understood")

    def _error(self, node: ast.expr) -> str:
        thing = self.value(node)
        if not isinstance(thing, Static) or not isinstance(thing.value, type):
            raise Refusal("only classes of exceptions can be raised")
        name = thing.value.__name__
        self.b.program.namespace[name] = thing.value
        return name

    def _do_assert(self, node: ast.Assert) -> None:
        test = self.condition(self.number(node.test))
        message = node.msg.value if isinstance(node.msg, ast.Constant) else None
        text = f"raise AssertionError({message!r})" if message else "raise AssertionError"
        self.branch(self.b.scalar("not", test), lambda: self.b.op("raise", [], text=text))

    # Branches

    def _do_if(self, node: ast.If) -> bool:
        test = self.number(node.test)
        if test.constant is not None:
            return self.block(node.body if test.constant else node.orelse)
        op = Op("if", [self.condition(test)], self.b.region, self.b.line)
        before = dict(self.names)
        ends: list[tuple[dict[str, Thing], bool]] = []
        for statements in (node.body, node.orelse):
            self.names = dict(before)
            region = Region(op)
            op.regions.append(region)
            with self.b.inside(region):
                ends.append((self.names, self.block(statements) and True))
            ends[-1] = (self.names, ends[-1][1])
        self.names = self._merged(op, before, ends)
        self.b.region.ops.append(op)
        return ends[0][1] and ends[1][1]

    def _merged(
        self, op: Op, before: dict[str, Thing], ends: list[tuple[dict[str, Thing], bool]]
    ) -> dict[str, Thing]:
        (yes, yes_raises), (no, no_raises) = ends
        merged = dict(before)
        for name in {**yes, **no}:
            one, other = yes.get(name), no.get(name)
            if one is other:
                merged[name] = one
            elif yes_raises or no_raises:
                merged[name] = self._surviving(op, name, other if yes_raises else one, yes_raises)
            else:
                merged[name] = self.merge(op, name, one, other)
        return {name: thing for name, thing in merged.items() if thing is not None}

    def _surviving(self, op: Op, name: str, thing: Thing, is_second: bool) -> Thing:
        """What a name stands for after the branch that does not raise."""
        pair = (None, thing) if is_second else (thing, None)
        return self.merge(op, name, *pair)

    def merge(self, op: Op, name: str, one: Thing, other: Thing) -> Thing:
        """Return what a name stands for after a branch that gave it two values."""
        if isinstance(one, Poison) or isinstance(other, Poison):
            return one if isinstance(one, Poison) else other
        if isinstance(one, tuple) or isinstance(other, tuple):
            return self._merge_tuples(op, name, one, other)
        known = one if one is not None else other
        if isinstance(known, Static) or isinstance(other, Static):
            if one is None or other is None or same_static(one, other):
                return known
            return Poison(f"`{name}` stands for different objects after an if")
        if known.type.is_array:
            return self._merge_arrays(op, name, one, other)
        return self._merge_numbers(op, name, one, other)

    def _merge_tuples(self, op: Op, name: str, one: Thing, other: Thing) -> Thing:
        size = len(one if isinstance(one, tuple) else other)
        first = one if one is not None else (None,) * size
        second = other if other is not None else (None,) * size
        if not isinstance(first, tuple) or not isinstance(second, tuple) or len(first) != len(second):
            return Poison(f"`{name}` stands for tuples of different lengths after an if")
        pairs = zip(first, second, strict=True)
        return tuple(self.merge(op, name, a, b) if a is not b else a for a, b in pairs)

    def _merge_arrays(self, op: Op, name: str, one: Thing, other: Thing) -> Thing:
        if one is not None and other is not None:
            return Poison(
                f"which array `{name}` stands for depends on a condition: copy the elements "
                f"(`{name}[:] = ...`), or use one array with an index"
            )
        made = one if one is not None else other
        if made.region in op.regions or made.region.is_within(op.regions[0]) or made.region.is_within(op.regions[1]):
            return Poison(f"`{name}` is an array that is only made under a condition")
        return made

    def _merge_numbers(self, op: Op, name: str, one: Value | None, other: Value | None) -> Value:
        known = [value for value in (one, other) if value is not None]
        kind = known[0].type if len(known) == 1 else unified(known[0].type, known[1].type)
        for region, value in zip(op.regions, (one, other), strict=True):
            region.yields.append(value if value is not None else self.b.zero(kind))
        result = Value(kind, self.b.region, op, name)
        op.results.append(result)
        return result

    def branches(self, test: Value, yes: Callable[[], Thing], no: Callable[[], Thing]) -> Thing:
        """Return what one of two functions gives, as a condition says."""
        op = Op("if", [self.condition(test)], self.b.region, self.b.line)
        things = []
        for function in (yes, no):
            region = Region(op)
            op.regions.append(region)
            with self.b.inside(region):
                things.append(self._computed(function()))
        result = things[0] if things[0] is things[1] else self.merge(op, self.b.hint, *things)
        self.b.region.ops.append(op)
        if isinstance(result, Poison):
            raise Refusal(result.reason)
        return result

    # Calls of other functions

    def inlined(self, node: ast.Call, function: Any, args: list[Thing], keywords: dict[str, Thing]) -> Thing:
        """Read the statements of another function in the place of its call."""
        kernel = Kernel.of(function)
        if kernel.plain in [called for called, _ in self.chain] or kernel.plain is self.kernel.plain:
            raise Refusal("recursion is not understood: write a loop")
        self.b.program.calls += 1
        if self.b.program.calls > _MOST_CALLS or len(self.chain) > _DEPTH:
            raise Refusal(f"more than {_MOST_CALLS} calls would be inlined")
        names = bound(self, kernel, args, keywords)
        site = (kernel.plain, (id(node), self.b.program.site))
        inner = Statements(self.b, kernel, names, (*self.chain, site))
        inner.place = kernel.place
        return inner.run()


def bound(reader: Expressions, kernel: Kernel, args: list[Thing], keywords: dict[str, Thing]) -> dict[str, Thing]:
    """Return what the parameters of a function stand for in a call."""
    try:
        found = kernel.signature.bind(*args, **keywords)
    except TypeError as error:
        raise Refusal(f"{kernel.name}: {error}") from None
    names: dict[str, Thing] = {}
    for name, parameter in kernel.signature.parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            raise Refusal("`**keywords` are not understood")
        if name in found.arguments:
            thing = found.arguments[name]
        elif parameter.kind is parameter.VAR_POSITIONAL:
            thing = ()
        else:
            thing = reader.known(parameter.default, name)
        names[name] = reader._computed(thing)  # type: ignore[attr-defined]
    return names


def same_static(one: Thing, other: Thing) -> bool:
    """Whether two things are the same known object."""
    if not isinstance(one, Static) or not isinstance(other, Static):
        return False
    return one.value is other.value or one.value == other.value


__all__ = ["BOOLEAN", "INTEGER", "AdjointError", "Type", "promoted"]
