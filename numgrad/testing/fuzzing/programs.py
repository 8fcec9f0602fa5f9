"""A random program: its text, and its results by numgrad and by differences of NumPy's values."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .differences import Differences, WideNumPy, wide
from .lent import plain

HELPERS = {
    "tapes": (
        "gradients", "hooked_gradients", "doubled_gradients", "backward_gradients", "rows",
        "leaf_gradients", "again", "by_reference", "in_threads",
    ),
    "operators": ("softplus",),
    "lent": ("derived", "mapped"),
}  # fmt: skip
WAYS = {
    "once": "{observed}",
    "captured": "ng.jit(lambda {given}: {observed})({given})",
    "fused": 'ng.jit(lambda {given}: {observed}, fuse="now")({given})',
    "again": "again(lambda: {observed})",
    "by reference": "by_reference(lambda: {observed})",
    "in threads": "in_threads(lambda: {observed})",
}
"""The ways to compute an observation, as source text. All have the same value."""
INEXACT = {"cond", "jit", "matmul", "solve", "einsum", "linalg", "float32", "complex64"}


@dataclass(frozen=True)
class Program:
    """A random program: a function of arrays, and one expression whose value is compared.

    Attributes
    ----------
    seed : int
        The seed from which the program was drawn.
    operands : dict
        The source text of each operand, by name.
    main : str
        The source of the function ``main``, inner functions included.
    observed : str
        The source of the expression, which calls ``main`` or its derivatives at the operands.
    captures : bool
        Whether the program may be captured as a whole, as it asks for no values.
    way : str
        How the expression is computed, a key of `WAYS`.
    """

    seed: int
    operands: dict[str, str]
    main: str
    observed: str
    captures: bool = True
    way: str = "once"

    def text(self) -> str:
        """Return the program as source text that can be run."""
        return "\n".join([
            "import numpy as np",
            "import numgrad as ng",
            *_imports("\n".join([self.main, self.whole(), *self.operands.values()])),
            "",
            *(f"{name} = {text}" for name, text in self.operands.items()),
            "",
            self.main,
            f"found = {self.whole()}",
        ])  # fmt: skip

    def whole(self) -> str:
        """Return the source of the expression, wrapped so that it is computed in the given way."""
        given = ", ".join([name for name in self.operands if name.startswith("a")])
        return WAYS[self.way].format(observed=self.observed, given=given)

    def has_equal_bits(self) -> bool:
        """Whether the program must give the same bits in all ways.

        That is not so with products by BLAS, with sums by NumPy, with parts whose gradients are
        added up in another order, and with derivatives at plain numbers, whose values NumPy
        computes.
        """
        if any(name.startswith("c") for name in self.operands):
            return False
        text = "\n".join([self.main, self.observed, *self.operands.values()])
        return not INEXACT.intersection(re.findall(r"\w+", text)) and not _is_at_numbers(text)

    def without_unread(self) -> Program:
        """Return the program without operands that nothing reads."""
        read = set(ast_names(f"{self.main}\n{self.observed}"))
        return replace(self, operands={n: t for n, t in self.operands.items() if n in read})

    def run(self) -> Any:
        """Return the results of the program by numgrad."""
        names: dict[str, Any] = {}
        with quiet():
            exec(compile(self.text(), f"<program {self.seed}>", "exec"), names)
        return names["found"]

    def judge(self, differences: Differences) -> Any:
        """Return the results of the program by NumPy, with derivatives by differences."""
        names = reference_names(differences)
        for name, text in self.operands.items():
            value = operand(text)
            # Python's numbers become wide numbers of NumPy here. They stay Python's while a program
            # is drawn, so that no program calls methods of NumPy on them.
            names[name] = wide(np.array(value)[()]) if type(value) in (float, complex) else value
        tree = ast.parse(f"{self.main}\nfound = {self.observed}")
        tree = ast.fix_missing_locations(_Disturbed().visit(tree))
        with quiet():
            exec(compile(tree, f"<program {self.seed}>", "exec"), names)
        return names["found"]


def _imports(text: str) -> Iterator[str]:
    words = set(ast_names(text))
    for module, names in HELPERS.items():
        if used := [name for name in names if name in words]:
            yield f"from numgrad.testing.fuzzing.{module} import {', '.join(used)}"


def ast_names(text: str) -> Iterator[str]:
    return (node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name))


def operand(text: str) -> Any:
    """Return the value of an operand's source text, in the widest dtype."""

    class Plain:
        @staticmethod
        def tensor(data: Any, requires_grad: bool = False) -> Any:
            return np.array(data)

    with quiet():
        return wide(eval(text, {"np": np, "ng": Plain, "derived": plain, "mapped": plain}))


def reference_names(differences: Differences) -> dict[str, Any]:
    """Return the values of the names that a program reads, with stand-ins for all of numgrad."""
    from .operators import plain_softplus

    return {
        "np": WideNumPy(),
        "ng": differences,
        "gradients": differences.gradients,
        "hooked_gradients": differences.gradients,
        "doubled_gradients": differences.doubled_gradients,
        "backward_gradients": differences.gradients,
        "rows": differences.rows,
        "leaf_gradients": differences.leaf_gradients,
        "softplus": plain_softplus,
        "in_threads": lambda call: call(),
        "derived": plain,
        "mapped": plain,
        "_disturbed": differences.disturbed,
    }


@contextmanager
def quiet() -> Iterator[None]:
    """Ignore floating-point errors and all warnings inside the block."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


class _Disturbed(ast.NodeTransformer):
    """Passes the result of each statement through `Differences.disturbed`."""

    def __init__(self) -> None:
        self.count = 0

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.value, ast.Name) and isinstance(node.targets[0], ast.Name):
            node.value = self._through(node.value)
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        self.generic_visit(node)
        if node.value is not None and not isinstance(node.value, ast.Name):
            node.value = self._through(node.value)
        return node

    def _through(self, value: ast.expr) -> ast.expr:
        self.count += 1
        function = ast.Name("_disturbed", ast.Load())
        return ast.Call(function, [ast.Constant(self.count), value], [])


def _is_at_numbers(text: str) -> bool:
    """Whether a program takes a derivative at literal numbers only."""
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    for call in calls:
        own = isinstance(call.func, ast.Attribute)  # ng.func.jvp(function, ...): the function first
        given = call.args[own:]
        if given and "ng.func." in ast.unparse(call.func) and all(map(_is_number, given)):
            return True
    return False


def _is_number(node: ast.expr) -> bool:
    return not any(isinstance(part, ast.Name | ast.Call) for part in ast.walk(node))
