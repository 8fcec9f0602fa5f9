"""Write words, operands and parameters of a random program as source text."""

import ast
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .words import OPERANDS, Word


def literal(value: Any) -> str:
    """Return the source text of a parameter's value, such as a number or an array of integers."""
    if isinstance(value, np.ndarray):
        dtype = "" if value.size else f", np.{value.dtype.name}"
        return f"np.array({value.tolist()}{dtype})"
    if isinstance(value, (tuple, list)):
        inside = ", ".join(map(literal, value)) + ("," if len(value) == 1 else "")
        return f"({inside})" if isinstance(value, tuple) else f"[{inside}]"
    return repr(value)


def key_text(key: Any) -> str:
    """Return the source text of an index, as it stands between brackets."""
    if not isinstance(key, tuple):
        return _index_text(key)
    return ", ".join(map(_index_text, key)) + ("," if len(key) == 1 else "") if key else "()"


def _index_text(index: Any) -> str:
    if not isinstance(index, slice):
        return literal(index)
    ends = ["" if n is None else str(n) for n in (index.start, index.stop)]
    return ":".join(ends) + ("" if index.step in (None, 1) else f":{index.step}")


def indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for text in lines for line in text.splitlines()]


def word_lines(
    word: Word, operands: Sequence[str], parameters: dict[str, Any], fresh: Callable[..., str]
) -> list[str]:
    """Return statements that apply a word to named operands, and a last line that names the result.

    ``fresh`` returns names that the program does not use yet.
    """
    cuts = parameters.get("cuts") or [None] * len(operands)
    given = {
        name: operand if cut is None else f"{operand}[{key_text(cut)}]"
        for name, operand, cut in zip(OPERANDS, operands, cuts, strict=False)
    }
    tree = ast.parse(word.text)
    own = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    given |= {name: fresh("t") for name in sorted(own)}
    texts = {name: value for name, value in parameters.items() if name != "cuts"}
    tree = _Named(given, texts).visit(tree)
    lines = [ast.unparse(statement) for statement in tree.body]
    if isinstance(tree.body[-1].value, ast.Name):
        return lines
    result = fresh()
    return [*lines[:-1], f"{result} = {lines[-1]}", result]


class _Named(ast.NodeTransformer):
    """Replaces the names of operands and parameters in a word by other names and by literals."""

    def __init__(self, given: dict[str, str], parameters: dict[str, Any]) -> None:
        self.given, self.parameters = given, parameters

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self.parameters:
            return ast.parse(literal(self.parameters[node.id]), mode="eval").body
        text = self.given.get(node.id)
        if text is None:
            return node
        if isinstance(node.ctx, ast.Store):
            return ast.Name(text, ast.Store())
        return ast.parse(text, mode="eval").body

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if isinstance(node.slice, ast.Name) and node.slice.id in self.parameters:
            text = f"x[{key_text(self.parameters[node.slice.id])}]"
            place = ast.parse(text, mode="eval").body
            assert isinstance(place, ast.Subscript)
            return ast.Subscript(self.visit(node.value), place.slice, node.ctx)
        self.generic_visit(node)
        return node


# Operands -----------------------------------------------------------------------------------------

LAYOUTS = ("{}", "{}", "{}", "{}[::-1]", "np.repeat({}, 2, -1)[..., ::2]", "np.asfortranarray({})")


def array_text(numbers: np.ndarray, dtype: str, layout: int = 0) -> str:
    """Return the source text of an array, whose ``layout`` is the number of one of `LAYOUTS`."""
    kind = "" if dtype == ("complex128" if numbers.dtype.kind == "c" else "float64") else dtype
    shown = f", np.{kind}" if kind else ""
    text = f"np.array({numbers.tolist()!r}{shown})"
    if not math.prod(numbers.shape):
        text = f"np.zeros({numbers.shape}{shown})"
    return LAYOUTS[layout if numbers.ndim else 0].format(text)
