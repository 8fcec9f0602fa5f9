"""Lists that grow in kernels: assignments that make such lists, and calls of their methods."""

import ast
import copy
import functools
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import numpy as np

from ..builder.building import Builder
from ..builder.lists import Grown
from ..builder.loops import of_lists
from ..builder.things import Static, Thing, is_array
from ..ssa.ir import Value
from ..ssa.ranges import is_natural
from ..ssa.refusal import Refusal
from .closures import Closure
from .library import standing_for
from .source import Kernel

CHANGES = frozenset({"append", "pop", "extend", "clear", "insert", "remove", "sort", "reverse"})
_ADD = frozenset({"append", "insert"})
_BY_LOOPS = frozenset({"insert", "pop", "remove", "reverse", "sort"})
_MOST_DEPTH = 5  # of calls that hand a list on


class GrowingLists:
    """Reads what has to do with lists that grow."""

    b: Builder
    kernel: Any
    names: dict[str, Thing]
    block: Callable[[list[ast.stmt]], bool]
    value: Callable[..., Thing]
    computed: Callable[[Thing], Thing]
    indices: Callable[[ast.expr], list[Any]]
    lists: Any
    inlined: Callable[..., Thing]
    current: ast.AST  # the statement that is read

    def new_lists(self, node: ast.Assign) -> tuple | None:
        """Return what several names are bound to, if a list that grows is among it."""
        target, value = node.targets[0], node.value
        if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Tuple):
            return None
        pairs = list(zip(target.elts, value.elts, strict=False))
        if len(target.elts) != len(value.elts) or not any(self._makes_list(v) for _, v in pairs):
            return None
        found = [(self.new_list(name, made), made) for name, made in pairs]
        return tuple(self.computed(self.value(v)) if grown is None else grown for grown, v in found)

    def new_list(self, target: ast.expr, made: ast.expr) -> Grown | None:
        """Return the growing list that an assignment makes; None where it makes no such list."""
        if not isinstance(target, ast.Name) or not self._makes_list(made):
            return None
        appended = self._changed(target.id, self.kernel)
        is_empty = not isinstance(made, (ast.List, ast.BinOp, ast.ListComp)) or (
            isinstance(made, ast.List) and not made.elts
        )
        if appended is None and not is_empty:
            return None
        first = [] if is_empty else self._first(made)
        examples = [*first, *(appended or [])]
        sizes = [len(e.elts) for e in examples if isinstance(e, ast.Tuple)]
        grown = self.lists.new(sizes[0] if sizes else 0, target.id)
        if isinstance(made, ast.List):
            for element in made.elts:
                self.lists.append(grown, self.computed(self.value(element)))
        elif not is_empty:
            self.extend(grown, self.value(made))
        return grown

    def _makes_list(self, made: ast.expr) -> bool:
        if isinstance(made, (ast.List, ast.ListComp)):
            return True
        if isinstance(made, ast.BinOp):
            return isinstance(made.left, ast.List) and isinstance(made.op, ast.Mult)
        if not isinstance(made, ast.Call) or any(isinstance(a, ast.Starred) for a in made.args):
            return False
        return self._is_new(made)

    def _is_new(self, made: ast.Call) -> bool:
        """Whether a call makes an empty list, of Numba or of Python."""
        from numba.typed import List  # most kernels have none

        node, is_typed = made.func, False
        if isinstance(node, ast.Attribute) and node.attr == "empty_list":
            node, is_typed = node.value, True
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name) or root.id in getattr(self, "names", {}):
            return False
        if made.args and not is_typed:
            return False
        try:
            kind = getattr(self.value(node), "value", None)
        except Refusal:
            return False
        return kind is List or (kind is list and not is_typed)

    def _first(self, made: ast.expr) -> list[ast.expr]:
        if isinstance(made, ast.ListComp):
            return [made.elt]
        return made.elts if isinstance(made, ast.List) else []

    def _changed(self, name: str, kernel: Any, depth: int = 0) -> list[ast.expr] | None:
        """What is appended to a list of a name, or of one that stands for the same, also by the
        functions that are called with the list; None where its length stays."""
        nodes = [n for statement in kernel.statements for n in ast.walk(statement)]
        names = _same_names(name, nodes)
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        own = [call for call in calls if _changes(call, names)]
        appended = [c.args[-1] for c in own if getattr(c.func, "attr", "") in _ADD and c.args]
        longer = [node for node in nodes if isinstance(node, ast.AugAssign)]
        added = [node.value for node in longer if _is_added_to(node, names)]
        appended += [e for value in added if isinstance(value, ast.List) for e in value.elts]
        others = [found for call in calls for found in self._changed_by(call, names, kernel, depth)]
        if not own and not others and not added:
            return None
        return appended + [element for found in others for element in found]

    def _changed_by(
        self, call: ast.Call, names: set[str], kernel: Any, depth: int
    ) -> Iterator[list[ast.expr]]:
        """What a function appends to each of its parameters that stands for a list of one of the
        names: of a parameter that is appended, what the call hands over."""
        places = [n for n, a in enumerate(call.args) if isinstance(a, ast.Name) and a.id in names]
        if not places or depth > _MOST_DEPTH:
            return
        called = self._called_with_list(call.func, kernel, depth)
        parameters = called.parameters if called is not None else []
        given = dict(zip(parameters, call.args, strict=False))
        for place in places:
            if place < len(parameters):
                found = self._changed(parameters[place], called, depth + 1)
                if found is not None:
                    yield [given.get(getattr(element, "id", ""), element) for element in found]

    def _called_with_list(self, node: ast.expr, kernel: Any, depth: int) -> Any:
        """Return the function that is called, if its source is read; None for others."""
        root, path = node, []
        while isinstance(root, ast.Attribute):
            root, path = root.value, [root.attr, *path]
        if not isinstance(root, ast.Name):
            return None
        try:
            thing = self.value(root) if depth == 0 else Static(kernel.free(root.id))
            function = functools.reduce(getattr, path, getattr(thing, "value", None))
        except (Refusal, KeyError, AttributeError):
            return None
        function = standing_for(function)
        if isinstance(function, Closure):
            return function
        is_read = isinstance(function, FunctionType) or hasattr(function, "py_func")
        return Kernel.of(function) if is_read else None

    def collected(self, node: ast.ListComp) -> Grown:
        """Return the list of a comprehension with conditions or several loops."""
        name = f"collected {node.lineno} {node.col_offset}"  # that no source can have
        if not hasattr(node, "as_loops"):
            vars(node)["as_loops"] = _as_loops(node, name)
        size = len(node.elt.elts) if isinstance(node.elt, ast.Tuple) else 0
        self.names[name] = grown = self.lists.new(size, self.b.hint)
        self.block([vars(node)["as_loops"]])
        del self.names[name]
        return grown

    # What is done with them

    def as_arrays(self, function: Any, args: list[Thing]) -> list[Thing]:
        """Return the arguments of a function of NumPy or of Python, with lists as arrays."""
        if not any(isinstance(arg, Grown) for arg in args):
            return args
        if function not in (np.array, np.asarray, sum, max, min, len):
            raise Refusal("a list that grows as an argument: write np.array(list)")
        are_taken = function is not len
        return [self.lists.filled(a) if are_taken and isinstance(a, Grown) else a for a in args]

    def list_method(
        self, grown: Grown, name: str, args: list[Thing], words: dict[str, Thing]
    ) -> Thing:
        """Call a method of a list."""
        found: Thing = Static(None)
        if name in _BY_LOOPS and (args or name != "pop"):
            found = self.inlined(self.current, getattr(of_lists, name), [grown, *args], words)
        elif words:
            raise Refusal(f"the method `{name}` of lists takes no keywords")
        elif name == "append":
            self.lists.append(grown, *map(self.computed, args))
        elif name == "extend":
            self.extend(grown, *args)
        elif name == "pop":
            found = self.lists.pop(grown)
        elif name == "clear":
            self.lists.clear(grown)
        elif name == "copy":
            found = self._copied(grown)
        else:
            raise Refusal(
                f"the method `{name}` of lists is not understood (append, extend, insert, pop, "
                f"remove, clear, sort and reverse are): use an array, and count what it holds"
            )
        return found

    def extend(self, grown: Grown, thing: Thing) -> None:
        """Append the elements of a list, a tuple or an array."""
        if isinstance(thing, tuple):
            for part in thing:
                self.lists.append(grown, part)
            return
        count, at = self._elements(thing)
        self.b.for_each([count], lambda i: self.lists.append(grown, at(i[0])))

    def _elements(self, thing: Thing) -> tuple[Value, Callable[[Value], Thing]]:
        if isinstance(thing, Grown):
            return self.lists.count(thing), lambda i: self.lists.element(thing, i)
        if not is_array(thing):
            raise Refusal("a list is extended by a list, a tuple or an array")
        lazy = self.b.lazy(self.computed(thing))
        return lazy.shape[0], lambda i: lazy.at([i])

    def _copied(self, grown: Grown) -> Grown:
        size = len(grown.arrays) if isinstance(grown.arrays, tuple) else 0
        made = self.lists.new(size, self.b.hint)
        self.extend(made, grown)
        return made

    def list_element(self, grown: Grown, node: ast.expr) -> Thing:
        """Return an element of a list."""
        return self.lists.element(grown, self._position(grown, node))

    def list_store(self, grown: Grown, node: ast.expr, thing: Thing, accumulate: str) -> None:
        """Write an element of a list."""
        if isinstance(grown.arrays, Value) and grown.arrays.type.is_list:
            raise Refusal("an element of a list of arrays cannot be replaced: use an array of them")
        if isinstance(thing, tuple) and accumulate:
            raise Refusal("a tuple is added to an element of a list: write both tuples")
        place = [self._position(grown, node)]
        for array, number in self.lists.pairs(grown, thing):
            self.b.store(array, place, number, accumulate)

    def _position(self, grown: Grown, node: ast.expr) -> Value:
        index = self.indices(node)
        if len(index) != 1 or not isinstance(index[0], Value):
            raise Refusal("a part of a list that grows: write np.array(list) and take it of that")
        place = self.b.number(index[0])
        if is_natural(place):
            return place
        back = self.b.scalar("add", place, self.lists.count(grown))
        if isinstance(place.constant, int):
            return back
        is_negative = self.b.scalar("lt", place, self.b.constant(0))
        return self.b.scalar("select", is_negative, back, place)


def _as_loops(node: ast.ListComp, name: str) -> ast.stmt:
    """Return the loops of a comprehension, which append to a list of a name; the names that they
    bind are their own."""
    names = [n for part in node.generators for n in ast.walk(part.target)]
    own = {n.id: f"{n.id} of {node.lineno}" for n in names if isinstance(n, ast.Name)}
    append = ast.Attribute(ast.Name(name, ast.Load()), "append", ast.Load())
    body: ast.stmt = ast.Expr(ast.Call(append, [_Renamed(own).visit(copy.deepcopy(node.elt))], []))
    for part in copy.deepcopy(node.generators)[::-1]:
        part = _Renamed(own).visit(part)
        for test in part.ifs[::-1]:
            body = ast.If(test, [body], [])
        body = ast.For(part.target, part.iter, [body], [])
    for statement in ast.walk(body):
        if isinstance(statement, (ast.stmt, ast.expr)):
            ast.copy_location(statement, node)
    return ast.fix_missing_locations(body)


class _Renamed(ast.NodeTransformer):
    """Gives names other ones.

    Parameters
    ----------
    names : dict
    """

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.names.get(node.id, node.id), node.ctx)


def _changes(call: ast.Call, names: set[str]) -> bool:
    """Whether a call makes a list of one of several names longer or shorter."""
    function = call.func
    if not isinstance(function, ast.Attribute) or function.attr not in CHANGES:
        return False
    return isinstance(function.value, ast.Name) and function.value.id in names


def _is_added_to(node: ast.AugAssign, names: set[str]) -> bool:
    """Whether a statement is ``name += ...`` of one of several names."""
    is_sum = isinstance(node.op, ast.Add)
    return is_sum and isinstance(node.target, ast.Name) and node.target.id in names


def _same_names(name: str, nodes: list[ast.AST]) -> set[str]:
    """Return the names that are bound to the same list as ``name``, also by way of others."""
    pairs = [pair for node in nodes if isinstance(node, ast.Assign) for pair in _bound(node)]
    found, size = {name}, 0
    while size < len(found):
        size = len(found)
        for pair in pairs:
            if found & pair:
                found |= pair
    return found


def _bound(node: ast.Assign) -> list[set[str]]:
    """The pairs of names of an assignment."""
    target, value = node.targets[0], node.value
    sides = [part.elts if isinstance(part, ast.Tuple) else [part] for part in (target, value)]
    pairs = zip(*sides, strict=False)
    return [
        {one.id, other.id}
        for one, other in pairs
        if isinstance(one, ast.Name) and isinstance(other, ast.Name)
    ]
