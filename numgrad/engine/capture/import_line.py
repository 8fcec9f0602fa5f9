"""One edit that cures all calls of a library: another import of NumPy, or a patch of SciPy."""

import ast
import sys
from collections.abc import Container
from importlib import import_module
from types import FrameType, ModuleType
from typing import Any

from ...names.counterparts import FOLLOWED
from .user_call import UserCall, lines_of, public_name, value_in


def instead_of_import(named: ast.expr | None, frame: FrameType, path: str) -> str | None:
    """Return the import that makes numgrad answer what NumPy does now, and its line.

    Parameters
    ----------
    named : ast.expr or None
        How a function of NumPy is called.
    frame : FrameType
        Where that is.
    path : str
        The function's path in numgrad. Only one of the same name is found by another import.
    """
    root: Any = named
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name) or public_name(value_in(named, frame)) != f"numpy.{path}":
        return None
    home = value_in(root, frame)
    module = home.__name__ if isinstance(home, ModuleType) else "numpy"
    found = _import_of(root.id, frame)
    own = f"import {module.replace('numpy', 'numgrad', 1)} as {root.id}"
    if found is None:
        return f"{own} where that is imported"
    if found.names[0].name == "*":
        return f"{own} below line {found.lineno}"
    return f"{_of_numgrad(found, root.id)} at line {found.lineno}"


def _import_of(name: str, frame: FrameType) -> ast.Import | ast.ImportFrom | None:
    """Return the import that has bound a name until now."""
    try:
        tree = ast.parse("".join(lines_of(frame)))
    except (SyntaxError, ValueError):
        return None
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        and name in _bound(node)
        and node.lineno <= frame.f_lineno
    ]
    return max(found, key=lambda node: node.lineno, default=None)


def _bound(node: ast.Import | ast.ImportFrom) -> Container[str]:
    """Return the names that an import binds."""
    if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
        found = vars(sys.modules.get(node.module or "", sys))
        return found.get("__all__") or [n for n in found if not n.startswith("_")]
    return [a.asname or a.name.partition(".")[0] for a in node.names]


def _of_numgrad(node: ast.Import | ast.ImportFrom, name: str) -> str:
    """Return an import with numgrad in place of NumPy; other modules that it names stay."""
    if isinstance(node, ast.ImportFrom):
        module = (node.module or "").replace("numpy", "numgrad", 1)
        return ast.unparse(ast.ImportFrom(module, node.names, 0))
    names = [
        ast.alias(a.name.replace("numpy", "numgrad", 1), name)
        if (a.asname or a.name) == name
        else a
        for a in node.names
    ]
    return ast.unparse(ast.Import(names))


def or_once(text: str, call: UserCall, value: Any, path: str, own: str) -> str:
    """Return what to write instead of a call, and what cures all such calls at once; ``own`` is the
    name by which the user has imported numgrad."""
    statement = instead_of_import(call.named, call.frame, path)
    if statement is not None:
        return f"{statement}, or {text} here"
    if not (call.name or "").startswith("scipy.") or not _is_patched(call, value, path):
        return text
    return f"{text}, or, once, before: {own}.interop.scipy.patch()"


def _is_patched(call: UserCall, value: Any, path: str) -> bool:
    """Return whether a call of SciPy's function takes tensors while that is patched."""
    known: Any = import_module("numgrad.interop.scipy.patching.counterparts")
    name = path.rpartition(".")[2]
    if name in known.READ_CLOSURES and path not in FOLLOWED and not _hands_on(call.tree):
        return False  # for what the user's function closes over
    if any(getattr(m, n) is value for m, n, _ in (*known.functions(), *known.classes())):
        return True
    owner = getattr(value, "__self__", None)
    return name in known.OF_DISTRIBUTIONS and known.distribution(owner) is not None


def _hands_on(tree: ast.expr | None) -> bool:
    """Return whether a call of a solver hands arguments on to the user's function."""
    return isinstance(tree, ast.Call) and any(k.arg == "args" for k in tree.keywords)
