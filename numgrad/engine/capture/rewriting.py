"""Advice in errors: calls of other libraries, rewritten for functions of numgrad.

Where the function of numgrad takes other arguments, a *row* of the table `CALLS` says how to write
the call: on the left the call of the library, on the right the code of numgrad.
"""

import ast
import copy
import sys
from functools import cache
from inspect import Parameter, Signature, signature
from typing import Any

import numpy as np

from ...names.calls import CALLS

_EMPTY = Parameter.empty


def rewritten(name: str, call: ast.expr | None, own: str) -> str | None:
    """Return the code of numgrad for a call, from the table `CALLS`; None where no row matches.

    Parameters
    ----------
    name : str
        The public name of the called function.
    call : ast.expr
        The source of the call.
    own : str
        The name by which the user has imported numgrad.
    """
    if not isinstance(call, ast.Call):
        return None
    for parameters, code in _rows().get(name, ()):
        given = _bound(parameters, call)
        if given is None:
            continue
        code, _, note = code.partition("  # ")
        given |= {"ng": ast.Name(own), "self": getattr(call.func, "value", call.func)}
        tree = _Filled(given).visit(ast.parse(code, mode="eval").body)
        text = ast.unparse(tree)
        text = f"({text})" if isinstance(tree, (ast.BinOp, ast.Compare, ast.Lambda)) else text
        return text + (f", {note}" if note else "")
    return None


@cache
def _rows() -> dict[str, list[tuple[Signature, str]]]:
    """Return the rows of `CALLS` by the name of the function."""
    found: dict[str, list[tuple[Signature, str]]] = {}
    for typed, code in CALLS.items():
        name, _, parameters = typed.partition("(")
        function: Any = ast.parse(f"def f({parameters}: 0").body[0]
        found.setdefault(name, []).append((_signature(function.args), code))
    return found


def _signature(args: ast.arguments) -> Signature:
    """Return the signature of the call on the left of a row.

    Default values are syntax trees. So are annotations, which say what an argument must be for the
    row to match.
    """
    missing = [_EMPTY] * (len(args.args) - len(args.defaults))
    made = [
        Parameter(a.arg, Parameter.POSITIONAL_OR_KEYWORD, default=d, annotation=a.annotation)
        for a, d in zip(args.args, [*missing, *args.defaults], strict=True)
    ]
    if args.vararg is not None:
        made.append(Parameter(args.vararg.arg, Parameter.VAR_POSITIONAL))
    for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        made.append(Parameter(a.arg, Parameter.KEYWORD_ONLY, default=_EMPTY if d is None else d))
    return Signature(made)


def _bound(row: Signature, call: ast.Call) -> dict[str, Any] | None:
    """Return the arguments of a call as syntax trees, by their names in a row; None where the row
    does not match."""
    named = {k.arg: k.value for k in call.keywords if k.arg is not None}
    if len(named) != len(call.keywords):
        return None
    try:
        bound = row.bind(*call.args, **named)
    except TypeError:
        return None
    for name, value in bound.arguments.items():
        wanted = row.parameters[name].annotation
        if isinstance(value, ast.Starred) or not _is_as_asked(value, wanted):
            return None
    bound.apply_defaults()
    return bound.arguments


def _is_as_asked(value: Any, wanted: Any) -> bool:
    """Whether an argument of a call is what the annotation ``wanted`` in a row asks for."""
    if not isinstance(wanted, ast.expr):
        return True
    if isinstance(wanted, ast.BinOp):  # one or the other
        return _is_as_asked(value, wanted.left) or _is_as_asked(value, wanted.right)
    if isinstance(wanted, ast.Name):
        return isinstance(value, ast.Tuple)
    return ast.dump(value) == ast.dump(wanted)


class _Filled(ast.NodeTransformer):
    """Replaces the names of arguments in the code of a row by the syntax trees of the arguments."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.given = given

    def visit_Name(self, node: ast.Name) -> Any:
        found = self.given.get(node.id, node)
        return node if isinstance(found, tuple) else copy.deepcopy(found)

    def visit_List(self, node: ast.List) -> Any:
        elements = []
        for element in node.elts:
            listed = self.given.get(ast.unparse(element).removeprefix("*"))
            is_rest = isinstance(element, ast.Starred) and isinstance(listed, tuple)
            elements += map(copy.deepcopy, listed or ()) if is_rest else [self.visit(element)]
        return ast.List(elements)


# The arguments of a counterpart of the same name -------------------------------------------------


def fits(call: ast.Call, function: Any, own: Any) -> bool:
    """Whether a call means the same if ``own``, the counterpart in numgrad, replaces the called
    function.

    Each argument must reach a parameter with the same name in both functions, or an operand in the
    same place. No argument may come after the operands, where functions of numgrad take ``out``.
    """
    ours, theirs = _parameters(own), _parameters(function)
    if not ours:
        return True
    if ours[0].name == "rng" and theirs and theirs[0].name != "rng":
        ours = ours[1:]  # the global generator draws
    places = [p for p in ours if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = next((p.name for p in ours if p.kind is Parameter.VAR_POSITIONAL), None)
    is_listed = any(isinstance(a, ast.Starred) for a in call.args)
    if is_listed and rest == "into":
        return False  # the list may be longer than the operands
    if len(call.args) > len(places) and rest in (None, "into"):
        return rest is not None and isinstance(function, np.ufunc)
    named = [k.arg for k in call.keywords]
    required = [p.name for p in places[len(call.args) :] if p.default is Parameter.empty]
    if not (is_listed or None in named or {*required} <= {*named}):
        return False
    if not all(name is None or _takes(ours, name) for name in named):
        return False
    return all(map(_is_same, places[: len(call.args)], theirs))


def _takes(ours: list[Parameter], name: str) -> bool:
    """Whether a function with the parameters ``ours`` takes a keyword argument of this name."""
    found = next((p for p in ours if p.name == name), ours[-1])
    return found.kind is not found.POSITIONAL_ONLY and (
        found.name == name or found.kind is found.VAR_KEYWORD
    )


def _is_same(own: Parameter, other: Parameter) -> bool:
    """Whether two parameters, each in the same place of its function, have the same meaning.

    They have if their names are equal. If ``own`` is an operand, the same meaning is taken for
    granted.
    """
    is_open = other.kind is Parameter.VAR_POSITIONAL
    is_operand = own.default is Parameter.empty or own.kind is Parameter.POSITIONAL_ONLY
    return is_operand or is_open or own.name == other.name


def at(path: str) -> Any:
    """Return the object of numgrad at a dotted path, such as ``linalg.solve``."""
    found: Any = sys.modules["numgrad"]
    for part in path.partition("(")[0].split("."):
        found = getattr(found, part)
    return found


def arguments_of(function: Any) -> str:
    """Return the parameters of a function of numgrad, without ``out`` and options, as text."""
    shown = [p for p in _parameters(function) if p.kind.name[:3] != "VAR" and p.name != "out"]
    ends = ("" if p.default is Parameter.empty else f"={p.default!r}" for p in shown)
    return ", ".join(p.name + end for p, end in zip(shown, ends, strict=True))


def _parameters(function: Any) -> list[Parameter]:
    """Return the parameters of a function; an empty list where they are not known."""
    try:
        return list(signature(function).parameters.values())
    except (TypeError, ValueError):
        return []
