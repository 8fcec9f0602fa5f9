"""Loops: their ranges, and their bodies, which are read again until the types of all carried names
are known."""

import ast
from collections.abc import Callable
from typing import Any

from ..builder.bases import arrays_of, bases
from ..builder.building import Builder
from ..builder.creation import bounds_of
from ..builder.lists import Grown
from ..builder.things import Complex, Lazy, Static, Thing, is_array
from ..builder.views import is_contiguous
from ..ssa.ir import BOOLEAN, INTEGER, Op, Region, Value
from ..ssa.refusal import Refusal
from .carried import Again, Carried, Path
from .closures import StencilKernel

_ATTEMPTS = 8

Iteration = tuple[Value, Value, Value, Callable[[Value], Thing]]


class Loops:
    """Reads ``for`` and ``while``."""

    b: Builder
    names: dict[str, Thing]
    value: Callable[..., Thing]
    number: Callable[..., Value]
    condition: Callable[[Value], Value]
    block: Callable[[list[ast.stmt]], bool]
    chain: tuple
    computed: Callable[[Thing], Thing]
    inlined: Callable[..., Thing]
    _at_least_zero: Callable[[Value], Value]
    complex_element: Callable[..., Thing]
    bind: Callable[[ast.expr, Thing], None]
    lists: Any
    run_over: list[Value]
    _iterated: list[Value]  # the lengths of the lists that a loop runs over

    def _do_for(self, node: ast.For) -> None:
        outer, self._iterated = self._iterated, []
        kept = len(self.run_over)
        iterated = self.iteration(node.iter)
        lengths, self._iterated = self._iterated, outer
        if isinstance(iterated, list):
            self._unroll(node, iterated)
            del self.run_over[kept:]
            return
        start, stop, step, element = iterated

        def body(region: Region) -> None:
            assert region.index is not None
            self.bind(node.target, element(region.index))

        hint = node.target.id if isinstance(node.target, ast.Name) else "i"
        op = self._loop(node, [start, stop, step], body, hint)
        del self.run_over[kept:]
        self._require_steady(op, lengths)
        is_parallel = isinstance(node.iter, ast.Call) and ast.unparse(node.iter.func).endswith(
            "prange"
        )
        op.info["is_parallel"] = is_parallel and self.b.program.is_parallel

    def _require_steady(self, loop: Op, lengths: list[Value]) -> None:
        """Refuse a loop over a list that its body makes longer or shorter."""
        stores = [op for op in loop.body.walk() if op.name == "store"]
        if any(bases(op.array) & bases(length) for op in stores for length in lengths):
            raise Refusal(
                "a loop over a list that it changes is not understood: write "
                "`while i < len(queue): item = queue[i]; i += 1`"
            )

    def _do_while(self, node: ast.While) -> None:
        self._loop(node, [], lambda region: None, "")

    # What a loop runs over

    def iteration(self, node: ast.expr) -> Iteration | list[Thing]:
        if isinstance(node, ast.Call):
            name = self._called(node.func)
            if name in ("range", "prange"):
                return self._range([self.number(arg) for arg in node.args])
            if name in ("ndindex", "ndenumerate", "nditer"):
                return getattr(self, f"_{name}")([self.value(arg) for arg in node.args])
            if name in ("enumerate", "zip", "reversed"):
                return getattr(self, f"_{name}")(node)
        return self._over(self.value(node))

    def _called(self, node: ast.expr) -> str:
        """Return the name of the called function; it is empty for methods of arrays."""
        if isinstance(node, ast.Attribute) and not isinstance(self.value(node.value), Static):
            return ""
        return getattr(getattr(self.value(node), "value", None), "__name__", "")

    def _range(self, args: list[Value]) -> Iteration:
        return (*bounds_of(self.b, args), lambda index: index)

    def _over(self, thing: Thing) -> Iteration | list[Thing]:
        self.run_over += arrays_of(thing)
        if isinstance(thing, tuple):
            return list(thing)
        if isinstance(thing, Grown):
            zero, one = self.b.constant(0), self.b.constant(1)
            self._iterated.append(thing.length)
            return zero, self.lists.count(thing), one, lambda i: self.lists.element(thing, i)
        if isinstance(thing, Lazy):
            thing = self.b.computed(thing)
        if isinstance(thing, Complex):
            array = self.computed(thing)
            zero, one = self.b.constant(0), self.b.constant(1)
            return zero, self.b.extent(array.re, 0), one, lambda i: self.complex_element(array, [i])
        if not is_array(thing):
            raise Refusal("a loop runs over range, an array, a tuple, enumerate or zip")
        zero, one = self.b.constant(0), self.b.constant(1)
        return zero, self.b.extent(thing, 0), one, lambda i: self.element(thing, [i])  # type: ignore[attr-defined]

    def _enumerate(self, node: ast.Call) -> Iteration | list[Thing]:
        inner = self.iteration(node.args[0])
        first = self.number(node.args[1]) if len(node.args) > 1 else self.b.constant(0)
        if isinstance(inner, list):
            count = first.constant or 0
            return [(self.b.constant(count + n), thing) for n, thing in enumerate(inner)]
        start, stop, step, element = self.counted(inner)
        return start, stop, step, lambda i: (self.b.scalar("add", i, first), element(i))

    def counted(self, inner: Iteration) -> Iteration:
        """Return an iteration like ``inner`` whose index counts from 0."""
        start, stop, step, element = inner
        if start.constant == 0 and step.constant == 1:
            return inner
        count = self.b.scalar("extent", start, stop, step)

        def at(i: Value) -> Thing:
            return element(self.b.scalar("add", start, self.b.scalar("mul", i, step)))

        return self.b.constant(0), count, self.b.constant(1), at

    def _ndindex(self, args: list[Thing]) -> Iteration:
        """A loop over all indices of a shape, the last one fastest."""
        parts = args[0] if isinstance(args[0], tuple) else args
        shape = [self.b.number(part) for part in parts]
        zero, one, count = self.b.constant(0), self.b.constant(1), shape[0]
        for length in shape[1:]:
            count = self.b.scalar("mul", count, length)
        return zero, count, one, lambda i: self._index_at(i, shape)

    def _index_at(self, place: Value, shape: list[Value]) -> tuple:
        found: list[Value] = []
        for length in shape[:0:-1]:
            found.insert(0, self.b.scalar("mod", place, length))
            place = self.b.scalar("floordiv", place, length)
        return (place, *found)

    def _ndenumerate(self, args: list[Thing]) -> Iteration:
        array = self.b.array(args[0])
        self.run_over.append(array)
        start, stop, step, at = self._ndindex([tuple(self.b.shape(array))])
        return start, stop, step, lambda i: (at(i), self.b.load(array, list(at(i))))

    def _nditer(self, args: list[Thing]) -> Iteration:
        """A loop over the numbers of an array, or of several arrays of one shape."""
        things = args[0] if isinstance(args[0], tuple) else (args[0],)
        arrays = [self.b.array(thing) for thing in things]
        if not all(map(is_contiguous, arrays)):
            raise Refusal("np.nditer is understood of arrays in one piece: write `.copy()`")
        self.run_over += arrays
        if len({array.type.ndim for array in arrays}) > 1:
            raise Refusal("np.nditer is understood of arrays of one shape")
        shape = self.b.shape(arrays[0])
        for other in arrays[1:]:
            for one, another in zip(shape, self.b.shape(other), strict=True):
                self.b.check_equal(one, another, "np.nditer is understood of arrays of one shape")
        start, stop, step, at = self._ndindex([tuple(shape)])

        def each(i: Value) -> Thing:
            found = tuple([self.b.load(array, list(at(i))) for array in arrays])
            return found if isinstance(args[0], tuple) else found[0]

        return start, stop, step, each

    def _zip(self, node: ast.Call) -> Iteration | list[Thing]:
        parts = [self.iteration(arg) for arg in node.args]
        if any(isinstance(part, list) for part in parts):
            if not all(isinstance(part, list) for part in parts):
                raise Refusal("zip of a tuple and an array is not understood: use an index")
            return [tuple(things) for things in zip(*parts, strict=False)]  # type: ignore[arg-type]
        counted = [self.counted(part) for part in parts]  # type: ignore[arg-type]
        shortest = counted[0][1]
        for _, stop, _, _ in counted[1:]:
            if stop is not shortest:
                shortest = self.b.scalar("min", shortest, stop, spelled="min", type=INTEGER)
        start, _, step, _ = counted[0]
        return start, shortest, step, lambda i: tuple(element(i) for *_, element in counted)

    def _reversed(self, node: ast.Call) -> Iteration | list[Thing]:
        inner = self.iteration(node.args[0])
        if isinstance(inner, list):
            return inner[::-1]
        _, stop, step, element = self.counted(inner)
        last = self.b.scalar("sub", stop, self.b.constant(1))
        return self.b.constant(0), stop, step, lambda i: element(self.b.scalar("sub", last, i))

    def _unroll(self, node: ast.For, things: list[Thing]) -> None:
        if getattr(node, "ends", None):
            raise Refusal("a loop over a tuple that is left early is not understood: use an index")
        site = self.b.program.site
        for position, thing in enumerate(things):
            self.b.program.site = (site, position)
            self.bind(node.target, thing)  # type: ignore[attr-defined]
            self.block(node.body)
        self.b.program.site = site

    def stencilled(self, node: ast.Call, stencil: Any, args: list[Thing]) -> Value:
        """Return what a stencil of Numba makes of arrays: elements near the ends are a constant."""
        array = self.b.array(args[0])
        kernel = StencilKernel.of_axes(stencil, array.type.ndim or 0)
        shape, first = self.b.shape(array), [self.b.constant(-low) for low, _ in kernel.ends]

        def at(index: list[Value]) -> Value:
            return self.b.number(self.inlined(node, kernel, [*args, *index], {}))

        made = self.b.alloc(self.b.trial(lambda: at(first)).type.dtype, shape, "zeros")
        if border := stencil.options.get("cval", 0):
            self.b.assign(made, self.b.constant(border))

        def each(steps: list[Value]) -> None:
            index = [self.b.scalar("add", i, low) for i, low in zip(steps, first, strict=True)]
            self.b.store(made, index, at(index))

        pairs = zip(shape, kernel.ends, strict=True)
        spans = [self.b.scalar("sub", n, self.b.constant(most - low)) for n, (low, most) in pairs]
        self.b.for_each([self._at_least_zero(span) for span in spans], each)
        return made

    # The loop

    def _loop(
        self, node: Any, bounds: list[Value], bind: Callable[[Region], None], hint: str
    ) -> Op:
        """Append a loop; its body is read again until the types of the carried names are known."""
        site = self.b.program.site
        known = self.b.program.carried.setdefault((id(node), self.chain, site), {})
        names = _assigned(node)
        self.b.program.site = (site, id(node))
        for _ in range(_ATTEMPTS):
            before = dict(self.names)
            kept = len(self.b.region.ops)
            try:
                key = id(node), self.chain, site
                op = self._attempt(node, bounds, bind, hint, names, known, key)
                self.b.program.site = site
                return op
            except Again:
                self.names = before
                del self.b.region.ops[kept:]
        raise Refusal("the types of the names that the loop binds do not settle")

    def _attempt(
        self, node: Any, bounds: list[Value], bind: Callable[[Region], None], hint: str,
        names: list[str], known: dict[Path, Any], key: tuple,
    ) -> Op:  # fmt: skip
        later = getattr(node, "read_later", frozenset(names))
        carried = Carried(self, known, names, key, set(names) - later)
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
        return op

    def _goes_on(self, node: Any, is_while: bool) -> Any:
        """Return whether the loop goes on after an iteration; None where its range alone says it.
        """
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


def _assigned(node: Any) -> list[str]:
    """Return the names that a loop assigns, in order."""
    found: dict[str, None] = {}
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            found[part.id] = None
    return list(found)
