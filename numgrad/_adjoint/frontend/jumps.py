"""``break``, ``continue`` and ``return`` become flags, so that control flow is nested regions.

Statements after a sure jump move into the other branch; statements after a possible jump are
guarded by the flags that the jump may set. A loop that is left early names the flag that ends
it in ``ends``. An ``if`` and a loop name in ``read_later`` what is still read after them: an array
whose name is not read any more need be neither copied nor kept.
"""

import ast
import copy
from dataclasses import dataclass
from typing import NamedTuple

# Names that no source can have: what is returned, and whether the function has returned.
RESULT = "result "
LEFT = "returned "

_FUNCTIONS = (ast.FunctionDef, ast.Lambda)


@dataclass
class _Loop:
    """The flags of a loop whose body is rewritten."""

    number: int

    @property
    def broken(self) -> str:
        return f"broken {self.number}"

    @property
    def skipped(self) -> str:
        return f"skipped {self.number}"


def written(statement: ast.stmt) -> str:
    """Return the user's text of a statement in which jumps were replaced; empty for a statement
    that sets a flag."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(target, ast.Name) or " " not in target.id:
        return ast.unparse(statement).splitlines()[0]
    assert isinstance(statement, ast.Assign)
    return f"return {ast.unparse(statement.value)}" if target.id == RESULT else ""


class WithoutJumps:
    """The statements of a function without jumps.

    Parameters
    ----------
    tree : ast.FunctionDef

    Attributes
    ----------
    body : list of ast.stmt
        The statements; the result is assigned to ``RESULT``.
    """

    def __init__(self, tree: ast.FunctionDef) -> None:
        self._loops = 0
        body = self._block(tree.body, None)
        needs_flag = any(_jumps(s) & {"return"} for s in tree.body[:-1]) or _jumps_below(tree.body)
        self.body = [*([_assign(LEFT, False, tree)] if needs_flag else []), *body]

    def _block(self, statements: list[ast.stmt], loop: _Loop | None) -> list[ast.stmt]:
        done: list[ast.stmt] = []
        for position, statement in enumerate(statements):
            rest = statements[position + 1 :]
            jumps = _jumps(statement)
            if not jumps:
                done.extend(self._plain(statement, loop))
                continue
            if _is_jump(statement):
                return done + self._jump(statement, loop)
            if isinstance(statement, ast.If) and (
                _surely(statement.body) or _surely(statement.orelse)
            ):
                return done + [self._branch(statement, rest, loop)]
            done.extend(self._compound(statement, loop))
            return done + self._guarded(statement, rest, jumps, loop)
        return done

    def _plain(self, statement: ast.stmt, loop: _Loop | None) -> list[ast.stmt]:
        """Return a statement that control leaves at its end only; loops inside may have jumps of
        their own."""
        if isinstance(statement, ast.If):
            return [self._branch(statement, [], loop)]
        if isinstance(statement, (ast.For, ast.While)):
            return self._loop(statement, loop)
        return [statement]

    def _compound(self, statement: ast.stmt, loop: _Loop | None) -> list[ast.stmt]:
        if isinstance(statement, ast.If):
            return [self._branch(statement, [], loop)]
        assert isinstance(statement, (ast.For, ast.While))
        return self._loop(statement, loop)

    def _branch(self, node: ast.If, rest: list[ast.stmt], loop: _Loop | None) -> ast.stmt:
        """Return an ``if`` with the rest of the block moved into the branch that does not jump."""
        to_body = rest if _surely(node.orelse) else []
        to_else = rest if _surely(node.body) else []
        body = self._block(node.body + ([] if _surely(node.body) else to_body), loop)
        orelse = self._block(node.orelse + ([] if _surely(node.orelse) else to_else), loop)
        new = ast.If(node.test, body or [ast.Pass()], orelse)
        return ast.fix_missing_locations(ast.copy_location(new, node))

    def _guarded(
        self, statement: ast.stmt, rest: list[ast.stmt], jumps: set[str], loop: _Loop | None
    ) -> list[ast.stmt]:
        """Return the statements that follow a statement with jumps, guarded by the flags of these.
        """
        is_left = isinstance(statement, (ast.For, ast.While)) and "return" in jumps
        body = self._block(rest, loop)
        if not is_left or loop is None:
            return self._unless(self._flags(jumps, loop), body)
        body = self._unless(self._flags(jumps - {"return"}, loop), body)
        new = ast.If(_name(LEFT), [_assign(loop.broken, True, statement)], body)
        return [ast.fix_missing_locations(ast.copy_location(new, statement))]

    def _unless(self, flags: list[str], body: list[ast.stmt]) -> list[ast.stmt]:
        """Return statements that run if none of some flags is set."""
        if not body or not flags:
            return body
        test: ast.expr = _name(flags[0])
        for flag in flags[1:]:
            test = ast.BoolOp(ast.Or(), [test, _name(flag)])
        new = ast.If(ast.UnaryOp(ast.Not(), test), body, [])
        return [ast.fix_missing_locations(ast.copy_location(new, body[0]))]

    def _flags(self, jumps: set[str], loop: _Loop | None) -> list[str]:
        if loop is None:
            return [LEFT]
        found = [loop.broken] if jumps & {"break", "return"} else []
        return found + ([loop.skipped] if "continue" in jumps else [])

    def _jump(self, node: ast.stmt, loop: _Loop | None) -> list[ast.stmt]:
        if isinstance(node, ast.Continue):
            assert loop
            return [_assign(loop.skipped, True, node)]
        if isinstance(node, ast.Break):
            assert loop
            return [_assign(loop.broken, True, node)]
        if isinstance(node, ast.Raise):
            return [node]
        assert isinstance(node, ast.Return)
        value = node.value or ast.Constant(None)
        result = ast.Assign([ast.Name(RESULT, ast.Store())], value)
        done = [
            ast.fix_missing_locations(ast.copy_location(result, node)),
            _assign(LEFT, True, node),
        ]
        return done + ([_assign(loop.broken, True, node)] if loop else [])

    def _loop(self, node: ast.For | ast.While, outer: _Loop | None) -> list[ast.stmt]:
        self._loops += 1
        flags = _Loop(self._loops)
        inner = set().union(*(_jumps(s) for s in node.body), set())
        body = self._block(node.body, flags)
        starts = [_assign(flags.skipped, False, node)] if "continue" in inner else []
        leaves = bool(inner & {"break", "return"})
        if leaves:
            starts.append(_assign(flags.broken, False, node))
        new = copy.copy(node)
        new.body, new.orelse = starts + body, []
        new.ends = flags.broken if leaves else None  # type: ignore[attr-defined]
        done: list[ast.stmt] = [ast.fix_missing_locations(ast.copy_location(new, node))]
        if not node.orelse:
            return done
        if not leaves:
            return done + self._block(node.orelse, outer)
        unless = ast.If(
            ast.UnaryOp(ast.Not(), _name(flags.broken)), self._block(node.orelse, outer), []
        )
        return [
            _assign(flags.broken, False, node),
            *done,
            ast.fix_missing_locations(ast.copy_location(unless, node)),
        ]


def _name(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def _assign(name: str, value: bool, near: ast.AST) -> ast.stmt:
    new = ast.Assign([ast.Name(name, ast.Store())], ast.Constant(value))
    return ast.fix_missing_locations(ast.copy_location(new, near))


def _is_jump(statement: ast.stmt) -> bool:
    return isinstance(statement, (ast.Break, ast.Continue, ast.Return, ast.Raise))


def _jumps(statement: ast.stmt) -> set[str]:
    """The jumps by which control may leave a statement: break, continue, return."""
    if _is_jump(statement):
        return {type(statement).__name__.lower()}
    if isinstance(statement, ast.If):
        return set().union(*(_jumps(s) for s in statement.body + statement.orelse)) - {"raise"}
    if isinstance(statement, (ast.For, ast.While)):
        inside = set().union(*(_jumps(s) for s in statement.body), set())
        outside = set().union(*(_jumps(s) for s in statement.orelse), set())
        return inside & {"return"} | outside - {"raise"}
    return set()


def _surely(statements: list[ast.stmt]) -> bool:
    """Whether control surely leaves a block by a jump."""
    for statement in statements:
        if _is_jump(statement):
            return True
        if isinstance(statement, ast.If) and _surely(statement.body) and _surely(statement.orelse):
            return True
    return False


def _jumps_below(body: list[ast.stmt]) -> bool:
    return any("return" in _jumps(s) for s in body if not isinstance(s, ast.Return))


# Names that are still read


class _Names(NamedTuple):
    """The names whose earlier value some statements read, and the names that are surely bound by
    the statements."""

    read: frozenset[str]
    bound: frozenset[str]


def mark_names_read(statements: list[ast.stmt]) -> None:
    """Note in each ``if`` and each loop among statements without jumps, as ``read_later``, the
    names that are read after the ``if``, or after an iteration of the loop."""
    nodes = [node for statement in statements for node in ast.walk(statement)]
    functions = [node for node in nodes if isinstance(node, _FUNCTIONS)]
    called_later = frozenset().union(*map(_loaded, functions))
    _Marking().block(statements, called_later | {RESULT})


class _Marking:
    """Goes through statements from the last to the first."""

    def __init__(self) -> None:
        self._known: dict[ast.stmt, _Names] = {}

    def block(self, statements: list[ast.stmt], live: frozenset[str]) -> None:
        """Mark the statements of a block after which some names are read."""
        for statement in reversed(statements):
            read, bound = self._names(statement)
            before = read | (live - bound)
            if isinstance(statement, ast.If):
                vars(statement)["read_later"] = live
                self.block(statement.body, live)
                self.block(statement.orelse, live)
            elif isinstance(statement, (ast.For, ast.While)):
                vars(statement)["read_later"] = before
                self.block(statement.body, before)
            live = before

    def _names(self, statement: ast.stmt) -> _Names:
        if statement not in self._known:
            self._known[statement] = self._found(statement)
        return self._known[statement]

    def _found(self, node: ast.stmt) -> _Names:
        if isinstance(node, ast.If):
            yes, no = self._of_block(node.body), self._of_block(node.orelse)
            return _Names(_loaded(node.test) | yes.read | no.read, yes.bound & no.bound)
        if isinstance(node, (ast.For, ast.While)):
            inside = self._of_block(node.body).read
            is_for = isinstance(node, ast.For)
            own = _stored(node.target) if is_for else frozenset()
            return _Names(_loaded(node.iter if is_for else node.test) | (inside - own), frozenset())
        targets = node.targets if isinstance(node, ast.Assign) else []
        return _Names(_loaded(node), frozenset().union(*map(_stored, targets)))

    def _of_block(self, statements: list[ast.stmt]) -> _Names:
        read: frozenset[str] = frozenset()
        bound: frozenset[str] = frozenset()
        for statement in reversed(statements):
            own = self._names(statement)
            read, bound = own.read | (read - own.bound), bound | own.bound
        return _Names(read, bound)


def _loaded(node: ast.AST) -> frozenset[str]:
    """Return the names that a statement or an expression reads."""
    nodes = list(ast.walk(node))
    targets = [n.target for n in nodes if isinstance(n, ast.AugAssign)]
    names = [n for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
    return frozenset(n.id for n in [*names, *targets] if isinstance(n, ast.Name))


def _stored(node: ast.AST) -> frozenset[str]:
    names = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
    return frozenset(n.id for n in names if isinstance(n.ctx, ast.Store))
