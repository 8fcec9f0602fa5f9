"""Branches: ``if`` statements, conditional expressions, ``and`` and ``or``, and the values that
names have after them."""

import ast
import itertools
import operator
from collections.abc import Callable
from typing import Any

from ..builder.bases import arrays_of, bases, is_given, made_inside, may_share, values_of
from ..builder.building import Builder
from ..builder.lists import Grown, as_list, as_tuple
from ..builder.promotion import unified
from ..builder.things import Begun, Complex, Poison, Static, Thing, Unkept, is_array, tuple_like
from ..builder.views import root
from ..ssa.ir import Op, Region, Value
from ..ssa.ranges import differs
from ..ssa.refusal import Refusal

# Operations of integers that cannot fail where they are computed without need.
_SAFE = frozenset({"shape", "extent", "add", "sub", "mul", "min", "max", "lt", "select"})


class Branches:
    """Reads ``if`` statements, conditional expressions, ``and`` and ``or``."""

    b: Builder
    kernel: Any
    names: dict[str, Thing]
    number: Callable[..., Value]
    value: Callable[[ast.expr], Thing]
    block: Callable[[list[ast.stmt]], bool]
    computed: Callable[[Thing], Thing]
    lists: Any
    chain: tuple
    current: Any
    place: Any
    alone: set[str]  # the names whose arrays have no other name after the `if` that is read
    known_outside: list[Value]
    run_over: list[Value]  # the arrays that the loops around run over

    def _boolop(self, node: ast.BoolOp) -> Thing:
        """Read ``and`` and ``or``, which evaluate their second operand only where it decides."""
        first, *rest = node.values
        left = self.number(first)
        if not rest:
            return left
        others = ast.BoolOp(node.op, rest) if len(rest) > 1 else rest[0]
        ast.copy_location(others, node)
        is_and = isinstance(node.op, ast.And)
        if left.constant is not None:
            return self.value(others) if bool(left.constant) is is_and else left
        if left.type.dtype == "bool" and self._is_simple(others):
            right = self.number(others)
            if right.type.dtype == "bool":
                return self.b.scalar("and" if is_and else "or", left, right)
        known = left if left.type.dtype != "bool" else self.b.constant(not is_and)
        yes: Callable[[], Thing] = lambda: self.value(others)  # noqa: E731
        no: Callable[[], Thing] = lambda: known  # noqa: E731
        return self.branches(self.condition(left), yes if is_and else no, no if is_and else yes)

    def _is_simple(self, node: ast.expr) -> bool:
        """Whether an expression cannot fail, so that it may be evaluated without need."""
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
            if (
                isinstance(yes, Value)
                and isinstance(no, Value)
                and not is_array(yes)
                and not is_array(no)
            ):
                return self.b.scalar("select", self.condition(test), yes, no)
        return self.branches(test, lambda: self.value(node.body), lambda: self.value(node.orelse))

    def condition(self, test: Value) -> Value:
        """Return the condition that a number is not 0."""
        if test.type.dtype == "bool":
            return test
        return self.b.scalar("ne", test, self.b.constant(0))

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
                ends.append((self.names, self.block(statements)))
            ends[-1] = (self.names, ends[-1][1])
        self.current = node
        merged = self._merged(op, before, ends)
        self.b.region.ops.append(op)
        self.names = {name: self._begun(thing) for name, thing in merged.items()}
        return ends[0][1] and ends[1][1]

    def _merged(
        self, op: Op, before: dict[str, Thing], ends: list[tuple[dict[str, Thing], bool]]
    ) -> dict[str, Thing]:
        (yes, yes_raises), (no, no_raises) = ends
        merged = dict(before)
        self.alone = self._alone(yes, no)
        for name in {**yes, **no}:
            one, other = yes.get(name), no.get(name)
            if one is other:
                merged[name] = one
            elif self._is_unread(name) and arrays_of(one) + arrays_of(other):
                text = f"which array `{name}` stands for depends on a condition"
                merged[name] = Poison(Unkept(text, self._key(name)))
            elif yes_raises or no_raises:
                merged[name] = self._surviving(op, name, other if yes_raises else one, yes_raises)
            else:
                merged[name] = self.merge(op, name, one, other)
        self.alone = set()
        return {name: thing for name, thing in merged.items() if thing is not None}

    def _alone(self, yes: dict[str, Thing], no: dict[str, Thing]) -> set[str]:
        """Return the names that stand for an array which no other name stands for, after either
        branch of an ``if``: such a name may have a copy that is written."""
        changed = [n for n in yes if n in no and yes[n] is not no[n]]
        arrays = [n for n in changed if all(arrays_of(side[n]) == [side[n]] for side in (yes, no))]
        return {n for n in arrays if self._is_alone(n, yes) and self._is_alone(n, no)}

    def _is_alone(self, name: str, names: dict[str, Thing]) -> bool:
        array = names[name]
        if any(map(is_given, values_of(array))):
            return False
        others = [as_tuple(names[n]) for n in names if n != name and not self._is_unread(n)]
        known = [other for thing in others for other in arrays_of(thing)]
        known += self.run_over + self.known_outside
        return not any(may_share(array, other) for other in known)

    def _is_unread(self, name: str) -> bool:
        """Whether no statement after the ``if`` that is read now reads a name."""
        later = getattr(self.current, "read_later", None)
        known = self.b.program.read_later
        return later is not None and name not in later and self._key(name) not in known

    def _key(self, name: str) -> tuple:
        """What is in ``Program.read_later`` if an array is read after the ``if``."""
        return id(self.current), self.chain, self.b.program.site, name

    def _surviving(self, op: Op, name: str, thing: Thing, is_second: bool) -> Thing:
        """Return the thing that a name stands for after an ``if`` of which only one branch does not
        raise; None for a name of the branch that raises."""
        if thing is None:
            return None
        pair = (None, thing) if is_second else (thing, None)
        return self.merge(op, name, *pair)

    def merge(self, op: Op, name: str, one: Thing, other: Thing) -> Thing:
        """Return the thing that a name stands for after an ``if`` whose branches gave it two
        things."""
        if isinstance(one, Poison) or isinstance(other, Poison):
            return one if isinstance(one, Poison) else other
        if isinstance(one, Complex) or isinstance(other, Complex):
            pairs = zip(self._parts(one), self._parts(other), strict=True)
            return Complex(*(a if a is b else self.merge(op, name, a, b) for a, b in pairs))
        if isinstance(one, Grown) or isinstance(other, Grown):
            return self._merge_lists(op, name, one, other)
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

    def _parts(self, thing: Thing) -> tuple[Thing, Thing]:
        if isinstance(thing, Complex):
            return thing.re, thing.im
        return thing, None if thing is None else self.b.constant(0.0)

    def _merge_lists(self, op: Op, name: str, one: Thing, other: Thing) -> Thing:
        if not isinstance(one, Grown) or not isinstance(other, Grown):
            return Poison(f"`{name}` is a list that is only made under a condition")
        return as_list(self._merge_tuples(op, name, as_tuple(one), as_tuple(other)))

    def _merge_tuples(self, op: Op, name: str, one: Thing, other: Thing) -> Thing:
        size = len(one if isinstance(one, tuple) else other)
        first = one if one is not None else (None,) * size
        second = other if other is not None else (None,) * size
        if (
            not isinstance(first, tuple)
            or not isinstance(second, tuple)
            or len(first) != len(second)
        ):
            return Poison(f"`{name}` stands for tuples of different lengths after an if")
        pairs = zip(first, second, strict=True)
        merged = [self.merge(op, name, a, b) if a is not b else a for a, b in pairs]
        return tuple_like(first if one is not None else second, merged)

    def _merge_arrays(self, op: Op, name: str, one: Thing, other: Thing) -> Thing:
        if one is not None and other is not None:
            return self._merge_by_value(op, name, one, other)
        made = one if one is not None else other
        if made is not None and any(made.region.is_within(r) for r in op.regions):
            is_view = made.op is None or made.op.name == "view"
            if self.kernel.is_derived and not is_view:  # it is read where the condition holds again
                return self._merge_by_value(op, name, one, other)
            return self._kept(op, name, one, other)
        return made

    def _merge_by_value(self, op: Op, name: str, one: Thing, other: Thing) -> Thing:
        """Copy the array that a condition chooses, where no other name could see the difference."""
        shape = self._shape_outside(op, one) or self._shape_outside(op, other)
        sides = [side for side in (one, other) if side is not None]
        are_alike = all(isinstance(s, Value) and s.type == sides[0].type for s in sides)
        if are_alike and not sides[0].type.is_list and self._differ(op, shape, sides):
            return self._merge_lengths(op, name, one, other)
        if not are_alike or shape is None:
            return Poison(
                f"which array `{name}` stands for depends on a condition: copy the elements "
                f"(`{name}[:] = ...`), or use one array with an index"
            )
        buffer = self.b.alloc(sides[0].type.dtype, shape, hint=name)
        buffer.type = sides[0].type
        for region, side in zip(op.regions, (one, other), strict=True):
            if side is not None:
                with self.b.inside(region):
                    where = f"{self.place.file}, line {self.b.line}: "
                    text = (
                        f"{where}`{name}` is of another shape under a condition: fill an array "
                        f"that is long enough, and keep its length"
                    )
                    self.b.copy_into(buffer, side, text)
        self._require_by_value(op, buffer, sides, name)
        return buffer

    def _require_by_value(self, op: Op, buffer: Value, sides: list[Value], name: str) -> None:
        """Note the arrays that must not be written, as the buffer is a copy of one of them."""
        sources = set().union(*map(bases, sides))
        if name in self.alone:
            self.b.program.copied[id(buffer)] = buffer, sources
            return
        made = made_inside(op.regions[0]) | made_inside(op.regions[1])
        hazards = {id(buffer)} | (sources - made)
        self.b.program.by_value.append((hazards, buffer, name))

    def _differ(self, op: Op, shape: list[Value] | None, sides: list[Value]) -> bool:
        """Whether the lengths of arrays of two branches are computed in the branches, or differ."""
        if shape is None or any(root(side) in self.b.program.storages for side in sides):
            return True
        known = [self._extents(op, side) for side in sides]
        lengths = [[n for extents in axis for n in extents] for axis in zip(*known, strict=True)]
        pairs = [pair for axis in lengths for pair in itertools.permutations(axis, 2)]
        return any(differs(a, b, op.regions) for a, b in pairs)

    def _extents(self, op: Op, array: Value) -> list[list[Value]]:
        """Return the lengths that each axis of an array of a branch may have."""
        region = next((r for r in op.regions if array.region.is_within(r)), self.b.region)
        with self.b.inside(region):
            axes = range(array.type.ndim or 0)
            return [self.b.extents(array, axis) for axis in axes]

    def _kept(self, op: Op, name: str, one: Thing, other: Thing) -> Thing:
        """Return the array that only one branch makes, if it is read after the ``if``."""
        made = one if one is not None else other
        text = f"`{name}` is an array that is only made under a condition: make it before, too"
        key = self._key(name)
        if made.type.is_list or key not in self.b.program.read_later:
            return Poison(Unkept(text, None if made.type.is_list else key))
        return self._merge_lengths(op, name, one, other)

    def _merge_lengths(self, op: Op, name: str, one: Thing, other: Thing) -> Begun:
        """Copy the array that a condition chooses into a storage, and choose its lengths."""
        sides = [side for side in (one, other) if side is not None]
        storage = self.lists.storage(sides[0].type, name)
        shapes: list[list[Value]] = []
        for region, side in zip(op.regions, (one, other), strict=True):
            with self.b.inside(region):
                is_none = side is None
                none = [self.b.constant(0)] * (sides[0].type.ndim or 0)
                shapes.append(none if is_none else self.lists.fill(storage, side))
        pairs = zip(*shapes, strict=True)
        shape = [a if a is b else self._merge_numbers(op, name, a, b) for a, b in pairs]
        self._require_by_value(op, storage, sides, name)
        return Begun(storage, shape)

    def _begun(self, thing: Thing) -> Thing:
        """Return a thing with views of storages in place of ``Begun``."""
        if isinstance(thing, Begun):
            return self.lists.beginning(thing.storage, thing.shape)
        if isinstance(thing, Complex):
            return Complex(self._begun(thing.re), self._begun(thing.im))
        if not isinstance(thing, tuple):
            return thing
        parts = [self._begun(part) for part in thing]
        return thing if all(map(operator.is_, parts, thing)) else tuple_like(thing, parts)

    def _shape_outside(self, op: Op, array: Thing) -> list[Value] | None:
        """Return the shape of an array of a branch, computed before the branch; None where it needs
        values of the branch."""
        if not isinstance(array, Value):
            return None
        if not any(array.region.is_within(region) for region in op.regions):
            return self.b.shape(array)
        shape = [set(extents) for extents in self._extents(op, array)]
        found = [self._number_outside(op, *known) if len(known) == 1 else None for known in shape]
        known = [extent for extent in found if extent is not None]
        return known if known and len(known) == len(found) else None

    def _number_outside(self, op: Op, number: Value) -> Value | None:
        """Compute an integer of a branch before the branch; None where it needs a value of the
        branch."""
        made = number.op
        if not any(number.region.is_within(region) for region in op.regions):
            return number
        if made is None or made.name not in _SAFE:
            return None
        args = [self._number_outside(op, arg) for arg in made.args]
        known = [arg for arg in args if arg is not None]
        if len(known) < len(args):
            return None
        return self.b.op(made.name, known, number.type, **made.info).result

    def _merge_numbers(self, op: Op, name: str, one: Value | None, other: Value | None) -> Value:
        known = [value for value in (one, other) if value is not None]
        kind = known[0].type if len(known) == 1 else unified(known[0].type, known[1].type)
        for region, value in zip(op.regions, (one, other), strict=True):
            region.yields.append(value if value is not None else self.b.zero(kind))
        result = Value(kind, self.b.region, op, name)
        op.results.append(result)
        return result

    def branches(self, test: Value, yes: Callable[[], Thing], no: Callable[[], Thing]) -> Thing:
        """Return the thing that one of two functions makes, chosen by a condition."""
        op = Op("if", [self.condition(test)], self.b.region, self.b.line)
        things = []
        for function in (yes, no):
            region = Region(op)
            op.regions.append(region)
            with self.b.inside(region):
                things.append(self.computed(function()))
        result = things[0] if things[0] is things[1] else self.merge(op, self.b.hint, *things)
        self.b.region.ops.append(op)
        if isinstance(result, Poison):
            raise Refusal(result.reason)
        return self._begun(result)


def same_static(one: Thing, other: Thing) -> bool:
    """Whether two things are the same object, known when the kernel is compiled."""
    if not isinstance(one, Static) or not isinstance(other, Static):
        return False
    return one.value is other.value or one.value == other.value
