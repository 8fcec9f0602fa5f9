"""Loops over chunks as functions: one that runs a chunk, and one that runs all chunks on threads.

Of a function with ``prange`` Numba's translation to threads would take most of the time to compile,
and what runs in a chunk would not be what runs without threads.
"""

import ast
import re

from .parts import Defined, Live, names_in, stored_in

_LEAST_WORK = 50_000  # operations below which it takes longer to start threads


class UndefinedError(Exception):
    """A chunk reads a name that may not have a value."""


def in_threads(function: ast.stmt) -> list[ast.stmt]:
    """Move the loops over ``prange(count, work)`` into functions; return all functions.

    Raises
    ------
    UndefinedError
        If the functions cannot be handed all that they read.
    """
    assert isinstance(function, ast.FunctionDef)
    loops = [node for node in ast.walk(function) if isinstance(node, ast.For) and _is_chunked(node)]
    if not loops:
        return [function]
    made = _Functions(function)
    made.visit(function)
    return [ast.fix_missing_locations(f) for f in (function, *made.functions)]


def _is_chunked(node: ast.For) -> bool:
    call = node.iter
    return isinstance(call, ast.Call) and getattr(call.func, "id", "") == "prange"


class _Functions(ast.NodeTransformer):
    """Replaces the loops of a function over chunks by calls."""

    def __init__(self, function: ast.FunctionDef) -> None:
        self.name = function.name
        parameters = [argument.arg for argument in function.args.args]
        self.local = {*parameters, *stored_in(function.body)}
        self.defined = Defined(function, parameters)
        self.functions: list[ast.stmt] = []

    def visit_For(self, node: ast.For) -> ast.AST:
        if not _is_chunked(node):
            self.generic_visit(node)
            return node
        assert isinstance(node.target, ast.Name)
        assert isinstance(node.iter, ast.Call)
        read = self._read(node.body)
        inputs = [n for n in names_in(ast.Module(node.body, [])) if n in read]
        if not read - {node.target.id} <= self.defined.before[node]:
            raise UndefinedError
        inputs = [name for name in inputs if name != node.target.id]
        number = len(self.functions) // 2 + 1
        one, every = f"{self.name}_chunk_{number}", f"{self.name}_chunks_{number}"
        given = ", ".join(inputs)
        place = node.target.id
        text = f"""
def {every}(runs, is_long, {given}):
    if is_long:
        for {place} in prange(runs):
            {one}(np.int64({place}), {given})
    else:
        for {place} in range(runs):
            {one}({place}, {given})
"""
        chunk = ast.parse(f"def {one}({place}, {given}):\n    pass").body[0]
        assert isinstance(chunk, ast.FunctionDef)
        chunk.body = node.body
        self.functions += [chunk, *ast.parse(text).body]
        runs, work = node.iter.args
        least = ast.Compare(work, [ast.GtE()], [ast.Constant(_LEAST_WORK)])
        call = ast.parse(f"{every}({given})", mode="eval").body
        assert isinstance(call, ast.Call)
        call.args[:0] = [runs, least]
        return ast.Expr(call)

    def _read(self, body: list[ast.stmt]) -> set[str]:
        """Return the local names that are read in statements before any assignment there."""
        empty = ast.arguments([], [], None, [], [], None, [])
        return Live(ast.FunctionDef("", empty, body, []), self.local).before[body[0]]


def on_one_thread(source: str) -> str:
    """Return a source in which all chunks of a loop run on one thread, in order."""
    return source.replace(" in prange(runs):", " in range(runs):")


def functions_of(source: str) -> list[str]:
    """Return the names of all functions of a source but the first."""
    return re.findall(r"^def (\w+)\(", source, re.MULTILINE)[1:]
