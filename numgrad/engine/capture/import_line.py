"""Advice in errors: one edit of the user's program that mends all calls of a library at once.

The edit imports numgrad in place of NumPy, or calls `interop.scipy.patch`, which makes SciPy's
functions take tensors.
"""

import ast
import sys
from collections.abc import Container
from importlib import import_module
from types import FrameType, ModuleType
from typing import Any

from ...names.counterparts import FOLLOWED
from .user_call import UserCall, lines_of, public_name, value_in


def instead_of_import(named: ast.expr | None, frame: FrameType, path: str) -> str | None:
    """Return the import of numgrad to write in place of the user's import of NumPy, with its line;
    None where no import would help.

    Parameters
    ----------
    named : ast.expr or None
        The source by which a function of NumPy is called, such as ``np.linalg.norm``.
    frame : FrameType
        The frame that calls the function.
    path : str
        The path of the counterpart in numgrad. An import helps only if NumPy has the same path.
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
    """Return the last import above the running line that binds ``name``; None if there is none."""
    try:
        tree = ast.parse("".join(lines_of(frame)))
    except (SyntaxError, ValueError):
        return None
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        and name in _bound_names(node)
        and node.lineno <= frame.f_lineno
    ]
    return max(found, key=lambda node: node.lineno, default=None)


def _bound_names(node: ast.Import | ast.ImportFrom) -> Container[str]:
    """Return the names that an import binds."""
    if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
        found = vars(sys.modules.get(node.module or "", sys))
        return found.get("__all__") or [n for n in found if not n.startswith("_")]
    return [a.asname or a.name.partition(".")[0] for a in node.names]


def _of_numgrad(node: ast.Import | ast.ImportFrom, name: str) -> str:
    """Return the source of an import with numgrad in place of NumPy; other modules in the same
    statement stay."""
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


def with_import_or_patch(text: str, call: UserCall, value: Any, path: str, own: str) -> str:
    """Return the advice ``text`` with the edit that mends all calls of a library at once,
    if there is one.

    Parameters
    ----------
    text : str
        The code to write instead of ``call``.
    call : UserCall
        The call of the user.
    value : object
        The function that is called.
    path : str
        The path in numgrad of the counterpart of that function.
    own : str
        The name by which the user has imported numgrad.
    """
    statement = instead_of_import(call.named, call.frame, path)
    if statement is not None:
        return f"{statement}, or {text} here"
    if not (call.name or "").startswith("scipy.") or not _is_patched(call, value, path):
        return text
    return f"{text}, or, once, before: {own}.interop.scipy.patch()"


def _is_patched(call: UserCall, value: Any, path: str) -> bool:
    """Whether `interop.scipy.patch` would make a function of SciPy take the tensors of this
    call."""
    known: Any = import_module("numgrad.interop.patching.counterparts")
    name = path.rpartition(".")[2]
    if name in known.READ_CLOSURES and path not in FOLLOWED and not _passes_args(call.tree):
        return False  # the user's function may close over tensors, which the patch cannot see
    present = [sys.modules[module] for module in known.MODULES if module in sys.modules]
    if any(getattr(m, n) is value for m in present for n in known.names_and_classes(m)):
        return True
    owner = getattr(value, "__self__", None)
    objects: Any = import_module("numgrad.interop.patching.objects")
    return name in objects.OF_DISTRIBUTIONS and objects.distribution(owner) is not None


def _passes_args(tree: ast.expr | None) -> bool:
    """Whether a call of a solver has the keyword ``args``, whose items the solver hands to the
    user's function."""
    return isinstance(tree, ast.Call) and any(k.arg == "args" for k in tree.keywords)
