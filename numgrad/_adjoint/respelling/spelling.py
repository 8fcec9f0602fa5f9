"""A derived source is rewritten in the words of `words`, which Numba compiles faster."""

import ast
import re
from collections.abc import Iterable
from typing import TypeGuard

from .apart import APART


def respelled(
    source: str, tapes: Iterable[str], arrays: Iterable[str], apart: bool = True
) -> tuple[str, dict[str, str]]:
    """Return a derived source in other words, which do the same with the same bits; and the words
    by the names that they have there.

    Parameters
    ----------
    source : str
        One or several functions.
    tapes : iterable of str
        The names of the tapes. What is read and written of a tape lies within it, at places that
        are not negative.
    arrays : iterable of str
        Names of shadows of arrays: where one of them is added to another, both have one shape.
    apart : bool, optional
        Whether functions of NumPy are compiled apart, without the options of the source.
    """
    arrays = set(arrays)
    tree, words = ast.parse(source), _Words(source, apart)
    for function in tree.body:
        assert isinstance(function, ast.FunctionDef)
        _Respelling(_rows(function, set(tapes)), arrays, words).visit(function)
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n", words.used


class _Words:
    """Gives each word a name that a source does not have.

    Parameters
    ----------
    source : str
    apart : bool
        As `respelled` takes it.

    Attributes
    ----------
    used : dict
        The words by their names.
    """

    def __init__(self, source: str, apart: bool) -> None:
        self.apart = APART if apart else {}
        self._taken = set(re.findall(r"\w+", source))
        self.used: dict[str, str] = {}

    def call(self, word: str, *arguments: ast.expr) -> ast.Call:
        """Return the call of a word."""
        name = word.replace("np.", "").replace("linalg.", "").replace(" ", "_")
        while name in self._taken:
            name += "_"
        self.used[name] = word
        return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


def _rows(function: ast.FunctionDef, tapes: set[str]) -> set[str]:
    """Return the names that stand for nothing but parts of tapes, of which single elements are read
    and written."""
    nodes = list(ast.walk(function))
    parts = [pair for node in nodes if (pair := _part(node)) is not None]
    elements = {n.value for n in nodes if isinstance(n, ast.Subscript) and not _has_slice(n)}
    names = [node for node in nodes if isinstance(node, ast.Name)]
    parameters = {argument.arg for argument in function.args.args}
    rows = {name.id for name, _ in parts}
    while True:  # a part of what is no row is no row either
        known = [pair for pair in parts if pair[1].id in tapes | rows]
        used = elements.union(*known)
        others = parameters | {name.id for name in names if name not in used}
        found = {name.id for name, _ in known} - others
        if found == rows:
            return rows
        rows = found


def _part(node: ast.AST) -> tuple[ast.Name, ast.Name] | None:
    """Return the name that becomes a part of an array, and the name of that."""
    if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript)):
        return None
    name, array = node.targets[0], node.value.value
    is_part = isinstance(node.value.slice, ast.Slice)
    if is_part and isinstance(name, ast.Name) and isinstance(array, ast.Name):
        return name, array
    return None


def _has_slice(node: ast.Subscript) -> bool:
    """Whether a subscript is not that of a single element."""
    return any(isinstance(part, (ast.Slice, ast.Tuple)) for part in _indices(node))


def _indices(node: ast.Subscript) -> list[ast.expr]:
    index = node.slice
    return index.elts if isinstance(index, ast.Tuple) and index.elts else [index]


class _Respelling(ast.NodeTransformer):
    """Writes rows of tapes as pointers, additions to elements as one call, and new arrays by their
    lengths."""

    def __init__(self, rows: set[str], arrays: set[str], words: _Words) -> None:
        self.rows, self.arrays, self.words = rows, arrays, words

    def _is_of_row(self, node: ast.AST) -> TypeGuard[ast.Subscript]:
        if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
            return False
        return node.value.id in self.rows

    def _are_arrays(self, *nodes: ast.AST) -> bool:
        return all(isinstance(node, ast.Name) and node.id in self.arrays for node in nodes)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        target, value = node.targets[0], node.value
        if isinstance(target, ast.Name) and target.id in self.rows:
            assert isinstance(value, ast.Subscript)
            assert isinstance(value.slice, ast.Slice)
            start = value.slice.lower or ast.Constant(0)
            return ast.Assign([target], self.words.call("row_at", value.value, start))
        self.generic_visit(node)
        if self._is_of_row(target):
            return ast.Expr(self.words.call("lay", target.value, target.slice, node.value))
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        word = {ast.Add: "add", ast.Sub: "subtract"}.get(type(node.op))
        target = node.target
        if self._are_arrays(target, node.value) and word == "add":
            return ast.Assign([target], self.words.call("sum_of", _loaded(target), node.value))
        if not isinstance(target, ast.Subscript) or word is None:
            return node
        indices = _indices(target)
        if self._is_of_row(target):
            held = self.words.call("taken", target.value, target.slice)
            found = ast.BinOp(held, node.op, node.value)
            return ast.Expr(self.words.call("lay", target.value, target.slice, found))
        if len(indices) > 3 or _has_slice(target):
            return node
        changed = self.words.call(f"{word}_{len(indices)}", target.value, node.value, *indices)
        return ast.Expr(changed)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if self._is_of_row(node) and isinstance(node.ctx, ast.Load):
            return self.words.call("taken", node.value, node.slice)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = ast.unparse(node.func)
        if (apart := self._apart(node, name)) is not None:
            return apart
        if isinstance(node.func, ast.Attribute) and node.func.attr == "copy" and not node.args:
            return self.words.call("copied", node.func.value)
        if name != "np.zeros" or len(node.args) != 1 or node.keywords:
            return node
        given = node.args[0]
        lengths = given.elts if isinstance(given, ast.Tuple) else [given]
        is_plain = all(isinstance(n, (ast.Name, ast.Constant, ast.BinOp)) for n in lengths)
        if not is_plain or not 0 < len(lengths) <= 2:
            return node
        return self.words.call(f"zeros_{len(lengths)}", *lengths)

    def _apart(self, node: ast.Call, name: str) -> ast.Call | None:
        """Return the call of a function that is compiled apart; None for other functions."""
        kinds = [ast.literal_eval(word.value) for word in node.keywords if word.arg == "kind"]
        key = " ".join([name, *kinds])
        if key not in self.words.apart or len(kinds) < len(node.keywords):
            return None
        takes = APART[key].__code__.co_argcount
        return self.words.call(key, *node.args) if len(node.args) == takes else None


def _loaded(name: ast.expr) -> ast.expr:
    assert isinstance(name, ast.Name)
    return ast.Name(name.id, ast.Load())
