"""Loops, and the names that they bind again in each iteration.

A number is carried. An array whose name an iteration binds to another array is carried where the
names exchange their arrays; otherwise it becomes a buffer into which the new elements are copied.
"""

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from .building import Builder, Lazy, Poison, Static, Thing, is_array, unified
from .functions import bounds_of
from .ir import BOOLEAN, INTEGER, Op, Program, Region, Type, Value
from .refusal import Refusal

_ATTEMPTS = 8

Path = tuple[Any, ...]  # a name, and positions in the tuple that it stands for
Iteration = tuple[Value, Value, Value, Callable[[Value], Thing]]


class _Again(Exception):
    """The body has to be read again, with what was learned of its names."""


class Rebinding:
    """Reads ``for`` and ``while``."""

    b: Builder
    names: dict[str, Thing]
    value: Callable[..., Thing]
    number: Callable[..., Value]
    condition: Callable[[Value], Value]
    block: Callable[[list[ast.stmt]], bool]
    chain: tuple

    def _do_for(self, node: ast.For) -> None:
        iterated = self._iteration(node.iter)
        if isinstance(iterated, list):
            self._unroll(node, iterated)
            return
        start, stop, step, element = iterated

        def body(region: Region) -> None:
            assert region.index is not None
            self._bind(node.target, element(region.index))  # type: ignore[attr-defined]

        hint = node.target.id if isinstance(node.target, ast.Name) else "i"
        self._loop(node, [start, stop, step], body, hint)

    def _do_while(self, node: ast.While) -> None:
        self._loop(node, [], lambda region: None, "")

    # What a loop runs over

    def _iteration(self, node: ast.expr) -> Iteration | list[Thing]:
        if isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
            function = self.value(node.func)
            name = getattr(getattr(function, "value", None), "__name__", "")
            if name in ("range", "prange"):
                return self._range([self.number(arg) for arg in node.args])
            if name in ("enumerate", "zip", "reversed"):
                return getattr(self, f"_{name}")(node)
        return self._over(self.value(node))

    def _range(self, args: list[Value]) -> Iteration:
        return (*bounds_of(self.b, args), lambda index: index)

    def _over(self, thing: Thing) -> Iteration | list[Thing]:
        if isinstance(thing, tuple):
            return list(thing)
        if isinstance(thing, Lazy):
            thing = self.b.computed(thing)
        if not is_array(thing):
            raise Refusal("a loop runs over range, an array, a tuple, enumerate or zip")
        zero, one = self.b.constant(0), self.b.constant(1)
        return zero, self.b.extent(thing, 0), one, lambda i: self.element(thing, [i])  # type: ignore[attr-defined]

    def _enumerate(self, node: ast.Call) -> Iteration | list[Thing]:
        inner = self._iteration(node.args[0])
        first = self.number(node.args[1]) if len(node.args) > 1 else self.b.constant(0)
        if isinstance(inner, list):
            count = first.constant or 0
            return [(self.b.constant(count + n), thing) for n, thing in enumerate(inner)]
        start, stop, step, element = self._counted(inner)
        return start, stop, step, lambda i: (self.b.scalar("add", i, first), element(i))

    def _counted(self, inner: Iteration) -> Iteration:
        """An iteration whose index counts from 0."""
        start, stop, step, element = inner
        if start.constant == 0 and step.constant == 1:
            return inner
        count = self.b.scalar("extent", start, stop, step)

        def at(i: Value) -> Thing:
            return element(self.b.scalar("add", start, self.b.scalar("mul", i, step)))

        return self.b.constant(0), count, self.b.constant(1), at

    def _zip(self, node: ast.Call) -> Iteration | list[Thing]:
        parts = [self._iteration(arg) for arg in node.args]
        if any(isinstance(part, list) for part in parts):
            if not all(isinstance(part, list) for part in parts):
                raise Refusal("zip of a tuple and an array is not understood: use an index")
            return [tuple(things) for things in zip(*parts, strict=False)]  # type: ignore[arg-type]
        counted = [self._counted(part) for part in parts]  # type: ignore[arg-type]
        shortest = counted[0][1]
        for _, stop, _, _ in counted[1:]:
            if stop is not shortest:
                shortest = self.b.scalar("min", shortest, stop, spelled="min", type=INTEGER)
        start, _, step, _ = counted[0]
        return start, shortest, step, lambda i: tuple(element(i) for *_, element in counted)

    def _reversed(self, node: ast.Call) -> Iteration | list[Thing]:
        inner = self._iteration(node.args[0])
        if isinstance(inner, list):
            return inner[::-1]
        _, stop, step, element = self._counted(inner)
        last = self.b.scalar("sub", stop, self.b.constant(1))
        return self.b.constant(0), stop, step, lambda i: element(self.b.scalar("sub", last, i))

    def _unroll(self, node: ast.For, things: list[Thing]) -> None:
        if getattr(node, "ends", None):
            raise Refusal("a loop over a tuple that is left early is not understood: use an index")
        site = self.b.program.site
        for position, thing in enumerate(things):
            self.b.program.site = (site, position)
            self._bind(node.target, thing)  # type: ignore[attr-defined]
            self.block(node.body)
        self.b.program.site = site

    # The loop

    def _loop(self, node: Any, bounds: list[Value], bind: Callable[[Region], None], hint: str) -> None:
        """Append a loop; its body is read again until the types of what it carries are settled."""
        site = self.b.program.site
        known = self.b.program.carried.setdefault((id(node), self.chain, site), {})
        names = _assigned(node)
        self.b.program.site = (site, id(node))
        for _ in range(_ATTEMPTS):
            before = dict(self.names)
            kept = len(self.b.region.ops)
            try:
                self._attempt(node, bounds, bind, hint, names, known)
                self.b.program.site = site
                return
            except _Again:
                self.names = before
                del self.b.region.ops[kept:]
        raise Refusal("the types of the names that the loop binds do not settle")

    def _attempt(
        self, node: Any, bounds: list[Value], bind: Callable[[Region], None], hint: str,
        names: list[str], known: dict[str, Any],
    ) -> None:  # fmt: skip
        carried = Carried(self, known, names)
        is_while = not bounds
        test = self.condition(self.number(node.test)) if is_while else None
        op = Op("loop", [], self.b.region, self.b.line, kind="while" if is_while else "for")
        op.args = [*bounds, *([test] if test is not None else []), *carried.inits()]
        region = Region(op)
        op.regions.append(region)
        if is_while:
            region.phis.append(Value(BOOLEAN, region, None, "going"))
        else:
            region.index = Value(INTEGER, region, None, hint)
        carried.open(region)
        with self.b.inside(region):
            bind(region)
            self.block(node.body)
            carried.check_ends()
            go_on = self._goes_on(node, is_while)
            carried.close(region)
        if is_while:
            region.yields.insert(0, go_on)
        else:
            region.go_on = go_on
        op.results = [Value(phi.type, self.b.region, op, phi.hint) for phi in region.phis]
        self.b.region.ops.append(op)
        carried.after(op.results[1:] if is_while else op.results)

    def _goes_on(self, node: Any, is_while: bool) -> Any:
        """Whether the loop goes on after an iteration; None where its range alone says it."""
        flag = self.names.get(node.ends) if getattr(node, "ends", None) else None
        stays = self.b.scalar("not", flag) if flag is not None else None
        if not is_while:
            return stays
        if stays is None:
            return self.condition(self.number(node.test))
        test: Callable[[], Value] = lambda: self.condition(self.number(node.test))  # noqa: E731
        if isinstance(node.test, ast.Constant):
            return stays if node.test.value else self.b.constant(False)
        return self.branches(stays, test, lambda: self.b.constant(False))  # type: ignore[attr-defined]


class Carried:
    """What a loop carries: for each name that its body assigns, how.

    Parameters
    ----------
    reader : Rebinding
    known : dict
        What earlier attempts found, by the path of a name or of a part of its tuple: a type,
        the size of a tuple, ``"buffer"`` or why the name has no value; it is added to.
    names : list of str
    """

    def __init__(self, reader: Any, known: dict[Path, Any], names: list[str]) -> None:
        self.reader, self.b, self.known = reader, reader.b, known
        self.outer = dict(reader.names)
        self.names = names
        self.starts: dict[Path, Value] = {}
        self.buffers: dict[Path, Value] = {}
        self.phis: dict[Path, Value] = {}
        self.ends: dict[Path, Value] = {}
        for name in names:
            self._open((name,), self.outer.get(name))

    def inits(self) -> list[Value]:
        """The values of what is carried before the first iteration."""
        return list(self.starts.values())

    def _open(self, path: Path, thing: Thing) -> None:
        """Note how the thing of a name, or a part of it, is carried."""
        known = self.known.get(path)
        if isinstance(known, int) and thing is None:
            thing = (None,) * known
        if isinstance(thing, tuple):
            for position, part in enumerate(thing):
                self._open((*path, position), part)
        elif known == "buffer":
            self.b.is_own = True
            self.buffers[path] = self.b.computed(self.b.lazy(thing), hint=str(path[0]))
            self.b.is_own = False
        elif isinstance(thing, Value) and not thing.type.is_array:
            self._carry(path, thing, known if isinstance(known, Type) else thing.type)
        elif isinstance(known, Type):
            self._carry(path, thing if isinstance(thing, Value) else self.b.zero(known), known)

    def _carry(self, path: Path, start: Value, kind: Type) -> None:
        if start.constant is not None and start.type != kind:
            start = self.b.constant(np.dtype(kind.dtype).type(start.constant))
        self.starts[path], self.known[path] = start, kind

    def open(self, region: Region) -> None:
        """Give names their values at the start of an iteration."""
        for path, start in self.starts.items():
            self.phis[path] = Value(self.known[path], region, None, str(path[0]) or start.hint)
        region.phis += self.phis.values()
        self._rename({**self.phis, **self.buffers})

    def _rename(self, values: dict[Path, Value]) -> None:
        """Bind names to values; those that have none before the loop lose theirs."""
        for name in self.names:
            thing = self._renamed((name,), self.outer.get(name), values)
            self.reader.names[name] = thing
            if thing is None:
                del self.reader.names[name]

    def _renamed(self, path: Path, thing: Thing, values: dict[Path, Value]) -> Thing:
        known = self.known.get(path)
        if isinstance(known, str) and known != "buffer":
            return Poison(known)
        if isinstance(known, int) and thing is None:
            thing = (None,) * known
        if isinstance(thing, tuple):
            return tuple(self._renamed((*path, n), part, values) for n, part in enumerate(thing))
        return values.get(path, thing)

    # The end of an iteration

    def check_ends(self) -> None:
        """Compare what names stand for at the end of an iteration with what was assumed.

        Raises
        ------
        _Again
            If something else was assumed.
        """
        settled = [self._is_settled((name,), self.reader.names.get(name)) for name in self.names]
        if not all(settled):
            raise _Again

    def _is_settled(self, path: Path, end: Thing) -> bool:
        known, outer = self.known.get(path), self._outer_at(path)
        if isinstance(known, str) and known != "buffer":
            return True
        if end is None or (end is outer and path not in self.phis and path not in self.buffers):
            return True
        if isinstance(end, tuple):
            return self._is_settled_tuple(path, end, outer)
        if isinstance(end, (Poison, Static)):
            return self._is_settled_object(path, end, outer)
        if path in self.buffers:
            self.ends[path] = end
            return True
        return self._is_settled_value(path, end, outer)

    def _is_settled_tuple(self, path: Path, end: tuple, outer: Thing) -> bool:
        if outer is not None and (not isinstance(outer, tuple) or len(outer) != len(end)):
            return self._poison(path, f"`{path[0]}` stands for tuples of different lengths in a loop")
        is_new = outer is None and self.known.get(path) != len(end)
        if is_new:
            self.known[path] = len(end)
        parts = [self._is_settled((*path, n), part) for n, part in enumerate(end)]
        return all(parts) and not is_new

    def _is_settled_object(self, path: Path, end: Poison | Static, outer: Thing) -> bool:
        if isinstance(end, Poison):
            return self._poison(path, end.reason)
        if isinstance(outer, Static) and (outer.value is end.value or outer.value == end.value):
            return True
        return self._poison(path, f"`{path[0]}` stands for different objects in a loop")

    def _poison(self, path: Path, reason: str) -> bool:
        self.known[path] = reason
        return False

    def _is_settled_value(self, path: Path, end: Value, outer: Thing) -> bool:
        known = self.known.get(path)
        if end.type.is_array and not isinstance(outer, Value):
            return self._poison(path, f"`{path[0]}` is an array that is only made in a loop")
        if isinstance(known, int) or isinstance(outer, (tuple, Static)):
            return self._poison(path, f"`{path[0]}` stands for a number and for something else")
        before = known if isinstance(known, Type) else getattr(outer, "type", end.type)
        self.ends[path] = end
        self.known[path] = unified(before, end.type)
        return self.known[path] == known

    def _outer_at(self, path: Path) -> Thing:
        thing = self.outer.get(path[0])
        for position in path[1:]:
            if not isinstance(thing, tuple) or position >= len(thing):
                return None
            thing = thing[position]
        return thing

    def close(self, region: Region) -> None:
        """Set what an iteration yields; copy new arrays into buffers."""
        self._require_exchange()
        self._fill_buffers(region)
        region.yields += [self.ends.get(path, phi) for path, phi in self.phis.items()]

    def _require_exchange(self) -> None:
        """Arrays that are carried must be exchanged; the names of others get buffers."""
        arrays = {path for path, phi in self.phis.items() if phi.type.is_array}
        exchanged = set(arrays)
        while True:
            phis = {id(self.phis[path]) for path in exchanged}
            ends = [id(self.ends[path]) for path in exchanged]
            outside = {path for path in exchanged if id(self.ends[path]) not in phis}
            if not outside:
                break
            exchanged -= outside
        if len(set(ends)) < len(ends):
            exchanged = set()
        if exchanged != arrays:
            self.known.update(dict.fromkeys(arrays - exchanged, "buffer"))
            raise _Again

    def _fill_buffers(self, region: Region) -> None:
        moved = {p: end for p, end in self.ends.items() if p in self.buffers and end is not self.buffers[p]}
        others = {id(buffer) for buffer in self.buffers.values()}
        self._require_by_value(region, moved)
        self.b.is_own = True
        ready = {}
        for path, end in moved.items():
            ready[path] = self.b.computed(self.b.lazy(end)) if _bases(end) & others else end
        for path, end in ready.items():
            for n, m in zip(self.b.shape(self.buffers[path]), self.b.shape(end), strict=True):
                self.b.check_equal(n, m, f"{path[0]} becomes an array of another shape in a loop")
            self.b.assign(self.buffers[path], end)
        self.b.is_own = False

    def _require_by_value(self, region: Region, moved: dict[Path, Value]) -> None:
        """Note what must not be written, so that copying is the same as binding a name.

        Nothing else sees the difference where all new arrays are made inside of the loop and the
        first one is known by no other name. Else neither the buffer nor what is copied into it
        may be written, by whatever name.
        """
        made = _made_inside(region)
        ends = [base for end in moved.values() for base in _bases(end)]
        is_shared = len(set(ends)) < len(ends) or not set(ends) <= made
        for path, buffer in self.buffers.items():
            if is_shared or self._is_known_otherwise(path):
                hazards = {id(buffer)} | _bases(self._outer_at(path)) | (set(ends) - made)
                self.b.program.by_value.append((hazards, buffer, str(path[0])))

    def _is_known_otherwise(self, path: Path) -> bool:
        """Whether the array that a name has before a loop may be known by another name."""
        first = self._outer_at(path)
        bases = _bases(first)
        if any(_is_given(base) for base in _base_values(first)):
            return True
        others = [thing for name, thing in self.outer.items() if name != path[0]]
        return any(_bases(array) & bases for other in others for array in _arrays(other))

    def after(self, results: list[Value]) -> None:
        """Give names their values after the loop."""
        self._rename({**dict(zip(self.phis, results, strict=True)), **self.buffers})


def _base_values(array: Value, seen: set[Value] | None = None) -> set[Value]:
    """The arrays whose elements an array value may be: of views, and of what loops exchange."""
    seen = set() if seen is None else seen
    while array.op is not None and array.op.name == "view":
        array = array.op.args[0]
    if array in seen:
        return set()
    seen.add(array)
    if array.op is not None and array.op.name == "loop":
        array = array.op.body.phis[array.op.results.index(array)]
    if not array.is_phi:
        return {array}
    body, owner = array.region, array.region.owner
    assert owner is not None
    place = body.phis.index(array)
    others = [owner.inits[place], *body.yields[place : place + 1]]
    return set().union(*(_base_values(other, seen) for other in others))


def _bases(array: Value) -> set[int]:
    return {id(base) for base in _base_values(array)}


def _is_given(base: Value) -> bool:
    """Whether an array comes from outside of the kernel."""
    return base.op is None


def _arrays(thing: Thing) -> list[Value]:
    if isinstance(thing, tuple):
        return [array for part in thing for array in _arrays(part)]
    return [thing] if isinstance(thing, Value) and thing.type.is_array else []


def require_by_value(program: Program) -> None:
    """Refuse writes into arrays that were copied where a name was bound again.

    Raises
    ------
    Refusal
    """
    ops = list(program.body.walk())
    stores = {op for op in ops if op.name in ("store", "accum") and not op.info["own"]}
    for hazards, buffer, name in program.by_value:
        if buffer.op not in ops:  # of an attempt that was given up
            continue
        for op in ops[ops.index(buffer.op) :] + _around(buffer, stores):
            if op in stores and _bases(op.array) & hazards:
                raise Refusal(
                    f"`{name}` becomes another array in a loop, and is also written in place "
                    f"(line {op.line}): write `{name}[:] = ...` instead of `{name} = ...`"
                )


def _around(buffer: Value, stores: set[Op]) -> list[Op]:
    """The stores that a loop around a buffer repeats."""
    loops = [region for region in buffer.region.ancestors() if region.is_loop]
    return [op for op in stores if any(op.region.is_within(region) for region in loops)]


def _made_inside(region: Region) -> set[int]:
    return {id(op.result) for op in region.walk() if op.name in ("alloc", "call")}


def _assigned(node: Any) -> list[str]:
    """The names that a loop assigns, in order."""
    found: dict[str, None] = {}
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            found[part.id] = None
    return list(found)
