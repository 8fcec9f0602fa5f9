"""Long sources in parts: loops become functions, and equal loops become the same function.

Numba takes a time that grows with the square of the length of a function, and a product of matrices
is the same loop everywhere.
"""

import ast
import copy
from collections.abc import Iterable, Iterator, Sequence

_LEAST, _MOST = 3, 60  # statements of a part


def in_parts(function: ast.stmt, long: float, tapes: set[str]) -> list[ast.stmt]:
    """Move the loops of a long function into functions of their own; return all functions.

    A part that reads a tape stands for no loop that reads another array, or another tape.
    """
    assert isinstance(function, ast.FunctionDef)
    leaves = [node for node in ast.walk(function) if isinstance(node, ast.Return)]
    if _size(function.body) < long or any(node.value is None for node in leaves):
        return [function]
    parts = _Parts(function, tapes)
    function.body = _OneExit(parts.needed, parts.integers).of(parts.block(function.body))
    return [function, *parts.functions]


class _Parts:
    """Moves the loops of one function into functions."""

    def __init__(self, function: ast.FunctionDef, tapes: set[str]) -> None:
        self.name, self.tapes = function.name, tapes
        self.parameters = [argument.arg for argument in function.args.args]
        self.local = {*self.parameters, *stored_in(function.body)}
        self.functions: list[ast.FunctionDef] = []
        self.needed, self.integers = self._fresh("needed"), self._fresh("integers")
        self._known: dict[str, str] = {}
        self._live = Live(function, self.local)
        self._defined = Defined(function, self.parameters)

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """Return statements with calls in place of loops."""
        found: list[ast.stmt] = []
        for statement in statements:
            called = self._called(statement)
            if called is None:
                for field in ("body", "orelse"):
                    if isinstance(statement, (ast.For, ast.While, ast.If)):
                        setattr(statement, field, self.block(getattr(statement, field)))
                called = [statement]
            found += called
        return found

    def _called(self, loop: ast.stmt) -> list[ast.stmt] | None:
        """Return the call that takes the place of a loop; None for a loop that stays."""
        if not isinstance(loop, (ast.For, ast.While)) or not _LEAST <= _size([loop]) <= _MOST:
            return None
        stored = stored_in([loop])
        outputs = [name for name in names_in(loop) if name in stored & self._live.after[loop]]
        read = self._live.before[loop] & (loaded_in(loop) | set(outputs))
        inputs = [name for name in names_in(loop) if name in read]
        leaves = [node for node in ast.walk(loop) if isinstance(node, ast.Return)]
        is_defined = set(inputs) <= self._defined.before[loop]
        if not is_defined or (leaves and not set(outputs) <= set(inputs)):
            return None
        name = self._function(loop, inputs, outputs, bool(leaves))
        call = ast.Call(_load(name), [_load(n) for n in inputs], [])
        if not leaves:
            return [_assigned(outputs, call)]
        result = copy.deepcopy(leaves[0].value)
        assert isinstance(result, ast.Tuple)
        result.elts[:2] = [_load(self.needed), _load(self.integers)]
        return [
            _assigned([self.needed, self.integers, *outputs], call),
            ast.If(_is_positive(self.needed), [ast.Return(result)], []),
        ]

    def _fresh(self, name: str) -> str:
        while name in self.local:
            name += "_"
        return name

    def _function(
        self, loop: ast.stmt, inputs: list[str], outputs: list[str], leaves: bool
    ) -> str:
        """Return the name of the function that does the work of a loop."""
        body = [copy.deepcopy(loop)]
        ends = [_load(name) for name in outputs]
        if leaves:
            body = [_Leaving(outputs).visit(body[0])]
            ends = [ast.Constant(0), ast.Constant(0), *ends]
        if ends:
            body.append(ast.Return(ends[0] if len(ends) == 1 else ast.Tuple(ends, ast.Load())))
        key = self._key(body, inputs)
        if key not in self._known:
            self._known[key] = f"{self.name}_{len(self._known) + 1}"
            arguments = ast.arguments([], [ast.arg(n) for n in inputs], None, [], [], None, [])
            made = ast.FunctionDef(self._known[key], arguments, body, [])
            self.functions.append(ast.fix_missing_locations(made))
        return self._known[key]

    def _key(self, body: list[ast.stmt], inputs: list[str]) -> str:
        """Return the text of a function with its local names numbered, equal for equal loops."""
        order: dict[str, str] = {}
        for name in (*inputs, *(n for statement in body for n in names_in(statement))):
            if name in self.local - self.tapes:
                order.setdefault(name, f"_{len(order)}")
        bare = [_Renamed(order).visit(copy.deepcopy(statement)) for statement in body]
        return f"{len(inputs)} {ast.unparse(ast.fix_missing_locations(ast.Module(bare, [])))}"


class _Renamed(ast.NodeTransformer):
    """Renames names, and leaves comments out."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(self.names.get(node.id, node.id), node.ctx)

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        self.generic_visit(node)
        return ast.Pass() if isinstance(node.value, ast.Constant) else node


class _Leaving(ast.NodeTransformer):
    """Lets a return statement return the lengths of the tapes, and the results of the part."""

    def __init__(self, outputs: list[str]) -> None:
        self.outputs = outputs

    def visit_Return(self, node: ast.Return) -> ast.AST:
        assert isinstance(node.value, ast.Tuple)
        elements = [*node.value.elts[:2], *(_load(name) for name in self.outputs)]
        return ast.Return(ast.Tuple(elements, ast.Load()))


class _OneExit:
    """Replaces returns within loops by jumps to a single return at the end: at each return Numba
    writes code for all arrays of the function.

    Parameters
    ----------
    needed, integers : str
        The names of the lengths of the tapes that are needed.
    """

    def __init__(self, needed: str, integers: str) -> None:
        self.needed, self.integers = needed, integers
        self._result: ast.Tuple | None = None

    def of(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Return the statements of a function."""
        found = self._block(body, False)
        if self._result is None:
            return found
        zeros: list[ast.expr] = [ast.Constant(0), ast.Constant(0)]
        return [_assigned([self.needed, self.integers], ast.Tuple(zeros, ast.Load())), *found]

    def _block(self, statements: list[ast.stmt], is_within: bool) -> list[ast.stmt]:
        """Return statements that leave the loop around (``is_within``) where they returned."""
        found: list[ast.stmt] = []
        for statement in statements:
            if isinstance(statement, ast.Return) and is_within:
                found += self._left(statement)
                continue
            found.append(statement)
            if isinstance(statement, ast.If):
                statement.body = self._block(statement.body, is_within)
                statement.orelse = self._block(statement.orelse, is_within)
            elif isinstance(statement, (ast.For, ast.While)):
                has_exit = any(isinstance(node, ast.Return) for node in ast.walk(statement))
                statement.body = self._block(statement.body, True)
                if has_exit:
                    found.append(ast.If(_is_positive(self.needed), [self._exit(is_within)], []))
        return found

    def _left(self, statement: ast.Return) -> list[ast.stmt]:
        """Return the statements that take the place of a return within a loop."""
        self._result = statement.value  # type: ignore[assignment]
        assert isinstance(self._result, ast.Tuple)
        lengths = self._result.elts[:2]
        if isinstance(lengths[0], ast.Name) and lengths[0].id == self.needed:
            return [ast.Break()]
        names = [self.needed, self.integers]
        return [_assigned(names, ast.Tuple(lengths, ast.Load())), ast.Break()]

    def _exit(self, is_within: bool) -> ast.stmt:
        if is_within:
            return ast.Break()
        assert self._result is not None
        lengths: list[ast.expr] = [_load(self.needed), _load(self.integers)]
        return ast.Return(ast.Tuple([*lengths, *self._result.elts[2:]], ast.Load()))


class Live:
    """The names that may be read, before they are assigned again, at the start and at the end of
    loops."""

    def __init__(self, function: ast.FunctionDef, local: set[str]) -> None:
        self.local = local
        self._reads: dict[ast.AST, set[str]] = {}  # what a loop is read for several times
        self._writes: dict[ast.AST, set[str]] = {}
        self.before: dict[ast.stmt, set[str]] = {}
        self.after: dict[ast.stmt, set[str]] = {}
        self._block(function.body, set(), set())

    def _block(self, statements: Sequence[ast.stmt], live: set[str], left: set[str]) -> set[str]:
        """Return the names that are live before statements.

        Parameters
        ----------
        live, left : set of str
            The names that are live after the statements, and after the loop around.
        """
        for statement in reversed(statements):
            self.after[statement] = live
            live = self._statement(statement, live, left)
            self.before[statement] = live
        return live

    def _statement(self, node: ast.stmt, live: set[str], left: set[str]) -> set[str]:
        if isinstance(node, (ast.For, ast.While)):
            return self._loop(node, live)
        if isinstance(node, ast.If):
            either = self._block(node.body, live, left) | self._block(node.orelse, live, left)
            return either | self._read(node.test)
        if isinstance(node, ast.Break):
            return left
        if isinstance(node, (ast.Return, ast.Raise)):
            return self._read(node)
        if node not in self._writes:
            self._writes[node] = _stored_by(node)
        return (live - self._writes[node]) | self._read(node)

    def _loop(self, node: ast.For | ast.While, live: set[str]) -> set[str]:
        is_for = isinstance(node, ast.For)
        own = _stored_by(node.target) if isinstance(node, ast.For) else set()
        test = set() if isinstance(node, ast.For) else self._read(node.test)
        head = live | test
        while True:
            more = head | (self._block(node.body, head, live) - own)
            if more == head:
                return head | (self._read(node.iter) if is_for else set())  # type: ignore[attr-defined]
            head = more

    def _read(self, node: ast.AST) -> set[str]:
        if node not in self._reads:
            self._reads[node] = loaded_in(node) & self.local
        return self._reads[node]


class Defined:
    """The names that have values for certain at the start of statements."""

    def __init__(self, function: ast.FunctionDef, parameters: Iterable[str]) -> None:
        self.before: dict[ast.stmt, set[str]] = {}
        self._block(function.body, set(parameters))

    def _block(self, statements: Sequence[ast.stmt], defined: set[str]) -> set[str]:
        for node in statements:
            self.before[node] = defined
            if isinstance(node, ast.If):
                first, second = self._block(node.body, defined), self._block(node.orelse, defined)
                defined = first & second
            elif isinstance(node, (ast.For, ast.While)):
                own = _stored_by(node.target) if isinstance(node, ast.For) else set()
                self._block(node.body, defined | own)
            else:
                defined = defined | stored_in([node])
        return defined


def names_in(node: ast.AST) -> list[str]:
    """The names in a statement, in order."""
    return list(dict.fromkeys(n.id for n in _in_order(node) if isinstance(n, ast.Name)))


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _in_order(child)


def loaded_in(node: ast.AST) -> set[str]:
    """The names that are read."""
    found = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            found.add(part.id)
        elif isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name):
            found.add(part.target.id)
    return found


def stored_in(statements: Sequence[ast.AST]) -> set[str]:
    return {name for statement in statements for name in _stored_by(statement)}


def _stored_by(node: ast.AST) -> set[str]:
    parts = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
    return {part.id for part in parts if isinstance(part.ctx, ast.Store)}


def _size(statements: Sequence[ast.AST]) -> int:
    """Return the number of statements, including statements within others."""
    parts = [part for statement in statements for part in ast.walk(statement)]
    return sum(isinstance(part, ast.stmt) and not isinstance(part, ast.Expr) for part in parts)


def _load(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def _is_positive(name: str) -> ast.expr:
    return ast.Compare(_load(name), [ast.Gt()], [ast.Constant(0)])


def _assigned(names: list[str], call: ast.expr) -> ast.stmt:
    """Return the assignment of a call's results to names."""
    if not names:
        return ast.Expr(call)
    targets: list[ast.expr] = [ast.Name(name, ast.Store()) for name in names]
    return ast.Assign([targets[0] if len(targets) == 1 else ast.Tuple(targets, ast.Store())], call)
