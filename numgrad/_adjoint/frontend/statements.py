"""Statements of a kernel: from syntax trees to structured SSA."""

import ast
from collections.abc import Callable
from typing import Any

from ..builder.bases import arrays_of, bases
from ..builder.building import Builder
from ..builder.lists import Grown, Lists, as_tuple
from ..builder.loops import rearranging
from ..builder.things import Complex, Lazy, Static, Thing, is_array, tuple_like
from ..ssa.ir import Op, Region, Value
from ..ssa.refusal import Place, Refusal, located
from .branches import Branches
from .closures import Closure, bound
from .complexes import ComplexNumbers
from .copies import Copies
from .expressions import Expressions
from .functions import Calls
from .growing import GrowingLists
from .jumps import RESULT, written
from .loops import Loops
from .source import Kernel

_WAYS: dict[Any, str] = {
    ast.Try: ": write the condition under which it fails, as in `if x == 0.0:`"
}
_MOST_CALLS = 200
_DEPTH = 20


class Statements(Branches, Calls, Loops, ComplexNumbers, GrowingLists, Copies, Expressions):
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

    current: ast.AST  # the statement that is read
    known_outside: list[Value]  # the arrays that callers know

    def __init__(
        self, b: Builder, kernel: Kernel | Closure, names: dict[str, Thing], chain: tuple = (),
        around: "Statements | None" = None,
    ) -> None:  # fmt: skip
        self.b, self.kernel, self.names, self.chain = b, kernel, names, chain
        self.around = around
        self._iterated, self.lists = [], Lists(b)
        self.alone, self.run_over, self.known_outside = set(), [], []
        self.place: Place = kernel.place
        self.local_names = kernel.local_names

    def run(self) -> Thing:
        """Read all statements and return what the function returns."""
        for statement in self.kernel.statements:
            self.statement(statement)
        return self.names.get(RESULT, Static(None))

    def outside(self, name: str) -> Thing:
        """Return what a name stands for that is not one of the function's own."""
        if isinstance(self.kernel, Closure):
            assert self.around is not None
            thing = self.kernel.seen(name, self.around.names)
            return thing if thing is not None else self.around.outside(name)
        return self.known(self.kernel.free(name), name)

    def block(self, statements: list[ast.stmt]) -> bool:
        """Read statements; whether they surely end in an exception."""
        return any(self.statement(statement) for statement in statements)

    def statement(self, node: ast.stmt) -> bool:
        """Read a statement; whether it surely raises."""
        self._mark(node)
        self.current = node
        method = getattr(self, f"_do_{type(node).__name__.lower()}", None)
        try:
            if method is None:
                raise Refusal(
                    f"`{type(node).__name__.lower()}` is not understood inside of a kernel"
                    f"{_WAYS.get(type(node), '')}"
                )
            return bool(method(node))
        except Refusal as refusal:
            if self.kernel.is_library and self.chain:  # a statement of the user calls it
                raise
            raise located(str(refusal), node, written(node), self.place) from None

    def _mark(self, node: ast.stmt) -> None:
        """Remember the line, so that the derived source can name it."""
        line = node.lineno + self.place.first_line - 1
        self.b.line = line if not self.chain else self.b.line
        text = "" if isinstance(node, (ast.If, ast.For, ast.While)) else written(node)
        if text and not self.chain:
            self.b.program.lines[line] = text

    # Simple statements

    def _do_pass(self, node: ast.Pass) -> None:
        """Nothing is to be done."""

    def _do_expr(self, node: ast.Expr) -> None:
        call = node.value
        if isinstance(call, ast.Constant):
            return
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Name)
            and call.func.id == "print"
        ):
            return
        self.value(call)

    def _do_assign(self, node: ast.Assign) -> None:
        hints = [t.id for t in node.targets if isinstance(t, ast.Name)]
        self.b.hint = hints[0] if hints and hints[0] != RESULT else ""
        if (several := self.new_lists(node)) is not None:
            self.bind(node.targets[0], several)
            return
        grown = self.new_list(node.targets[0], node.value)
        thing: Thing = self.value(node.value) if grown is None else grown
        is_list = isinstance(node.value, ast.List) and isinstance(node.targets[0], ast.Name)
        if is_list and grown is None:
            thing = self._listed(thing)
        if isinstance(thing, Lazy) and not isinstance(node.targets[0], ast.Subscript):
            thing = self.b.computed(thing, hint=self.b.hint)
        self.b.hint = ""
        for target in node.targets:
            self.bind(target, thing)

    def _listed(self, thing: tuple) -> Thing:
        """A list of numbers that has a name: an array, whose elements can be written."""
        are_numbers = all(isinstance(part, Value) and not part.type.is_array for part in thing)
        return self.b.listed(self.array_of(thing)) if are_numbers else thing

    def _do_annassign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.bind(node.target, self.value(node.value))

    def bind(self, target: ast.expr, thing: Thing) -> None:
        if isinstance(target, ast.Name):
            if isinstance(thing, Lazy):
                thing = self.b.computed(thing, hint=target.id)
            if isinstance(thing, Value) and not thing.hint and thing.op is not None:
                thing.hint = target.id
            self.names[target.id] = self.computed(thing)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target, thing)
        elif isinstance(target, ast.Subscript):
            self._write(target, thing)
        else:
            raise Refusal("only names, elements and slices can be assigned")

    def computed(self, thing: Thing) -> Thing:
        if isinstance(thing, tuple):
            return tuple_like(thing, [self.computed(part) for part in thing])
        if isinstance(thing, Complex):
            return Complex(self.computed(thing.re), self.computed(thing.im))
        return self.b.computed(thing) if isinstance(thing, Lazy) else thing

    def _unpack(self, target: ast.Tuple | ast.List, thing: Thing) -> None:
        if isinstance(thing, Value) and thing.type.ndim == 1:
            count = range(len(target.elts))
            thing = tuple(self.b.load(thing, [self.b.constant(n)]) for n in count)
        if not isinstance(thing, tuple) or len(thing) != len(target.elts):
            raise Refusal("what is unpacked is not a tuple of that length")
        for part, value in zip(target.elts, self.computed(thing), strict=True):
            self.bind(part, value)

    def _write(self, target: ast.Subscript, thing: Thing, accumulate: str = "") -> None:
        array = self.value(target.value)
        if isinstance(array, Grown):
            self.list_store(array, target.slice, thing, accumulate)
            return
        index = self.indices(target.slice)
        if isinstance(array, Complex):
            self.complex_write(array, index, thing, accumulate)
        else:
            self._write_to(array, index, thing, accumulate)

    def _write_to(self, array: Thing, index: list[Any], thing: Thing, accumulate: str) -> None:
        if not isinstance(array, Value) or not array.type.is_array:
            raise Refusal("only elements of arrays can be assigned")
        if array in self.b.program.global_arrays:
            raise Refusal("a global array is a constant, and cannot be written")
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
        if len(index) > 1:
            array, index = self.rows_chosen(array, index)
        chosen = self.b.lazy(index[0])
        if chosen.type.dtype == "bool":
            self._write_masked(array, chosen, thing, accumulate)
            return
        if accumulate:
            raise Refusal("`a[indices] += b` adds once where an index is repeated: write the loop")
        if len(chosen.shape) != 1:
            raise Refusal("an array of indices that elements are written to has one axis")
        given = self.b.lazy(self.b.array(thing)) if is_array(thing) else self.b.number(thing)
        chosen = self.b.lazy(self.b.computed(chosen)) if chosen.source is None else chosen
        shape = [*chosen.shape, *self.b.shape(array)[1:]]
        if isinstance(given, Lazy):
            given = self._written_with(array, given, shape)
        self.b.for_each(
            shape,
            lambda i: self.b.store(
                array, [chosen.at(i[:1]), *i[1:]], self.b.element_of(given, i)
            ),
        )

    def _written_with(self, array: Value, given: Lazy, shape: list[Value]) -> Lazy:
        """What is written by an array of indices: of the right lengths, and not what is written."""
        if len(given.shape) > len(shape):
            raise Refusal("the value has more axes than what it is written to")
        for one, other in zip(shape[len(shape) - len(given.shape) :], given.shape, strict=True):
            if other.constant != 1:
                self.b.check_equal(one, other, "the lengths of a part and its value differ")
        if any(bases(array) & bases(read) for read in given.reads):
            return self.b.lazy(self.b.computed(given))
        return given

    def _write_masked(self, array: Value, mask: Lazy, thing: Thing, accumulate: str) -> None:
        if is_array(thing):
            self._place(array, self.b.array(mask), self.b.array(thing), accumulate)
            return
        number = self.b.number(thing)
        settled = self.b.lazy(self.b.computed(mask))

        def each(index: list[Value]) -> None:
            self.branch(settled.at(index), lambda: self.b.store(array, index, number, accumulate))

        self.b.for_each(settled.shape, each)

    def _place(self, array: Value, mask: Value, values: Value, accumulate: str) -> None:
        """Write one value after the other where a mask is true."""
        if accumulate:
            raise Refusal("`a[mask] += values` of an array is not understood: write the loop")
        if mask.type.ndim != array.type.ndim or mask.type.ndim not in (1, 2):
            raise Refusal("a mask of fewer axes than the array is not understood: write the loop")
        write = rearranging.place_vector if mask.type.ndim == 1 else rearranging.place_matrix
        self.inlined(self.current, write, [array, mask, values], {})

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
        arrays = [t for t in (old, value) if isinstance(t, Value) and t.type.is_array]
        if len(arrays) == 2 and old is not value and self.b.overlaps(old, value):
            raise Refusal("the augmented slice may overlap its operand: write the loop")
        return self.binary(node.op, old, value)

    def _augment_name(self, node: ast.AugAssign, target: ast.Name) -> None:
        old = self._name(ast.Name(target.id, ast.Load()))
        self.b.hint = target.id
        value = self.value(node.value)
        self.b.hint = ""
        if isinstance(old, Grown) and isinstance(node.op, ast.Add):
            self.extend(old, value)
            return
        if isinstance(old, Complex) and isinstance(old.re, Value) and old.re.type.is_array:
            self.complex_write(old, [], self._augmented(node, old, value), "")
            return
        if isinstance(old, Value) and old.type.is_array:
            if old.type.is_list:
                raise Refusal("a list that grows is not understood: make an array")
            sign = {ast.Add: "+", ast.Sub: "-"}.get(type(node.op), "")
            self.b.assign(old, value if sign else self._augmented(node, old, value), sign)
            return
        self.b.hint = target.id
        self.names[target.id] = self.binary(node.op, old, value)
        self.b.hint = ""

    # Statements that raise

    def _do_raise(self, node: ast.Raise) -> bool:
        if self.kernel.is_library and "NotImplementedError" in ast.unparse(node):
            raise Refusal(node.exc.args[0].value)  # type: ignore[union-attr]
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

    # Calls of other functions

    def _do_functiondef(self, node: ast.FunctionDef) -> None:
        names = [self._decorator(part) for part in node.decorator_list]
        if any(name not in ("njit", "jit") for name in names):
            raise Refusal("a function within a function is understood without decorators")
        self.names[node.name] = Static(self.closure(node))

    def _decorator(self, node: ast.expr) -> str:
        thing = self.value(node.func if isinstance(node, ast.Call) else node)
        return getattr(getattr(thing, "value", None), "__name__", "")

    def closure(self, node: ast.FunctionDef | ast.Lambda) -> Closure:
        """Return a function that is defined here."""
        defaults = [self.computed(self.value(default)) for default in node.args.defaults]
        made = Closure(node, dict(self.names), defaults, self.place)
        made.reader = self
        return made

    def inlined(
        self, node: ast.AST, function: Any, args: list[Thing], keywords: dict[str, Thing]
    ) -> Thing:
        """Read the statements of another function in the place of its call."""
        is_read = isinstance(function, (Closure, Kernel))
        kernel = function if is_read else Kernel.of(function)
        self.b.program.calls += 1
        if self.b.program.calls > _MOST_CALLS or len(self.chain) > _DEPTH:
            callers = [called for called, _ in self.chain] + [self.kernel.plain]
            if kernel.plain in callers:
                raise Refusal(
                    "recursion whose depth is not known when the kernel is compiled is not "
                    "understood: write a loop, over a list of what remains to be done "
                    "(`todo = [first]`, `while todo: ... todo.pop()`)"
                )
            raise Refusal(f"more than {_MOST_CALLS} calls would be inlined")
        names = bound(self, kernel, args, keywords)
        site = (kernel.plain, (id(node), self.b.program.site))
        around = kernel.reader if isinstance(kernel, Closure) else None
        inner = Statements(self.b, kernel, names, (*self.chain, site), around)
        inner.place = kernel.place
        named = [array for thing in self.names.values() for array in arrays_of(as_tuple(thing))]
        inner.known_outside = [*self.known_outside, *self.run_over, *named]
        return inner.run()
