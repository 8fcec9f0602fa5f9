"""Shrink a failing program: remove parts as long as the rest fails in the same way."""

from __future__ import annotations

import ast
import copy
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from .judging import Verdict, judge
from .programs import Program, operand

Judge = Callable[[Program], Verdict]


def shrink(
    program: Program, verdict: Verdict, seconds: float = 60.0, judged: Judge = judge
) -> tuple[Program, Verdict]:
    """Return the shortest program found that fails like a given one, and its verdict.

    Parameters
    ----------
    program : Program
    verdict : Verdict
        The verdict on the program.
    seconds : float
        How long to look for shorter programs.
    judged : callable
        Returns the verdict on a program.
    """
    end = time.monotonic() + seconds
    shorter = True
    while shorter:
        shorter = False
        position = 0
        while time.monotonic() < end:
            tried = _edited(program, position)
            if tried is None:
                break
            is_shorter = len(tried.text()) < len(program.text())
            found = judged(tried) if is_shorter else None
            if found is not None and _same(found, verdict):
                program, verdict, shorter = tried, found, True
            else:
                position += 1
    return program, verdict


def _same(found: Verdict, verdict: Verdict) -> bool:
    """Whether two verdicts are the same failure: of one kind, and errors raised in one place."""
    return (found.kind, found.origin) == (verdict.kind, verdict.origin) and (
        found.kind != "raised" or found.words[:40] == verdict.words[:40]
    )


def _edited(program: Program, position: int) -> Program | None:
    """Return the program after the possible edit of a number, or None if there are fewer edits."""
    tree = _tree(program)
    for number, edit in enumerate(_edits(tree)):
        if number == position:
            edit()
            return _program(program, tree)
    return None


def _tree(program: Program) -> ast.Module:
    operands = "".join(f"{name} = {text}\n" for name, text in program.operands.items())
    return ast.parse(f"{program.main}\nfound = {program.observed}\n{operands}")


def _program(program: Program, tree: ast.Module) -> Program:
    main, observed, *operands = ast.fix_missing_locations(tree).body
    _forget_unread(main)
    texts = {a.targets[0].id: ast.unparse(a.value) for a in operands}  # type: ignore[attr-defined]
    return replace(
        program,
        main=ast.unparse(main) + "\n",
        observed=ast.unparse(observed.value),  # type: ignore[attr-defined]
        operands=texts,
    ).without_unread()


def _edits(tree: ast.Module) -> Iterator[Callable[[], None]]:
    """Yield functions that shorten a tree in place: they remove statements or parts of expressions.
    """
    main, observed, *operands = tree.body
    nodes = [*_nodes(main), *_nodes(observed)]
    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.For)):
            yield from (_deletion(node.body, n) for n in range(len(node.body) - 1))
    for node in nodes:
        if isinstance(node, ast.Assign) and node is not observed:
            yield from _shorter_values(main, node)
            continue
        for name, value in ast.iter_fields(node):
            for place, child in _expressions(node, name, value):
                yield from (_replacement(place, part) for part in _parts(child))
    for node in operands:
        yield from _plainer_operands(node)


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a tree, without those in the targets of assignments."""
    todo = [tree]
    while todo:
        node = todo.pop(0)
        yield node
        inside = [node.value] if isinstance(node, ast.Assign) else ast.iter_child_nodes(node)
        todo.extend(inside)


def _shorter_values(main: ast.AST, node: ast.Assign) -> Iterator[Callable[[], None]]:
    """Yield edits that replace the value of an assignment by a part of the value.

    If the part is a name, the target is renamed instead, unless the program may write to it.
    """
    target = node.targets[0]
    for part in [] if isinstance(node.value, ast.Tuple) else _parts(node.value):
        if not isinstance(part, ast.Name):
            yield lambda part=part: setattr(node, "value", part)
        elif isinstance(target, ast.Name) and not target.id.startswith("t"):
            yield lambda part=part: _rename(main, node, target.id, part.id)


def _rename(main: ast.AST, node: ast.Assign, old: str, new: str) -> None:
    """Replace all reads of a name by another name, and the value assigned to the old one by 0."""
    node.value = ast.Constant(0)  # no longer read
    for name in ast.walk(main):
        if isinstance(name, ast.Name) and name.id == old and isinstance(name.ctx, ast.Load):
            name.id = new


def _plainer_operands(node: Any) -> Iterator[Callable[[], None]]:
    """Yield edits that replace a part of an operand, if the type and the rank stay the same."""
    before = operand(ast.unparse(node.value))
    for call in ast.walk(node):
        for name, value in ast.iter_fields(call):
            for place, child in _expressions(call, name, value):
                for part in _parts(child):
                    tried = copy.deepcopy(node)
                    _replacement(place, part)()
                    after = _operand(ast.unparse(node.value))
                    alike = type(before) is type(after) and np.ndim(before) == np.ndim(after)
                    texts = ast.unparse(node.value), ast.unparse(tried.value)
                    place(child)
                    kinds = [("ng." in text, "requires_grad" in text) for text in texts]
                    if alike and kinds[0] == kinds[1]:
                        yield _replacement(place, part)


def _operand(text: str) -> Any:
    try:
        return operand(text)
    except Exception:  # the rest is no operand
        return None


def _deletion(body: list[Any], n: int) -> Callable[[], None]:
    return lambda: body.pop(n) and None


def _expressions(node: ast.AST, name: str, value: Any) -> Iterator[tuple[Any, ast.expr]]:
    """Yield for each expression in a field of a node a function that replaces it, and itself."""
    if isinstance(value, ast.expr) and not isinstance(getattr(value, "ctx", None), ast.Store):
        yield (lambda new: setattr(node, name, new)), value
    if isinstance(value, list):
        for n, item in enumerate(value):
            if isinstance(item, ast.expr) and not isinstance(item, ast.Name):
                yield (lambda new, n=n: value.__setitem__(n, new)), item


def _replacement(place: Callable[[ast.expr], None], part: ast.expr) -> Callable[[], None]:
    return lambda: place(copy.deepcopy(part))


def _parts(expression: ast.expr) -> Iterator[ast.expr]:
    """Yield smaller expressions that may replace an expression, mostly parts of it."""
    if isinstance(expression, ast.Call):
        # What a star unpacks may stand where the starred argument may not.
        yield from (a.value if isinstance(a, ast.Starred) else a for a in expression.args)
        yield from (k.value for k in expression.keywords if not isinstance(k.value, ast.Constant))
        if isinstance(expression.func, ast.Call):
            yield expression.func
            yield ast.Call(expression.func.args[0], expression.args, []) if (
                expression.func.args
            ) else expression.func
        if expression.keywords:
            yield ast.Call(expression.func, expression.args, expression.keywords[:-1])
    elif isinstance(expression, ast.BinOp):
        yield from (expression.left, expression.right)
    elif isinstance(expression, (ast.Subscript, ast.UnaryOp)):
        yield expression.value if isinstance(expression, ast.Subscript) else expression.operand
    elif isinstance(expression, ast.Compare):
        yield expression.left
    elif isinstance(expression, ast.List) and len(expression.elts) > 1:
        yield ast.List(expression.elts[:1], ast.Load())


def _forget_unread(function: ast.AST) -> None:
    """Delete the inner functions and the assignments in a function whose names nothing reads."""
    while True:
        read = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and _is_read(n)}
        bodies = [n.body for n in ast.walk(function) if isinstance(n, (ast.FunctionDef, ast.For))]
        unread = [(b, s) for b in bodies for s in b[:-1] if _gives(s) and not _gives(s) & read]
        if not unread:
            return
        for body, statement in unread:
            body.remove(statement)


def _is_read(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)


def _gives(statement: ast.stmt) -> set[str]:
    """Return the names that a statement defines; none if the statement has another effect."""
    if isinstance(statement, ast.FunctionDef):
        return {statement.name}
    if isinstance(statement, ast.Assign):
        target = statement.targets[0]
        plain = not any(isinstance(n, (ast.Subscript, ast.Starred)) for n in ast.walk(target))
        return {n.id for n in ast.walk(target) if isinstance(n, ast.Name)} if plain else set()
    return set()
