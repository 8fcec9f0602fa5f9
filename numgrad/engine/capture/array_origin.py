"""Advice in errors: the edit of the user's program that makes a tensor where an array is made.

A tensor that is written into an array of NumPy would lose the gradient. So the advice is to make a
tensor in place of the array, on the line where the program makes the array.
"""

import ast
import copy
import re
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import numpy as np

from ...names.counterparts import counterpart
from ..graph.callsite import Site
from .import_line import instead_of_import
from .user_call import is_of_user, lines_of, public_name, source_text, user_calls, value_in

_LONGEST = 72
_DEEPEST = 4


def shortened(tree: ast.expr) -> str:
    """Return the source of an expression, cut off if it is long.

    A long call becomes the called function and ``(...)``, any other long expression its beginning
    and ``...``.
    """
    text = ast.unparse(tree)
    if len(text) <= _LONGEST:
        return text
    shown = ast.unparse(tree.func) if isinstance(tree, ast.Call) else text
    return f"{shown[:_LONGEST]}{'(...)' if isinstance(tree, ast.Call) else '...'}"


def with_replaced_part(tree: ast.expr, part: ast.expr, text: str) -> ast.expr:
    """Return a copy of an expression in which the source ``text`` replaces the node ``part``."""
    marked: Any = copy.deepcopy(tree, memo := {})
    old, new = memo[id(part)], ast.parse(text, mode="eval").body

    class Replacing(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> Any:
            return new if node is old else self.generic_visit(node)

    return Replacing().visit(marked)


def tensor_edit(array: str, frame: FrameType, own: str) -> str:
    """Return the edit after which a variable holds a tensor instead of an array, as code with its
    line.

    Parameters
    ----------
    array : str
        The name of the variable.
    frame : FrameType
        The frame that writes into the array.
    own : str
        The name by which the user has imported numgrad.
    """
    made = _last_assignment(array, frame)
    if made is None:
        return _edit_of_caller(array, frame, own) or conversion_edit(array, own)
    line, tree = made
    seen = _seen_through(tree)
    if seen is not None and seen.id != array and isinstance(value_in(seen, frame), np.ndarray):
        return tensor_edit(seen.id, frame, own)
    path = _path(tree, frame)
    if isinstance(tree, ast.Call) and path is not None:
        tree = with_replaced_part(tree, tree.func, f"{own}.{path}")
    else:
        tree = ast.parse(f"{own}.asarray({ast.unparse(tree)})", mode="eval").body
    text = f"{array} = {shortened(tree)} at line {line}, which is a tensor"
    statement = _import_behind(made[1], frame, _DEEPEST)
    return text if statement is None else f"{statement}, or {text}"


def conversion_edit(array: str, own: str) -> str:
    """Return the advice ``ng.zeros(...) where ARRAY is made``, for an array that was made on an
    unknown line.

    Converting the array right before the write would not do, as others may hold the array.
    """
    return f"{own}.zeros(...) where {array} is made, which is then a tensor"


def _edit_of_caller(array: str, frame: FrameType, own: str) -> str | None:
    """Return the edit of the line in the caller that made an array, if the array is an argument of
    the running function; None where no variable of the caller holds the array."""
    outer = frame.f_back
    if outer is None or array not in frame.f_locals or not is_of_user(outer.f_code.co_filename):
        return None
    value = frame.f_locals[array]
    found = [name for name, other in outer.f_locals.items() if other is value]
    if not found or _last_assignment(found[0], outer) is None:
        return None
    function, file = outer.f_code.co_name, outer.f_code.co_filename
    place = f" of {file}" if file != frame.f_code.co_filename else ""
    edit = tensor_edit(found[0], outer, own)
    return edit if function == "<module>" and not place else f"{edit}, in {function}{place}"


def _seen_through(tree: ast.expr) -> ast.Name | None:
    """Return the variable ``a`` of an expression such as ``a[0].T``; None for an expression of
    another form.

    The value of such an expression may be a view of the array in the variable.
    """
    while isinstance(tree, (ast.Subscript, ast.Attribute)):
        tree = tree.value
    return tree if isinstance(tree, ast.Name) else None


def target_edit(array: Any) -> tuple[str, Site] | None:
    """Return the edit that makes a tensor in place of ``array``, and the line of the user's running
    call.

    The running call writes into ``array``. The result is None where nothing on that line is known
    to hold the array.
    """
    call = next(user_calls(), None)
    if call is None or not isinstance(array, np.ndarray):
        return None
    frame = call.frame
    names = {**frame.f_globals, **frame.f_locals}
    found = [n for n, value in names.items() if value is array or value is array.base is not None]
    line = "".join(_running_statement(frame))
    name = next((n for n in found if re.search(rf"\b{re.escape(n)}\b", line)), None)
    own = numgrad_name(frame.f_globals)
    if name is not None:
        return tensor_edit(name, frame, own), call.site
    holder = _holder(frame)
    if isinstance(holder, ast.Name):
        return tensor_edit(holder.id, frame, own), call.site
    return None if holder is None else (conversion_edit(ast.unparse(holder), own), call.site)


def is_part_written() -> bool:
    """Whether the running statement is ``target += t`` for a target such as ``a[key]`` or ``o.a``.

    Then the advice cannot be ``a = a + t``, which fits only where the target is a variable.
    """
    call = next(user_calls(), None)
    target = None if call is None else _augmented(call.frame)
    return target is not None and not isinstance(target, ast.Name)


def _augmented(frame: FrameType) -> ast.expr | None:
    """Return ``target`` of the statement ``target += value`` that a frame runs; None for another
    statement."""
    try:
        statement = ast.parse(source_text(frame)).body[0]
    except (SyntaxError, ValueError, IndexError):
        return None
    return statement.target if isinstance(statement, ast.AugAssign) else None


def _holder(frame: FrameType) -> ast.expr | None:
    """Return the source of the array that the running statement ``array[key] += t`` changes.

    The array is in a variable, in an attribute, or in a container. For ``a[i][j] += t`` the result
    is ``a`` if ``a`` is an array, as ``a[i]`` may be a copy. The result is None for another
    statement.
    """
    node = _augmented(frame)
    parts = []
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        parts.append(node)
        node = node.value
    if node is None:
        return None
    parts = [*parts, node][::-1]
    found = [part for part in parts if isinstance(value_in(part, frame), np.ndarray)]
    return found[0] if found else parts[min(1, len(parts) - 1)]


def _running_statement(frame: FrameType) -> list[str]:
    """Return the lines of the statement that a frame runs."""
    places = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    first, last = places[0] or frame.f_lineno, places[1] or frame.f_lineno
    return lines_of(frame)[first - 1 : last]


# Where an array was made --------------------------------------------------------------------------


def _path(tree: ast.expr, frame: FrameType) -> str | None:
    """Return the path in numgrad of the counterpart of the function that an expression calls; None
    if there is no counterpart."""
    value = value_in(tree.func, frame) if isinstance(tree, ast.Call) else None
    found = counterpart(public_name(value) or "") if value is not None else None
    return None if found is None or "(" in found else found


def _import_behind(tree: ast.expr, frame: FrameType, depth: int) -> str | None:
    """Return the edit of an import that lets an expression make a tensor instead of an array; None
    where no import helps.

    The expression may read variables: the search goes on in the expressions assigned to them, at
    most ``depth`` assignments deep.
    """
    path = _path(tree, frame)
    if isinstance(tree, ast.Call) and path is not None:
        return instead_of_import(tree.func, frame, path)
    parts: list[Any] = []
    if isinstance(tree, ast.BinOp):
        parts = [tree.left, tree.right]
    elif isinstance(tree, ast.Call) and isinstance(tree.func, ast.Attribute):
        parts = [tree.func.value]
    elif isinstance(tree, (ast.Attribute, ast.Subscript)):
        parts = [tree.value]
    elif isinstance(tree, ast.UnaryOp):
        parts = [tree.operand]
    elif isinstance(tree, ast.Name) and depth and (made := _last_assignment(tree.id, frame)):
        parts, depth = [made[1]], depth - 1
    return next(filter(None, (_import_behind(part, frame, depth) for part in parts)), None)


def _last_assignment(name: str, frame: FrameType) -> tuple[int, ast.expr] | None:
    """Return the line and the right side of the last assignment to a variable before the running
    line."""
    try:
        module = ast.parse("".join(lines_of(frame)))
    except (SyntaxError, ValueError):
        return None
    first, last = frame.f_code.co_firstlineno, frame.f_lineno
    is_local = name in frame.f_code.co_varnames + frame.f_code.co_cellvars
    if is_local or frame.f_code.co_name == "<module>":
        found = [(n, t) for n, t in _bindings(module, name) if first <= n <= last]
    else:
        inner = [f for f in ast.walk(module) if isinstance(f, ast.FunctionDef)]
        apart = [f for f in inner if not _spans(f, first)]
        found = [(n, t) for n, t in _bindings(module, name) if not any(_spans(f, n) for f in apart)]
    return max(found, key=lambda made: made[0], default=None)


def _spans(function: ast.FunctionDef, line: int) -> bool:
    start = min([function.lineno, *(d.lineno for d in function.decorator_list)])
    return start <= line <= (function.end_lineno or start)


def _bindings(module: ast.Module, name: str) -> Iterator[tuple[int, ast.expr]]:
    """Yield the line and the right side of each assignment to a variable.

    For the variable of a ``for`` loop, the expression over which the loop runs is in place of the
    right side.
    """
    for node in ast.walk(module):
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, (ast.AnnAssign, ast.For)):
            targets = [node.target]
        value = node.iter if isinstance(node, ast.For) else getattr(node, "value", None)
        for target in targets:
            pairs = [(target, value)]
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                pairs = list(zip(target.elts, value.elts, strict=False))
            for one, made in pairs:
                if isinstance(one, ast.Name) and one.id == name and made is not None:
                    yield one.lineno, made


def numgrad_name(names: Any) -> str:
    """Return the name under which the user's module has imported numgrad."""
    module = sys.modules["numgrad"]
    found = [name for name, value in names.items() if value is module]  # perhaps as np, too
    return "ng" if "ng" in found or not found else found[-1]
