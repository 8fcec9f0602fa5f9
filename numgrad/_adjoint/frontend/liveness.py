"""Names that are still read: after an ``if``, and by another iteration of a loop or after the loop.

An array whose name is not read any more need be neither copied nor kept.
"""

import ast
from typing import NamedTuple

from .jumps import RESULT

_FUNCTIONS = (ast.FunctionDef, ast.Lambda)


class _Names(NamedTuple):
    """The names that statements read before they bind them, and those that they surely bind."""

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
